//! Which logs a page is about: its filters, how many logs they let through, and the periods that a reader asks for most.

use crate::share::thousands;
use crate::{Query, Tally};

/// The logs that a page is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// The filters that are on, from the page's own URL.
    pub query: Query,
    /// Everything that is stored, without filters.
    pub whole: Tally,
    /// What the filters let through: the denominator of every share.
    pub total: Tally,
    /// The last day on which a log started, `2026-09-14`; `None` without logs.
    pub newest: Option<String>,
    /// Periods that end there.
    pub periods: Vec<Period>,
}

/// Some days that end with the newest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Period {
    /// How many.
    pub days: u32,
    /// The first, as the filter `from` takes it.
    pub from: String,
}

/// A link to a period.
pub(crate) struct Span {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) current: bool,
}

impl Selection {
    /// `312 of 4,100 logs`.
    pub(crate) fn selected(&self) -> String {
        format!("{} of {}", thousands(self.total.logs), self.whole.logs())
    }

    /// Links to the periods, and to all days.
    pub(crate) fn spans(&self, here: &str) -> Vec<Span> {
        let days = self.query.without("from").without("to").without("day");
        let mut spans: Vec<_> = self
            .periods
            .iter()
            .map(|period| Span {
                label: format!("Last {} days", period.days),
                href: days.with("from", &period.from).href(here),
                current: self.query.get("from") == Some(&period.from) && self.query.get("to").is_none(),
            })
            .collect();
        let current = days == self.query;
        spans.push(Span { label: "All days".to_owned(), href: days.href(here), current });
        spans
    }
}
