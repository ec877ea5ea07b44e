//! `GET /api/v1/reports`: the reports that are kept, newest first, a page at a time.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Outcome, ReportState};

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
    /// Those in this state.
    pub state: Option<ReportState>,
    /// Those that say this somewhere: in a name of a file, a log's summary, a note, the assignee, the build.
    pub text: Option<String>,
}

/// The longest text that is searched for, in characters.
const TEXT_CHARS: usize = 200;

impl ReportFilter {
    /// Takes a parameter; false when it is none of the filter's.
    ///
    /// # Errors
    /// [`Error::BadQuery`] for a value that cannot be.
    pub fn take(&mut self, name: &str, value: &str) -> Result<bool, Error> {
        let word = |what: &str| Error::BadQuery(format!("the value of {name} is not the word of {what}"));
        match name {
            // Nothing typed.
            "from" | "to" | "machine" | "outcome" | "state" | "q" if value.is_empty() => {}
            "from" => self.from = Some(moment(name, value, false)?),
            "to" => self.to = Some(moment(name, value, true)?),
            "machine" => self.machine = Some(text::for_column(value)),
            "outcome" => self.outcome = Some(Outcome::from_word(value).ok_or_else(|| word("a verdict"))?),
            "state" => self.state = Some(ReportState::from_word(value).ok_or_else(|| word("a state"))?),
            "q" if value.contains('\0') || value.chars().count() > TEXT_CHARS => {
                return Err(Error::BadQuery(format!(
                    "the value of q is not a text of at most {TEXT_CHARS} characters"
                )));
            }
            "q" => self.text = Some(value.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }
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
    /// How far people are with it.
    #[schema(value_type = openapi::ReportState)]
    state: ReportState,
    /// The build in which it is fixed.
    build: Option<String>,
    /// Who looks after it.
    assignee: Option<String>,
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
        ("state" = Option<String>, Query, description = "Those in this state: `new`, `confirmed`, `fixed` or `not_a_fault`"),
        ("q" = Option<String>, Query, description = "Those that say this: in a file's name, a log, a note, the assignee or the build"),
    ),
    responses((status = 200, description = "The page", body = ReportList), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<ReportList>, Error> {
    let (mut filter, mut cursor, mut limit) = (ReportFilter::default(), None, DEFAULT_LIMIT);
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() => {}
            "cursor" => cursor = Some(value.parse::<ReportCursor>().map_err(Error::BadQuery)?),
            "limit" => limit = query::limit(&value)?,
            _ if filter.take(&name, &value)? => {}
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
            files: files.into_iter().take(FILES).map(|file| file.name).collect(),
            bytes: report.bytes,
            logs: outcomes.values().sum(),
            outcomes,
            refused: report.refused.len(),
            state: report.state,
            build: report.build,
            assignee: report.assignee,
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
