//! How reports look to a program: the form that is sent, and what is answered. The objects of logs are kept as the text
//! that the command line prints, so no type of the server holds them.

#![expect(dead_code, reason = "shapes to be described: `reports::answer` writes them")]

use utoipa::ToSchema;

use super::ScanReport;
use crate::store::{Note, Storage};

/// What is brought: logs, captures, saved output of `displayxr-cli`, `.zip` bundles.
#[derive(ToSchema)]
pub struct ReportForm {
    /// Any number of parts with this name.
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<Vec<u8>>,
}

/// What an upload says. It is kept.
#[derive(ToSchema)]
pub struct ReportCreated {
    /// Cannot be guessed.
    id: String,
    /// Where people read it.
    #[schema(examples("/reports/q0zVZPzvTGqDxsI5XW7Xbg"))]
    url: String,
    /// By start, then name.
    logs: Vec<ReportLog>,
    refused: Vec<ReportRefusal>,
}

/// A report with a page of its logs.
#[derive(ToSchema)]
pub struct ReportWhole {
    id: String,
    url: String,
    created: String,
    /// When it was read last.
    analysed: String,
    /// By which version of the rules.
    rules: i64,
    /// Pseudonym of the PC that a bundle names.
    machine: Option<String>,
    /// How far people are with it.
    state: ReportState,
    /// The build in which it is fixed.
    build: Option<String>,
    /// Who looks after it.
    assignee: Option<String>,
    /// Oldest first.
    notes: Vec<Note>,
    files: Vec<ReportFile>,
    refused: Vec<ReportRefusal>,
    logs: Vec<ReportExplained>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<i64>,
}

/// How far people are with a report.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum ReportState {
    /// Nobody has looked at it.
    New,
    /// It is a fault, and it is not fixed.
    Confirmed,
    /// A build no longer has the fault.
    Fixed,
    /// The runtime did what it should.
    NotAFault,
}

/// The report, or with `log` one log of it.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ReportAnswer {
    /// Without `log`.
    Whole(Box<ReportWhole>),
    /// With it.
    Log(Box<ReportExplained>),
}

/// A file as it was brought.
#[derive(ToSchema)]
pub struct ReportFile {
    name: String,
    bytes: i64,
    /// Where it is: files are stored right behind the answer to their upload.
    storage: Storage,
}

/// A file or a member of a bundle that was left out, wholly or from a place on.
#[derive(ToSchema)]
pub struct ReportRefusal {
    file: String,
    reason: String,
}

/// A log of a report, as `weavewatch scan` prints it.
#[derive(ToSchema)]
pub struct ReportLog {
    #[serde(flatten)]
    scan: ScanReport,
    /// Its place in the report.
    number: i64,
    /// The same log as agents sent it.
    same_as: Vec<ReportSame>,
}

/// A log of a report, as `weavewatch explain --format json` prints it.
#[derive(ToSchema)]
pub struct ReportExplained {
    #[serde(flatten)]
    scan: ScanReport,
    /// The evidence.
    #[schema(value_type = Vec<Object>)]
    timeline: Vec<serde_json::Value>,
    /// Expected beside observed.
    #[schema(value_type = Object)]
    replay: serde_json::Value,
    /// What would make it better.
    #[schema(value_type = Vec<Object>)]
    advice: Vec<serde_json::Value>,
    /// The verdict in words.
    summary: String,
    questions: Vec<String>,
    caveats: Vec<String>,
    /// Its place in the report.
    number: i64,
    /// The same log as agents sent it.
    same_as: Vec<ReportSame>,
}

/// A log that an agent sent.
#[derive(ToSchema)]
pub struct ReportSame {
    id: String,
    machine: String,
}
