//! The page where a person pastes a token, and what the other pages show of whoever is signed in.

use askama::Template;

use crate::frame::Frame;

/// The form of `/sign-in`. It also stands in place of a page that wants a session.
#[derive(Clone, PartialEq, Eq, Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    /// What stands around it.
    pub frame: Frame,
    /// The address to go on to, such as `/?split=off`.
    pub back: String,
    /// Why the last try failed, as a sentence; empty at the first.
    pub complaint: String,
    /// The browser keeps the session only when it came by HTTPS.
    pub needs_tls: bool,
}

/// Who is signed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// The name of the token; may be empty.
    pub name: String,
    /// What the form to sign out sends back.
    pub csrf: String,
}

impl SignInPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }
}
