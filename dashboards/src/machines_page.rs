//! The page at `/machines`: the PCs with logs that the filters let through, each with its kind, its newest log and how its
//! logs fared.

use askama::Template;

use crate::frame::Frame;
use crate::machine_page::Flag;
use crate::query::CURSOR;
use crate::selection::Selection;
use crate::share::{Percent, counted, thousands};
use crate::spread::Spread;
use crate::table::behind;
use crate::{Outcome, Query};

/// The value of the parameter `state` for machines with a test flag in their newest log.
pub const FLAGGED: &str = "flagged";
/// The same for machines on which the kill switch of the split is set.
pub const KILLED: &str = "killed";

/// One page of machines.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "machines.html")]
pub struct MachinesPage {
    /// What stands around it.
    pub frame: Frame,
    /// Which logs the machines must have.
    pub selection: Selection,
    /// In the order of their ids.
    pub machines: Vec<MachineRow>,
    /// The cursor of the page that follows.
    pub next_cursor: Option<String>,
    /// Where agents find this server.
    pub server_url: String,
}

/// One machine of the table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MachineRow {
    /// Its pseudonym.
    pub id: String,
    /// Id and words of its kind of PC.
    pub cohort: Option<(String, String)>,
    /// Those of its logs that the filters let through, by outcome.
    pub spread: Spread,
    /// All of its logs.
    pub logs: u64,
    /// Id and start of its newest log, local time.
    pub newest: Option<(String, String)>,
    /// What became of that one.
    pub outcome: Option<Outcome>,
    /// Version of its agent.
    pub agent: Option<String>,
    /// When it was heard of last, RFC 3339.
    pub last_contact: Option<String>,
    /// Events that will never arrive.
    pub lost_events: u64,
    /// Kill switches and other test flags that its newest log tells of.
    pub flags: Vec<Flag>,
}

/// A part of the bar of outcomes.
pub(crate) struct BarPart {
    pub(crate) outcome: Outcome,
    pub(crate) start: Percent,
    pub(crate) width: Percent,
}

impl MachinesPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        let prefix = self.prefix();
        let begins = if prefix.is_empty() { String::new() } else { format!(" whose name begins with {prefix}") };
        if self.is_empty_server() {
            "No machines yet".to_owned()
        } else if let Some(flag) = self.flag() {
            match self.machines.len() as u64 {
                0 => format!("No machine has {flag} still set"),
                some => {
                    let flag = flag.replacen("a test", "A test", 1).replacen("the kill", "The kill", 1);
                    format!("{flag} is still set on {}", counted(some, "machine"))
                        + if self.next_cursor.is_some() { " of this page" } else { "" }
                }
            }
        } else if self.machines.is_empty() {
            format!("No machine{begins} fits these filters")
        } else if !begins.is_empty() {
            format!("Machines{begins}")
        } else if self.selection.query.is_unfiltered() {
            // Those without a log are not counted by it.
            let known = self.selection.whole.machines;
            if known == 0 { "Machines without a log".to_owned() } else { counted(known, "machine") + " with logs" }
        } else {
            format!(
                "{} of {} have such a log",
                thousands(self.selection.total.machines),
                self.selection.whole.machines()
            )
        }
    }

    /// What every machine of the list has set.
    fn flag(&self) -> Option<&'static str> {
        match self.selection.query.get("state") {
            Some(KILLED) => Some("the kill switch"),
            Some(FLAGGED) => Some("a test flag"),
            _ => None,
        }
    }

    /// All machines, and those with something that is still set: words, address, whether they are shown.
    fn states(&self) -> [(&'static str, String, bool); 3] {
        let query = self.selection.query.without("q").without("state");
        let state = self.selection.query.get("state");
        let with = |word| (query.with("state", word).href("/machines"), state == Some(word));
        let (killed, flagged) = (with(KILLED), with(FLAGGED));
        [
            ("All machines", query.href("/machines"), state.is_none()),
            ("With the kill switch still set", killed.0, killed.1),
            ("With any test flag still set", flagged.0, flagged.1),
        ]
    }

    /// Whether a log tells of a flag and not where it stands.
    fn has_untold_place(&self) -> bool {
        self.machines.iter().flat_map(|own| &own.flags).any(|flag| flag.source.is_none())
    }

    fn is_empty_server(&self) -> bool {
        self.selection.whole.logs == 0 && self.machines.is_empty() && self.prefix().is_empty()
    }

    fn prefix(&self) -> &str {
        self.selection.query.get("q").unwrap_or_default()
    }

    /// What the form of the prefix carries along.
    fn carried(&self) -> Vec<(&'static str, &str)> {
        let query = &self.selection.query;
        query.filters().chain(["state"]).flat_map(|name| query.all(name).map(move |value| (name, value))).collect()
    }

    fn next_href(&self) -> Option<String> {
        self.next_cursor.as_deref().map(|cursor| self.selection.query.at(cursor).href("/machines"))
    }

    fn first_href(&self) -> Option<String> {
        let query = &self.selection.query;
        query.get(CURSOR).map(|_| query.without(CURSOR).href("/machines"))
    }

    /// The logs of the machine that the filters let through.
    fn logs_href(&self, row: &MachineRow) -> String {
        behind(&self.selection.query.with("machine", &row.id))
    }

    fn cohort_href(&self, id: &str) -> String {
        self.selection.query.with("cohort", id).href("/machines")
    }
}

impl MachineRow {
    pub(crate) fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }

    pub(crate) fn counted(&self) -> String {
        thousands(self.spread.tally.logs)
    }

    /// Where the filters leave some of the logs out.
    pub(crate) fn of_all(&self) -> String {
        if self.spread.tally.logs == self.logs { String::new() } else { format!("of {}", thousands(self.logs)) }
    }

    pub(crate) fn lost(&self) -> String {
        if self.lost_events == 0 { String::new() } else { counted(self.lost_events, "event") + " lost" }
    }

    /// The outcomes that occur, left to right.
    pub(crate) fn bar(&self) -> Vec<BarPart> {
        parts(&self.spread.outcomes)
    }

    /// The same in words.
    pub(crate) fn spread_words(&self) -> String {
        spread_words(&self.spread.outcomes)
    }
}

/// Shares of a bar.
pub(crate) fn parts(outcomes: &[u64; 6]) -> Vec<BarPart> {
    let whole: u64 = outcomes.iter().sum();
    let mut start = 0.0;
    let mut parts = Vec::new();
    for (outcome, count) in Outcome::ALL.into_iter().zip(outcomes).filter(|(_, count)| **count > 0) {
        let width = *count as f64 / whole as f64;
        parts.push(BarPart { outcome, start: Percent(start), width: Percent(width) });
        start += width;
    }
    parts
}

/// `3 Split engaged, 1 Killed by setting`.
pub(crate) fn spread_words(outcomes: &[u64; 6]) -> String {
    let told = Outcome::ALL.into_iter().zip(outcomes).filter(|(_, count)| **count > 0);
    let told: Vec<_> = told.map(|(outcome, count)| format!("{} {}", thousands(*count), outcome.label())).collect();
    if told.is_empty() { "no logs".to_owned() } else { told.join(", ") }
}

/// The query string of the logs of one machine.
pub(crate) fn logs_of(machine: &str) -> String {
    behind(&Query::default().with("machine", machine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_and_in_the_order_of_outcomes() {
        let parts = parts(&[1, 0, 2, 1, 0, 0]);
        let told: Vec<_> = parts.iter().map(|part| (part.outcome, part.start.0, part.width.0)).collect();
        assert_eq!(told, [(Outcome::ALL[0], 0.0, 0.25), (Outcome::ALL[2], 0.25, 0.5), (Outcome::ALL[3], 0.75, 0.25),]);
        assert_eq!((super::parts(&[0; 6]).len(), spread_words(&[0; 6]).as_str()), (0, "no logs"));
    }
}
