//! The page of one report: what was brought, and what each log in it says.

use askama::Template;

use crate::frame::Frame;

/// A report for people. Texts may come from logs and file names.
#[derive(Clone, PartialEq, Eq, Debug, Template)]
#[template(path = "report.html")]
pub struct ReportPage {
    /// What stands around it.
    pub frame: Frame,
    /// Its id, which is its address.
    pub id: String,
    /// When it came, RFC 3339.
    pub created: String,
    /// Pseudonym of the machine that a bundle names.
    pub machine: Option<String>,
    /// Names of its files.
    pub files: Vec<String>,
    /// What was left out, each with its reason.
    pub refused: Vec<(String, String)>,
    /// Headings of the table of logs.
    pub columns: Vec<&'static str>,
    /// The logs of this page.
    pub logs: Vec<ReportLogView>,
    /// Where the next page begins, if there is one.
    pub next: Option<i64>,
}

/// One log of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportLogView {
    /// Its place in the report.
    pub number: i64,
    /// As many as there are columns.
    pub cells: Vec<String>,
    /// Name of the file, with that of its bundle.
    pub file: String,
    /// The verdict in a few sentences.
    pub sentence: String,
    /// What to ask next.
    pub questions: Vec<String>,
    /// Ids of the logs of agents that are this one.
    pub same_as: Vec<String>,
}

impl ReportPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }
}
