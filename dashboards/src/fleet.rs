//! The page at `/`: how the weave fared over all logs, and the logs behind each number.

use askama::Template;

use wire::Crossing;

use crate::query::CURSOR;
use crate::sentence::Part;
use crate::share::{Percent, counted, thousands};
use crate::table::{self, ShareRow, ShareTable};
use crate::{Account, LogRow, Outcome, Query, filter};

/// How much: logs, and distinct machines among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of logs.
    pub logs: u64,
    /// Number of distinct machines that these logs come from.
    pub machines: u64,
}

impl Tally {
    fn logs(self) -> String {
        counted(self.logs, "log")
    }

    fn machines(self) -> String {
        counted(self.machines, "machine")
    }
}

/// One group of a `group by`: its key, and how much is in it. The page knows the words for the keys, the order of rows and
/// the links; groups with nothing in them may be left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The contract's word, such as `every_present`, or a name from a log; `None` when the logs do not tell.
    pub key: Option<String>,
    /// Logs and machines in the group.
    pub tally: Tally,
}

/// The page at `/`. All counts but [`Self::whole`] are of the logs that [`Self::query`] lets through.
#[derive(Clone, PartialEq, Debug, Template)]
#[template(path = "fleet.html")]
pub struct FleetPage {
    /// The filters that are on, from the page's own URL.
    pub query: Query,
    /// Where agents find this server, `http://127.0.0.1:8787`; for the command that an empty page shows.
    pub server_url: String,
    /// Everything that is stored, without filters.
    pub whole: Tally,
    /// What the filters let through: the denominator of every share.
    pub total: Tally,
    /// By [`crate::Outcome::as_str`] of each log's verdict.
    pub by_outcome: Vec<Count>,
    /// By [`wire::Split::as_str`].
    pub by_split: Vec<Count>,
    /// By [`wire::Crossing::as_str`].
    pub by_crossing: Vec<Count>,
    /// By token. A log with two reasons is in two groups; a log without one is in none.
    pub by_reason: Vec<Count>,
    /// By [`wire::Path::as_str`]; may stay empty.
    pub by_path: Vec<Count>,
    /// By the value that the filter `gpu_pair` takes; may stay empty.
    pub by_gpu_pair: Vec<Count>,
    /// One page of the logs, in the order of `GET /api/v1/logs`.
    pub logs: Vec<LogRow>,
    /// The cursor of the page that follows, for the parameter [`crate::query::CURSOR`]; `None` on the last page.
    pub next_cursor: Option<String>,
    /// Who is signed in; `None` for whoever needs not be.
    pub account: Option<Account>,
}

impl FleetPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    /// What the page finds, in one sentence.
    fn finding(&self) -> String {
        let logs = self.total.logs;
        let of_all = |tally: Tally| {
            format!(
                "{} of {}, on {} of {}",
                thousands(tally.logs),
                self.total.logs(),
                thousands(tally.machines),
                self.total.machines()
            )
        };
        let crossing = tally(&self.by_crossing, Crossing::EveryPresent.as_str());
        let unknown = tally(&self.by_outcome, Outcome::Unknown.as_str());
        if self.whole.logs == 0 {
            "No logs yet".to_owned()
        } else if logs == 0 {
            "No log fits these filters".to_owned()
        } else if crossing.logs > 0 {
            format!("Every frame crosses between GPUs in {}", of_all(crossing))
        } else if unknown.logs * 2 > logs {
            format!("Nobody can tell where the weave ran in {}", of_all(unknown))
        } else {
            format!("No frame crosses needlessly in any of {}", self.total.logs())
        }
    }

    /// `312 of 4,100 logs`.
    fn selected(&self) -> String {
        format!("{} of {}", thousands(self.total.logs), self.whole.logs())
    }

    /// The six outcomes: for the headline numbers, the picture and its table.
    fn outcomes(&self) -> ShareTable {
        self.table("outcome", &self.by_outcome)
    }

    /// The finding of the picture.
    fn picture_title(&self) -> String {
        let largest = self.outcomes().rows.into_iter().rev().max_by_key(|row| row.logs.count);
        largest.map_or_else(String::new, |row| {
            format!("Most often: {}, in {} logs ({})", row.word.label, row.logs, row.logs.percent())
        })
    }

    /// The stacked bar, left to right, without the outcomes that do not occur.
    fn segments(&self) -> Vec<Segment> {
        let mut start = 0.0;
        let mut segments = Vec::new();
        for row in self.outcomes().rows {
            let Some(outcome) = row.word.mark.filter(|_| row.logs.count > 0) else { continue };
            let width = row.logs.fraction();
            segments.push(Segment {
                outcome,
                start: Percent(start),
                width: Percent(width),
                middle: Percent(start + width / 2.0),
                // Narrower than this, the number would touch its neighbours on a phone.
                has_label: width >= 0.16,
                row,
            });
            start += width;
        }
        segments
    }

    /// Every other table that has something to say.
    fn tables(&self) -> Vec<ShareTable> {
        let mut tables = vec![
            self.table("split", &self.by_split),
            self.table("crossing", &self.by_crossing),
            self.table("reason", &self.by_reason),
        ];
        let optional = [("path", &self.by_path), ("gpu_pair", &self.by_gpu_pair)];
        tables.extend(
            optional
                .into_iter()
                .filter(|(_, counts)| !counts.is_empty())
                .map(|(name, counts)| self.table(name, counts)),
        );
        tables
    }

    fn table(&self, name: &'static str, counts: &[Count]) -> ShareTable {
        let (title, column, note) = match name {
            "outcome" => {
                ("What became of the logs", "Outcome", "Each log counts once, so the shares add up to all logs.")
            }
            "split" => ("Split: where the weave ran", "Split", ""),
            "crossing" => ("Crossing: what goes from one GPU to the other", "Crossing", ""),
            "reason" => (
                "Reason: why a split is off",
                "Reason",
                "A log can have several reasons, and none when the split engaged or an old build printed none.",
            ),
            "path" => ("Path: which compositor wrote the log", "Path", ""),
            _ => ("GPU pair: renders on → drives the panel", "GPU pair", ""),
        };
        ShareTable { title, column, note, rows: table::rows(name, counts, self.total, &self.query) }
    }

    /// The URL of the page of logs that follows.
    fn next_href(&self) -> Option<String> {
        self.next_cursor.as_deref().map(|cursor| table::behind(&self.query.at(cursor)))
    }

    /// The URL of the first page of logs, when this is another one.
    fn first_href(&self) -> Option<String> {
        self.query.get(CURSOR).map(|_| table::behind(&self.query.without(CURSOR)))
    }
}

/// A part of the stacked bar.
struct Segment {
    outcome: Outcome,
    start: Percent,
    width: Percent,
    middle: Percent,
    has_label: bool,
    row: ShareRow,
}

fn tally(counts: &[Count], key: &str) -> Tally {
    counts.iter().find(|count| count.key.as_deref() == Some(key)).map(|count| count.tally).unwrap_or_default()
}
