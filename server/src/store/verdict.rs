//! The verdict of a log: folded from everything that is stored of it, in the transaction that adds to it.

use std::collections::BTreeSet;

use resolver::Examiner;
use sqlx::{AssertSqlSafe, Row};
use wire::{LogFacts, Observation, ScanReport};

use super::columns::Columns;
use super::ingest::{ROWS_PER_INSERT, placeholders};
use super::pieces::Changes;
use super::ranges::Ranges;
use super::{Write, corrupt, stored};

/// What all observations of a log that count come to.
#[derive(Default)]
pub(super) struct Fold {
    examiner: Examiner,
    /// How many there are.
    events: i64,
}

/// Folds what will be stored of a log when these changes are made, before they are.
pub(super) async fn fold(write: &mut Write<'_>, id: &str, changes: &Changes<'_>) -> sqlx::Result<Fold> {
    stored::walk_parts(write.connection(), id, &changes.parts, Fold::default(), Fold::take).await
}

/// Replaces the verdict of a log.
pub(super) async fn replace(write: &mut Write<'_>, id: &str, ranges: &Ranges, fold: Fold) -> sqlx::Result<()> {
    let row = sqlx::query("select file, facts, end_offset from logs where id = $1")
        .bind(id)
        .fetch_one(write.connection())
        .await?;
    let file: String = row.try_get(0)?;
    let facts: LogFacts = serde_json::from_str(row.try_get(1)?).map_err(corrupt)?;
    let missing_bytes = ranges.missing_bytes(row.try_get(2)?);
    let judgement = fold.examiner.finish(&facts).judgement;
    let report = ScanReport::new(file, facts.process, facts.end, facts.counts, judgement);
    put(write, id, missing_bytes, fold.events, &report).await
}

impl Fold {
    fn take(&mut self, observations: &[Observation]) {
        for observation in observations {
            self.examiner.push(observation);
        }
        self.events += i64::try_from(observations.len()).unwrap_or(i64::MAX);
    }
}

async fn put(
    write: &mut Write<'_>,
    id: &str,
    missing_bytes: i64,
    events: i64,
    report: &ScanReport,
) -> sqlx::Result<()> {
    let before = before(write, id).await?;
    let new = Columns::of(report);
    sqlx::query(include_str!("verdict.sql"))
        .bind(id)
        .bind(missing_bytes)
        .bind(serde_json::to_string(report).map_err(corrupt)?)
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
        .bind(events)
        .execute(write.connection())
        .await?;
    put_reasons(write, id, &before.columns.tokens, &new.tokens).await?;
    // A log that is new was never judged and is not counted yet.
    let old = (!before.report.is_empty()).then(|| before.columns.counted(&before.machine));
    let now = new.counted(&before.machine);
    write.pending.note(&before.machine, old, Some(now));
    Ok(())
}

/// What a log's row says before it is written anew.
struct Before {
    machine: String,
    report: String,
    columns: Columns,
}

async fn before(write: &mut Write<'_>, id: &str) -> sqlx::Result<Before> {
    let tokens = sqlx::query_scalar("select token from log_reasons where log = $1")
        .bind(id)
        .fetch_all(write.connection())
        .await?;
    let sql = format!("select l.machine, l.report, {} from logs l where l.id = $1", Columns::SELECTED);
    let row = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_one(write.connection()).await?;
    Ok(Before {
        machine: row.try_get("machine")?,
        report: row.try_get("report")?,
        columns: Columns::read(&row, tokens.into_iter().collect())?,
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
