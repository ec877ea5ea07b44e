//! The verdict of a log: folded from everything that is stored of it, in the transaction that adds to it.

use std::collections::BTreeSet;

use resolver::RULES;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use wire::{End, LogFacts, ScanReport};

use super::columns::Columns;
use super::costs::{self, Costs};
use super::drift::Drift;
use super::fold::{Fold, Held};
use super::ingest::{ROWS_PER_INSERT, placeholders};
use super::pieces::Changes;
use super::ranges::Ranges;
use super::{Write, corrupt, learned, stored};
use crate::text;

/// Folds what will be stored of a log when these changes are made, before they are. `before` is the log's revision then.
pub(super) async fn fold(write: &mut Write<'_>, id: &str, before: i64, changes: &Changes<'_>) -> sqlx::Result<Fold> {
    let fresh = || changes.parts.iter().filter_map(|part| part.fresh.map(|piece| (part, piece)));
    let first = fresh().next().map(|(part, _)| part.range.start);
    if let Some(mut fold) = write.known_fold(id, before)
        && first.is_none_or(|first| fold.rewind(first))
    {
        for (part, piece) in fresh() {
            let owned = part.owned(piece);
            write.folded += i64::try_from(owned.len()).unwrap_or(i64::MAX);
            fold.take(owned);
        }
        return Ok(fold);
    }
    let fold = stored::walk_parts(write.connection(), id, &changes.parts, Fold::default(), Fold::take).await?;
    write.folded += fold.events();
    Ok(fold)
}

/// What a log's stored records come to.
pub(super) struct Judged {
    /// Its verdict, with what the log says of itself.
    pub report: ScanReport,
    /// The same as it is stored.
    pub json: String,
    /// What the log tells of its PC.
    pub told: learned::Facts,
    /// Bytes that have not arrived although later ones have.
    pub missing_bytes: i64,
    /// Records that count.
    pub events: i64,
    /// Its unknown words.
    pub drift: Drift,
    /// What it put on the bus.
    pub costs: Costs,
}

/// Replaces the verdict of a log, which has this revision now.
pub(super) async fn replace(
    write: &mut Write<'_>,
    id: &str,
    revision: i64,
    ranges: &Ranges,
    fold: Fold,
) -> sqlx::Result<()> {
    let judged = sum(write.connection(), id, ranges, fold.clone()).await?;
    put(write, id, &judged).await?;
    // One that has its footer grows no more.
    if judged.report.end == End::Missing {
        write.folds.insert(id.to_owned(), Held { revision, fold, report_bytes: judged.json.len() });
    }
    Ok(())
}

/// The same when nothing came in. Answers whether the verdict is another one now. One whose events retention has removed
/// stays what it was.
pub(super) async fn again(write: &mut Write<'_>, id: &str) -> sqlx::Result<bool> {
    let pruned: i64 = sqlx::query_scalar("select events_pruned from logs where id = $1")
        .bind(id)
        .fetch_one(write.connection())
        .await?;
    if pruned != 0 {
        return Ok(false);
    }
    let judged = judge(write.connection(), id).await?;
    // Whatever stands there: `put` looks only where the verdict says that there is something.
    sqlx::query("delete from log_drift where log = $1").bind(id).execute(write.connection()).await?;
    put(write, id, &judged).await
}

/// Judges a log by everything that is stored of it. Nothing is changed.
pub(super) async fn judge(connection: &mut AnyConnection, id: &str) -> sqlx::Result<Judged> {
    let ranges = stored::ranges(connection, id).await?.into_iter().collect();
    let fold = stored::walk(connection, id, Fold::default(), Fold::take).await?;
    sum(connection, id, &ranges, fold).await
}

async fn sum(connection: &mut AnyConnection, id: &str, ranges: &Ranges, fold: Fold) -> sqlx::Result<Judged> {
    let row =
        sqlx::query("select file, facts, end_offset from logs where id = $1").bind(id).fetch_one(connection).await?;
    let file: String = row.try_get(0)?;
    let facts: LogFacts = serde_json::from_str(row.try_get(1)?).map_err(corrupt)?;
    let missing_bytes = ranges.missing_bytes(row.try_get(2)?);
    let events = fold.events();
    let (examination, drift, measure) = fold.examine(&facts);
    let costs = Costs::of(&examination, &measure, &facts);
    let told = learned::Facts::of(&examination)?;
    let report = ScanReport::new(file, facts.process, facts.end, facts.counts, examination.judgement);
    let json = serde_json::to_string(&report).map_err(corrupt)?;
    Ok(Judged { report, json, told, missing_bytes, events, drift, costs })
}

impl Write<'_> {
    /// What is known of a log in this state, from this transaction or an earlier one.
    fn known_fold(&mut self, id: &str, revision: i64) -> Option<Fold> {
        let own = self.folds.remove(id).filter(|held| held.revision == revision);
        own.map(|held| held.fold).or_else(|| self.known.take(id, revision))
    }
}

/// Writes the verdict, and keeps the one before when other rules made it and it was another one.
async fn put(write: &mut Write<'_>, id: &str, judged: &Judged) -> sqlx::Result<bool> {
    let before = before(write, id).await?;
    judged.drift.put(write, id, &before.report, &judged.report.runtime).await?;
    let new = Columns::of(&judged.report, &judged.told);
    let is_first = before.report.is_empty();
    let is_changed = before.report != judged.json;
    if !is_first && is_changed && before.rules != i64::from(RULES) {
        sqlx::query(
            "insert into verdict_history (log, rules, report, replaced) values ($1, $2, $3, $4)
             on conflict (log, rules) do update set report = excluded.report, replaced = excluded.replaced",
        )
        .bind(id)
        .bind(before.rules)
        .bind(&before.report)
        .bind(text::now())
        .execute(write.connection())
        .await?;
    }
    learned::put(write, &judged.told, &before.columns, &new).await?;
    sqlx::query(include_str!("verdict.sql"))
        .bind(id)
        .bind(judged.missing_bytes)
        .bind(&judged.json)
        .bind(new.started_s)
        .bind(&new.day)
        .bind(&new.exe)
        .bind(&new.runtime)
        .bind(&new.path)
        .bind(&new.split)
        .bind(&new.crossing)
        .bind(new.interop_crossing)
        .bind(new.killed)
        .bind(new.retired)
        .bind(&new.basis)
        .bind(&new.render)
        .bind(&new.scanout)
        .bind(&new.gpu_pair)
        .bind(&new.outcome)
        .bind(judged.events)
        .bind(i64::from(RULES))
        .bind(new.topology)
        .bind(&new.cohort)
        .bind(new.situation)
        .bind(&new.settings)
        .execute(write.connection())
        .await?;
    put_reasons(write, id, &before.columns.tokens, &new.tokens).await?;
    let old = before.costs.as_ref().map(|own| (&before.columns, own));
    costs::put(write, id, &before.machine, old, (&new, &judged.costs)).await?;
    // A log that is new was never judged and is not counted yet, nor in any day.
    let days = [Some(&before.columns.day).filter(|_| !is_first), Some(&new.day)];
    write.days.extend(days.into_iter().flatten().map(|day| day.clone().unwrap_or_default()));
    // Not all of them count.
    if is_first || before.columns != new {
        write.touched.insert(before.machine.clone());
    }
    let old = (!is_first).then(|| before.columns.counted(&before.machine));
    let now = new.counted(&before.machine);
    write.pending.note(&before.machine, old, Some(now));
    Ok(is_changed)
}

/// What a log's row says before it is written anew.
struct Before {
    machine: String,
    report: String,
    rules: i64,
    columns: Columns,
    /// None where it has no row of costs.
    costs: Option<Costs>,
}

async fn before(write: &mut Write<'_>, id: &str) -> sqlx::Result<Before> {
    let tokens = sqlx::query_scalar("select token from log_reasons where log = $1")
        .bind(id)
        .fetch_all(write.connection())
        .await?;
    let sql = format!(
        "select l.machine, l.report, l.rules, c.log as costs, {}, {}
         from logs l left join log_costs c on c.log = l.id where l.id = $1",
        Columns::SELECTED,
        Costs::selected()
    );
    let row = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_one(write.connection()).await?;
    Ok(Before {
        machine: row.try_get("machine")?,
        report: row.try_get("report")?,
        rules: row.try_get("rules")?,
        columns: Columns::read(&row, tokens.into_iter().collect())?,
        costs: row.try_get::<Option<String>, _>("costs")?.map(|_| Costs::read(&row)).transpose()?,
    })
}

async fn put_reasons(
    write: &mut Write<'_>,
    id: &str,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
) -> sqlx::Result<()> {
    if old == new {
        return Ok(());
    }
    sqlx::query("delete from log_reasons where log = $1").bind(id).execute(write.connection()).await?;
    for chunk in new.iter().collect::<Vec<_>>().chunks(ROWS_PER_INSERT) {
        let sql = format!("insert into log_reasons (log, token) values {}", placeholders(chunk.len(), 2));
        // The text holds nothing but a count of placeholders.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, token| query.bind(id).bind(*token));
        query.execute(write.connection()).await?;
    }
    Ok(())
}
