//! The page for a request that went wrong: what happened, what is safe, what to do.

use askama::Template;

use crate::frame::Frame;

/// A request that the server answers with an error, for people.
#[derive(Clone, PartialEq, Eq, Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// What stands around it.
    pub frame: Frame,
    /// The HTTP status, 404 for instance.
    pub status: u16,
    /// What happened, as a sentence or a fragment; the style writes its first letter large.
    pub happened: String,
    /// What did not suffer, such as "Nothing that was acknowledged is lost."; may stay empty.
    pub safe: String,
    /// What the reader can do about it; may stay empty.
    pub next_step: String,
    /// What would have been right, as a sentence; may stay empty.
    pub allowed: String,
    /// Links that lead on: words and address.
    pub ways: Vec<(String, String)>,
}

impl ErrorPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }
}
