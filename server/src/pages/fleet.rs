//! `GET /`: the whole fleet at a glance.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use dashboards::{Count, FleetPage, Query, Spread, Trend};
use jiff::civil::Date;

use super::{Asked, counts, drawn, filter, frame, periods, selection, server_url, spread, spreads};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::store::{Counting, Dimension, Filter};

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
    let mut counting = app.store.counting().await?;
    let own = &mut counting;
    let page = FleetPage {
        trend: trend(own, &query, &filter).await?,
        by_outcome: count_by(own, &filter, Dimension::Outcome).await?,
        by_split: count_by(own, &filter, Dimension::Split).await?,
        by_crossing: count_by(own, &filter, Dimension::Crossing).await?,
        // A log without a reason is in no group here.
        by_reason: count_by(own, &filter, Dimension::Reason)
            .await?
            .into_iter()
            .filter(|own| own.key.is_some())
            .collect(),
        by_path: spread_by(own, &filter, Dimension::Path).await?,
        by_gpu_pair: spread_by(own, &filter, Dimension::GpuPair).await?,
        by_runtime: spread_by(own, &filter, Dimension::Runtime).await?,
        by_exe: spread_by(own, &filter, Dimension::Exe).await?,
        by_day: spread_by(own, &filter, Dimension::Day).await?,
        by_cohort: cohorts(own, &filter).await?,
        selection: selection(own, query, &filter).await?,
        ..page
    };
    drop(counting);
    drawn(page.render())
}

async fn count_by(counting: &mut Counting, filter: &Filter, dimension: Dimension) -> sqlx::Result<Vec<Count>> {
    counting.groups(filter, dimension).await.map(|groups| counts(&groups, dimension))
}

async fn spread_by(counting: &mut Counting, filter: &Filter, dimension: Dimension) -> sqlx::Result<Vec<Spread>> {
    counting.groups(filter, dimension).await.map(|groups| spreads(&groups, dimension))
}

/// Kinds of PC with what people call them.
async fn cohorts(counting: &mut Counting, filter: &Filter) -> sqlx::Result<Vec<Spread>> {
    let groups = counting.groups(filter, Dimension::Cohort).await?;
    let labels = counting.cohorts_among(&groups).await?;
    let named = spreads(&groups, Dimension::Cohort).into_iter().map(|own| {
        let label = own.key.as_ref().and_then(|id| labels.get(id)).cloned();
        Spread { label, ..own }
    });
    Ok(named.collect())
}

/// The days of the filter, or the newest ones, against as many before.
async fn trend(counting: &mut Counting, query: &Query, filter: &Filter) -> Result<Option<Trend>, Error> {
    let Some(newest) = counting.newest_day().await? else { return Ok(None) };
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
        sides.push(spread(&counting.total(&own).await?));
    }
    let [now, before] = <[Spread; 2]>::try_from(sides).unwrap_or_default();
    let days = u32::try_from(days).unwrap_or_default();
    Ok((before.tally.logs > 0).then(|| Trend { days, until: until.to_string(), now, before }))
}
