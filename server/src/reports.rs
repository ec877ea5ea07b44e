//! `/api/v1/reports`: logs and bundles that somebody brings, read by the code of the command line, kept with what was said
//! of them, and found again under an address that cannot be guessed.
//!
//! `limits` says how much a report may be, `upload` takes the form apart, `analysis` reads the files, `answer` puts what was
//! said into words for programs and for an issue. What is kept is read again when the rules have become better.

mod again;
mod analysis;
mod answer;
mod arriving;
pub mod change;
pub mod compare;
pub mod issue;
mod limits;
pub mod list;
pub mod page;
mod seen;
mod upload;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::Actor;
use crate::error::Error;
use crate::openapi;
use crate::pages;
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::store::{ReportRow, Store};
use crate::text;

pub use analysis::{Analysis, Log, Refusal};
pub use answer::url;
pub use change::Change;
pub use limits::ReportLimits;
pub use list::ReportFilter;
pub use upload::{File, Way};

/// As the column has it.
const RULES: i64 = resolver::RULES as i64;

/// What became of a report.
#[derive(Serialize, ToSchema)]
pub struct ReportGone {
    deleted: bool,
}

/// How an answer is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Format {
    #[default]
    Json,
    Markdown,
}

/// `POST /api/v1/reports`. The form's reader has a limit of its own, which is too low; `limits` has those that hold.
pub fn receiver() -> MethodRouter<App> {
    post(receive).layer(DefaultBodyLimit::disable())
}

/// `POST /triage`, likewise.
pub fn page_receiver() -> MethodRouter<App> {
    post(pages::bring).layer(DefaultBodyLimit::disable())
}

/// Reads an upload and keeps it as a report. The answer means that what is said of it is committed; its files are stored
/// right behind it, and say where they are until then.
#[utoipa::path(
    post, path = "/api/v1/reports", operation_id = "report", tag = "reports",
    request_body(content = openapi::ReportForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "It is kept", body = openapi::ReportCreated),
        (status = 400, description = "It is no form, or has a content encoding"),
        (status = 408, description = "The body did not arrive in time"),
        (status = 413, description = "The upload is above a limit"),
        (status = 422, description = "Nothing of it can be taken"),
        (status = 507, description = "The disk is full or nearly so")
    )
)]
pub async fn receive(State(app): State<App>, request: Request) -> Result<Response, Error> {
    let Brought { id, analysis } = bring(&app, request, Way::Program).await?;
    let Analysis { logs, refused, machine } = analysis;
    let logs: Vec<_> = (0..).zip(logs).map(|(number, log)| log.row(number)).collect();
    let same = answer::same(&app.store, &logs, machine.as_deref()).await?;
    answer::created(&id, &logs, &same, &refused)
}

/// A report that was kept just now.
pub struct Brought {
    /// Its id.
    pub id: String,
    /// What is said of it.
    analysis: Analysis,
}

/// Reads an upload and keeps it. When this returns, what is said of it is committed.
///
/// # Errors
/// What is wrong with the upload, or [`Error::Full`].
pub async fn bring(app: &App, request: Request, way: Way) -> Result<Brought, Error> {
    let turn = app.reports.clone().acquire_owned().await.map_err(|error| Error::Internal(error.into()))?;
    app.room()?;
    let upload = upload::read(app, request, way).await?;
    let app = app.clone();
    // A task of its own: somebody who hangs up does not cut it short.
    let kept = tokio::spawn(async move {
        let _turn = turn;
        keep(&app.store, upload).await
    });
    kept.await.map_err(|error| Error::Internal(error.into()))?
}

async fn keep(store: &Store, upload: upload::Upload) -> Result<Brought, Error> {
    let upload::Upload { mut files, analysis } = upload;
    if analysis.logs.is_empty() {
        return Err(Error::BadReport(answer::nothing(&analysis.refused)));
    }
    files.retain(|file| !file.pieces.is_empty());
    let id = text::url_id().map_err(|error| Error::Internal(anyhow::anyhow!("no random bits: {error}")))?;
    store.keep_report(&id, &text::now(), RULES, files, &analysis).await?;
    tracing::info!(report = id, logs = analysis.logs.len(), refused = analysis.refused.len(), "keeps a report");
    Ok(Brought { id, analysis })
}

/// A report with a page of its logs, or one log of it, as JSON or as a page for an issue.
#[utoipa::path(
    get, path = "/api/v1/reports/{id}", operation_id = "report_one", tag = "reports",
    params(
        ("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$"),
        ("format" = Option<String>, Query, description = "`json` or `markdown`"),
        ("log" = Option<u32>, Query, description = "Only the log with this number"),
        openapi::Paging,
    ),
    responses(
        (status = 200, description = "The report", content(
            (openapi::ReportAnswer = "application/json"),
            (String = "text/markdown")
        )),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "There is no such report, or no such log in it")
    )
)]
pub async fn one(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    Pairs(pairs): Pairs,
) -> Result<Response, Error> {
    let id = known_form(id)?;
    let (mut format, mut number, mut from, mut limit) = (Format::Json, None, 0_i64, DEFAULT_LIMIT);
    let place = |value: &str, what: &str| {
        value.parse::<u32>().map(i64::from).map_err(|_| Error::BadQuery(format!("the value of {what} is no number")))
    };
    for (name, value) in pairs {
        match (name.as_str(), value.as_str()) {
            // Nothing typed.
            ("format" | "log" | "cursor", "") => {}
            ("format", "json") => format = Format::Json,
            ("format", "markdown") => format = Format::Markdown,
            ("format", _) => {
                return Err(Error::BadQuery("the value of format is neither json nor markdown".to_owned()));
            }
            ("log", value) => number = Some(place(value, "log")?),
            ("cursor", value) => from = place(value, "cursor")?,
            ("limit", value) => limit = query::limit(value)?,
            _ => return Err(unknown(&name)),
        }
    }
    let report = current(&app, &id).await?;
    let store = &app.store;
    if let Some(number) = number {
        let logs = store.report_logs(&id, number, 1, true).await?;
        let log = logs.first().filter(|log| log.number == number).ok_or(Error::NotFound)?;
        return match format {
            Format::Json => {
                let same = answer::same(store, &logs, report.machine.as_deref()).await?;
                answer::log(log, &same)
            }
            Format::Markdown => Ok(answer::markdown(&answer::page(log)?)),
        };
    }
    match format {
        Format::Json => {
            let mut logs = store.report_logs(&id, from, limit + 1, true).await?;
            let more = logs.len() > limit as usize;
            logs.truncate(limit as usize);
            let next = logs.last().filter(|_| more).map(|last| last.number + 1);
            let same = answer::same(store, &logs, report.machine.as_deref()).await?;
            let (files, notes) = (store.report_files(&id).await?, store.report_notes(&id).await?);
            answer::report(&report, &files, notes, &logs, &same, next)
        }
        Format::Markdown => Ok(answer::markdown(&answer::pages(store, &report).await?)),
    }
}

/// Deletes a report with its files.
#[utoipa::path(
    delete, path = "/api/v1/reports/{id}", operation_id = "delete_report", tag = "reports",
    params(("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$")),
    responses(
        (status = 200, description = "It is gone", body = ReportGone),
        (status = 404, description = "There is no such report")
    )
)]
pub async fn delete(
    State(app): State<App>,
    by: Actor,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<ReportGone>, Error> {
    let id = known_form(id)?;
    if !app.store.delete_report(&id, &by).await? {
        return Err(Error::NotFound);
    }
    tracing::info!(report = id, "deleted a report");
    Ok(Json(ReportGone { deleted: true }))
}

/// A report as the rules of today read it: one that older rules have read is read again first, when its files are there.
///
/// # Errors
/// [`Error::NotFound`], or when the database fails.
pub async fn current(app: &App, id: &str) -> Result<ReportRow, Error> {
    let report = app.store.report(id).await?.ok_or(Error::NotFound)?;
    if report.rules >= RULES {
        return Ok(report);
    }
    let _turn = app.reports.acquire().await.map_err(|error| Error::Internal(error.into()))?;
    read_again(&app.store, id).await?;
    app.store.report(id).await?.ok_or(Error::NotFound)
}

/// Reads every report again that older rules have read, or `all`, and tells after each how many that were. The command
/// `rejudge`.
///
/// # Errors
/// When the database fails; what was read again until then stays.
pub async fn rejudge(store: &Store, all: bool, told: &mut (dyn FnMut(u64) + Send)) -> Result<u64, Error> {
    let older = if all { i64::MAX } else { RULES };
    let (mut done, mut after) = (0, String::new());
    loop {
        let stale = store.stale_reports(older, &after, 100).await?;
        let Some(last) = stale.last() else { return Ok(done) };
        after.clone_from(last);
        for id in &stale {
            done += u64::from(read_again(store, id).await?);
            told(done);
        }
    }
}

/// False when the report is gone, newer rules have read it, or a file of it is missing: then what older ones said stands.
async fn read_again(store: &Store, id: &str) -> Result<bool, Error> {
    let contents = store.report_contents(id).await?;
    let analysis = blocking(move || {
        let mut files = Vec::new();
        for (name, contents) in contents {
            let Some(pieces) = contents.read()? else { return Ok(None) };
            files.push(File { name, pieces });
        }
        // It was within the limits of its day.
        analysis::analyse(files, ReportLimits::default()).map(Some)
    });
    match analysis.await? {
        Some(analysis) => Ok(store.replace_report(id, &text::now(), RULES, &analysis).await?),
        None => Ok(false),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| Error::Internal(error.into()))?;
    done.map_err(|error| Error::Internal(error.context("failed to read a report")))
}

/// What cannot be a report's id is not there.
fn known_form(id: Result<Path<String>, PathRejection>) -> Result<String, Error> {
    id.ok().map(|Path(id)| id).filter(|id| text::is_url_id(id)).ok_or(Error::NotFound)
}
