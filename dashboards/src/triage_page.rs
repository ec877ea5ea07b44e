//! The page at `/triage`: bring logs, and find what was brought before.

use askama::Template;
use wire::ReportState;

use crate::frame::Frame;
use crate::query::CURSOR;
use crate::share::{counted, thousands};
use crate::{Outcome, Query};

/// What the list of reports can be narrowed by, in the order of the form.
pub const REPORT_FILTERS: [&str; 4] = ["q", "state", "outcome", "machine"];

/// Characters of a name of a file in the list.
const NAME_CHARS: usize = 100;

/// A form for logs, and a page of the reports that are kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Template)]
#[template(path = "triage.html")]
pub struct TriagePage {
    /// What stands around it.
    pub frame: Frame,
    /// [`REPORT_FILTERS`] and the cursor.
    pub query: Query,
    /// The reader may bring logs.
    pub may_bring: bool,
    /// The largest upload, in bytes.
    pub most_bytes: u64,
    /// All reports that are kept, without filters.
    pub kept: u64,
    /// Newest first.
    pub reports: Vec<ReportLine>,
    /// For the page that follows.
    pub next_cursor: Option<String>,
}

/// One report of the list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportLine {
    /// Its id, which is its address.
    pub id: String,
    /// When it came, RFC 3339.
    pub created: String,
    /// How far people are with it.
    pub state: ReportState,
    /// The build in which it is fixed.
    pub build: Option<String>,
    /// Who looks after it.
    pub assignee: Option<String>,
    /// Pseudonym of the machine that a bundle names.
    pub machine: Option<String>,
    /// Names of its first files.
    pub files: Vec<String>,
    /// More of them.
    pub files_left_out: u64,
    /// Logs by outcome.
    pub outcomes: Vec<(Outcome, u64)>,
    /// What was noted.
    pub notes: u64,
}

/// Something to choose: value, label, whether it is chosen.
pub(crate) type Choice = (&'static str, &'static str, bool);

impl TriagePage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn is_narrowed(&self) -> bool {
        REPORT_FILTERS.iter().any(|name| self.query.get(name).is_some())
    }

    /// Above the list.
    fn list_title(&self) -> String {
        match (self.is_narrowed(), self.kept) {
            (_, 0) => "No reports yet".to_owned(),
            (false, kept) => counted(kept, "report"),
            (true, kept) if self.reports.is_empty() => format!("None of {} fits", counted(kept, "report")),
            (true, kept) => format!("Those of {} that fit", counted(kept, "report")),
        }
    }

    fn states(&self) -> Vec<Choice> {
        let chosen = self.query.get("state");
        let choice = |state: ReportState| (state.as_str(), state.label(), chosen == Some(state.as_str()));
        ReportState::ALL.into_iter().map(choice).collect()
    }

    fn outcomes(&self) -> Vec<Choice> {
        let chosen = self.query.get("outcome");
        let choice = |outcome: Outcome| (outcome.as_str(), outcome.label(), chosen == Some(outcome.as_str()));
        Outcome::ALL.into_iter().map(choice).collect()
    }

    fn typed(&self, name: &str) -> &str {
        self.query.get(name).unwrap_or_default()
    }

    fn next_href(&self) -> Option<String> {
        self.next_cursor.as_deref().map(|cursor| self.query.at(cursor).href("/triage"))
    }

    fn first_href(&self) -> Option<String> {
        self.query.get(CURSOR).map(|_| self.query.without(CURSOR).href("/triage"))
    }

    fn most_mib(&self) -> String {
        format!("{} MiB", thousands(self.most_bytes >> 20))
    }
}

impl ReportLine {
    fn more_files(&self) -> String {
        counted(self.files_left_out, "more file")
    }

    /// A name as long as a list can bear; the report has it whole.
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn short(&self, name: &str) -> String {
        let mut chars = name.chars();
        let head: String = chars.by_ref().take(NAME_CHARS).collect();
        if chars.next().is_some() { head + "…" } else { head }
    }

    fn noted(&self) -> String {
        counted(self.notes, "note")
    }

    fn short_machine(&self) -> String {
        self.machine.iter().flat_map(|machine| machine.chars().take(8)).collect()
    }
}
