//! Stores the pieces of a batch in one transaction, and judges every log that they touch.
//!
//! The result does not depend on the order in which pieces arrive, nor on how often: an observation is known best by the
//! range that ends last (`ranges.rs`), the totals likewise, and the verdict is folded from all stored observations.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use sqlx::AnyConnection;
use sqlx::{AssertSqlSafe, Row};
use wire::{Observation, Segment};

use super::ranges::{self, Claim, Range};
use super::{Store, corrupt, losses, verdict};
use crate::text;
use crate::told::Told;

/// Rows in one `insert`; with seven values a row far below SQLite's limit of 32,766 parameters.
const ROWS_PER_INSERT: usize = 500;

impl Store {
    /// Commits the pieces of one machine; when this returns, they are safe. The caller has checked them (`decode.rs`).
    ///
    /// # Errors
    /// When the database fails; nothing is stored then.
    pub async fn ingest(&self, machine: &str, received: &str, segments: Vec<Segment>, told: &Told) -> sqlx::Result<()> {
        if segments.is_empty() && told.is_empty() {
            return Ok(());
        }
        // In one order everywhere, so that two batches never wait for each other's rows.
        let mut by_log: BTreeMap<String, Vec<Segment>> = BTreeMap::new();
        for segment in segments {
            by_log.entry(segment.log.clone()).or_default().push(segment);
        }

        let mut write = self.write().await?;
        losses::hear(write.connection(), machine, received, told).await?;
        for (log, segments) in by_log {
            let id = log_id(machine, &log);
            lock(write.connection(), &id, machine, &log, &segments[0].file, received).await?;
            for segment in segments {
                add(write.connection(), &id, segment).await?;
            }
            verdict::replace(write.connection(), &id).await?;
        }
        write.commit().await
    }
}

/// The public id of a log: the same in every database, and no sequence to lock.
pub fn log_id(machine: &str, log: &str) -> String {
    let digest = Sha256::digest(format!("{machine}:{log}"));
    text::hex(&digest[..16])
}

/// Makes the row when it is missing and holds it until the transaction ends, also where several may write.
async fn lock(
    connection: &mut AnyConnection,
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
    .execute(connection)
    .await?;
    Ok(())
}

async fn add(connection: &mut AnyConnection, id: &str, segment: Segment) -> sqlx::Result<()> {
    let new = Range { start: signed(segment.start)?, end: signed(segment.end)? };
    let clock = segment.clock.as_ref().map(serde_json::to_string).transpose().map_err(corrupt)?;
    sqlx::query(
        "update logs set file = $2, facts = $3, end_offset = $4, clock = $5, unfinished = $6
         where id = $1 and end_offset <= $4",
    )
    .bind(id)
    .bind(&segment.file)
    .bind(serde_json::to_string(&segment.facts).map_err(corrupt)?)
    .bind(new.end)
    .bind(clock)
    .bind(i64::from(segment.unfinished))
    .execute(&mut *connection)
    .await?;

    let stored = stored_ranges(connection, id).await?;
    let Claim::Below { limit, inside } = ranges::claim(&stored, new) else { return Ok(()) };
    for range in inside {
        sqlx::query("delete from log_ranges where log = $1 and start_offset = $2 and end_offset = $3")
            .bind(id)
            .bind(range.start)
            .bind(range.end)
            .execute(&mut *connection)
            .await?;
    }
    if new.start < new.end {
        sqlx::query("insert into log_ranges (log, start_offset, end_offset) values ($1, $2, $3)")
            .bind(id)
            .bind(new.start)
            .bind(new.end)
            .execute(&mut *connection)
            .await?;
    }
    sqlx::query("delete from observations where log = $1 and record_offset >= $2 and record_offset < $3")
        .bind(id)
        .bind(new.start)
        .bind(limit)
        .execute(&mut *connection)
        .await?;
    insert_observations(connection, id, segment.observations, limit).await
}

/// The ranges of a log that have arrived.
pub(super) async fn stored_ranges(connection: &mut AnyConnection, id: &str) -> sqlx::Result<Vec<Range>> {
    sqlx::query("select start_offset, end_offset from log_ranges where log = $1")
        .bind(id)
        .fetch_all(connection)
        .await?
        .into_iter()
        .map(|row| Ok(Range { start: row.try_get(0)?, end: row.try_get(1)? }))
        .collect()
}

/// Writes the observations below `limit`, several rows a statement.
async fn insert_observations(
    connection: &mut AnyConnection,
    id: &str,
    mut observations: Vec<Observation>,
    limit: i64,
) -> sqlx::Result<()> {
    observations.sort_by_key(Observation::offset);
    observations.retain(|observation| i64::try_from(observation.offset()).is_ok_and(|offset| offset < limit));
    let mut previous = None;
    let mut ordinal = 0_i64;
    for chunk in observations.chunks(ROWS_PER_INSERT) {
        let sql = format!(
            "insert into observations (log, record_offset, ordinal, line, kind, shape, body) values {}",
            placeholders(chunk.len(), 7)
        );
        // The text holds nothing but a count of placeholders.
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for observation in chunk {
            ordinal = if previous == Some(observation.offset()) { ordinal + 1 } else { 0 };
            previous = Some(observation.offset());
            let (kind, shape) = match observation {
                Observation::Event(event) => (text::word(&event.kind), Some(text::for_column(&event.shape))),
                Observation::Flaw(flaw) => (text::word(&flaw.kind), None),
            };
            query = query
                .bind(id)
                .bind(signed(observation.offset())?)
                .bind(ordinal)
                .bind(signed(observation.line())?)
                .bind(kind)
                .bind(shape)
                .bind(serde_json::to_string(observation).map_err(corrupt)?);
        }
        query.execute(&mut *connection).await?;
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
