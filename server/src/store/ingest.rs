//! Stores the pieces of a batch in one transaction, and judges every log that they touch.
//!
//! The result does not depend on the order in which pieces arrive, nor on how often: an observation is known best by the
//! range that ends last (`ranges.rs`), the totals likewise, and the verdict is folded from all stored observations.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Row};
use wire::{Observation, Segment};

use super::pieces::{Changes, Pieces};
use super::ranges::Range;
use super::{Store, Write, corrupt, losses, verdict};
use crate::text;
use crate::told::Told;

/// Rows in one `insert`; with seven values a row far below SQLite's limit of 32,766 parameters.
pub(super) const ROWS_PER_INSERT: usize = 500;
/// Intervals in one `delete`; SQLite takes expressions up to a depth of 1,000.
const INTERVALS_PER_DELETE: usize = 100;

impl Store {
    /// Commits the pieces of one machine, each with its place in the batch; when this returns, they are safe, but for those
    /// that are answered with a reason. The caller has checked them (`decode.rs`).
    ///
    /// # Errors
    /// When the database fails; nothing is stored then.
    pub async fn ingest(
        &self,
        machine: &str,
        received: &str,
        segments: Vec<(u64, Segment)>,
        told: &Told,
    ) -> sqlx::Result<Vec<(u64, String)>> {
        if segments.is_empty() && told.is_empty() {
            return Ok(Vec::new());
        }
        let mut write = self.write().await?;
        losses::hear(write.connection(), machine, received, told).await?;
        let refused = put(&mut write, machine, received, segments).await?;
        tracing::debug!(statements = write.statements, "stores a batch");
        write.commit().await?;
        Ok(refused)
    }
}

/// The public id of a log: the same in every database, and no sequence to lock.
pub fn log_id(machine: &str, log: &str) -> String {
    let digest = Sha256::digest(format!("{machine}:{log}"));
    text::hex(&digest[..16])
}

/// Writes the pieces of all logs; the number of statements does not grow with that of the pieces of a log.
async fn put(
    write: &mut Write<'_>,
    machine: &str,
    received: &str,
    segments: Vec<(u64, Segment)>,
) -> sqlx::Result<Vec<(u64, String)>> {
    // In one order everywhere, so that two batches never wait for each other's rows.
    let mut by_log: BTreeMap<String, Vec<(u64, Segment)>> = BTreeMap::new();
    for (place, segment) in segments {
        by_log.entry(segment.log.clone()).or_default().push((place, segment));
    }
    let mut refused = Vec::new();
    for (log, segments) in by_log {
        let id = log_id(machine, &log);
        lock(write, &id, machine, &log, &segments[0].1.file, received).await?;
        let mut pieces = Pieces::new(stored_ranges(write, &id).await?);
        for (place, segment) in segments {
            pieces.add(place, segment);
        }
        let changes = pieces.changes();
        tracing::debug!(log = id, ranges = changes.ranges.looked_at(), "changes a log");
        change(write, &id, &changes).await?;
        verdict::replace(write, &id, &changes.ranges).await?;
        refused.extend(changes.refused);
    }
    Ok(refused)
}

/// Makes the row when it is missing and holds it until the transaction ends, also where several may write.
async fn lock(
    write: &mut Write<'_>,
    id: &str,
    machine: &str,
    log: &str,
    file: &str,
    received: &str,
) -> sqlx::Result<()> {
    sqlx::query(
        "insert into logs (id, machine, log, file, received, end_offset) values ($1, $2, $3, $4, $5, -1)
         on conflict (id) do update set log = excluded.log",
    )
    .bind(id)
    .bind(machine)
    .bind(log)
    .bind(file)
    .bind(received)
    .execute(write.connection())
    .await?;
    Ok(())
}

/// The ranges of a log that have arrived.
async fn stored_ranges(write: &mut Write<'_>, id: &str) -> sqlx::Result<Vec<Range>> {
    sqlx::query("select start_offset, end_offset from log_ranges where log = $1")
        .bind(id)
        .fetch_all(write.connection())
        .await?
        .into_iter()
        .map(|row| Ok(Range { start: row.try_get(0)?, end: row.try_get(1)? }))
        .collect()
}

async fn change(write: &mut Write<'_>, id: &str, changes: &Changes) -> sqlx::Result<()> {
    if let Some(newest) = &changes.newest {
        let clock = newest.clock.as_ref().map(serde_json::to_string).transpose().map_err(corrupt)?;
        sqlx::query(
            "update logs set file = $2, facts = $3, end_offset = $4, clock = $5, unfinished = $6
             where id = $1 and end_offset <= $4",
        )
        .bind(id)
        .bind(&newest.file)
        .bind(serde_json::to_string(&newest.facts).map_err(corrupt)?)
        .bind(signed(newest.end)?)
        .bind(clock)
        .bind(i64::from(newest.unfinished))
        .execute(write.connection())
        .await?;
    }
    // Of ranges none of which lies inside another no two start at the same byte.
    for chunk in changes.gone.chunks(ROWS_PER_INSERT) {
        let starts: Vec<_> = (2..chunk.len() + 2).map(|number| format!("${number}")).collect();
        let sql = format!("delete from log_ranges where log = $1 and start_offset in ({})", starts.join(", "));
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id);
        chunk.iter().fold(query, |query, range| query.bind(range.start)).execute(write.connection()).await?;
    }
    for chunk in changes.new.chunks(ROWS_PER_INSERT) {
        let sql =
            format!("insert into log_ranges (log, start_offset, end_offset) values {}", placeholders(chunk.len(), 3));
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = chunk.iter().fold(query, |query, range| query.bind(id).bind(range.start).bind(range.end));
        query.execute(write.connection()).await?;
    }
    for chunk in changes.clear.chunks(INTERVALS_PER_DELETE) {
        let interval =
            |number: usize| format!("(record_offset >= ${} and record_offset < ${})", number * 2, number * 2 + 1);
        let intervals: Vec<_> = (1..=chunk.len()).map(interval).collect();
        let sql = format!("delete from observations where log = $1 and ({})", intervals.join(" or "));
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id);
        let query = chunk.iter().fold(query, |query, range| query.bind(range.start).bind(range.end));
        query.execute(write.connection()).await?;
    }
    insert_observations(write, id, &changes.observations).await
}

/// Several rows a statement.
async fn insert_observations(
    write: &mut Write<'_>,
    id: &str,
    observations: &[(i64, i64, Observation)],
) -> sqlx::Result<()> {
    for chunk in observations.chunks(ROWS_PER_INSERT) {
        let sql = format!(
            "insert into observations (log, record_offset, ordinal, line, kind, shape, body) values {}",
            placeholders(chunk.len(), 7)
        );
        // The text holds nothing but a count of placeholders.
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for (offset, ordinal, observation) in chunk {
            let (kind, shape) = match observation {
                Observation::Event(event) => (text::word(&event.kind), Some(text::for_column(&event.shape))),
                Observation::Flaw(flaw) => (text::word(&flaw.kind), None),
            };
            query = query
                .bind(id)
                .bind(*offset)
                .bind(*ordinal)
                .bind(signed(observation.line())?)
                .bind(kind)
                .bind(shape)
                .bind(serde_json::to_string(observation).map_err(corrupt)?);
        }
        query.execute(write.connection()).await?;
    }
    Ok(())
}

/// `($1, $2), ($3, $4)` for two rows of two.
pub(super) fn placeholders(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let cells: Vec<_> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", cells.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// Offsets were checked to fit when the batch was read.
fn signed(value: u64) -> sqlx::Result<i64> {
    i64::try_from(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

#[cfg(test)]
mod tests;
