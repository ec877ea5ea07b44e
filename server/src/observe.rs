//! Every request under one id: in the answer, in each line of the log, in a problem. And one line in the log and one count for
//! each, which hold no secret and nothing that people typed into a query.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument as _, Span};

use crate::telemetry;
use crate::text;

/// The id of a request; handlers find it among the request's extensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestId(pub Arc<str>);

/// Where a caller or a proxy names it, and where the answer does.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over.
const ID_LIMIT: usize = 64;
/// For RUST_LOG.
const TARGET: &str = "weavewatch::request";
/// What is asked by machines all the time, and what comes with every page.
const QUIET: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/static/{name}"];

/// What answers say when the caller went away before: the word of nginx for it, which no caller sees.
const GONE: u16 = 499;

tokio::task_local! {
    static CURRENT: Arc<Current>;
}

/// What is known of a request while it is answered.
struct Current {
    id: RequestId,
    method: &'static str,
    bytes_in: Option<u64>,
    started: Instant,
    span: Span,
    route: OnceLock<&'static str>,
    token: OnceLock<String>,
}

/// The id of the request that this task answers.
pub fn id() -> Option<RequestId> {
    CURRENT.try_with(|current| current.id.clone()).ok()
}

/// Notes to which row of the table the request belongs.
pub fn note_route(route: &'static str) {
    // There is one row, and outside of a request there is nobody to tell.
    let _ = CURRENT.try_with(|current| current.route.set(route));
}

/// Notes who asks.
pub fn note_token(id: &str) {
    let _ = CURRENT.try_with(|current| current.token.set(id.to_owned()));
}

/// The outermost middleware.
pub async fn observe(mut request: Request, next: Next) -> Response {
    let id = told(request.headers()).unwrap_or_else(made);
    request.extensions_mut().insert(id.clone());
    let current = Arc::new(Current {
        span: tracing::info_span!("request", request_id = &*id.0),
        method: word(request.method()),
        bytes_in: length(request.headers()),
        started: Instant::now(),
        route: OnceLock::new(),
        token: OnceLock::new(),
        id,
    });
    let pending = Pending(Some(current.clone()));
    let answered = CURRENT.scope(current.clone(), next.run(request));
    let mut response = answered.instrument(current.span.clone()).await;
    pending.done(response.status().as_u16(), response.body().size_hint().exact());
    if let Ok(value) = HeaderValue::from_str(&current.id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

/// Dropped with its request when the caller goes away, so that this is told too.
struct Pending(Option<Arc<Current>>);

impl Pending {
    fn done(mut self, status: u16, bytes_out: Option<u64>) {
        if let Some(current) = self.0.take() {
            current.tell(status, bytes_out);
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(current) = self.0.take() {
            current.tell(GONE, None);
        }
    }
}

impl Current {
    fn tell(&self, status: u16, bytes_out: Option<u64>) {
        let took = self.started.elapsed();
        let Self { method, bytes_in, .. } = self;
        let route = self.route.get().copied().unwrap_or("none");
        let labels = [("method", (*method).to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
        metrics::counter!(telemetry::REQUESTS, &labels).increment(1);
        metrics::histogram!(telemetry::REQUEST_SECONDS, &labels[..2]).record(took.as_secs_f64());
        let ms = took.as_micros() as f64 / 1000.0;
        let token = self.token.get();
        self.span.in_scope(|| {
            if QUIET.contains(&route) {
                tracing::debug!(target: TARGET, method, route, status, ms, bytes_in, bytes_out, token, "answered");
            } else {
                tracing::info!(target: TARGET, method, route, status, ms, bytes_in, bytes_out, token, "answered");
            }
        });
    }
}

/// An id of the caller's that can stand in a log.
fn told(headers: &HeaderMap) -> Option<RequestId> {
    let id = headers.get(HEADER)?.to_str().ok()?;
    let is_sane = (1..=ID_LIMIT).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
    is_sane.then(|| RequestId(id.into()))
}

fn made() -> RequestId {
    let mut random = [0; 12];
    // Zeros are an id as well.
    let _ = getrandom::fill(&mut random);
    RequestId(text::hex(&random).into())
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Anybody can make up methods, so only those that exist are told apart.
fn word(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sane_id_is_taken_over() {
        let told = |id: &str| {
            let value = HeaderValue::from_bytes(id.as_bytes()).expect("a header");
            told(&HeaderMap::from_iter([(HEADER, value)])).map(|RequestId(id)| id.to_string())
        };
        for id in ["7", "0af7651916cd43dd8448eb211c80319c", "a-b_c.d:e", &"x".repeat(64)] {
            assert_eq!(told(id).as_deref(), Some(id));
        }
        for id in ["", "a b", "a\tb", "<b>", "é", "\"", &"x".repeat(65)] {
            assert_eq!(told(id), None, "{id:?}");
        }
        assert_ne!(made(), made());
    }
}
