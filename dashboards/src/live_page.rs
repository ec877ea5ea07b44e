//! The page at `/live`: the logs that arrived last, newest first; with scripts also those that arrive.

use askama::Template;

use crate::LogRow;
use crate::frame::Frame;

/// The page.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "live.html")]
pub struct LivePage {
    /// What stands around it.
    pub frame: Frame,
    /// Newest arrival first.
    pub logs: Vec<LogRow>,
    /// They arrived since the server started; else they are those that started last.
    pub arrived: bool,
}

/// One row of it, by itself.
#[derive(Clone, PartialEq, Debug, Template)]
#[template(path = "live_row.html")]
pub struct LiveRow {
    /// The log.
    pub log: LogRow,
}

impl LivePage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }
}

impl LiveRow {
    /// The row. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }
}
