//! The page at `/` and the files that it needs. Asking is done here; words, order and links belong to `dashboards`.

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HOST};
use axum::http::{HeaderMap, Uri};
use axum::response::{Html as Document, IntoResponse, Response};
use dashboards::{Account, Count, EvidenceRow, FleetPage, LogRow, Query, Tally, statics};

use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::evidence;
use crate::openapi::Filters;
use crate::store::{Dimension, Filter, Group, StoredLog, Totals};

/// Logs in the table, and lines of evidence beneath each.
const LOGS: u32 = 40;
const EVIDENCE: u32 = 20;

/// The front page.
#[utoipa::path(
    get, path = "/", operation_id = "fleet_page", tag = "pages",
    params(("cursor" = Option<String>, Query), Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn fleet(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Html> {
    let account = caller.and_then(|Extension(Caller { name, csrf, .. })| Some(Account { name, csrf: csrf? }));
    page(&app, Query::parse(raw.as_deref().unwrap_or_default()), account, &headers).await.map_err(Html)
}

/// A file of a page: the hash in its name lets browsers keep it for ever.
#[utoipa::path(
    get, path = "/static/{name}", operation_id = "static_file", tag = "pages",
    params(("name" = String, Path)),
    responses(
        (status = 200, description = "The file", content((String = "text/css"), (String = "image/svg+xml"))),
        (status = 404, description = "There is no such file", body = Object, content_type = "application/problem+json")
    )
)]
pub async fn file(uri: Uri) -> Result<Response, Error> {
    let file = statics::get(uri.path()).ok_or(Error::NotFound)?;
    let headers = [
        (CONTENT_TYPE, file.content_type.to_owned()),
        (CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
        (ETAG, file.etag()),
    ];
    Ok((headers, file.bytes).into_response())
}

async fn page(app: &App, query: Query, account: Option<Account>, headers: &HeaderMap) -> Result<Response, Error> {
    let mut filter = Filter::default();
    for name in query.filters() {
        for value in query.all(name) {
            filter.take(name, value).map_err(Error::BadQuery)?;
        }
    }
    let cursor = query.get(dashboards::query::CURSOR).map(str::parse).transpose().map_err(Error::BadQuery)?;

    let store = &app.store;
    let by = async |dimension| store.groups(&filter, dimension).await.map(|groups| counts(&groups, dimension));
    let (stored, next) = store.logs(&filter, cursor.as_ref(), LOGS).await?;
    let mut logs = Vec::with_capacity(stored.len());
    for log in stored {
        logs.push(log_row(app, log).await?);
    }
    let page = FleetPage {
        server_url: server_url(headers),
        whole: tally(&store.total(&Filter::default()).await?),
        total: tally(&store.total(&filter).await?),
        by_outcome: by(Dimension::Outcome).await?,
        by_split: by(Dimension::Split).await?,
        by_crossing: by(Dimension::Crossing).await?,
        // A log without a reason is in no group here.
        by_reason: by(Dimension::Reason).await?.into_iter().filter(|count| count.key.is_some()).collect(),
        by_path: by(Dimension::Path).await?,
        by_gpu_pair: by(Dimension::GpuPair).await?,
        logs,
        next_cursor: next.map(|next| next.to_string()),
        account,
        query,
    };
    let html = page.render().map_err(|error| Error::Internal(error.into()))?;
    Ok(Document(html).into_response())
}

fn tally(totals: &Totals) -> Tally {
    let count = |value: i64| u64::try_from(value).unwrap_or(0);
    Tally { logs: count(totals.logs), machines: count(totals.machines) }
}

fn counts(groups: &[Group], dimension: Dimension) -> Vec<Count> {
    let key = |group: &Group| group.key.get(dimension.as_str()).and_then(|value| value.as_str()).map(str::to_owned);
    groups.iter().map(|group| Count { key: key(group), tally: tally(&group.totals) }).collect()
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

/// How the reader reached this server; agents reach it the same way.
fn server_url(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:8787");
    format!("http://{host}")
}
