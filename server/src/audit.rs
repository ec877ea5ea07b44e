//! Who did what, from where: the nouns of the audit log, and `GET /api/v1/audit`, where an admin reads it (issue 5).

use std::convert::Infallible;
use std::net::SocketAddr;

use anyhow::Context;
use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts, State};
use axum::http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::args::Database;
use crate::auth::Caller;
use crate::error::Error;
use crate::observe::RequestId;
use crate::openapi::Paging;
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::say;

/// What is worth a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A token was made.
    TokenMade,
    /// A token was revoked.
    TokenRevoked,
    /// A machine got a token of its own.
    Enrolled,
    /// All that was held of a machine was deleted.
    MachineDeleted,
    /// A field report was deleted.
    ReportDeleted,
    /// Somebody said how far a field report is, took it on, or noted something.
    ReportChanged,
    /// A person signed in.
    SignedIn,
    /// Somebody tried to. Not each time: attempts are counted, and told from time to time.
    SignInFailed,
    /// A person signed out.
    SignedOut,
    /// Verdicts were made anew.
    Rejudged,
    /// A backup was put back.
    Restored,
    /// Old rows were deleted.
    Retained,
    /// A rule of `serve --alerts` found too much, and people are told.
    AlertRaised,
    /// What it found is over, and people are told.
    AlertResolved,
}

impl Deed {
    /// The word of the table and of the answer.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TokenMade => "token_made",
            Self::TokenRevoked => "token_revoked",
            Self::Enrolled => "enrolled",
            Self::MachineDeleted => "machine_deleted",
            Self::ReportDeleted => "report_deleted",
            Self::ReportChanged => "report_changed",
            Self::SignedIn => "signed_in",
            Self::SignInFailed => "sign_in_failed",
            Self::SignedOut => "signed_out",
            Self::Rejudged => "rejudged",
            Self::Restored => "restored",
            Self::Retained => "retained",
            Self::AlertRaised => "alert_raised",
            Self::AlertResolved => "alert_resolved",
        }
    }
}

/// Who does something. Handlers take it as an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// Id of the token, `command line`, or `nobody`.
    pub who: String,
    /// Address that the request came from.
    pub peer: Option<String>,
    /// Id of the request.
    pub request: Option<String>,
}

impl Actor {
    /// Whoever may start the program on the database.
    pub fn command_line() -> Self {
        Self { who: "command line".to_owned(), peer: None, request: None }
    }

    /// The sender of a request, as the bearer of this token.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        Self { who: token.to_owned(), ..self }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Actor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let extensions = &parts.extensions;
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self {
            who: extensions.get::<Caller>().map_or_else(|| "nobody".to_owned(), |caller| caller.token.clone()),
            peer: peer.map(|ConnectInfo(address)| address.ip().to_canonical().to_string()),
            request: extensions.get::<RequestId>().map(|RequestId(id)| id.to_string()),
        })
    }
}

/// A row of the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct AuditRow {
    /// Sorts by time.
    pub id: String,
    /// RFC 3339.
    pub at: String,
    /// Id of a token, `command line`, or `nobody`.
    pub who: String,
    /// Address that the request came from.
    pub peer: Option<String>,
    /// A word of [`Deed`].
    pub deed: String,
    /// What it was done to.
    pub object: String,
    /// How it went, in a few words.
    pub outcome: String,
    /// Id of the request.
    pub request: Option<String>,
}

/// A page of the audit log, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditPage)]
pub struct Page {
    items: Vec<AuditRow>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// Who did what, newest first.
#[utoipa::path(
    get, path = "/api/v1/audit", operation_id = "audit", tag = "administration",
    params(Paging),
    responses((status = 200, description = "The page", body = Page), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Page>, Error> {
    let mut before = None;
    let mut limit = DEFAULT_LIMIT;
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() => {}
            "cursor" if value.len() <= 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit()) => before = Some(value),
            "cursor" => return Err(query::no_cursor()),
            "limit" => limit = query::limit(&value)?,
            _ => return Err(unknown(&name)),
        }
    }
    let (items, next) = app.store.audit(before.as_deref(), limit).await?;
    Ok(Json(Page { items, next }))
}

/// The command `audit`: the newest rows, oldest of them first, as they would have been printed when they came.
///
/// # Errors
/// What the database or the output says.
pub async fn command(limit: u32, database: Database) -> anyhow::Result<()> {
    let store = database.open().await?;
    let found = store.audit(None, limit).await;
    store.close().await;
    let (rows, _) = found?;
    let head = format!("{:<24}  {:<12}  {:<39}  {:<15}  {:<32}  outcome", "at", "who", "from", "deed", "object");
    let lines = rows.iter().rev().map(|row| {
        let (from, object) = (row.peer.as_deref().unwrap_or("-"), wire::cell::terminal(&row.object));
        let outcome = wire::cell::terminal(&row.outcome);
        format!("{:<24}  {:<12}  {from:<39}  {:<15}  {object:<32}  {outcome}", row.at, row.who, row.deed)
    });
    let text = [head].into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    say::unless_gone(say::data(text)).context("failed to print the audit log")
}
