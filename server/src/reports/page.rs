//! `GET /reports/{id}`: a report for people.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use dashboards::{Frame, ReportLogView, ReportPage};
use serde::Deserialize;
use triage::row;
use wire::ScanReport;

use super::{answer, current, known_form};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::pages;
use crate::query::{DEFAULT_LIMIT, Pairs, unknown};
use crate::store::ReportLog;

/// What the page takes from the object of `explain`.
#[derive(Deserialize)]
struct Words {
    summary: String,
    questions: Vec<String>,
}

/// The page of one report.
#[utoipa::path(
    get, path = "/reports/{id}", operation_id = "report_page", tag = "pages",
    params(("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$"), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "There is no such report")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    id: Result<Path<String>, PathRejection>,
    pairs: Result<Pairs, Error>,
) -> Result<Response, Html> {
    draw(&app, pages::frame("/triage", caller), id, pairs).await.map_err(Html)
}

async fn draw(
    app: &App,
    frame: Frame,
    id: Result<Path<String>, PathRejection>,
    pairs: Result<Pairs, Error>,
) -> Result<Response, Error> {
    let (id, Pairs(pairs)) = (known_form(id)?, pairs?);
    let mut from = 0;
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() => {}
            "cursor" => {
                from = value.parse::<u32>().map_err(|_| Error::BadQuery("the cursor is no number".to_owned()))?;
            }
            _ => return Err(unknown(&name)),
        }
    }
    let report = current(app, &id).await?;
    let mut logs = app.store.report_logs(&id, from.into(), DEFAULT_LIMIT + 1, true).await?;
    let more = logs.len() > DEFAULT_LIMIT as usize;
    logs.truncate(DEFAULT_LIMIT as usize);
    let same = answer::same(&app.store, &logs, report.machine.as_deref()).await?;
    let page = ReportPage {
        frame,
        created: report.created,
        machine: report.machine,
        files: app.store.report_files(&id).await?.into_iter().map(|(name, _)| name).collect(),
        refused: report.refused.into_iter().map(|refusal| (refusal.file, refusal.reason)).collect(),
        columns: row::COLUMNS.to_vec(),
        next: logs.last().filter(|_| more).map(|last| last.number + 1),
        logs: logs.iter().map(|log| view(log, &same)).collect::<Result<_, _>>()?,
        id,
    };
    pages::drawn(page.render())
}

fn view(log: &ReportLog, same: &answer::Same) -> Result<ReportLogView, Error> {
    let summary: ScanReport = serde_json::from_str(&log.summary).map_err(answer::ours)?;
    let words: Words = serde_json::from_str(&answer::unpacked(&log.explained)?).map_err(answer::ours)?;
    let same = log.file.as_ref().and_then(|file| same.get(file)).into_iter().flatten();
    Ok(ReportLogView {
        number: log.number,
        cells: row::cells(&summary).to_vec(),
        file: summary.file,
        sentence: words.summary,
        questions: words.questions,
        same_as: same.map(|log| log.id.clone()).collect(),
    })
}
