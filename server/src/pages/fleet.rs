//! `GET /`: the whole fleet at a glance.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use dashboards::{FleetPage, Query, Spread, Trend};
use jiff::civil::Date;

use super::{Asked, counts, drawn, filter, frame, key, periods, selection, server_url, spread, spreads};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::store::{Dimension, Filter};

/// How long the two periods are that the numbers are compared over, where no filter says it.
const TREND_DAYS: i64 = 30;

/// The front page.
#[utoipa::path(
    get, path = "/", operation_id = "fleet_page", tag = "pages",
    params(Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
    headers: HeaderMap,
) -> Result<Response, Html> {
    let page = FleetPage { frame: frame("/", caller), server_url: server_url(&headers), ..FleetPage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: FleetPage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let store = &app.store;
    let groups = async |dimension| store.groups(&filter, dimension).await;
    let spread_by = async |dimension| groups(dimension).await.map(|groups| spreads(&groups, dimension));
    let count_by = async |dimension| groups(dimension).await.map(|groups| counts(&groups, dimension));
    let trend = trend(app, &query, &filter).await?;
    let page = FleetPage {
        by_outcome: count_by(Dimension::Outcome).await?,
        by_split: count_by(Dimension::Split).await?,
        by_crossing: count_by(Dimension::Crossing).await?,
        // A log without a reason is in no group here.
        by_reason: count_by(Dimension::Reason).await?.into_iter().filter(|count| count.key.is_some()).collect(),
        by_path: spread_by(Dimension::Path).await?,
        by_gpu_pair: spread_by(Dimension::GpuPair).await?,
        by_runtime: spread_by(Dimension::Runtime).await?,
        by_exe: spread_by(Dimension::Exe).await?,
        by_day: spread_by(Dimension::Day).await?,
        by_cohort: cohorts(app, &filter).await?,
        selection: selection(app, query, &filter).await?,
        trend,
        ..page
    };
    drawn(page.render())
}

/// Kinds of PC with what people call them.
async fn cohorts(app: &App, filter: &Filter) -> Result<Vec<Spread>, Error> {
    let summary = app.store.summary(filter, &[Dimension::Cohort]).await?;
    let groups = summary.groups.iter().map(|group| {
        let id = key(group, Dimension::Cohort);
        let label = id.as_ref().and_then(|id| summary.cohorts.get(id)).cloned();
        Spread { key: id, label, ..spread(&group.totals) }
    });
    Ok(groups.collect())
}

/// The days of the filter, or the newest ones, against as many before.
async fn trend(app: &App, query: &Query, filter: &Filter) -> Result<Option<Trend>, Error> {
    let Some(newest) = app.store.newest_day().await? else { return Ok(None) };
    let date = |name: &str| query.get(name).map(str::parse::<Date>);
    let (from, to) = match (date("from"), date("to"), query.get("day")) {
        // A time of day, or days that are no period.
        (Some(Err(_)), ..) | (_, Some(Err(_)), _) | (.., Some(_)) => return Ok(None),
        (from, to, None) => (from.and_then(Result::ok), to.and_then(Result::ok)),
    };
    let until = to.unwrap_or(newest);
    let days = from.map_or(TREND_DAYS, |from| i64::from((until - from).get_days()) + 1);
    let Some(periods) = (1..=3_660).contains(&days).then(|| periods(until, days)).flatten() else { return Ok(None) };
    let mut sides = Vec::new();
    for (first, last) in periods {
        let mut own = filter.clone();
        for (name, day) in [("from", first), ("to", last)] {
            own.take(name, &day.to_string()).map_err(Error::BadQuery)?;
        }
        sides.push(spread(&app.store.total(&own).await?));
    }
    let [now, before] = <[Spread; 2]>::try_from(sides).unwrap_or_default();
    let days = u32::try_from(days).unwrap_or_default();
    Ok((before.tally.logs > 0).then(|| Trend { days, until: until.to_string(), now, before }))
}
