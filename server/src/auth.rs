//! Who may call what: tokens and their scopes, people who are signed in, and the exception for a browser on the server's own
//! machine.

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use clap::ValueEnum;

use crate::app::App;
use crate::error::{Error, Html};
use crate::{forgery, observe, origin, sessions, sign_in};

/// What a token allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ValueEnum)]
pub enum Scope {
    /// Get a token for a machine, nothing else: it is handed out with the agent.
    Enrolment,
    /// Upload, nothing else: it lies on many PCs. One that a machine got by enrolling is good for that machine only, and
    /// may delete what the server holds of it.
    Agent,
    /// Read.
    Reader,
    /// Read, and bring and delete reports.
    Triager,
    /// Read, delete machines, make and revoke tokens, read the audit log.
    Admin,
}

/// What a route asks for. Every route names one, so that none is open by accident.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Anybody: liveness and readiness.
    Open,
    /// A token of scope enrolment.
    Enroll,
    /// A token of scope agent; the handler asks whose.
    Upload,
    /// A token of scope agent, of which the handler asks that it be that machine's own, or of scope admin.
    Delete,
    /// A token that may read.
    Read,
    /// A token that may bring and delete reports.
    Triage,
    /// A page: open to browsers on this machine, else a session, or a token that may read.
    Page,
    /// A form of a page that brings or changes reports: as [`Access::Triage`], answered by pages.
    TriagePage,
    /// A token of scope admin.
    Admin,
    /// A page for administrators; never open without a session or a token.
    AdminPage,
}

/// Who sent a request. The guard leaves it to the handlers of all routes but those that may be open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Caller {
    /// Id of the token, as `token list` shows it.
    pub token: String,
    /// What it allows.
    pub scope: Scope,
    /// The only machine that it is good for; `None`: any.
    pub machine: Option<String>,
    /// Who uses the token.
    pub name: String,
    /// For a person who is signed in: what the forms of pages send back (`forgery`).
    pub csrf: Option<String>,
}

/// A route's access with the state that decides it.
#[derive(Clone)]
pub struct Guard {
    /// Tokens and mode.
    pub app: App,
    /// What the route asks for.
    pub access: Access,
    /// Its row in the table.
    pub path: &'static str,
}

impl Caller {
    /// Makes sure that the token is good for this machine.
    ///
    /// # Errors
    /// [`Error::OtherMachine`].
    pub(crate) fn may_speak_for(&self, machine: &str) -> Result<(), Error> {
        if self.machine.as_deref().is_none_or(|own| own == machine) { Ok(()) } else { Err(Error::OtherMachine) }
    }

    /// Makes sure that the token is this machine's own.
    ///
    /// # Errors
    /// [`Error::OtherMachine`], or [`Error::Forbidden`] when it is no machine's.
    pub(crate) fn must_be(&self, machine: &str) -> Result<(), Error> {
        if self.machine.is_none() { Err(Error::Forbidden) } else { self.may_speak_for(machine) }
    }
}

impl Access {
    /// Whether a person is answered, by a page.
    pub const fn is_page(self) -> bool {
        matches!(self, Self::Page | Self::TriagePage | Self::AdminPage)
    }
}

impl Scope {
    /// The word of the command line and of the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enrolment => "enrolment",
            Self::Agent => "agent",
            Self::Reader => "reader",
            Self::Triager => "triager",
            Self::Admin => "admin",
        }
    }

    /// The scope with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|scope| scope.as_str() == word)
    }

    /// Whether it may look at everything, as a person who signs in wants to.
    pub const fn reads(self) -> bool {
        matches!(self, Self::Reader | Self::Triager | Self::Admin)
    }

    /// Whether it reaches so far.
    pub(crate) fn opens(self, access: Access) -> bool {
        match access {
            Access::Open => true,
            Access::Enroll => self == Self::Enrolment,
            Access::Upload => self == Self::Agent,
            Access::Delete => matches!(self, Self::Agent | Self::Admin),
            Access::Read | Access::Page => self.reads(),
            Access::Triage | Access::TriagePage => matches!(self, Self::Triager | Self::Admin),
            Access::Admin | Access::AdminPage => self == Self::Admin,
        }
    }
}

/// The middleware of every route.
pub async fn require(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let (mut parts, mut body) = request.into_parts();
    let mut checked = check(&guard, &parts).await;
    if let Ok(Some(Caller { csrf: Some(expected), .. })) = &checked
        && !parts.method.is_safe()
    {
        match forgery::refuse(&parts, body, expected, guard.app.body_timeout).await {
            Ok(read) => body = read,
            Err(error) => {
                checked = Err(error);
                body = axum::body::Body::empty();
            }
        }
    }
    match checked {
        Ok(Some(caller)) => {
            observe::note_token(&caller.token);
            parts.extensions.insert(caller);
            next.run(Request::from_parts(parts, body)).await
        }
        Ok(None) => next.run(Request::from_parts(parts, body)).await,
        Err(Error::Unauthorized) if guard.access.is_page() => sign_in::ask(&parts),
        Err(error) if guard.access.is_page() => Html(error).into_response(),
        Err(error) => error.into_response(),
    }
}

/// Who it is, if it may; `None` is anybody.
async fn check(guard: &Guard, parts: &Parts) -> Result<Option<Caller>, Error> {
    let Guard { app, access, path } = guard;
    observe::note_route(path);
    if *access == Access::Open {
        return Ok(None);
    }
    let caller = match parts.headers.get(AUTHORIZATION) {
        Some(presented) => Some(bearer(app, parts, presented).await?),
        None => sessions::of(app, parts).await?,
    };
    if let Some(caller) = caller {
        if !caller.scope.opens(*access) {
            return Err(Error::Forbidden);
        }
        match access {
            Access::Enroll => app.limits.enroll(&caller)?,
            Access::Upload => app.limits.upload(&caller)?,
            _ => app.limits.read(&caller)?,
        }
        return Ok(Some(caller));
    }
    let open_here = *access == Access::Page || (app.open_on_loopback && *access == Access::Read);
    // Nobody is asked for a token here, so nothing is changed here either: but for reports that the demo throws away, and
    // which no foreign page can bring.
    let of_demo = app.open_on_loopback
        && matches!(access, Access::Triage | Access::TriagePage)
        && origin::source(parts) != origin::Source::Foreign;
    let may = open_here && parts.method.is_safe() || of_demo;
    let is_open = may && app.bound_to_loopback && origin::is_local(parts);
    if is_open { Ok(None) } else { Err(Error::Unauthorized) }
}

/// Whose token stands in the header `Authorization`.
async fn bearer(app: &App, parts: &Parts, presented: &HeaderValue) -> Result<Caller, Error> {
    let secret = presented.to_str().ok().and_then(|header| {
        let (scheme, secret) = header.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
    });
    app.identify(parts, secret.unwrap_or_default()).await?.ok_or(Error::Unauthorized)
}
