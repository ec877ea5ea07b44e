//! `GET /api/v1/costs`: what crosses the bus between GPUs, by day, kind of PC or anything else; the curve that each topology's
//! machines measured, and the machines that are off it (issue 8).
//!
//! Every sum has bounds and says of how many logs it is known; the others are in no sum.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::State;
use resolver::cost::curve::{self, LEAST_OTHERS, Point};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::Error;
use crate::openapi::{Filters, GroupBy};
use crate::query::{self, Pairs, unknown};
use crate::store::{Bus, BusGroup, CostPoint, Dimension, Filter, Store};

/// Points of one curve in an answer.
const POINTS: usize = 200;
/// Curves in an answer: those of the most machines.
const CURVES: usize = 40;

/// What crosses, and what it takes.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Costs)]
pub struct Answer {
    /// Most first; empty without `group_by`. A log with two reasons is in two groups of `reason`.
    pub groups: Vec<BusGroup>,
    /// Each log once.
    pub total: Bus,
    /// Days on which one of these logs started: sums divided by it are a day's.
    pub days: i64,
    /// What people call the cohorts, by id.
    pub cohorts: BTreeMap<String, String>,
    /// What machines of one kind measured, those of the most machines first.
    pub curves: Vec<Curve>,
    /// Curves behind the limit.
    pub curves_left_out: u64,
}

/// The time of a frame over its bytes, for the machines of one kind of PC.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = CostCurve)]
pub struct Curve {
    /// Kind of PC.
    pub cohort: String,
    /// `frame_interval`: between two frames over the bridge. `service_frame`: what the service takes for a client's frame.
    pub of: &'static str,
    /// Machines that measured it.
    pub machines: u64,
    /// Enough of them for a verdict on each.
    pub is_judged: bool,
    /// What a frame takes whatever its bytes, microseconds.
    pub fixed_us: f64,
    /// What the link carries by the slope, bytes per second; null where all frames are of one size, or larger ones take no longer.
    pub bytes_per_second: Option<f64>,
    /// What was measured, and how far it is from the curve.
    pub points: Vec<CurvePoint>,
    /// Points behind the limit.
    pub points_left_out: u64,
    /// Machines that are off the curve, the furthest first.
    pub off: Vec<OffCurve>,
}

/// Frames of about one size of one machine.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = CostPoint)]
pub struct CurvePoint {
    /// Pseudonym of the PC.
    pub machine: String,
    /// Bytes of a frame over the bridge, on average.
    pub bytes_per_frame: f64,
    /// What such a frame takes, microseconds.
    pub measured_us: f64,
    /// What the curve says, microseconds.
    pub fitted_us: f64,
    /// Measured less fitted, microseconds.
    pub residual_us: f64,
}

/// A machine that is off the curve of its kind.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = OffCurve)]
pub struct OffCurve {
    /// Pseudonym of the PC.
    pub machine: String,
    /// Measured time over that of the curve: 2 is twice as long.
    pub ratio: f64,
    /// `slower`, `half_rate`, `far_slower` or `faster`.
    pub off: &'static str,
    /// The same in words, with what may be behind it.
    pub verdict: &'static str,
}

/// What crosses the bus, and what machines measured of it.
#[utoipa::path(
    get, path = "/api/v1/costs", operation_id = "costs", tag = "questions",
    params(GroupBy, Filters),
    responses((status = 200, description = "Sums and curves", body = Answer), (status = 400, description = "A wrong query"))
)]
pub async fn answer(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Answer>, Error> {
    let mut filter = Filter::default();
    let mut group_by = Vec::new();
    for (name, value) in pairs {
        if name == "group_by" {
            query::group_by(&mut group_by, &value)?;
        } else if !filter.take(&name, &value).map_err(Error::BadQuery)? {
            return Err(unknown(&name));
        }
    }
    Ok(Json(ask(&app.store, &filter, &group_by).await?))
}

/// Asks about the logs that the filter lets through.
///
/// # Errors
/// When the database fails.
pub async fn ask(store: &Store, filter: &Filter, group_by: &[Dimension]) -> Result<Answer, Error> {
    let (total, days) = store.bus(filter, &[]).await?;
    let groups = if group_by.is_empty() { Vec::new() } else { store.bus(filter, group_by).await?.0 };
    let mut curves = curves(store, filter).await?;
    let curves_left_out = shorten(&mut curves);
    let word = Dimension::Cohort.as_str();
    let keys = groups.iter().filter_map(|own| own.key.get(word)?.as_str().map(str::to_owned));
    let ids: BTreeSet<_> = keys.chain(curves.iter().map(|own| own.cohort.clone())).collect();
    let cohorts = store.cohort_labels(&Vec::from_iter(ids)).await?;
    let total = total.into_iter().next().map(|own| own.bus).unwrap_or_default();
    Ok(Answer { groups, total, days, cohorts, curves, curves_left_out })
}

/// All curves of these logs with all their points, those of the most machines first.
///
/// # Errors
/// When the database fails.
pub async fn curves(store: &Store, filter: &Filter) -> Result<Vec<Curve>, Error> {
    let points = store.cost_points(filter).await?;
    let drawing = tokio::task::spawn_blocking(move || drawn(&points));
    drawing.await.map_err(|error| Error::Internal(error.into()))
}

/// Points stand by kind of PC, then by machine.
fn drawn(points: &[CostPoint]) -> Vec<Curve> {
    let mut curves: Vec<_> = points
        .chunk_by(|one, other| one.cohort == other.cohort)
        .flat_map(|own| [curve(own, "frame_interval"), curve(own, "service_frame")])
        .flatten()
        .collect();
    curves.sort_by(|one, other| {
        other.machines.cmp(&one.machines).then_with(|| (&one.cohort, one.of).cmp(&(&other.cohort, other.of)))
    });
    curves
}

/// Leaves what an answer has room for, and answers how many curves went.
fn shorten(curves: &mut Vec<Curve>) -> u64 {
    let left_out = curves.len().saturating_sub(CURVES) as u64;
    curves.truncate(CURVES);
    for own in curves {
        own.points_left_out = own.points.len().saturating_sub(POINTS) as u64;
        own.points.truncate(POINTS);
    }
    left_out
}

/// The curve of one kind of PC; points stand by machine.
fn curve(points: &[CostPoint], of: &'static str) -> Option<Curve> {
    let mut names: Vec<&str> = Vec::new();
    let mut own = Vec::new();
    for point in points {
        let us = if of == "service_frame" { point.service_frame_us } else { Some(point.frame_interval_us) };
        let Some(us) = us else { continue };
        if names.last() != Some(&point.machine.as_str()) {
            names.push(&point.machine);
        }
        own.push(Point { machine: names.len() - 1, bytes: point.bytes, us });
    }
    let found = curve::fit(&own)?;
    let mut off: Vec<_> = curve::standings(&found, &own)
        .into_iter()
        .filter_map(|own| {
            let off = own.off?;
            Some(OffCurve {
                machine: names[own.machine].to_owned(),
                ratio: own.ratio,
                off: off.as_str(),
                verdict: off.words(),
            })
        })
        .collect();
    off.sort_by(|one, other| other.ratio.ln().abs().total_cmp(&one.ratio.ln().abs()));
    let drawn = own.iter().map(|point| {
        let fitted_us = found.us(point.bytes);
        CurvePoint {
            machine: names[point.machine].to_owned(),
            bytes_per_frame: point.bytes,
            measured_us: point.us,
            fitted_us,
            residual_us: point.us - fitted_us,
        }
    });
    Some(Curve {
        cohort: points.first()?.cohort.clone(),
        of,
        machines: found.machines as u64,
        is_judged: found.machines > LEAST_OTHERS,
        fixed_us: found.fixed_us,
        bytes_per_second: found.bytes_per_second(),
        points_left_out: 0,
        points: drawn.collect(),
        off,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_whole_until_it_is_an_answer() {
        let point = |number: usize| CostPoint {
            cohort: "0000000000000001".to_owned(),
            machine: format!("{number:032x}"),
            bytes: 1e6 + number as f64,
            frame_interval_us: 1e4,
            service_frame_us: None,
        };
        let points: Vec<_> = (0..POINTS + 3).map(point).collect();
        let mut curves = drawn(&points);
        // The page of the last machine finds it.
        assert_eq!(curves[0].points.last().map(|own| &own.machine), points.last().map(|own| &own.machine));
        assert_eq!(shorten(&mut curves), 0);
        assert_eq!((curves[0].points.len(), curves[0].points_left_out), (POINTS, 3));
    }
}
