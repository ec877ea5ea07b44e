//! `GET /api/v1/openapi.json`: the description of the API, made from the attributes beside the handlers.
//!
//! A handler says what is its own: parameters, bodies, the statuses that only it answers. What holds for every route
//! behind its guard (`common`) is added from the table of routes. A test compares this list with that table.

mod common;
mod params;
mod replayed;
mod report;
mod reports;
mod upload;

use std::sync::LazyLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use utoipa::OpenApi;

use common::Common;
pub use params::{Changes, Filters, Format, GroupBy, Limit, Paging, TwoSides};
pub use replayed::{Comparison, Policy, Replay, ReplayQuestion};
pub use report::ScanReport;
pub use reports::{ReportAnswer, ReportCreated, ReportForm, ReportState};
pub use upload::{Ack, Batch, Clock, Deleted, Enroll, Enrolled, Heartbeat};

use crate::error::Error;
use crate::export::http as exports;
use crate::query::{Pairs, unknown};
use crate::{
    audit, compare, dead_letters, drift, enroll, health, ingest, logs, machines, openapi, pages, replay,
    reports as brought, sign_in, summary, telemetry, tokens, what_if,
};

/// Every handler of the table of routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Weavewatch",
        description = "Receives what DisplayXR logs say of GPU placement, counts it across a fleet, and answers questions."
    ),
    paths(
        enroll::answer,
        ingest::receive,
        machines::delete,
        brought::receive,
        brought::delete,
        brought::change::patch,
        brought::change::form,
        brought::change::delete,
        brought::compare::page,
        brought::list::list,
        brought::one,
        brought::page::page,
        summary::answer,
        compare::answer,
        drift::answer,
        replay::answer,
        logs::list,
        logs::one,
        machines::list,
        machines::one,
        exports::machine,
        exports::table,
        dead_letters::list,
        crate::costs::answer,
        what_if::answer,
        openapi::answer,
        tokens::list,
        tokens::make,
        tokens::revoke,
        audit::list,
        health::live,
        health::ready,
        telemetry::answer,
        pages::fleet,
        pages::admin::list,
        pages::admin::make,
        pages::admin::revoke,
        pages::admin::audit,
        pages::embed,
        pages::explore,
        pages::compare,
        pages::logs,
        pages::drift,
        pages::costs,
        pages::what_if,
        pages::triage,
        pages::bring,
        pages::log,
        pages::machines,
        pages::machine,
        pages::delete_machine,
        pages::health,
        pages::live,
        pages::names,
        pages::live_events,
        pages::file,
        sign_in::page,
        sign_in::sign_in,
        sign_in::sign_out,
    ),
    tags(
        (name = "agents", description = "What agents call."),
        (name = "reports", description = "What people bring."),
        (name = "questions", description = "What programs and people ask."),
        (name = "administration", description = "What an admin does."),
        (name = "monitoring", description = "Is the server well?"),
        (name = "pages", description = "For a browser."),
    ),
    modifiers(&Common)
)]
struct Api;

/// The description as it is served, and as it is checked in as `docs/openapi.json`.
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
        let mut text = Api::openapi().to_pretty_json().expect("plain data is always JSON");
        text.push('\n');
        text
    });
    &DOCUMENT
}

/// This description.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", operation_id = "openapi", tag = "questions",
    responses(
        (status = 200, description = "OpenAPI 3.1", content_type = "application/json", body = Object),
        (status = 400, description = "A query, where none is asked")
    )
)]
pub async fn answer(Pairs(pairs): Pairs) -> Result<impl IntoResponse, Error> {
    if let Some((name, _)) = pairs.first() {
        return Err(unknown(name));
    }
    Ok(([(CONTENT_TYPE, "application/json")], document()))
}
