//! The whole URL surface in one table, and the middleware around it.

use std::any::Any;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{Extensions, HeaderMap, StatusCode, Version};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, patch, post};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::app::App;
use crate::auth::{Access, Guard, require};
use crate::error::{Error, Html};
use crate::export::http as exports;
use crate::observe::observe;
use crate::pages::Framed;
use crate::remembered::{Shows, remember};
use crate::{
    audit, compare, costs, dead_letters, drift, enroll, filling, health, ingest, logs, machines, openapi, pages,
    replay, reports, sign_in, summary, telemetry, tokens, what_if,
};

/// One row of the table.
pub struct Route {
    /// `GET`, `POST`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// As axum spells it.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// What the page shows, when it is remembered until that changes.
    pub shows: Option<Shows>,
    handler: MethodRouter<App>,
}

/// Every route. A test walks it, so that none is forgotten.
pub fn table() -> Vec<Route> {
    let get = |path, access, handler| Route { method: "GET", path, access, shows: None, handler };
    let post = |path, access, handler| Route { method: "POST", path, access, shows: None, handler };
    let patch = |path, access, handler| Route { method: "PATCH", path, access, shows: None, handler };
    // A page that is drawn from nothing but its address, its reader and what is stored.
    let page = |path, shows, handler| Route { shows: Some(shows), ..get(path, Access::Page, handler) };
    let delete = |path, access, handler| Route { method: "DELETE", path, access, shows: None, handler };
    vec![
        // Agents.
        post("/api/v1/enroll", Access::Enroll, self::post(enroll::answer)),
        post("/api/v1/ingest", Access::Upload, self::post(ingest::receive)),
        delete("/api/v1/machines/{id}", Access::Delete, self::delete(machines::delete)),
        // People who bring logs.
        post("/api/v1/reports", Access::Triage, reports::receiver()),
        patch("/api/v1/reports/{id}", Access::Triage, self::patch(reports::change::patch)),
        delete("/api/v1/reports/{id}", Access::Triage, self::delete(reports::delete)),
        // Programs that read.
        get("/api/v1/reports", Access::Read, self::get(reports::list::list)),
        get("/api/v1/reports/{id}", Access::Read, self::get(reports::one)),
        get("/api/v1/summary", Access::Read, self::get(summary::answer)),
        get("/api/v1/costs", Access::Read, self::get(costs::answer)),
        get("/api/v1/what-if", Access::Read, self::get(what_if::answer)),
        get("/api/v1/compare", Access::Read, self::get(compare::answer)),
        get("/api/v1/drift", Access::Read, self::get(drift::answer)),
        post("/api/v1/replay", Access::Read, self::post(replay::answer)),
        get("/api/v1/logs", Access::Read, self::get(logs::list)),
        get("/api/v1/logs/{id}", Access::Read, self::get(logs::one)),
        get("/api/v1/machines", Access::Read, self::get(machines::list)),
        get("/api/v1/machines/{id}", Access::Read, self::get(machines::one)),
        get("/api/v1/dead-letters", Access::Read, self::get(dead_letters::list)),
        get("/api/v1/openapi.json", Access::Read, self::get(openapi::answer)),
        get("/api/v1/machines/{id}/export", Access::Read, self::get(exports::machine)),
        get("/api/v1/export/{table}", Access::Read, self::get(exports::table)),
        // Admins.
        get("/api/v1/tokens", Access::Admin, self::get(tokens::list)),
        post("/api/v1/tokens", Access::Admin, self::post(tokens::make)),
        delete("/api/v1/tokens/{id}", Access::Admin, self::delete(tokens::revoke)),
        get("/api/v1/audit", Access::Admin, self::get(audit::list)),
        // Monitors.
        get("/healthz", Access::Open, self::get(health::live)),
        get("/readyz", Access::Open, self::get(health::ready)),
        get("/metrics", Access::Open, self::get(telemetry::answer)),
        // People.
        page("/", Shows::Logs, self::get(pages::fleet)),
        page("/embed/{chart}", Shows::Logs, self::get(pages::embed)),
        page("/explore", Shows::Logs, self::get(pages::explore)),
        page("/compare", Shows::Logs, self::get(pages::compare)),
        page("/logs", Shows::Logs, self::get(pages::logs)),
        page("/costs", Shows::Logs, self::get(pages::costs)),
        page("/what-if", Shows::Logs, self::get(pages::what_if)),
        page("/drift", Shows::Logs, self::get(pages::drift)),
        page("/triage", Shows::Anything, self::get(pages::triage)),
        post("/triage", Access::TriagePage, reports::page_receiver()),
        page("/logs/{id}", Shows::Anything, self::get(pages::log)),
        page("/machines", Shows::Anything, self::get(pages::machines)),
        page("/machines/{id}", Shows::Anything, self::get(pages::machine)),
        post("/machines/{id}/delete", Access::AdminPage, self::post(pages::delete_machine)),
        get("/health", Access::Page, self::get(pages::health)),
        get("/names", Access::Page, self::get(pages::names)),
        get("/live", Access::Page, self::get(pages::live)),
        get("/live/events", Access::Page, self::get(pages::live_events)),
        get("/tokens", Access::AdminPage, self::get(pages::admin::list)),
        post("/tokens", Access::AdminPage, self::post(pages::admin::make)),
        post("/tokens/revoke", Access::AdminPage, self::post(pages::admin::revoke)),
        get("/audit", Access::AdminPage, self::get(pages::admin::audit)),
        // The page to sign in needs its style.
        get("/static/{name}", Access::Open, self::get(pages::file)),
        get("/sign-in", Access::Open, self::get(sign_in::page)),
        post("/sign-in", Access::Open, self::post(sign_in::sign_in)),
        post("/sign-out", Access::Page, self::post(sign_in::sign_out)),
        page("/reports/{id}", Shows::Anything, self::get(reports::page::page)),
        post("/reports/{id}", Access::TriagePage, self::post(reports::change::form)),
        post("/reports/{id}/delete", Access::TriagePage, self::post(reports::change::delete)),
        page("/reports/compare", Shows::Anything, self::get(reports::compare::page)),
    ]
}

/// The service that `serve` runs and that tests call without a socket.
pub fn router(app: App) -> Router {
    // Counting begins before the first request.
    telemetry::recorder();
    let mut router = Router::new();
    for Route { path, access, shows, handler, .. } in table() {
        // The guard stands directly before its own handler: a wrong path is a 404, not a question for a token.
        let handler = match shows {
            Some(shows) => handler.route_layer(from_fn_with_state((app.clone(), shows), remember)),
            None => handler,
        };
        let guard = Guard { app: app.clone(), access, path };
        router = router.route(path, handler.route_layer(from_fn_with_state(guard, require)));
    }
    if app.filling.is_some() {
        router = router.layer(from_fn_with_state(app.clone(), filling::look));
    }
    dress(router).with_state(app)
}

/// What stands around every route, outermost last.
pub fn dress<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router
        .fallback(lost)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        // A panic is answered inside, so that the answer gets the headers too.
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(security_headers))
        .layer(CompressionLayer::new().compress_when(is_page))
        // Outermost, so that it sees every answer as it leaves.
        .layer(from_fn(observe))
}

/// Pages alone are packed on their way: they are long and repeat themselves. Answers for programs hold what these ask for, and what they
/// upload is packed already.
fn is_page(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

/// An address that is in no row: a person gets a page, a program a problem.
async fn lost(headers: HeaderMap) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/html") { Html(Error::NotFound).into_response() } else { Error::NotFound.into_response() }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that the layer wants")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Error::Internal(anyhow::anyhow!("a handler panicked: {message}")).into_response()
}

/// Log text is hostile; should escaping ever fail, the browser still runs no script and loads nothing from elsewhere.
async fn security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let framed = response.extensions_mut().remove::<Framed>();
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 4] = [
        (CONTENT_SECURITY_POLICY, dashboards::CONTENT_SECURITY_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`: with that a form of ours comes from nowhere, and is refused (`origin`).
        (REFERRER_POLICY, "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(Framed(policy)) = framed {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.remove(X_FRAME_OPTIONS);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_problem_with_headers_and_the_server_lives_on() {
        let router = dress(Router::new().route("/", get(async || -> &'static str { panic!("on purpose") })));
        for _ in 0..2 {
            let request = Request::builder().uri("/").body(Body::empty()).expect("a request");
            let response = router.clone().oneshot(request).await.expect("the router answers everything");
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
            assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        }
    }
}
