//! The page at `/`: how the weave fared over all logs, and the logs behind each number.

use askama::Template;

use crate::{LogRow, Query};

/// How much: logs, and distinct machines among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of logs.
    pub logs: u64,
    /// Number of distinct machines that these logs come from.
    pub machines: u64,
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
}

impl FleetPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }
}
