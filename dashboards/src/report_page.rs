//! The page at `/reports/{id}`: what was brought, what one log of it says like a lab report, and how far people are with it.

use askama::Template;
use wire::ReportState;

use crate::frame::Frame;
use crate::log_page::asked;
use crate::share::{counted, thousands};
use crate::{LogRow, Outcome, Told, words};

/// A report for people. Texts may come from logs and file names.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "report.html")]
pub struct ReportPage {
    /// What stands around it.
    pub frame: Frame,
    /// Its id, which is its address.
    pub id: String,
    /// The whole address, to send on.
    pub permalink: String,
    /// When it came, RFC 3339.
    pub created: String,
    /// The machine that a bundle names, or that sent the same log.
    pub machine: Option<String>,
    /// Names of its files.
    pub files: Vec<String>,
    /// They are in the memory of this server, which is about to store them.
    pub is_pending: bool,
    /// They are not there; what was said of them is.
    pub is_missing: bool,
    /// What was left out, each with its reason.
    pub refused: Vec<(String, String)>,
    /// How people stand to it.
    pub standing: Standing,
    /// All its logs by outcome.
    pub outcomes: Vec<(Outcome, u64)>,
    /// The logs of this page, by start; those of reports have neither id nor machine.
    pub logs: Vec<(i64, LogRow)>,
    /// Where the next page begins, if there is one.
    pub next: Option<i64>,
    /// This is not the first page.
    pub is_later: bool,
    /// The log that is told in full, by its place in the report.
    pub chosen: Option<(i64, LogRow)>,
    /// What is said of it; `None` when its files are gone.
    pub told: Option<Told>,
    /// Ids of the logs of agents that are this one.
    pub same_as: Vec<String>,
    /// The page of what changed since the machine's last good log.
    pub since_href: Option<String>,
    /// The issue tracker's form, filled in.
    pub issue_href: Option<String>,
}

/// How far people are with a report.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// How far.
    pub state: ReportState,
    /// The build in which it is fixed.
    pub build: Option<String>,
    /// Who looks after it.
    pub assignee: Option<String>,
    /// Oldest first.
    pub notes: Vec<NoteLine>,
    /// The reader may change it.
    pub may_change: bool,
}

/// What somebody noted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoteLine {
    /// When, RFC 3339.
    pub at: String,
    /// Name or id of whoever it was.
    pub who: String,
    /// What.
    pub text: String,
}

impl ReportPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        match &self.chosen {
            Some((_, log)) => format!("{}: {}", log.outcome().label(), log.program()),
            None => "Report".to_owned(),
        }
    }

    fn total(&self) -> u64 {
        self.outcomes.iter().map(|(_, logs)| logs).sum()
    }

    /// `Log 3 of 12 in this report`.
    fn place(&self) -> String {
        format!("Log {} of {} in this report", self.number() + 1, thousands(self.total()))
    }

    fn logs_title(&self) -> String {
        let parts: Vec<_> = self
            .outcomes
            .iter()
            .map(|(outcome, logs)| format!("{} {}", thousands(*logs), outcome.label().to_lowercase()))
            .collect();
        format!("{} in this report: {}", counted(self.total(), "log"), parts.join(", "))
    }

    fn number(&self) -> i64 {
        self.chosen.as_ref().map_or(0, |(number, _)| *number)
    }

    /// The log as the page of comparisons takes it.
    fn side(&self) -> String {
        format!("{}.{}", self.id, self.number())
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
    fn is_shown(&self, line: &u64) -> bool {
        self.told.as_ref().is_some_and(|told| told.is_shown(*line))
    }

    fn findings(&self) -> Vec<(&wire::Finding, &'static str)> {
        self.chosen.iter().flat_map(|(_, log)| asked(&log.report, self.told.as_ref())).collect()
    }

    fn states(&self) -> impl Iterator<Item = (ReportState, bool)> {
        ReportState::ALL.into_iter().map(|state| (state, state == self.standing.state))
    }
}

impl LogRow {
    /// `stage_a_failed, no_hwnd`, or what stands for none.
    pub(crate) fn reasons(&self) -> String {
        let tokens: Vec<_> = self.report.verdict.reasons.iter().map(wire::Reason::as_str).collect();
        if tokens.is_empty() { "none".to_owned() } else { tokens.join(", ") }
    }

    /// Both adapters in few words.
    pub(crate) fn gpus(&self) -> String {
        let verdict = &self.report.verdict;
        let name = |adapter: Option<&wire::Adapter>| adapter.map_or("?", |own| own.name.as_str()).to_owned();
        match (&verdict.render, &verdict.scanout) {
            (None, None) => words::word("render", crate::query::NOT_TOLD).label,
            (Some(render), Some(scanout)) if render == scanout => render.name.clone(),
            (render, scanout) => format!("{} → {}", name(render.as_ref()), name(scanout.as_ref())),
        }
    }
}
