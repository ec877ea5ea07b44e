//! The verdict of a log: folded from everything that is stored of it, in the transaction that adds to it.

use std::collections::BTreeSet;

use resolver::Examiner;
use sqlx::{AssertSqlSafe, Row};
use wire::{LogFacts, ScanReport};

use super::columns::Columns;
use super::ingest::{ROWS_PER_INSERT, placeholders};
use super::ranges::Ranges;
use super::{Write, corrupt};

/// Observations judged at a time, so that memory does not grow with the log.
const ROWS_PER_FOLD: i64 = 5_000;

/// Folds all stored observations of a log and replaces its verdict.
pub(super) async fn replace(write: &mut Write<'_>, id: &str, ranges: &Ranges) -> sqlx::Result<()> {
    let row = sqlx::query("select file, facts, end_offset from logs where id = $1")
        .bind(id)
        .fetch_one(write.connection())
        .await?;
    let file: String = row.try_get(0)?;
    let facts: LogFacts = serde_json::from_str(row.try_get(1)?).map_err(corrupt)?;
    let missing_bytes = ranges.missing_bytes(row.try_get(2)?);

    let mut examiner = Examiner::new();
    let mut after = (-1_i64, 0_i64);
    loop {
        let rows = sqlx::query(
            "select record_offset, ordinal, body from observations
             where log = $1 and (record_offset > $2 or (record_offset = $2 and ordinal > $3))
             order by record_offset, ordinal limit $4",
        )
        .bind(id)
        .bind(after.0)
        .bind(after.1)
        .bind(ROWS_PER_FOLD)
        .fetch_all(write.connection())
        .await?;
        let Some(last) = rows.last() else { break };
        after = (last.try_get(0)?, last.try_get(1)?);
        let fold = move || -> sqlx::Result<Examiner> {
            for row in rows {
                examiner.push(&serde_json::from_str(row.try_get(2)?).map_err(corrupt)?);
            }
            Ok(examiner)
        };
        examiner = tokio::task::spawn_blocking(fold).await.map_err(|error| sqlx::Error::Io(error.into()))??;
    }
    let judgement = examiner.finish(&facts).judgement;
    let report = ScanReport::new(file, facts.process, facts.end, facts.counts, judgement);
    put(write, id, missing_bytes, &report).await
}

async fn put(write: &mut Write<'_>, id: &str, missing_bytes: i64, report: &ScanReport) -> sqlx::Result<()> {
    let stored = stored(write, id).await?;
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
        .execute(write.connection())
        .await?;
    put_reasons(write, id, &stored.columns.tokens, &new.tokens).await?;
    // A log that is new was never judged and is not counted yet.
    let old = (!stored.report.is_empty()).then(|| stored.columns.counted(&stored.machine));
    let now = new.counted(&stored.machine);
    write.pending.note(&stored.machine, old, Some(now));
    Ok(())
}

/// What a log's row says before it is written anew.
struct Stored {
    machine: String,
    report: String,
    columns: Columns,
}

async fn stored(write: &mut Write<'_>, id: &str) -> sqlx::Result<Stored> {
    let tokens = sqlx::query_scalar("select token from log_reasons where log = $1")
        .bind(id)
        .fetch_all(write.connection())
        .await?;
    let sql = format!("select l.machine, l.report, {} from logs l where l.id = $1", Columns::SELECTED);
    let row = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_one(write.connection()).await?;
    Ok(Stored {
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
