//! The pages at `/tokens` and `/audit`, for administrators.

use askama::Template;

use crate::frame::Frame;
use crate::query::encode;

/// Scopes with what they allow, as the form offers them.
const SCOPES: [(&str, &str); 5] = [
    ("reader", "reader: look at everything"),
    ("triager", "triager: also bring and judge reports"),
    ("enrolment", "enrolment: handed out with the agent, gets a token for each machine"),
    ("agent", "agent: upload"),
    ("admin", "admin: everything"),
];

/// Who may do what.
#[derive(Clone, PartialEq, Eq, Debug, Default, Template)]
#[template(path = "tokens.html")]
pub struct TokensPage {
    /// What stands around it.
    pub frame: Frame,
    /// The token that was just made: what it is called, and its secret, which nobody can show again.
    pub made: Option<(String, String)>,
    /// Tokens, without their secrets.
    pub tokens: Vec<TokenLine>,
    /// Where the next page begins.
    pub next: Option<String>,
}

/// One token.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TokenLine {
    /// Public.
    pub id: String,
    /// Who uses it.
    pub name: String,
    /// What it may do.
    pub scope: String,
    /// The only machine that it is good for.
    pub machine: Option<String>,
    /// RFC 3339.
    pub created: String,
    /// RFC 3339.
    pub expires: Option<String>,
    /// RFC 3339; `None` while it is valid.
    pub revoked: Option<String>,
}

/// Who did what.
#[derive(Clone, PartialEq, Eq, Debug, Default, Template)]
#[template(path = "audit.html")]
pub struct AuditPage {
    /// What stands around it.
    pub frame: Frame,
    /// Newest first.
    pub deeds: Vec<DeedLine>,
    /// Where the next page begins.
    pub next: Option<String>,
}

/// One line of the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeedLine {
    /// RFC 3339.
    pub at: String,
    /// Id of a token, `command line` or `nobody`.
    pub who: String,
    /// Where the request came from.
    pub peer: Option<String>,
    /// The word for what was done.
    pub deed: String,
    /// To what.
    pub object: String,
    /// How it went.
    pub outcome: String,
    /// Id of the request, as the server's own log has it.
    pub request: Option<String>,
}

impl TokensPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn next_href(&self) -> Option<String> {
        self.next.as_deref().map(|cursor| at("/tokens", cursor))
    }
}

impl AuditPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn next_href(&self) -> Option<String> {
        self.next.as_deref().map(|cursor| at("/audit", cursor))
    }
}

impl DeedLine {
    /// `token made`.
    fn deed(&self) -> String {
        self.deed.replace('_', " ")
    }
}

fn at(path: &str, cursor: &str) -> String {
    let mut href = format!("{path}?cursor=");
    encode(cursor, &mut href);
    href
}
