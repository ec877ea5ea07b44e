//! `GET /costs`: what crosses between GPUs across the fleet, and which machines take longer than their kind.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{CostsPage, Crossed, CrossedBy, CurveView, PointView, Query, REFERENCE};
use resolver::cost::words;
use wire::Span;

use super::{Asked, count, drawn, filter, frame, selection};
use crate::app::App;
use crate::auth::Caller;
use crate::costs::{self, Curve};
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::store::{Bus, BusGroup, Dimension};

/// Bytes in a megabyte.
const MEGABYTE: f64 = 1e6;

/// What crosses by day and kind of PC, and what machines measured of it.
#[utoipa::path(
    get, path = "/costs", operation_id = "costs_page", tag = "pages",
    params(
        ("numbers" = Option<String>, Query, description = "`reference`: with the reference laptop's numbers for what logs do not tell."),
        Filters
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
    let page = CostsPage { frame: frame("/costs", caller), ..CostsPage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: CostsPage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let is_reference = query.get("numbers") == Some(REFERENCE);
    let answer = costs::ask(&app.store, &filter, &[Dimension::Cohort]).await?;
    let (mut by_day, _) = app.store.bus(&filter, &[Dimension::Day]).await?;
    let day = Dimension::Day.as_str();
    by_day.sort_by(|one, other| one.key[day].as_str().cmp(&other.key[day].as_str()));
    let label = |key: &String| answer.cohorts.get(key).cloned();
    let by = |own: BusGroup, dimension: Dimension, days: i64| {
        let key = own.key.get(dimension.as_str()).and_then(|own| own.as_str()).map(str::to_owned);
        CrossedBy { label: key.as_ref().and_then(label), key, crossed: crossed(&own.bus, is_reference, days) }
    };
    let page = CostsPage {
        total: crossed(&answer.total, is_reference, answer.days),
        days: count(answer.days),
        by_day: by_day.into_iter().map(|own| by(own, Dimension::Day, 1)).collect(),
        by_cohort: answer.groups.into_iter().map(|own| by(own, Dimension::Cohort, answer.days)).collect(),
        curves: answer.curves.into_iter().map(|own| curve(own, &label)).collect(),
        curves_left_out: answer.curves_left_out,
        ..page
    };
    let selection = selection(&mut app.store.counting().await?, query, &filter).await?;
    drawn(CostsPage { selection, ..page }.render())
}

/// In the numbers that were asked for; `days` is what a day's share is of.
pub(super) fn crossed(bus: &Bus, is_reference: bool, days: i64) -> Crossed {
    let numbers = if is_reference { bus.reference } else { bus.told };
    let bytes = (numbers.megabytes_low as f64 * MEGABYTE, numbers.megabytes_high as f64 * MEGABYTE);
    let over = |days: f64| words::amount(Some(Span { low: bytes.0 / days, high: bytes.1 / days }));
    Crossed {
        logs: count(bus.logs),
        measured: count(bus.measured_logs),
        known: count(numbers.known_logs),
        bytes,
        words: [over(1.0), over(days.max(1) as f64)],
    }
}

fn curve(own: Curve, label: &dyn Fn(&String) -> Option<String>) -> CurveView {
    let point = |own: costs::CurvePoint| PointView {
        size: words::amount(Some(Span::exact(own.bytes_per_frame))),
        machine: own.machine,
        bytes: own.bytes_per_frame,
        measured_us: own.measured_us,
        fitted_us: own.fitted_us,
    };
    CurveView {
        label: label(&own.cohort),
        cohort: own.cohort,
        of: own.of,
        machines: own.machines,
        is_judged: own.is_judged,
        fixed: words::ms(Some(Span::exact(own.fixed_us / 1000.0))),
        rate: own.bytes_per_second.map(|rate| words::rate(Some(Span::exact(rate)))),
        points: own.points.into_iter().map(point).collect(),
        points_left_out: own.points_left_out,
        off: own.off.into_iter().map(|own| (own.machine, own.ratio, own.verdict)).collect(),
    }
}
