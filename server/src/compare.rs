//! `GET /api/v1/compare`: in what do two sets of logs differ by more than chance? Two builds, two periods, two machines.
//!
//! Shares of logs are compared. Logs of one machine are not independent of each other, which no test of shares knows, so
//! every count has the number of machines beside it: a difference that comes from two machines is news of two machines.

pub mod statistics;

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::Error;
use crate::openapi::TwoSides;
use crate::query::{Pairs, unknown};
use crate::store::{Counting, Dimension, Filter, Group, Totals};
use statistics::{Sample, holm};

/// Values of one dimension that are compared: those of most logs on both sides together.
const VALUES: usize = 50;
/// The probability of calling any chance difference of one answer real.
pub const LEVEL: f64 = 0.05;
/// What is compared value by value.
const DIMENSIONS: [Dimension; 6] =
    [Dimension::Split, Dimension::Crossing, Dimension::Reason, Dimension::GpuPair, Dimension::Path, Dimension::Exe];

/// The answer.
#[derive(Serialize, ToSchema)]
#[schema(as = Compare)]
pub struct Answer {
    /// All logs of the side.
    pub a: Side,
    /// All logs of the other.
    pub b: Side,
    /// How `beyond_chance` is decided: `holm`, over all `differences`.
    pub correction: &'static str,
    /// The probability of one or more false `beyond_chance`.
    pub level: f64,
    /// What is larger than chance first, then by size.
    pub differences: Vec<Difference>,
    /// Values of few logs that were not compared, by dimension.
    pub left_out: BTreeMap<&'static str, usize>,
}

/// A set of logs.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub struct Side {
    pub logs: u64,
    /// Distinct ones.
    pub machines: u64,
}

/// One property on both sides.
#[derive(Serialize, ToSchema)]
pub struct Difference {
    /// A dimension, `killed` or `retired`.
    pub measure: &'static str,
    /// The value of the dimension; null where logs do not tell, and for `killed` and `retired`.
    pub value: Option<String>,
    pub a: Part,
    pub b: Part,
    /// Share of b less share of a; null when a side has no logs.
    #[serde(rename = "difference")]
    pub change: Option<f64>,
    /// 95 % interval of the difference by Newcombe's method, from Wilson's intervals of both shares.
    pub interval: Option<[f64; 2]>,
    /// Two-sided test of equal shares, with a continuity correction; not corrected for the number of comparisons.
    pub p: Option<f64>,
    /// Larger than chance, corrected for the number of comparisons.
    pub beyond_chance: bool,
}

/// The logs of a side that have the property.
#[derive(Clone, Copy, Default, Serialize, ToSchema)]
pub struct Part {
    pub logs: u64,
    pub machines: u64,
    /// Of the side's logs; null when it has none.
    pub share: Option<f64>,
}

/// What differs between two sets of logs, what is larger than chance first.
///
/// Filters whose names start with `a.` pick one side, those with `b.` the other, those with neither both.
#[utoipa::path(
    get, path = "/api/v1/compare", operation_id = "compare", tag = "questions",
    params(TwoSides),
    responses((status = 200, description = "The differences", body = Answer), (status = 400, description = "A wrong query"))
)]
pub async fn answer(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Answer>, Error> {
    let (mut a, mut b) = (Filter::default(), Filter::default());
    for (name, value) in pairs {
        let (sides, bare): (&mut [&mut Filter], &str) = match name.split_once('.') {
            Some(("a", bare)) => (&mut [&mut a], bare),
            Some(("b", bare)) => (&mut [&mut b], bare),
            _ => (&mut [&mut a, &mut b], &name),
        };
        for side in sides {
            if !side.take(bare, &value).map_err(Error::BadQuery)? {
                return Err(unknown(&name));
            }
        }
    }
    Ok(Json(compare(&mut app.store.counting().await?, &a, &b).await?))
}

/// Compares what two filters let through.
///
/// # Errors
/// When the database fails.
pub async fn compare(counting: &mut Counting, a: &Filter, b: &Filter) -> Result<Answer, Error> {
    let (all_a, all_b) = (side(&counting.total(a).await?), side(&counting.total(b).await?));
    let mut differences = Vec::new();
    let mut left_out = BTreeMap::new();
    for dimension in DIMENSIONS {
        let groups = [counting.groups(a, dimension).await?, counting.groups(b, dimension).await?];
        let mut values = paired(&groups, dimension);
        if values.len() > VALUES {
            left_out.insert(dimension.as_str(), values.len() - VALUES);
            values.truncate(VALUES);
        }
        let measure = dimension.as_str();
        differences
            .extend(values.into_iter().map(|(value, [a, b])| Difference::new(measure, value, all_a, a, all_b, b)));
    }
    for measure in ["killed", "retired"] {
        let mut parts = [Side { logs: 0, machines: 0 }; 2];
        for (part, filter) in parts.iter_mut().zip([a, b]) {
            let Some(filter) = filter.clone().with_flag(measure) else { continue };
            *part = side(&counting.total(&filter).await?);
        }
        differences.push(Difference::new(measure, None, all_a, parts[0], all_b, parts[1]));
    }
    let p: Vec<_> = differences.iter().map(|one| one.p.unwrap_or(1.0)).collect();
    for (difference, beyond) in differences.iter_mut().zip(holm(&p, LEVEL)) {
        difference.beyond_chance = beyond;
    }
    let size = |one: &Difference| one.change.map_or(0.0, f64::abs);
    differences.sort_by(|x, y| y.beyond_chance.cmp(&x.beyond_chance).then(size(y).total_cmp(&size(x))));
    Ok(Answer { a: all_a, b: all_b, correction: "holm", level: LEVEL, differences, left_out })
}

/// Every value that occurs on a side, with its logs on both, those of most logs first.
fn paired(sides: &[Vec<Group>; 2], dimension: Dimension) -> Vec<(Option<String>, [Side; 2])> {
    let mut values: BTreeMap<Option<String>, [Side; 2]> = BTreeMap::new();
    for (index, groups) in sides.iter().enumerate() {
        for group in groups {
            let value = group.key.get(dimension.as_str()).and_then(|value| value.as_str()).map(str::to_owned);
            values.entry(value).or_insert([Side { logs: 0, machines: 0 }; 2])[index] = side(&group.totals);
        }
    }
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by_key(|(_, [a, b])| std::cmp::Reverse(a.logs + b.logs));
    values
}

fn side(totals: &Totals) -> Side {
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    Side { logs: number(totals.logs), machines: number(totals.machines) }
}

impl Difference {
    fn new(measure: &'static str, value: Option<String>, all_a: Side, a: Side, all_b: Side, b: Side) -> Self {
        let (one, other) = (Sample { count: a.logs, of: all_a.logs }, Sample { count: b.logs, of: all_b.logs });
        let part =
            |side: Side, sample: Sample| Part { logs: side.logs, machines: side.machines, share: sample.share() };
        Self {
            measure,
            value,
            a: part(a, one),
            b: part(b, other),
            change: one.share().zip(other.share()).map(|(a, b)| b - a),
            interval: statistics::interval(one, other),
            p: statistics::p(one, other),
            beyond_chance: false,
        }
    }
}
