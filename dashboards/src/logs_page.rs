//! The page at `/logs`: the logs behind every number, each with its verdict and its lines of evidence.

use askama::Template;

use crate::LogRow;
use crate::frame::Frame;
use crate::query::CURSOR;
use crate::selection::Selection;
use crate::sentence::Part;

/// One page of the logs that the filters let through.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "logs.html")]
pub struct LogsPage {
    /// What stands around it.
    pub frame: Frame,
    /// Which logs.
    pub selection: Selection,
    /// In the order of `GET /api/v1/logs`.
    pub logs: Vec<LogRow>,
    /// The cursor of the page that follows, for the parameter [`crate::query::CURSOR`]; `None` on the last page.
    pub next_cursor: Option<String>,
}

impl LogsPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        match (self.selection.whole.logs, self.selection.total.logs) {
            (0, _) => "No logs yet".to_owned(),
            (_, 0) => "No log fits these filters".to_owned(),
            _ => format!("{} of {}", self.selection.total.logs(), self.selection.total.machines()),
        }
    }

    /// The URL of the page of logs that follows.
    fn next_href(&self) -> Option<String> {
        self.next_cursor.as_deref().map(|cursor| self.selection.query.at(cursor).href("/logs"))
    }

    /// The URL of the first page of logs, when this is another one.
    fn first_href(&self) -> Option<String> {
        let query = &self.selection.query;
        query.get(CURSOR).map(|_| query.without(CURSOR).href("/logs"))
    }

    /// The same logs for programs.
    fn json_href(&self) -> String {
        self.selection.query.filters_only().href("/api/v1/logs")
    }
}
