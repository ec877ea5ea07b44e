//! `GET /logs`: the logs behind a number.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{EvidenceRow, LogRow, LogsPage, Query, query};

use super::{Asked, drawn, filter, frame, selection};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::evidence;
use crate::openapi::Filters;
use crate::store::StoredLog;

/// Logs in the table, and lines of evidence beneath each.
const LOGS: u32 = 40;
const EVIDENCE: u32 = 20;

/// The logs that the filters let through, newest start first.
#[utoipa::path(
    get, path = "/logs", operation_id = "logs_page", tag = "pages",
    params(("cursor" = Option<String>, Query), Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
) -> Result<Response, Html> {
    let page = LogsPage { frame: frame("/logs", caller), ..LogsPage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: LogsPage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let cursor = query.get(query::CURSOR).map(str::parse).transpose().map_err(Error::BadQuery)?;
    let (stored, next) = app.store.logs(&filter, cursor.as_ref(), LOGS).await?;
    let mut logs = Vec::with_capacity(stored.len());
    for log in stored {
        logs.push(log_row(app, log).await?);
    }
    let selection = selection(&mut app.store.counting().await?, query, &filter).await?;
    drawn(LogsPage { selection, logs, next_cursor: next.map(|next| next.to_string()), ..page }.render())
}

async fn log_row(app: &App, log: StoredLog) -> Result<LogRow, Error> {
    let found = app.store.evidence(&log.id, &log.report, EVIDENCE).await?;
    let evidence = found.observations.iter().map(evidence::record);
    Ok(LogRow {
        evidence: evidence
            .map(|record| EvidenceRow {
                line: record.line,
                time: record.time,
                meaning: record.meaning,
                text: record.text,
            })
            .collect(),
        evidence_left_out: found.left_out,
        id: log.id,
        machine: log.machine,
        report: log.report,
    })
}
