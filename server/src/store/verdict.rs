//! The verdict of a log: folded from everything that is stored of it, in the transaction that adds to it.

use std::collections::BTreeSet;

use resolver::Examiner;
use sqlx::{AssertSqlSafe, Row};
use wire::{LogFacts, ScanReport};

use super::ingest::{ROWS_PER_INSERT, placeholders};
use super::ranges::Ranges;
use super::{Write, corrupt};
use crate::text;

/// Observations judged at a time, so that memory does not grow with the log.
const ROWS_PER_FOLD: i64 = 5_000;
/// The default of `logs.started_s`: sorts behind every real start.
const NO_START_S: i64 = -1_000_000_000_000;

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
    let verdict = &report.verdict;
    let started = report.process.as_ref().and_then(|process| process.started.as_deref()).and_then(text::local_time);
    let name = |adapter: &Option<wire::Adapter>| adapter.as_ref().map(|adapter| text::for_column(&adapter.name));
    let (render, scanout) = (name(&verdict.render), name(&verdict.scanout));
    let pair = render.as_ref().zip(scanout.as_ref()).map(|(render, scanout)| format!("{render} → {scanout}"));
    let runtime = report.runtime.version.as_ref().or(report.runtime.build.as_ref());

    sqlx::query(include_str!("verdict.sql"))
        .bind(id)
        .bind(missing_bytes)
        .bind(serde_json::to_string(report).map_err(corrupt)?)
        .bind(started.map_or(NO_START_S, text::seconds))
        .bind(started.map(|time| time.date().to_string()))
        .bind(report.process.as_ref().map(|process| text::for_column(&process.exe)))
        .bind(runtime.map(|text| text::for_column(text)))
        .bind(report.path.as_str())
        .bind(verdict.split.as_str())
        .bind(verdict.crossing.as_str())
        .bind(i64::from(verdict.interop_crossing))
        .bind(i64::from(verdict.killed))
        .bind(i64::from(verdict.retired))
        .bind(verdict.basis.as_str())
        .bind(render)
        .bind(scanout)
        .bind(pair)
        .bind(wire::Outcome::of(verdict).as_str())
        .execute(write.connection())
        .await?;

    sqlx::query("delete from log_reasons where log = $1").bind(id).execute(write.connection()).await?;
    // A hostile record can hold thousands of tokens, and the same one again.
    let tokens: BTreeSet<_> = verdict.reasons.iter().map(|reason| text::for_column(reason.as_str())).collect();
    for chunk in tokens.into_iter().collect::<Vec<_>>().chunks(ROWS_PER_INSERT) {
        let sql = format!("insert into log_reasons (log, token) values {}", placeholders(chunk.len(), 2));
        // The text holds nothing but a count of placeholders.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, token| query.bind(id).bind(token));
        query.execute(write.connection()).await?;
    }
    Ok(())
}
