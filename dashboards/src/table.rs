//! Tables of shares: one row a group, with its words, both shares and the link to the logs behind it.

use wire::{Crossing, Split};

use crate::fleet::{Count, Tally};
use crate::query::NOT_TOLD;
use crate::share::Share;
use crate::words::{self, Word};
use crate::{Outcome, Query};

/// One group of one dimension.
pub(crate) struct ShareTable {
    /// What the table counts, as its caption.
    pub(crate) title: &'static str,
    /// Above the first column.
    pub(crate) column: &'static str,
    /// A sentence below; may be empty.
    pub(crate) note: &'static str,
    /// In the order of reading.
    pub(crate) rows: Vec<ShareRow>,
}

/// One line of such a table.
pub(crate) struct ShareRow {
    /// What the group is called.
    pub(crate) word: Word,
    /// Of the selected logs.
    pub(crate) logs: Share,
    /// Of the machines of the selected logs.
    pub(crate) machines: Share,
    /// The page that shows only these logs.
    pub(crate) href: String,
    /// Whether that filter is on already.
    pub(crate) current: bool,
}

/// Makes the rows of one dimension. A closed set of words is shown whole and in its own order, zeros included, so that a
/// reader finds each number in the same place every day; an open set is shown by size.
pub(crate) fn rows(name: &str, counts: &[Count], total: Tally, query: &Query) -> Vec<ShareRow> {
    let mut groups: Vec<(Option<&str>, Tally)> =
        counts.iter().map(|count| (count.key.as_deref(), count.tally)).collect();
    let order: Vec<&str> = match name {
        "outcome" => Outcome::ALL.map(Outcome::as_str).to_vec(),
        "split" => [Split::Engaged, Split::Off, Split::Unknown].map(Split::as_str).to_vec(),
        "crossing" => [Crossing::None, Crossing::AtlasPerFrame, Crossing::EveryPresent, Crossing::Unknown]
            .map(Crossing::as_str)
            .to_vec(),
        _ => Vec::new(),
    };
    for word in &order {
        if groups.iter().all(|(key, _)| *key != Some(word)) {
            groups.push((Some(word), Tally::default()));
        }
    }
    groups.sort_by_key(|(key, tally)| {
        let place = order.iter().position(|word| Some(*word) == *key);
        (place.unwrap_or(order.len()), if place.is_some() { 0 } else { u64::MAX - tally.logs }, *key)
    });
    groups.into_iter().map(|(key, tally)| row(name, key.unwrap_or(NOT_TOLD), tally, total, query)).collect()
}

fn row(name: &str, key: &str, tally: Tally, total: Tally, query: &Query) -> ShareRow {
    ShareRow {
        word: words::word(name, key),
        logs: Share { count: tally.logs, total: total.logs },
        machines: Share { count: tally.machines, total: total.machines },
        href: behind(&query.with(name, key)),
        current: query.all(name).eq([key]),
    }
}

/// The URL of the logs behind a number.
pub fn behind(query: &Query) -> String {
    query.filters_only().href("/logs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(name: &str, counts: &[(Option<&str>, u64)]) -> Vec<String> {
        let counts: Vec<_> = counts
            .iter()
            .map(|(key, logs)| Count { key: key.map(str::to_owned), tally: Tally { logs: *logs, machines: 1 } })
            .collect();
        let query = Query::parse("split=off&cursor=x");
        rows(name, &counts, Tally { logs: 10, machines: 2 }, &query).into_iter().map(|row| row.href).collect()
    }

    #[test]
    fn closed_sets_are_whole_and_in_order() {
        assert_eq!(
            keys("split", &[(Some("unknown"), 9), (Some("sideways"), 1)]),
            ["engaged", "off", "unknown", "sideways"].map(|word| format!("/logs?split={word}"))
        );
        assert_eq!(keys("outcome", &[]).len(), 6);
        assert_eq!(keys("crossing", &[]).len(), 4);
    }

    #[test]
    fn open_sets_are_by_size_then_name() {
        assert_eq!(
            keys("reason", &[(Some("b"), 2), (Some("c"), 5), (Some("a"), 2), (None, 1)]),
            ["c", "a", "b", "null"].map(|word| format!("/logs?split=off&reason={word}"))
        );
    }
}
