//! What crossed, counted: by day, kind of PC or any other dimension; what machines measured; what each situation cost.
//!
//! Days and kinds of PC are answered from `cost_days`, everything else from the rows of the logs.

use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use utoipa::ToSchema;
use wire::Crossing;

use super::costs::{SUMS, SUMS_OF_ROWS, sums_of};
use super::filter::Sql;
use super::{Dimension, Filter, Store};

/// Groups in an answer; the largest are kept.
const GROUPS: usize = 500;
/// Points that are read for curves: a fleet of fifty thousand machines with two sizes each.
const POINTS: i64 = 100_000;

/// What crossed in some logs. A megabyte is 10^6 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
pub struct Bus {
    /// Logs.
    pub logs: i64,
    /// Those whose counters tell what crossed.
    pub measured_logs: i64,
    /// From what logs tell alone.
    pub told: Numbers,
    /// With the reference laptop's numbers for what they do not tell.
    pub reference: Numbers,
}

/// One way to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
#[schema(as = BusNumbers)]
pub struct Numbers {
    /// Logs of which it is known what crossed; the others are in no sum.
    pub known_logs: i64,
    /// At least so much crossed in those.
    pub megabytes_low: i64,
    /// At most so much.
    pub megabytes_high: i64,
}

/// One group.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct BusGroup {
    /// A value for each dimension; null where the logs do not tell.
    #[schema(value_type = HashMap<String, Option<String>>)]
    pub key: Map<String, Value>,
    /// What crossed in its logs.
    #[serde(flatten)]
    pub bus: Bus,
}

/// Frames of about one size that one machine measured.
#[derive(Clone, PartialEq, Debug)]
pub struct CostPoint {
    /// Kind of PC.
    pub cohort: String,
    /// Its pseudonym.
    pub machine: String,
    /// Bytes of a frame over the bridge, on average.
    pub bytes: f64,
    /// Time between two such frames, microseconds.
    pub frame_interval_us: f64,
    /// Time that the service took for a client's frame, microseconds; null where no service told it.
    pub service_frame_us: Option<f64>,
}

/// What a machine's logs put on the bus.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MachineCosts {
    /// All of it.
    pub bus: Bus,
    /// Days on which it has logs.
    pub days: i64,
}

/// The logs of one situation with one crossing, for a what-if.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SituationCosts {
    /// Id; null where the log was judged before situations were kept.
    pub situation: Option<i64>,
    /// What crossed, as the logs say.
    pub crossing: Crossing,
    /// How many.
    pub logs: i64,
    /// From what logs tell alone, then with the reference laptop's numbers for the rest.
    pub saved: [WaysSaved; 2],
}

/// What ways cost in logs of which that is known: how many logs, at least and at most how many megabytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaysSaved {
    /// One atlas per rendered frame.
    pub atlas: (i64, i64, i64),
    /// Every present.
    pub present: (i64, i64, i64),
    /// What a split saves against every present.
    pub split_saves: (i64, i64, i64),
}

impl Store {
    /// What crossed in the logs that the filter lets through, by any dimensions, most first; without one, in all. Beside it: on how
    /// many days they started.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn bus(&self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<(Vec<BusGroup>, i64)> {
        let mut read = self.read().await?;
        let kept = kept(filter, group_by);
        let day = if kept.is_some() { "d.day" } else { "c.day" };
        let columns: Vec<_> = group_by
            .iter()
            .map(|own| match kept {
                Some(_) => format!("d.{}", own.as_str()),
                None => own.column(),
            })
            .collect();
        let mut answers = Vec::new();
        for (columns, sums) in [
            (columns, if kept.is_some() { sums_of_days() } else { SUMS_OF_ROWS.to_owned() }),
            (Vec::new(), format!("cast(count(distinct nullif({day}, '')) as bigint) as days")),
        ] {
            let mut sql = Sql::default();
            let keys: Vec<_> =
                columns.iter().enumerate().map(|(at, column)| format!("{column} as key_{at}, ")).collect();
            sql.push(&format!("select {}{sums}", keys.concat()));
            if let Some(days) = &kept {
                sql.push(" from cost_days d");
                days.push_where(&mut sql);
            } else {
                sql.push(" from log_costs c join logs l on l.id = c.log");
                if columns.iter().any(|own| own.starts_with("r.")) {
                    sql.push(" left join log_reasons r on r.log = l.id");
                }
                filter.push_where(&mut sql);
            }
            if !columns.is_empty() {
                sql.push(&format!(" group by {}", columns.join(", ")));
            }
            // Column names and placeholders only.
            answers.push(sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&mut *read).await?);
        }
        let days = answers.pop().unwrap_or_default().first().map_or(Ok(0), |row| row.try_get("days"))?;
        let rows = answers.pop().unwrap_or_default();
        let mut groups = rows.iter().map(|row| group(row, group_by)).collect::<sqlx::Result<Vec<_>>>()?;
        groups.sort_by_cached_key(|own| {
            let words: Vec<_> = own.key.values().map(|value| value.as_str().map(str::to_owned)).collect();
            (std::cmp::Reverse((own.bus.reference.megabytes_high, own.bus.logs)), words)
        });
        groups.truncate(GROUPS);
        Ok((groups, days))
    }

    /// What the machines of these logs measured, by kind of PC, machine and size of the frame.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cost_points(&self, filter: &Filter) -> sqlx::Result<Vec<CostPoint>> {
        let (tables, t) = tables(filter);
        let mut sql = Sql::default();
        let sums = ["bridge_kibibytes", "bridge_frames", "bridge_ms", "client_ms", "client_frames"];
        let sums = sums.map(|name| format!("cast(sum({t}.{name}) as bigint)")).join(", ");
        sql.push(&format!("select {t}.cohort, {t}.machine, {sums} from {tables}"));
        filter.push_where(&mut sql);
        sql.and(&format!("{t}.bridge_frames > 0 and {t}.cohort is not null"));
        let keys = format!("{t}.cohort, {t}.machine, {t}.frame_class");
        sql.push(&format!(" group by {keys} order by {keys} limit {POINTS}"));
        // Column names and placeholders only.
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                let number = |at: usize| row.try_get::<Option<i64>, _>(at).map(|own| own.map(|own| own as f64));
                let frames = number(3)?.unwrap_or(1.0);
                let client = number(5)?.zip(number(6)?).filter(|(_, frames)| *frames > 0.0);
                Ok(CostPoint {
                    cohort: row.try_get(0)?,
                    machine: row.try_get(1)?,
                    bytes: number(2)?.unwrap_or(0.0) * 1024.0 / frames,
                    frame_interval_us: number(4)?.unwrap_or(0.0) * 1000.0 / frames,
                    service_frame_us: client.map(|(ms, frames)| ms * 1000.0 / frames),
                })
            })
            .collect()
    }

    /// What a machine's logs put on the bus.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn machine_costs(&self, machine: &str) -> sqlx::Result<MachineCosts> {
        let sql = format!(
            "select cast(count(distinct c.day) as bigint) as days, {SUMS_OF_ROWS} from log_costs c where c.machine = $1"
        );
        let row = sqlx::query(AssertSqlSafe(sql)).bind(machine).fetch_one(&self.pool).await?;
        Ok(MachineCosts { bus: sums_of(&row)?.into(), days: row.try_get("days")? })
    }

    /// What the logs that the filter lets through cost by situation; beside it: on how many days they started.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn situation_costs(&self, filter: &Filter) -> sqlx::Result<(Vec<SituationCosts>, i64)> {
        let (tables, t) = tables(filter);
        let ways = ["told", "reference"].map(|numbers| {
            ["atlas", "present", "split_saves"].map(|way| {
                let column = format!("{t}.{numbers}_{way}_megabytes");
                format!(
                    "cast(count({column}_low) as bigint), cast(coalesce(sum({column}_low), 0) as bigint), \
                     cast(coalesce(sum({column}_high), 0) as bigint)"
                )
            })
        });
        let sums = ways.concat().join(", ");
        let days = format!("select cast(count(distinct {t}.day) as bigint) from {tables}");
        let keys = format!("{t}.situation, {t}.crossing");
        let all = format!("select {keys}, cast(count(*) as bigint), {sums} from {tables}");
        let group = format!(" group by {keys}");
        let mut read = self.read().await?;
        let mut answers = Vec::new();
        for (select, group) in [(all, group.as_str()), (days, "")] {
            let mut sql = Sql::default();
            sql.push(&select);
            filter.push_where(&mut sql);
            sql.push(group);
            // Column names and placeholders only.
            answers.push(sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&mut *read).await?);
        }
        let days = answers.pop().unwrap_or_default().first().map_or(Ok(0), |row| row.try_get(0))?;
        let rows = answers.pop().unwrap_or_default();
        let costs = rows.iter().map(|row| {
            let three =
                |at: usize| Ok::<_, sqlx::Error>((row.try_get(at)?, row.try_get(at + 1)?, row.try_get(at + 2)?));
            let saved = |at: usize| {
                Ok::<_, sqlx::Error>(WaysSaved {
                    atlas: three(at)?,
                    present: three(at + 3)?,
                    split_saves: three(at + 6)?,
                })
            };
            Ok(SituationCosts {
                situation: row.try_get(0)?,
                crossing: crossing(row.try_get(1)?),
                logs: row.try_get(2)?,
                saved: [saved(3)?, saved(12)?],
            })
        });
        Ok((costs.collect::<sqlx::Result<_>>()?, days))
    }
}

/// Where rows of `log_costs` that the filter lets through are found, and the name that they go by. `logs` are asked only where a
/// filter wants what the narrow table does not have.
fn tables(filter: &Filter) -> (&'static str, &'static str) {
    let is_here = |own: &Dimension| matches!(own, Dimension::Day | Dimension::Cohort | Dimension::Machine);
    let is_narrow = !filter.is_of_rows()
        && filter.from.is_none()
        && filter.to.is_none()
        && filter.values.iter().all(|(own, _)| is_here(own));
    if is_narrow { ("log_costs l", "l") } else { ("log_costs c join logs l on l.id = c.log", "c") }
}

fn crossing(word: &str) -> Crossing {
    [Crossing::None, Crossing::AtlasPerFrame, Crossing::EveryPresent]
        .into_iter()
        .find(|own| own.as_str() == word)
        .unwrap_or(Crossing::Unknown)
}

/// [`SUMS`] of the rows of `cost_days d`.
fn sums_of_days() -> String {
    SUMS.map(|name| format!("cast(coalesce(sum(d.{name}), 0) as bigint) as {name}")).join(", ")
}

/// A question that `cost_days` answers.
struct Kept<'a> {
    filter: &'a Filter,
    /// Both included.
    days: [Option<Date>; 2],
}

/// `None` where the rows have to tell: another dimension, a part of a day, or a year before our calendar.
fn kept<'a>(filter: &'a Filter, group_by: &[Dimension]) -> Option<Kept<'a>> {
    let is_kept = |own: &Dimension| matches!(own, Dimension::Day | Dimension::Cohort);
    if filter.is_of_rows() || !group_by.iter().all(is_kept) || !filter.values.iter().all(|(own, _)| is_kept(own)) {
        return None;
    }
    Some(Kept { filter, days: filter.whole_days()? })
}

impl Kept<'_> {
    fn push_where(&self, sql: &mut Sql) {
        for (dimension, values) in &self.filter.values {
            let list: Vec<_> = values.iter().map(|value| sql.bind(value.clone().unwrap_or_default())).collect();
            sql.and(&format!("d.{} in ({})", dimension.as_str(), list.join(", ")));
        }
        for (day, compare) in self.days.iter().zip([">=", "<="]) {
            if let Some(day) = day {
                let day = sql.bind(day.to_string());
                sql.and(&format!("d.day {compare} {day}"));
            }
        }
        if self.days.iter().any(Option::is_some) {
            // Logs that do not tell their day are none of them.
            sql.and("d.day <> ''");
        }
    }
}

fn group(row: &AnyRow, group_by: &[Dimension]) -> sqlx::Result<BusGroup> {
    let mut key = Map::new();
    for (at, dimension) in group_by.iter().enumerate() {
        let value: Option<String> = row.try_get(format!("key_{at}").as_str())?;
        // Where logs do not tell, the table of days has an empty text.
        let value = value.filter(|own| !own.is_empty() || !matches!(dimension, Dimension::Day | Dimension::Cohort));
        key.insert(dimension.as_str().to_owned(), value.map_or(Value::Null, Value::String));
    }
    Ok(BusGroup { key, bus: sums_of(row)?.into() })
}

impl From<[i64; SUMS.len()]> for Bus {
    fn from(sums: [i64; SUMS.len()]) -> Self {
        let [logs, measured_logs, told_logs, told_low, told_high, reference_logs, reference_low, reference_high] = sums;
        let numbers = |known_logs, megabytes_low, megabytes_high| Numbers { known_logs, megabytes_low, megabytes_high };
        Self {
            logs,
            measured_logs,
            told: numbers(told_logs, told_low, told_high),
            reference: numbers(reference_logs, reference_low, reference_high),
        }
    }
}
