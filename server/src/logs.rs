//! `GET /api/v1/logs` and `/api/v1/logs/{id}`: the logs behind a number, and one log with its evidence.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Clock, Comparison, Policy, Replay, ScanReport};

use crate::app::App;
use crate::error::Error;
use crate::evidence::{self, Record};
use crate::openapi::{self, Filters, Paging};
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::store::{Filter, Former, Losses, StoredLog};
use crate::text;

/// Evidence of one log; a log with more is damaged or hostile.
const EVIDENCE_LIMIT: u32 = 1_000;

/// A page of logs.
#[derive(Serialize, ToSchema)]
#[schema(as = LogPage)]
pub struct Page {
    items: Vec<Item>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// A scan object with where it came from.
#[derive(Serialize, ToSchema)]
#[schema(as = LogItem)]
pub struct Item {
    id: String,
    machine: String,
    received: String,
    #[serde(flatten)]
    #[schema(value_type = openapi::ScanReport)]
    report: ScanReport,
}

/// One log with the records that decide or explain its verdict.
#[derive(Serialize, ToSchema)]
#[schema(as = LogDetail)]
pub struct Detail {
    #[serde(flatten)]
    item: Item,
    /// Bytes that have not arrived although later ones have: the verdict may change when they do.
    missing_bytes: i64,
    /// What the times in the log mean; null when the agent did not say.
    #[schema(value_type = Option<openapi::Clock>)]
    clock: Option<Clock>,
    /// The last line was never completed: the process was gone.
    unfinished: bool,
    /// The number of the rules that made the verdict; 0 for those before numbers.
    rules: i64,
    /// What it was by other rules, where it was another one; the newest rules first.
    history: Vec<Former>,
    /// What will never arrive.
    #[serde(flatten)]
    losses: Losses,
    evidence: Vec<Record>,
    evidence_left_out: u64,
    replay: Replayed,
}

/// What should have happened on the machine that the log shows, beside what the log says did.
#[derive(Serialize, ToSchema)]
struct Replayed {
    /// The rules that explain this log.
    #[schema(value_type = openapi::Policy)]
    policy: Policy,
    #[schema(value_type = openapi::Replay)]
    answer: Replay,
    #[serde(flatten)]
    #[schema(value_type = openapi::Comparison)]
    comparison: Comparison,
}

impl From<StoredLog> for Item {
    fn from(log: StoredLog) -> Self {
        Self { id: log.id, machine: log.machine, received: log.received, report: log.report }
    }
}

/// A page of logs, newest start first.
#[utoipa::path(
    get, path = "/api/v1/logs", operation_id = "logs", tag = "questions",
    params(Paging, Filters),
    responses((status = 200, description = "The page", body = Page), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Page>, Error> {
    let mut filter = Filter::default();
    let mut cursor = None;
    let mut limit = DEFAULT_LIMIT;
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() => {}
            "cursor" => cursor = Some(value.parse().map_err(Error::BadQuery)?),
            "limit" => limit = query::limit(&value)?,
            _ if filter.take(&name, &value).map_err(Error::BadQuery)? => {}
            _ => return Err(unknown(&name)),
        }
    }
    let (logs, next) = app.store.logs(&filter, cursor.as_ref(), limit).await?;
    Ok(Json(Page { items: logs.into_iter().map(Item::from).collect(), next: next.map(|next| next.to_string()) }))
}

/// One log with its evidence.
#[utoipa::path(
    get, path = "/api/v1/logs/{id}", operation_id = "log", tag = "questions",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$")),
    responses(
        (status = 200, description = "The log", body = Detail),
        (status = 400, description = "A query, where none is asked"),
        (status = 404, description = "There is no such log")
    )
)]
pub async fn one(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    Pairs(pairs): Pairs,
) -> Result<Json<Detail>, Error> {
    if let Some((name, _)) = pairs.first() {
        return Err(unknown(name));
    }
    let id = id.ok().map(|Path(id)| id).filter(|id| text::is_id(id)).ok_or(Error::NotFound)?;
    let log = app.store.log(&id).await?.ok_or(Error::NotFound)?;
    let found = app.store.evidence(&log.id, &log.report, EVIDENCE_LIMIT).await?;
    let losses = app.store.log_losses(&log.machine, &log.id).await?;
    let examined = app.store.examine(&log.id).await?.ok_or(Error::NotFound)?;
    Ok(Json(Detail {
        missing_bytes: log.missing_bytes,
        clock: log.clock.clone(),
        unfinished: log.unfinished,
        rules: log.rules,
        history: app.store.history(&log.id).await?,
        losses,
        replay: Replayed { policy: examined.policy, answer: examined.answer, comparison: examined.comparison },
        evidence: found.observations.iter().map(evidence::record).collect(),
        evidence_left_out: found.left_out,
        item: log.into(),
    }))
}
