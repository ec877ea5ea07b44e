//! `GET /triage` and its form: bring logs, and find what was brought.

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use dashboards::{Query, REPORT_FILTERS, ReportLine, TriagePage, query};
use utoipa::ToSchema;
use wire::Outcome;

use super::{Asked, count, drawn, frame};
use crate::app::App;
use crate::auth::{Access, Caller};
use crate::error::{Error, Html};
use crate::reports::{self, ReportFilter, Way};
use crate::store::{ReportRow, Store};

/// Reports on a page, and names of files of each.
const REPORTS: u32 = 40;
const FILES: usize = 3;

/// What the form sends.
#[derive(ToSchema)]
#[schema(as = TriageForm)]
#[expect(dead_code, reason = "a shape to be described: `reports::upload` reads it")]
struct Form {
    /// From the page that holds the form; the first part.
    csrf: Option<String>,
    /// Any number of parts with this name.
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<Vec<u8>>,
    /// A log, or a line of one.
    text: Option<String>,
}

/// Bring logs, and the reports that are kept.
#[utoipa::path(
    get, path = "/triage", operation_id = "triage_page", tag = "pages",
    params(
        ("q" = Option<String>, Query), ("state" = Option<String>, Query), ("outcome" = Option<String>, Query),
        ("machine" = Option<String>, Query), ("cursor" = Option<String>, Query)
    ),
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
    let may_bring = may_bring(&app, caller.as_ref());
    let page = TriagePage { frame: frame("/triage", caller), may_bring, ..TriagePage::default() };
    draw(&app, page, &query).await.map_err(Html)
}

/// Whether the forms of reports are open to the reader.
pub fn may_bring(app: &App, caller: Option<&Extension<Caller>>) -> bool {
    caller.map_or(app.open_on_loopback, |Extension(caller)| caller.scope.opens(Access::TriagePage))
}

/// Reads what the form brings, keeps it, and leads to its page.
#[utoipa::path(
    post, path = "/triage", operation_id = "triage_form", tag = "pages",
    request_body(content = Form, content_type = "multipart/form-data"),
    responses(
        (status = 303, description = "It is kept; it leads to its page"),
        (status = 400, description = "It is no form, or has a content encoding"),
        (status = 408, description = "The body did not arrive in time"),
        (status = 413, description = "The upload is above a limit"),
        (status = 422, description = "Nothing of it can be taken"),
        (status = 507, description = "The disk is full or nearly so")
    )
)]
pub async fn bring(State(app): State<App>, request: Request) -> Result<Response, Html> {
    let brought = async {
        let brought = reports::bring(&app, request, Way::Page).await?;
        reports::change::to(&reports::url(&brought.id))
    };
    brought.await.map_err(Html)
}

async fn draw(app: &App, page: TriagePage, asked: &Query) -> Result<Response, Error> {
    // Filters of logs say nothing of reports.
    let names = REPORT_FILTERS.into_iter().chain([query::CURSOR]);
    let query: Query = names.filter_map(|name| Some((name, asked.get(name)?))).collect();
    let mut filter = ReportFilter::default();
    for name in REPORT_FILTERS {
        filter.take(name, query.get(name).unwrap_or_default())?;
    }
    let cursor = query.get(query::CURSOR).map(str::parse).transpose().map_err(Error::BadQuery)?;
    let (kept, next) = app.store.reports(&filter, cursor.as_ref(), REPORTS).await?;
    let mut reports = Vec::with_capacity(kept.len());
    for report in kept {
        reports.push(line(&app.store, report).await?);
    }
    let page = TriagePage {
        query,
        most_bytes: app.report_limits.body_bytes as u64,
        kept: count(app.store.reports_kept().await?),
        reports,
        next_cursor: next.map(|next| next.to_string()),
        ..page
    };
    drawn(page.render())
}

async fn line(store: &Store, report: ReportRow) -> Result<ReportLine, Error> {
    let files = store.report_files(&report.id).await?;
    let outcomes = store.report_outcomes(&report.id).await?;
    let mut outcomes: Vec<_> =
        outcomes.into_iter().filter_map(|(word, logs)| Some((Outcome::from_word(&word)?, count(logs)))).collect();
    outcomes.sort_unstable();
    Ok(ReportLine {
        files_left_out: files.len().saturating_sub(FILES) as u64,
        files: files.into_iter().take(FILES).map(|file| file.name).collect(),
        notes: store.report_notes(&report.id).await?.len() as u64,
        outcomes,
        id: report.id,
        created: report.created,
        state: report.state,
        build: report.build,
        assignee: report.assignee,
        machine: report.machine,
    })
}
