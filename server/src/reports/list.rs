//! `GET /api/v1/reports`: the reports that are kept, newest first, a page at a time.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;
use utoipa::ToSchema;
use wire::Outcome;

use super::answer::url;
use crate::app::App;
use crate::error::Error;
use crate::openapi;
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::store::ReportCursor;
use crate::text;

/// Which reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportFilter {
    /// From this point in time on, as the column has it.
    pub from: Option<String>,
    /// Before this point.
    pub to: Option<String>,
    /// Those whose bundle names this machine.
    pub machine: Option<String>,
    /// Those that hold a log with this outcome.
    pub outcome: Option<Outcome>,
}

/// A page of reports.
#[derive(Serialize, ToSchema)]
pub struct ReportList {
    items: Vec<ReportItem>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// One report.
#[derive(Serialize, ToSchema)]
struct ReportItem {
    id: String,
    url: String,
    created: String,
    rules: i64,
    machine: Option<String>,
    files: Vec<String>,
    bytes: i64,
    logs: i64,
    outcomes: BTreeMap<String, i64>,
    refused: usize,
}

/// Names of files that are told of one report.
const FILES: usize = 20;

/// A page of reports, newest first.
#[utoipa::path(
    get, path = "/api/v1/reports", operation_id = "reports", tag = "reports",
    params(
        openapi::Paging,
        ("from" = Option<String>, Query, description = "Those that came on this day or at this time, or later"),
        ("to" = Option<String>, Query, description = "Those that came on this day at the latest, or before this time"),
        ("machine" = Option<String>, Query, description = "Those whose bundle names this machine"),
        ("outcome" = Option<String>, Query, description = "Those that hold a log with this verdict, in the word of pages"),
    ),
    responses((status = 200, description = "The page", body = ReportList), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<ReportList>, Error> {
    let (mut filter, mut cursor, mut limit) = (ReportFilter::default(), None, DEFAULT_LIMIT);
    for (name, value) in pairs {
        match name.as_str() {
            // Nothing typed.
            "cursor" | "from" | "to" | "machine" | "outcome" if value.is_empty() => {}
            "cursor" => cursor = Some(value.parse::<ReportCursor>().map_err(Error::BadQuery)?),
            "limit" => limit = query::limit(&value)?,
            "from" => filter.from = Some(moment(&name, &value, false)?),
            "to" => filter.to = Some(moment(&name, &value, true)?),
            "machine" => filter.machine = Some(text::for_column(&value)),
            "outcome" => {
                let outcome = Outcome::from_word(&value);
                let why = || Error::BadQuery("the value of outcome is not the word of a verdict".to_owned());
                filter.outcome = Some(outcome.ok_or_else(why)?);
            }
            _ => return Err(unknown(&name)),
        }
    }
    let (reports, next) = app.store.reports(&filter, cursor.as_ref(), limit).await?;
    let mut items = Vec::with_capacity(reports.len());
    for report in reports {
        let outcomes: BTreeMap<_, _> = app.store.report_outcomes(&report.id).await?.into_iter().collect();
        let files = app.store.report_files(&report.id).await?;
        items.push(ReportItem {
            url: url(&report.id),
            created: report.created,
            rules: report.rules,
            machine: report.machine,
            files: files.into_iter().take(FILES).map(|(name, _)| name).collect(),
            bytes: report.bytes,
            logs: outcomes.values().sum(),
            outcomes,
            refused: report.refused.len(),
            id: report.id,
        });
    }
    Ok(Json(ReportList { items, next: next.map(|next| next.to_string()) }))
}

/// A date or an RFC 3339 time as the column has it; a day is meant whole.
fn moment(name: &str, value: &str, end: bool) -> Result<String, Error> {
    let wrong = || Error::BadQuery(format!("the value of {name} is neither a date nor an RFC 3339 time"));
    let time = match value.parse::<Date>() {
        Ok(date) if date.to_string() == value => {
            let date = if end { date.checked_add(1.day()).map_err(|_| wrong())? } else { date };
            TimeZone::UTC.to_timestamp(date.to_datetime(Time::midnight())).map_err(|_| wrong())?
        }
        _ => value.parse::<Timestamp>().map_err(|_| wrong())?,
    };
    Ok(text::timestamp(time))
}
