//! What a log cost on the bus, as its row of `log_costs` holds it, and the sums of `cost_days`, which move in the same transaction
//! (issue 8).
//!
//! [`Costs`] makes the row of what was folded. [`Pending`] collects by how much days change, and [`settle`] writes that in one
//! sorted order before the commit, as the roll-ups do. Questions stand in `cost_questions`.

use std::collections::BTreeMap;

use resolver::Examination;
use resolver::cost::{Frame, Measure, Pixels, Session, session};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use wire::{LogFacts, Span};

use super::columns::Columns;
use super::ingest::placeholders;
use super::{Store, Write, sums};
use crate::text;

/// The columns of `log_costs` that hold numbers.
pub const NUMBERS: [&str; 28] = [
    "measured",
    "seconds_low",
    "seconds_high",
    "told_bus_megabytes_low",
    "told_bus_megabytes_high",
    "told_atlas_megabytes_low",
    "told_atlas_megabytes_high",
    "told_present_megabytes_low",
    "told_present_megabytes_high",
    "told_split_saves_megabytes_low",
    "told_split_saves_megabytes_high",
    "reference_bus_megabytes_low",
    "reference_bus_megabytes_high",
    "reference_atlas_megabytes_low",
    "reference_atlas_megabytes_high",
    "reference_present_megabytes_low",
    "reference_present_megabytes_high",
    "reference_split_saves_megabytes_low",
    "reference_split_saves_megabytes_high",
    "bridge_bytes_per_second_low",
    "bridge_bytes_per_second_high",
    "link_at_least_bytes_per_second",
    "frame_class",
    "bridge_frames",
    "bridge_kibibytes",
    "bridge_ms",
    "client_frames",
    "client_ms",
];

/// Where the sums of a row begin among [`NUMBERS`].
const TOLD: usize = 3;
const REFERENCE: usize = 11;

/// The sums of `cost_days`, in the order of [`Sums`].
pub(super) const SUMS: [&str; 8] = [
    "logs",
    "measured",
    "told_logs",
    "told_megabytes_low",
    "told_megabytes_high",
    "reference_logs",
    "reference_megabytes_low",
    "reference_megabytes_high",
];

/// One number for each of [`SUMS`].
pub(super) type Sums = [i64; SUMS.len()];

/// The same of the rows of `log_costs c`.
pub(super) const SUMS_OF_ROWS: &str = "\
    cast(count(*) as bigint) as logs,
    cast(count(case when c.measured = 1 then 1 end) as bigint) as measured,
    cast(count(c.told_bus_megabytes_low) as bigint) as told_logs,
    cast(coalesce(sum(c.told_bus_megabytes_low), 0) as bigint) as told_megabytes_low,
    cast(coalesce(sum(c.told_bus_megabytes_high), 0) as bigint) as told_megabytes_high,
    cast(count(c.reference_bus_megabytes_low) as bigint) as reference_logs,
    cast(coalesce(sum(c.reference_bus_megabytes_low), 0) as bigint) as reference_megabytes_low,
    cast(coalesce(sum(c.reference_bus_megabytes_high), 0) as bigint) as reference_megabytes_high";

/// No number of a log is larger: what is, nobody measured, and the sum over a million logs still fits.
const MOST: f64 = 1e12;
/// No log is believed to have run longer: 31 days.
const MOST_SECONDS: f64 = 31.0 * 86_400.0;

/// What one log cost: [`NUMBERS`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Costs(Box<[Option<i64>; NUMBERS.len()]>);

impl Costs {
    /// Of everything that is stored of a log.
    pub(super) fn of(examination: &Examination, measure: &Measure, facts: &LogFacts) -> Self {
        let verdict = &examination.judgement.verdict;
        let panel = examination.told.machine.panel.filter(|own| own.width > 0 && own.height > 0);
        let panel_px = panel.map(|own| Pixels { width: own.width, height: own.height });
        let frame = measure.fill(Frame { panel_px, ..Frame::default() });
        let seconds = seconds(measure, facts);
        let counters = measure.cost.as_ref();
        let of = |frame: &Frame| session(frame, counters, verdict.crossing, verdict.interop_crossing, seconds);
        let (told, reference) = (of(&frame), of(&frame.on_reference()));
        let mut costs = Self::default();
        costs.put("measured", Some(i64::from(told.is_measured && told.bus_bytes.is_some())));
        costs.span("seconds", seconds, 1.0);
        costs.sums(TOLD, &told);
        costs.sums(REFERENCE, &reference);
        costs.span("bridge_bytes_per_second", counters.and_then(|own| own.bytes_per_second), 1.0);
        let at_least = counters.and_then(|own| own.link_at_least_bytes_per_second);
        costs.put("link_at_least_bytes_per_second", at_least.and_then(|own| whole(own.floor())));
        if let Some(pace) = measure.bridge_pace {
            let each = pace.bytes as f64 / pace.frames as f64;
            let numbers =
                [whole(pace.frames as f64), whole(pace.bytes as f64 / 1024.0), whole(pace.us as f64 / 1000.0)];
            // A split that moved nothing has no size, and a number that cannot be makes the others worthless.
            if let [Some(frames), Some(kibibytes @ 1..), Some(ms @ 1..)] = numbers {
                costs.put("frame_class", whole((each.log2() * 8.0).round()));
                costs.put("bridge_frames", Some(frames));
                costs.put("bridge_kibibytes", Some(kibibytes));
                costs.put("bridge_ms", Some(ms));
            }
        }
        if let Some(pace) = measure.client_pace
            && let (Some(frames), Some(ms @ 1..)) = (whole(pace.frames as f64), whole(pace.us as f64 / 1000.0))
        {
            costs.put("client_frames", Some(frames));
            costs.put("client_ms", Some(ms));
        }
        costs
    }

    /// Of a row that has the columns of `log_costs`; null where a join found none.
    pub(super) fn read(row: &AnyRow) -> sqlx::Result<Self> {
        let mut costs = Self::default();
        for (number, name) in costs.0.iter_mut().zip(NUMBERS) {
            *number = row.try_get(name)?;
        }
        Ok(costs)
    }

    /// The columns as [`Costs::read`] wants them, of `log_costs c`.
    pub(super) fn selected() -> String {
        NUMBERS.map(|name| format!("c.{name}")).join(", ")
    }

    /// Names and contents, for comparing.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        NUMBERS.into_iter().zip(self.0.map(|own| own.map(|own| own.to_string())))
    }

    /// How the log counts in `cost_days`.
    fn counted(&self) -> Sums {
        let number = |at: usize| self.0[at].unwrap_or(0);
        let is_known = |at: usize| i64::from(self.0[at].is_some());
        [
            1,
            number(0),
            is_known(TOLD),
            number(TOLD),
            number(TOLD + 1),
            is_known(REFERENCE),
            number(REFERENCE),
            number(REFERENCE + 1),
        ]
    }

    fn put(&mut self, name: &str, value: Option<i64>) {
        let at = NUMBERS.iter().position(|own| *own == name).expect("the name is one of ours");
        self.0[at] = value;
    }

    /// Both bounds in columns of this name; neither where one does not fit.
    fn span(&mut self, name: &str, span: Option<Span<f64>>, unit: f64) {
        let both = span.and_then(|own| rounded(own.low, own.high, unit));
        self.put(&format!("{name}_low"), both.map(|own| own.0));
        self.put(&format!("{name}_high"), both.map(|own| own.1));
    }

    fn sums(&mut self, first: usize, own: &Session) {
        const MEGABYTE: f64 = 1e6;
        let plain = |span: Option<Span<f64>>| span.map(|own| (own.low, own.high));
        let spans = [plain(own.bus_bytes), plain(own.atlas_bytes), plain(own.present_bytes), own.split_saves_bytes];
        for (place, span) in spans.into_iter().enumerate() {
            let both = span.and_then(|(low, high)| rounded(low, high, MEGABYTE));
            self.0[first + 2 * place] = both.map(|own| own.0);
            self.0[first + 2 * place + 1] = both.map(|own| own.1);
        }
    }
}

/// From the newest placement record, and from the first record, to the last one: in its last state, and in all. Null where the
/// log does not tell, where its clock went back, and for times that nobody believes.
fn seconds(measure: &Measure, facts: &LogFacts) -> Option<Span<f64>> {
    let time = |text: Option<&String>| text.and_then(|text| text::local_time(text));
    let end = time(facts.last_time.as_ref())?;
    let first = time(measure.first_time.as_ref());
    let started = time(facts.process.as_ref().and_then(|own| own.started.as_ref()));
    let placed = time(measure.placed_time.as_ref()).or(first);
    let since = |start: jiff::civil::DateTime| end.duration_since(start).as_secs_f64();
    let whole = since([started, first, placed].into_iter().flatten().min()?);
    let last = since(placed?);
    (0.0 <= last && last <= whole && whole <= MOST_SECONDS).then_some(Span { low: last, high: whole })
}

/// Down and up in whole units.
fn rounded(low: f64, high: f64, unit: f64) -> Option<(i64, i64)> {
    whole((low / unit).floor()).zip(whole((high / unit).ceil()))
}

/// Null for what nobody measured.
fn whole(value: f64) -> Option<i64> {
    (value.abs() <= MOST).then(|| value.round() as i64)
}

/// By how much days change and do not say yet.
#[derive(Debug, Default)]
pub(super) struct Pending(Vec<(String, String, Sums, i64)>);

impl Pending {
    /// Notes that a log counted like this (1), or does no longer (-1).
    fn note(&mut self, columns: &Columns, costs: &Costs, sign: i64) {
        let told = |text: &Option<String>| text.clone().unwrap_or_default();
        self.0.push((told(&columns.day), told(&columns.cohort), costs.counted(), sign));
    }

    /// How much is noted, for [`Pending::forget_since`].
    pub(super) const fn mark(&self) -> usize {
        self.0.len()
    }

    /// Forgets what was noted since: a savepoint was rolled back.
    pub(super) fn forget_since(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

/// Replaces the row of a log, which said `old` if there was one.
pub(super) async fn put(
    write: &mut Write<'_>,
    id: &str,
    machine: &str,
    old: Option<(&Columns, &Costs)>,
    new: (&Columns, &Costs),
) -> sqlx::Result<()> {
    let (columns, costs) = new;
    let is_same = old.is_some_and(|(before, own)| {
        own == costs
            && (&before.day, &before.cohort, before.situation, &before.crossing)
                == (&columns.day, &columns.cohort, columns.situation, &columns.crossing)
    });
    if is_same {
        return Ok(());
    }
    if let Some((before, own)) = old {
        write.costs.note(before, own, -1);
    }
    write.costs.note(columns, costs, 1);
    let names = ["day", "cohort", "situation", "crossing"].into_iter().chain(NUMBERS);
    let set: Vec<_> = names.clone().map(|name| format!("{name} = excluded.{name}")).collect();
    let sql = format!(
        "insert into log_costs (log, machine, {}) values {} on conflict (log) do update set {}",
        names.collect::<Vec<_>>().join(", "),
        placeholders(1, NUMBERS.len() + 6),
        set.join(", ")
    );
    // Column names and placeholders only.
    let query = sqlx::query(AssertSqlSafe(sql))
        .bind(id)
        .bind(machine)
        .bind(&columns.day)
        .bind(&columns.cohort)
        .bind(columns.situation)
        .bind(&columns.crossing);
    costs.0.iter().fold(query, |query, number| query.bind(*number)).execute(write.connection()).await?;
    Ok(())
}

/// Notes that logs are about to go: those of `logs`, a condition on `log_costs c` that binds `values`.
pub(super) async fn forget(write: &mut Write<'_>, logs: &str, values: &[String]) -> sqlx::Result<()> {
    let sql = format!(
        "select coalesce(c.day, '') as day, coalesce(c.cohort, '') as cohort, {SUMS_OF_ROWS}
         from log_costs c where {logs} group by 1, 2"
    );
    let query = values.iter().fold(sqlx::query(AssertSqlSafe(sql)), sqlx::query::Query::bind);
    for row in query.fetch_all(write.connection()).await? {
        write.costs.0.push((row.try_get("day")?, row.try_get("cohort")?, sums_of(&row)?, -1));
    }
    Ok(())
}

/// The sums of a row that has them by their names.
pub(super) fn sums_of(row: &AnyRow) -> sqlx::Result<Sums> {
    let mut sums = Sums::default();
    for (sum, name) in sums.iter_mut().zip(SUMS) {
        *sum = row.try_get(name)?;
    }
    Ok(sums)
}

/// Writes what is pending. [`Write::commit`] does it.
pub(super) async fn settle(write: &mut Write<'_>) -> sqlx::Result<()> {
    let mut days: BTreeMap<(String, String), Sums> = BTreeMap::new();
    for (day, cohort, own, sign) in std::mem::take(&mut write.costs).0 {
        let sums = days.entry((day, cohort)).or_default();
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += sign * own);
    }
    days.retain(|_, sums| sums.iter().any(|sum| *sum != 0));
    write.recounted |= !days.is_empty();
    let rows: Vec<_> = days.iter().map(|((day, cohort), sums)| ([day.as_str(), cohort], sums.as_slice())).collect();
    sums::add(write, "cost_days", ["day", "cohort"], &SUMS, &rows).await
}

/// What `log_costs` has of `logs`.
const COPIES: [&str; 5] = ["machine", "day", "cohort", "situation", "crossing"];
/// The rows of `log_costs c` in which that is another than in `logs l`.
const STALE: &str = "from log_costs c join logs l on l.id = c.log
    where c.machine <> l.machine or coalesce(c.day, '') <> coalesce(l.day, '') or coalesce(c.cohort, '') <> coalesce(l.cohort, '')
        or coalesce(c.situation, -1) <> coalesce(l.situation, -1) or c.crossing <> l.crossing";

/// Logs whose row of `log_costs` is not of what `logs` say, or is missing.
pub(super) async fn stale(connection: &mut AnyConnection) -> sqlx::Result<Vec<String>> {
    let sql = format!(
        "select l.id {STALE} union all
         select id from logs where report <> '' and id not in (select log from log_costs)"
    );
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(connection).await
}

/// What `cost_days` should say, by day and cohort, and what it says.
pub(super) async fn both(connection: &mut AnyConnection) -> sqlx::Result<[BTreeMap<(String, String), Sums>; 2]> {
    let computed = format!(
        "select coalesce(c.day, '') as day, coalesce(c.cohort, '') as cohort, {SUMS_OF_ROWS} from log_costs c group by 1, 2"
    );
    let stored = format!("select day, cohort, {} from cost_days", SUMS.join(", "));
    let mut both = [BTreeMap::new(), BTreeMap::new()];
    for (sql, rows) in [computed, stored].into_iter().zip(&mut both) {
        for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await? {
            rows.insert((row.try_get("day")?, row.try_get("cohort")?), sums_of(&row)?);
        }
    }
    Ok(both)
}

impl Store {
    /// Puts right what `log_costs` copies of `logs`, rows that are missing included, and counts `cost_days` anew.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn rebuild_cost_days(write: &mut Write<'_>) -> sqlx::Result<()> {
        let copies = COPIES.map(|name| format!("{name} = (select l.{name} from logs l where l.id = log_costs.log)"));
        let names = COPIES.join(", ");
        for sql in [
            format!("update log_costs set {} where log in (select c.log {STALE})", copies.join(", ")),
            format!(
                "insert into log_costs (log, {names}) select id, {names} from logs
                 where report <> '' and id not in (select log from log_costs)"
            ),
            "delete from cost_days".to_owned(),
        ] {
            // Column names only.
            sqlx::query(AssertSqlSafe(sql)).execute(write.connection()).await?;
        }
        let sql = format!(
            "insert into cost_days (day, cohort, {}) select coalesce(c.day, ''), coalesce(c.cohort, ''), {SUMS_OF_ROWS}
             from log_costs c group by 1, 2",
            SUMS.join(", ")
        );
        sqlx::query(AssertSqlSafe(sql)).execute(write.connection()).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_believes_is_not_known() {
        let facts = |last: &str| LogFacts { last_time: Some(last.to_owned()), ..LogFacts::default() };
        let measure = Measure {
            first_time: Some("2026-09-14 12:00:00.500".to_owned()),
            placed_time: Some("2026-09-14 12:00:10.500".to_owned()),
            ..Measure::default()
        };
        let of = |last: &str| seconds(&measure, &facts(last));
        assert_eq!(of("2026-09-14 12:01:00.500"), Some(Span { low: 50.0, high: 60.0 }));
        assert_eq!(of("2026-09-14 12:00:05.000"), None, "the clock went back");
        assert_eq!(of("2027-09-14 12:00:00.500"), None, "no process runs for a year");
        assert_eq!((of("soon"), seconds(&measure, &LogFacts::default())), (None, None));
        assert_eq!(seconds(&Measure::default(), &facts("2026-09-14 12:01:00.500")), None);
        assert_eq!(rounded(1.2e6, 3.4e6, 1e6), Some((1, 4)));
        assert_eq!(rounded(-1.2e6, 3.4e6, 1e6), Some((-2, 4)));
        assert_eq!((rounded(0.0, f64::INFINITY, 1.0), whole(f64::NAN), whole(2e12)), (None, None, None));
    }
}
