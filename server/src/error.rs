//! Everything a caller can be told, with a JSON face (RFC 9457) for programs and an HTML face for people.

use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use dashboards::{ErrorPage, Frame};
use serde::Serialize;

use crate::observe::{self, RequestId};
use crate::text;

/// Why a request is not answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A query parameter that is unknown or has a value that cannot be.
    #[error("{0}")]
    BadQuery(String),
    /// The address of a page with a setting that it has not, or that cannot be so.
    #[error("{}", .0.happened)]
    Misspelt(Box<Misspelt>),
    /// An upload that cannot be read as a whole.
    #[error("{0}")]
    BadBatch(String),
    /// No token, or one that is unknown or revoked.
    #[error("this needs a valid token: make one with `weavewatch-server token create`")]
    Unauthorized,
    /// The token's scope does not reach so far.
    #[error("the token is valid, but its scope does not allow this")]
    Forbidden,
    /// The token is bound to a machine, and this is about another.
    #[error("the token belongs to another machine")]
    OtherMachine,
    /// A person is signed in, but the request comes from no page of ours.
    #[error("this did not come from a page of this server: load the page again, and repeat it there")]
    Forged,
    /// More than is good for the others; the seconds until there is room.
    #[error("too many requests: wait {0} s")]
    TooOften(u64),
    /// The server starts or stops.
    #[error("the server {0}: try again in a moment")]
    NotReady(&'static str),
    /// A body that cannot be read.
    #[error("{0}")]
    BadRequest(String),
    /// A question for a token that cannot be read.
    #[error("{0}")]
    BadEnrolment(String),
    /// A question for a replay that cannot be read.
    #[error("{0}")]
    BadReplay(String),
    /// There is no such thing.
    #[error("there is nothing at this address")]
    NotFound,
    /// The address exists, the method does not.
    #[error("this address does not take that method")]
    MethodNotAllowed,
    /// A report whose form cannot be read.
    #[error("{0}")]
    BadForm(String),
    /// A report of which nothing can be taken.
    #[error("{0}")]
    BadReport(String),
    /// A report whose file this takes, and has not.
    #[error(
        "the file of this report is missing: the server that took it ended before it was stored, or is still at it; bring \
         it again"
    )]
    FileMissing,
    /// A report above a limit.
    #[error("{0}")]
    ReportTooLarge(String),
    /// An upload above a limit, with the limit.
    #[error("the batch is larger than {0}: send fewer segments at a time")]
    TooLarge(&'static str),
    /// A body that did not come to its end in time.
    #[error("the body did not arrive within {} s: try again, or send less at a time", .0.as_secs())]
    TooSlow(Duration),
    /// An encoding other than zstd, gzip and identity.
    #[error("the content encoding is none of zstd, gzip and identity")]
    UnsupportedEncoding,
    /// The database is busy or away; trying again helps.
    #[error("the database does not answer: try again in a moment")]
    Unavailable(#[source] sqlx::Error),
    /// There is no room for what should be stored; the text is for our own log.
    #[error("the server's disk is full or nearly so: keep the batch and try again when its owner has made room")]
    Full(String),
    /// Our own fault.
    #[error("the server failed to answer: the reason stands in its log")]
    Internal(#[source] anyhow::Error),
}

/// What is misspelt in the address of a page, and the ways out.
#[derive(Debug)]
pub struct Misspelt {
    /// Which setting is wrong, and how.
    pub happened: String,
    /// What it can be, as a sentence; empty where that is no list.
    pub allowed: String,
    /// The same page without what is wrong.
    pub without: String,
    /// What was probably meant, and the address that says it.
    pub meant: Option<(String, String)>,
}

/// An error on a page.
pub struct Html(pub Error);

/// The body of `application/problem+json`.
#[derive(Serialize)]
struct Problem {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: String,
    /// Under which the server's log has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

impl Error {
    /// From a question to the store that can also fail for want of random numbers.
    pub fn from_store(error: anyhow::Error) -> Self {
        // A database that is away is told as such.
        error.downcast::<sqlx::Error>().map_or_else(Self::Internal, Self::from)
    }

    /// Status, stable code and title.
    const fn face(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::BadQuery(_) | Self::Misspelt(_) => (StatusCode::BAD_REQUEST, "bad-query", "Bad query"),
            Self::BadBatch(_) => (StatusCode::BAD_REQUEST, "bad-batch", "Unreadable batch"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized", "Token needed"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden", "Wrong scope"),
            Self::OtherMachine => (StatusCode::FORBIDDEN, "other-machine", "Wrong machine"),
            Self::Forged => (StatusCode::FORBIDDEN, "forged", "Not from a page of ours"),
            Self::TooOften(_) => (StatusCode::TOO_MANY_REQUESTS, "too-often", "Too many requests"),
            Self::NotReady(_) => (StatusCode::SERVICE_UNAVAILABLE, "not-ready", "Not ready"),
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "bad-request", "Unreadable request"),
            Self::BadEnrolment(_) => (StatusCode::BAD_REQUEST, "bad-enrolment", "Unreadable enrolment"),
            Self::BadForm(_) => (StatusCode::BAD_REQUEST, "bad-form", "Unreadable form"),
            Self::BadReport(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad-report", "Unreadable report"),
            Self::FileMissing => (StatusCode::CONFLICT, "file-missing", "File missing"),
            Self::ReportTooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "report-too-large", "Report too large"),
            Self::BadReplay(_) => (StatusCode::BAD_REQUEST, "bad-replay", "Unreadable question"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not-found", "Not found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Batch too large"),
            Self::TooSlow(_) => (StatusCode::REQUEST_TIMEOUT, "too-slow", "Body too slow"),
            Self::UnsupportedEncoding => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-encoding", "Unsupported encoding")
            }
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Database away"),
            Self::Full(_) => (StatusCode::INSUFFICIENT_STORAGE, "disk-full", "Disk full"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal", "Server error"),
        }
    }

    /// One log line per failure of ours, with the whole chain; callers' mistakes are theirs to see.
    fn log(&self) {
        match self {
            Self::Unavailable(source) => tracing::warn!("failed to reach the database: {source}"),
            Self::Full(why) => tracing::error!("refused a request because the disk is full: {why}"),
            Self::Internal(source) => tracing::error!("failed to answer a request: {source:#}"),
            _ => {}
        }
    }

    fn headers(&self, response: &mut Response) {
        let headers = response.headers_mut();
        match self {
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"Weavewatch\""));
            }
            Self::TooOften(wait_s) => {
                headers.insert(RETRY_AFTER, HeaderValue::from(*wait_s));
            }
            Self::Unavailable(_) | Self::NotReady(_) => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Self::Full(_) => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("60"));
            }
            _ => {}
        }
    }

    /// What the reader of a page should know beside the sentence itself: what is safe, what to do.
    const fn advice(&self) -> (&'static str, &'static str) {
        match self {
            Self::BadQuery(_) => ("", "Remove the filter from the address, or start again from the front page."),
            Self::Misspelt(_) => ("", "Take it out of the address, or choose anew on the page."),
            Self::Unauthorized => ("", "Sign in with a token that may read."),
            Self::Forged => ("Nothing was changed.", "Load the page again, and repeat it there."),
            Self::TooOften(_) => ("", "Wait a little, and load the page again."),
            Self::BadRequest(_) => ("Nothing was changed.", "Start again from the front page."),
            Self::Forbidden => ("", "Use a token of scope reader, triager or admin."),
            Self::NotFound | Self::MethodNotAllowed => ("", "Start again from the front page."),
            Self::Unavailable(_) | Self::NotReady(_) | Self::Full(_) | Self::Internal(_) => {
                ("Nothing that was acknowledged is lost.", "Try again; if it stays, look into the server's log.")
            }
            Self::BadForm(_) | Self::BadReport(_) => (
                "Nothing was kept.",
                "Go back, and bring a log, a capture of stderr, saved output of displayxr-cli or a .zip bundle.",
            ),
            Self::FileMissing => ("What was said of it is kept.", "Bring the file again, and compare that report."),
            Self::ReportTooLarge(_) | Self::TooSlow(_) => ("Nothing was kept.", "Go back, and bring less at a time."),
            Self::BadBatch(_)
            | Self::TooLarge(_)
            | Self::UnsupportedEncoding
            | Self::OtherMachine
            | Self::BadReplay(_)
            | Self::BadEnrolment(_) => ("", ""),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.log();
        let (status, code, title) = self.face();
        let problem = Problem {
            r#type: format!("urn:weavewatch:problem:{code}"),
            title,
            status: status.as_u16(),
            // It may quote what the caller sent.
            detail: text::brief(&self.to_string()),
            request_id: observe::id().map(|RequestId(id)| id.to_string()),
        };
        let body = serde_json::to_vec(&problem).expect("five plain fields are always JSON");
        let mut response = (status, [(CONTENT_TYPE, "application/problem+json")], body).into_response();
        self.headers(&mut response);
        response
    }
}

impl IntoResponse for Html {
    fn into_response(self) -> Response {
        let Self(error) = self;
        error.log();
        let (status, ..) = error.face();
        let (safe, next_step) = error.advice();
        let mut page = ErrorPage {
            frame: Frame::default(),
            status: status.as_u16(),
            happened: sentence(&text::brief(&error.to_string())),
            safe: safe.to_owned(),
            next_step: next_step.to_owned(),
            allowed: String::new(),
            ways: Vec::new(),
        };
        if let Error::Misspelt(own) = &error {
            page.allowed.clone_from(&own.allowed);
            let meant = own.meant.iter().map(|(words, href)| (format!("Did you mean {words}?"), href.clone()));
            page.ways = meant.chain([("The same page without it".to_owned(), own.without.clone())]).collect();
        }
        let Ok(html) = page.render() else { return status.into_response() };
        let mut response = (status, axum::response::Html(html)).into_response();
        error.headers(&mut response);
        response
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let trouble = match &error {
            sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::WorkerCrashed => Trouble::Passing,
            sqlx::Error::Database(database) => trouble(database.code().as_deref().unwrap_or_default()),
            _ => Trouble::Ours,
        };
        match trouble {
            Trouble::Full => Self::Full(error.to_string()),
            Trouble::Passing => Self::Unavailable(error),
            Trouble::Ours => Self::Internal(anyhow::Error::new(error).context("failed to use the database")),
        }
    }
}

/// What an error of the database means to a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    Full,
    Passing,
    Ours,
}

/// Codes of PostgreSQL have five characters, those of SQLite are numbers whose lowest byte is the kind.
fn trouble(code: &str) -> Trouble {
    if code.len() == 5 {
        return match code {
            "53100" => Trouble::Full,
            // What a log refers to went with another machine in between (`store/learned.rs`): once more makes it anew. The
            // standby of a pair that changes its roles; a deadlock; a lock or a statement that took too long.
            "23503" | "25006" | "40001" | "40P01" | "55P03" | "57014" | "58030" => Trouble::Passing,
            // The connection is lost; memory or connections are used up; the server stops or starts.
            _ if ["08", "53", "57P"].iter().any(|class| code.starts_with(class)) => Trouble::Passing,
            _ => Trouble::Ours,
        };
    }
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(13) => Trouble::Full,
        // Busy, locked, out of memory, read only, failed to read or write, failed to open.
        Ok(5..=8 | 10 | 14) => Trouble::Passing,
        _ => Trouble::Ours,
    }
}

/// A lower-case fragment as a sentence.
fn sentence(fragment: &str) -> String {
    let mut chars = fragment.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_passing_trouble_are_told_apart() {
        for code in ["13", "53100"] {
            assert_eq!(trouble(code), Trouble::Full, "{code}");
        }
        // 517 is a snapshot that another writer overtook, 778 a write and 4874 a mapped file that failed.
        for code in
            ["5", "517", "6", "8", "10", "778", "4874", "14", "08006", "53300", "57P01", "57P03", "40P01", "23503"]
        {
            assert_eq!(trouble(code), Trouble::Passing, "{code}");
        }
        // Constraints, missing tables, a damaged file.
        for code in ["", "1", "11", "19", "1555", "26", "23505", "42P01", "XX001"] {
            assert_eq!(trouble(code), Trouble::Ours, "{code}");
        }
    }
}
