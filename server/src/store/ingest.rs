//! Writes the pieces of a batch and judges every log that they touch, within a transaction of `commits.rs`.
//!
//! The result does not depend on the order in which pieces arrive, nor on how often: an observation is known best by the
//! range that ends last (`ranges.rs`), the totals likewise, and the verdict is folded from all stored observations.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Row};

use super::bodies::Body;
use super::pieces::{Changes, Piece, Pieces};
use super::{Write, corrupt, stored, verdict};
use crate::text;

/// Rows in one `insert`; with six values a row far below SQLite's limit of 32,766 parameters.
pub(super) const ROWS_PER_INSERT: usize = 500;

/// The public id of a log: the same in every database, and no sequence to lock.
pub fn log_id(machine: &str, log: &str) -> String {
    let digest = Sha256::digest(format!("{machine}:{log}"));
    text::hex(&digest[..16])
}

/// Writes the pieces of all logs, and answers which were left out and why. The number of statements does not grow with that
/// of the pieces of a log.
pub(super) async fn put(
    write: &mut Write<'_>,
    machine: &str,
    received: &str,
    pieces: &[Piece],
) -> sqlx::Result<Vec<(u64, String)>> {
    // In one order everywhere, so that two batches never wait for each other's rows.
    let mut by_log: BTreeMap<&str, Vec<&Piece>> = BTreeMap::new();
    for piece in pieces {
        by_log.entry(&piece.segment.log).or_default().push(piece);
    }
    let mut refused = Vec::new();
    for (log, pieces) in by_log {
        let id = log_id(machine, log);
        let (revision, pruned) = lock(write, &id, machine, log, &pieces[0].segment.file, received).await?;
        if pruned {
            // A verdict of what comes now would be one of the rest (`prune.rs`).
            let why = "retention removed the events of this log, which ended long ago by what had come of it";
            refused.extend(pieces.iter().map(|piece| (piece.place, why.to_owned())));
            continue;
        }
        let mut known = Pieces::new(stored::ranges(write.connection(), &id).await?);
        for piece in pieces {
            known.add(piece);
        }
        let changes = known.changes();
        tracing::debug!(log = id, ranges = changes.ranges.looked_at(), "changes a log");
        let fold = verdict::fold(write, &id, revision - 1, &changes).await?;
        change(write, &id, &changes).await?;
        verdict::replace(write, &id, revision, &changes.ranges, fold).await?;
        refused.extend(changes.refused);
    }
    Ok(refused)
}

/// Makes the row when it is missing and holds it until the transaction ends, also where several may write. Answers the
/// revision that the log has from now on, and whether retention has removed its events.
async fn lock(
    write: &mut Write<'_>,
    id: &str,
    machine: &str,
    log: &str,
    file: &str,
    received: &str,
) -> sqlx::Result<(i64, bool)> {
    // Not from 0: a log that was deleted and sent again must not be taken for the one before.
    let first = i64::from(getrandom::u32().map_err(|error| sqlx::Error::Io(error.into()))?) << 24;
    let row = sqlx::query(
        "insert into logs (id, machine, log, file, received, last_received, end_offset, revision)
         values ($1, $2, $3, $4, $5, $5, -1, $6)
         on conflict (id) do update set revision = logs.revision + 1, last_received = excluded.last_received
         returning revision, events_pruned",
    )
    .bind(id)
    .bind(machine)
    .bind(log)
    .bind(file)
    .bind(received)
    .bind(first)
    .fetch_one(write.connection())
    .await?;
    Ok((row.try_get(0)?, row.try_get::<i64, _>(1)? != 0))
}

async fn change(write: &mut Write<'_>, id: &str, changes: &Changes<'_>) -> sqlx::Result<()> {
    if let Some(newest) = changes.newest {
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
    // What is joined is read before its rows go.
    let mut joined = Vec::new();
    for (range, parts) in &changes.joined {
        let all = stored::walk_parts(write.connection(), id, parts, Vec::new(), |all, some| {
            all.extend_from_slice(some);
        });
        joined.push((*range, Body::pack(&all.await?)?));
    }
    // Of ranges none of which lies inside another no two start at the same byte.
    for chunk in changes.gone.chunks(ROWS_PER_INSERT) {
        let starts: Vec<_> = (2..chunk.len() + 2).map(|number| format!("${number}")).collect();
        let sql = format!("delete from log_ranges where log = $1 and start_offset in ({})", starts.join(", "));
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id);
        chunk.iter().fold(query, |query, range| query.bind(range.start)).execute(write.connection()).await?;
    }
    let new = changes.new.iter().map(|(range, piece)| (*range, &piece.body));
    let rows: Vec<_> = new.chain(joined.iter().map(|(range, body)| (*range, body))).collect();
    for chunk in rows.chunks(ROWS_PER_INSERT) {
        let sql = format!(
            "insert into log_ranges (log, start_offset, end_offset, observations, plain_bytes, body) values {}",
            placeholders(chunk.len(), 6)
        );
        // The text holds nothing but a count of placeholders.
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = chunk.iter().fold(query, |query, (range, body)| {
            let query = query.bind(id).bind(range.start).bind(range.end).bind(body.observations);
            query.bind(body.plain_bytes).bind(body.packed.as_deref())
        });
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
