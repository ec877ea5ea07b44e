//! `GET /api/v1/summary`: counts by any combination of dimensions, with a share and its interval beside every count.

mod shares;

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::csv;
use crate::error::Error;
use crate::openapi::{Filters, Format, GroupBy};
use crate::query::{self, Pairs, unknown};
use crate::store::{Dimension, Filter, Group, Totals};
use shares::Shares;

/// Counts with their shares.
#[derive(Serialize, ToSchema)]
#[schema(as = Summary)]
pub struct Answer {
    /// Largest first. By day alone, with `from` and `to`: one for each day, in their order, also for days without logs. A
    /// log with two reasons is in two groups of `reason`; one without has the key null there.
    groups: Vec<GroupAnswer>,
    /// Each log once.
    total: TotalAnswer,
    /// What people call the cohorts among the keys, by id; left out when there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    cohorts: BTreeMap<String, String>,
}

/// One group.
#[derive(Serialize, ToSchema)]
#[schema(as = SummaryGroup)]
struct GroupAnswer {
    #[serde(flatten)]
    group: Group,
    /// Of the logs of this group.
    shares: Shares,
}

/// All that the filters let through.
#[derive(Serialize, ToSchema)]
#[schema(as = SummaryTotal)]
struct TotalAnswer {
    #[serde(flatten)]
    totals: Totals,
    /// Of all these logs.
    shares: Shares,
}

/// Counts of logs and of distinct machines, in all and by any combination of dimensions.
#[utoipa::path(
    get, path = "/api/v1/summary", operation_id = "summary", tag = "questions",
    params(GroupBy, Format, Filters),
    responses(
        (status = 200, description = "The counts", content((Answer = "application/json"), (String = "text/csv"))),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn answer(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Response, Error> {
    let mut filter = Filter::default();
    let mut group_by = Vec::new();
    let mut format = query::Format::Json;
    for (name, value) in pairs {
        if name == "group_by" {
            query::group_by(&mut group_by, &value)?;
        } else if name == "format" {
            format = query::Format::read(&value)?;
        } else if !filter.take(&name, &value).map_err(Error::BadQuery)? {
            return Err(unknown(&name));
        }
    }
    let summary = app.store.summary(&filter, &group_by).await?;
    let groups = match filter.days() {
        Some(days) if group_by == [Dimension::Day] => series(summary.groups, days),
        _ => summary.groups,
    };
    let group = |group: Group| GroupAnswer { shares: (&group.totals).into(), group };
    let answer = Answer {
        groups: groups.into_iter().map(group).collect(),
        total: TotalAnswer { shares: (&summary.total).into(), totals: summary.total },
        cohorts: summary.cohorts,
    };
    match format {
        query::Format::Json => Ok(Json(answer).into_response()),
        query::Format::Csv => {
            let keys = group_by.iter().map(|dimension| dimension.as_str());
            let first: Vec<_> = keys.chain(["logs", "machines"]).collect();
            if group_by.is_empty() { csv::answer(&[answer.total], &first) } else { csv::answer(&answer.groups, &first) }
        }
    }
}

/// One group for each day.
fn series(groups: Vec<Group>, days: Vec<String>) -> Vec<Group> {
    let word = Dimension::Day.as_str();
    let by_day = |group: Group| Some((group.key.get(word)?.as_str()?.to_owned(), group.totals));
    let mut found: BTreeMap<String, Totals> = groups.into_iter().filter_map(by_day).collect();
    let group = |day: String| Group {
        totals: found.remove(&day).unwrap_or_default(),
        key: Map::from_iter([(word.to_owned(), Value::String(day))]),
    };
    days.into_iter().map(group).collect()
}
