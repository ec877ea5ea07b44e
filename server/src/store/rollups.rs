//! The roll-ups: kept in the transaction that changes a log, and counted anew where they are missing.
//!
//! A transaction collects what became of its logs ([`Pending`]) and writes the sum once, before its commit. Days of machines
//! come first, since they say how the numbers of distinct machines change: a machine's rows are held by the lock on the
//! machine (`losses::hear`). Then the roll-ups, which everybody shares, in one sorted order, so that writers never wait for
//! each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use super::columns::{Columns, Counted, Key, NUMBERS};
use super::days::{Block, Days, block_of};
use super::ingest::placeholders;
use super::sums::{self, ROWS};
use super::{Store, Write, damaged};

/// The day that stands for all days.
pub const ALL_DAYS: &str = "all";

/// [`NUMBERS`], then distinct machines.
pub type Sums = [i64; NUMBERS.len() + 1];

/// Where a row of `rollups` stands. The order is that in which rows are written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// As in `rollups`.
    pub key: Key,
    /// A date, `''` or [`ALL_DAYS`].
    pub day: String,
}

/// What became of logs and does not stand in the roll-ups yet.
#[derive(Debug, Default)]
pub struct Pending(Vec<Change>);

#[derive(Debug)]
struct Change {
    machine: String,
    old: Option<Counted>,
    new: Option<Counted>,
}

impl Pending {
    /// Notes that a log counted as `old`, if it did, and counts as `new` from now on, if it is still there.
    pub fn note(&mut self, machine: &str, old: Option<Counted>, new: Option<Counted>) {
        if old != new {
            self.0.push(Change { machine: machine.to_owned(), old, new });
        }
    }

    /// How much is noted, for [`Pending::forget_since`].
    pub fn mark(&self) -> usize {
        self.0.len()
    }

    /// Forgets what was noted since: a savepoint was rolled back.
    pub fn forget_since(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

/// Counts from the beginning.
#[derive(Debug, Default)]
pub struct Count {
    /// What should stand in `rollups`.
    pub rows: BTreeMap<Place, Sums>,
}

impl Count {
    /// Counts all logs of a machine, which comes once, and answers what should stand in `rollup_machines` for it.
    pub fn machine(&mut self, logs: impl IntoIterator<Item = Counted>) -> BTreeMap<Key, Days> {
        let mut all: BTreeMap<Key, Days> = BTreeMap::new();
        for log in logs {
            for key in &log.keys {
                let days = all.entry(key.clone()).or_default();
                let is_first = days.is_empty();
                let (before, _) = days.add(log.day, 1);
                for (day, is_new) in [(spelled(log.day), before == 0), (ALL_DAYS.to_owned(), is_first)] {
                    let row = self.rows.entry(Place { key: key.clone(), day }).or_default();
                    add(row, &log, 1);
                    row[NUMBERS.len()] += i64::from(is_new);
                }
            }
        }
        all
    }
}

/// Writes what is pending. [`Write::commit`] does it; whoever deletes a machine's rows does it before.
pub async fn settle(write: &mut Write<'_>) -> sqlx::Result<()> {
    let mut changed: BTreeMap<(Key, String), BTreeMap<Option<Date>, i64>> = BTreeMap::new();
    let mut rows: BTreeMap<Place, Sums> = BTreeMap::new();
    for change in std::mem::take(&mut write.pending).0 {
        write.touched.insert(change.machine.clone());
        for (log, sign) in [(&change.old, -1), (&change.new, 1)] {
            let Some(log) = log else { continue };
            for key in &log.keys {
                *changed.entry((key.clone(), change.machine.clone())).or_default().entry(log.day).or_default() += sign;
                for day in [spelled(log.day), ALL_DAYS.to_owned()] {
                    add(rows.entry(Place { key: key.clone(), day }).or_default(), log, sign);
                }
            }
        }
    }
    changed.retain(|_, days| {
        days.retain(|_, logs| *logs != 0);
        !days.is_empty()
    });
    let mut stored = stored_days(write, changed.keys()).await?;
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for ((key, machine), by_day) in changed {
        let mut days = stored.remove(&(key.clone(), machine.clone())).unwrap_or_default();
        let had_any = !days.is_empty();
        let mut moved = Vec::new();
        let mut blocks = BTreeSet::new();
        for (day, logs) in by_day {
            blocks.insert(block_of(day));
            let (before, now) = days.add(day, logs);
            moved.push((spelled(day), i64::from(now > 0) - i64::from(before > 0)));
        }
        moved.push((ALL_DAYS.to_owned(), i64::from(!days.is_empty()) - i64::from(had_any)));
        for (day, by) in moved {
            rows.entry(Place { key: key.clone(), day }).or_default()[NUMBERS.len()] += by;
        }
        for number in blocks {
            match days.block(number) {
                Some(block) => kept.push((key.clone(), machine.clone(), block)),
                None => gone.push((key.clone(), machine.clone(), number)),
            }
        }
    }
    put_blocks(write, &kept).await?;
    for chunk in gone.chunks(ROWS) {
        let sql = format!(
            "delete from rollup_machines where (dimension, value, machine, block) in (values {})",
            placeholders(chunk.len(), 4)
        );
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, (key, machine, number)| {
            query.bind(key.dimension).bind(&key.value).bind(machine).bind(*number)
        });
        query.execute(write.connection()).await?;
    }
    rows.retain(|_, sums| sums.iter().any(|sum| *sum != 0));
    write.recounted |= !rows.is_empty();
    put_rows(write, &rows).await
}

impl Store {
    /// Counts all roll-ups anew from the logs, which nobody changes meanwhile, and answers how many rows they are.
    ///
    /// # Errors
    /// When the database fails; the roll-ups stay as they were then.
    pub async fn rebuild_rollups(&self) -> sqlx::Result<u64> {
        let mut write = self.write_alone().await?;
        let rows = rebuild(&mut write).await?;
        write.commit().await?;
        Ok(rows)
    }

    /// The same for a database that has logs but no roll-ups, because an older version filled it.
    pub(super) async fn build_missing_rollups(&self) -> sqlx::Result<()> {
        if !is_missing(&mut *self.pool.acquire().await?).await? {
            return Ok(());
        }
        let mut write = self.write_alone().await?;
        // Another server may have been faster.
        if is_missing(write.connection()).await? {
            rebuild(&mut write).await?;
        }
        write.commit().await
    }
}

async fn is_missing(connection: &mut AnyConnection) -> sqlx::Result<bool> {
    let missing: i64 = sqlx::query_scalar(
        "select cast(case when exists (select 1 from logs) and not exists (select 1 from rollups) then 1 else 0 end as bigint)",
    )
    .fetch_one(connection)
    .await?;
    Ok(missing == 1)
}

async fn rebuild(write: &mut Write<'_>) -> sqlx::Result<u64> {
    write.recounted = true;
    for statement in ["delete from rollups", "delete from rollup_machines"] {
        sqlx::query(statement).execute(write.connection()).await?;
    }
    let mut count = Count::default();
    let mut after = String::new();
    let mut built = Vec::new();
    loop {
        let machines = machines(write.connection(), &after).await?;
        let Some(last) = machines.last() else { break };
        after.clone_from(last);
        for machine in machines {
            let logs = counted_logs(write.connection(), &machine).await?;
            let days = count.machine(logs);
            for (key, days) in days {
                built.extend(days.blocks().into_iter().map(|block| (key.clone(), machine.clone(), block)));
            }
            if built.len() >= ROWS {
                put_blocks(write, &built).await?;
                built.clear();
            }
        }
    }
    put_blocks(write, &built).await?;
    put_rows(write, &count.rows).await?;
    Store::rebuild_cost_days(write).await?;
    Ok(count.rows.len() as u64)
}

/// The next machines behind `after`.
pub async fn machines(connection: &mut AnyConnection, after: &str) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("select id from machines where id > $1 order by id limit 1000")
        .bind(after)
        .fetch_all(connection)
        .await
}

/// How each log of a machine counts.
pub async fn counted_logs(connection: &mut AnyConnection, machine: &str) -> sqlx::Result<Vec<Counted>> {
    counted(connection, machine, &[]).await
}

/// How some logs of a machine count, or all of them when none is named.
pub async fn counted(connection: &mut AnyConnection, machine: &str, only: &[String]) -> sqlx::Result<Vec<Counted>> {
    let some: Vec<_> = (2..only.len() + 2).map(|number| format!("${number}")).collect();
    let which = if some.is_empty() { String::new() } else { format!(" and l.id in ({})", some.join(", ")) };
    let mut tokens: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let sql =
        format!("select r.log, r.token from logs l join log_reasons r on r.log = l.id where l.machine = $1{which}");
    // The text holds names of ours and placeholders only.
    let query = only.iter().fold(sqlx::query(AssertSqlSafe(sql)).bind(machine), sqlx::query::Query::bind);
    let rows = query.fetch_all(&mut *connection).await?;
    for row in rows {
        tokens.entry(row.try_get(0)?).or_default().insert(row.try_get(1)?);
    }
    // A log that was never judged does not count.
    let sql = format!("select l.id, {} from logs l where l.machine = $1 and l.report <> ''{which}", Columns::SELECTED);
    let query = only.iter().fold(sqlx::query(AssertSqlSafe(sql)).bind(machine), sqlx::query::Query::bind);
    let rows = query.fetch_all(connection).await?;
    rows.iter()
        .map(|row| {
            let id: String = row.try_get("id")?;
            Ok(Columns::read(row, tokens.remove(&id).unwrap_or_default())?.counted(machine))
        })
        .collect()
}

/// What `rollup_machines` holds of some keys.
async fn stored_days(
    write: &mut Write<'_>,
    keys: impl Iterator<Item = &(Key, String)>,
) -> sqlx::Result<BTreeMap<(Key, String), Days>> {
    let keys: Vec<_> = keys.collect();
    let mut stored: BTreeMap<_, Days> = BTreeMap::new();
    for chunk in keys.chunks(ROWS) {
        let sql = format!(
            "select dimension, value, machine, days from rollup_machines
             where (dimension, value, machine) in (values {})",
            placeholders(chunk.len(), 3)
        );
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, (key, machine)| {
            query.bind(key.dimension).bind(&key.value).bind(machine)
        });
        // The words of dimensions are few and fixed; these are the ones that were asked for.
        let words: BTreeMap<_, _> = chunk.iter().map(|(key, _)| (key.dimension, key.dimension)).collect();
        for row in query.fetch_all(write.connection()).await? {
            let Some(dimension) = words.get(row.try_get::<String, _>(0)?.as_str()) else { continue };
            let key = Key { dimension, value: row.try_get(1)? };
            let packed: Vec<u8> = row.try_get(3)?;
            let days = stored.entry((key, row.try_get(2)?)).or_default();
            days.take(&packed).ok_or_else(|| damaged("rollup_machines.days"))?;
        }
    }
    Ok(stored)
}

async fn put_blocks(write: &mut Write<'_>, rows: &[(Key, String, Block)]) -> sqlx::Result<()> {
    for chunk in rows.chunks(ROWS) {
        let sql = format!(
            "insert into rollup_machines (dimension, value, machine, block, bits, days) values {}
             on conflict (dimension, value, machine, block) do update set bits = excluded.bits, days = excluded.days",
            placeholders(chunk.len(), 6)
        );
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, (key, machine, block)| {
            let query = query.bind(key.dimension).bind(&key.value).bind(machine);
            query.bind(block.number).bind(block.bits).bind(&block.packed)
        });
        query.execute(write.connection()).await?;
    }
    Ok(())
}

/// Adds to the rows of `rollups`.
async fn put_rows(write: &mut Write<'_>, rows: &BTreeMap<Place, Sums>) -> sqlx::Result<()> {
    let rows: Vec<_> = rows
        .iter()
        .map(|(place, sums)| ([place.key.dimension, place.day.as_str(), place.key.value.as_str()], sums.as_slice()))
        .collect();
    let names = [&NUMBERS[..], &["machines"]].concat();
    sums::add(write, "rollups", ["dimension", "day", "value"], &names, &rows).await
}

fn add(sums: &mut Sums, log: &Counted, sign: i64) {
    for (sum, number) in sums.iter_mut().zip(log.numbers) {
        *sum += sign * number;
    }
}

/// A day as `rollups` spells it.
pub fn spelled(day: Option<Date>) -> String {
    day.map_or_else(String::new, |day| day.to_string())
}
