//! Segments that were refused: kept for later, a few of each machine, since what is wrong today may be read tomorrow.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::Serialize;
use sha2::{Digest, Sha256};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use utoipa::ToSchema;

use super::ingest::placeholders;
use super::{Store, Write};
use crate::text;

/// Letters of one batch, and of one machine.
pub const OF_A_MACHINE: usize = 100;
/// Of all machines together.
const OF_ALL: i64 = 5_000;
/// How much of a segment's JSON is kept.
const KEPT_BYTES: usize = 16 << 10;
/// One that is written takes the place of no more than these.
const GONE_AT_ONCE: i64 = 1_000;

/// A refused segment, ready to be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    id: String,
    place: i64,
    reason: String,
    size_bytes: i64,
    body: Vec<u8>,
}

/// One that is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = DeadLetter)]
pub struct DeadLetterRow {
    /// Made from machine and content.
    pub id: String,
    /// Pseudonym of the PC that sent it.
    pub machine: String,
    /// When it came first, RFC 3339.
    pub received: String,
    /// Its place in the batch, from 0.
    pub place: i64,
    /// Why it was refused.
    pub reason: String,
    /// How long it was.
    pub size_bytes: i64,
    /// Its JSON as it was sent, cut.
    pub body: String,
}

/// Where a page of dead letters begins: behind this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetterCursor {
    received: String,
    id: String,
}

impl DeadLetter {
    /// Of the segment at this place of a batch, as it was sent.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(machine: &str, place: u64, reason: &str, json: &str) -> io::Result<Self> {
        let kept = &json[..json.floor_char_boundary(KEPT_BYTES)];
        let digest = Sha256::new().chain_update(machine).chain_update(":").chain_update(json).finalize();
        Ok(Self {
            id: text::hex(&digest[..16]),
            place: i64::try_from(place).unwrap_or(i64::MAX),
            reason: text::for_column(&text::brief(reason)),
            size_bytes: i64::try_from(json.len()).unwrap_or(i64::MAX),
            body: zstd::bulk::compress(kept.as_bytes(), 3)?,
        })
    }
}

/// Keeps letters of a machine, whose row is held; the oldest ones above a limit go.
pub(super) async fn keep(
    write: &mut Write<'_>,
    machine: &str,
    received: &str,
    letters: &[DeadLetter],
) -> sqlx::Result<()> {
    for chunk in letters.chunks(OF_A_MACHINE) {
        let sql = format!(
            "insert into dead_letters (id, machine, received, place, reason, size_bytes, body) values {}
             on conflict (id) do nothing",
            placeholders(chunk.len(), 7)
        );
        // The text holds nothing but a count of placeholders.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, letter| {
            let query = query.bind(&letter.id).bind(machine).bind(received).bind(letter.place);
            query.bind(&letter.reason).bind(letter.size_bytes).bind(letter.body.as_slice())
        });
        query.execute(write.connection()).await?;
    }
    if letters.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "delete from dead_letters where id in (
             select id from dead_letters where machine = $1 order by received desc, id desc limit $2 offset $3)",
    )
    .bind(machine)
    .bind(GONE_AT_ONCE)
    .bind(i64::try_from(OF_A_MACHINE).unwrap_or(i64::MAX))
    .execute(write.connection())
    .await?;
    sqlx::query(
        "delete from dead_letters where id in (
             select id from dead_letters order by received desc, id desc limit $1 offset $2)",
    )
    .bind(GONE_AT_ONCE)
    .bind(OF_ALL)
    .execute(write.connection())
    .await?;
    Ok(())
}

impl Store {
    /// Deletes the letters from before this time, or only counts them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_dead_letters(&self, before: &str, dry_run: bool) -> sqlx::Result<i64> {
        if dry_run {
            let sql = "select count(*) from dead_letters where received < $1";
            return sqlx::query_scalar(sql).bind(before).fetch_one(&self.pool).await;
        }
        let mut write = self.write().await?;
        let sql = "delete from dead_letters where received < $1";
        let gone = sqlx::query(sql).bind(before).execute(write.connection()).await?;
        write.commit().await?;
        Ok(i64::try_from(gone.rows_affected()).unwrap_or(i64::MAX))
    }

    /// At most `limit` letters, of one machine or of all, newest first behind `after`, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn dead_letters(
        &self,
        machine: Option<&str>,
        after: Option<&DeadLetterCursor>,
        limit: u32,
    ) -> sqlx::Result<(Vec<DeadLetterRow>, Option<DeadLetterCursor>)> {
        // Behind every time that is written with digits.
        let (received, id) = after.map_or(("~", "~"), |after| (&after.received, &after.id));
        let rows = sqlx::query(
            "select id, machine, received, place, reason, size_bytes, body from dead_letters
             where (received, id) < ($1, $2) and ($3 = '' or machine = $3)
             order by received desc, id desc limit $4",
        )
        .bind(received)
        .bind(id)
        .bind(machine.unwrap_or_default())
        .bind(i64::from(limit) + 1)
        .fetch_all(&self.pool)
        .await?;
        let mut letters = rows.iter().map(letter).collect::<sqlx::Result<Vec<_>>>()?;
        let more = letters.len() > limit as usize;
        letters.truncate(limit as usize);
        let next = letters.last().filter(|_| more);
        let next = next.map(|last| DeadLetterCursor { received: last.received.clone(), id: last.id.clone() });
        Ok((letters, next))
    }
}

fn letter(row: &AnyRow) -> sqlx::Result<DeadLetterRow> {
    let body: Vec<u8> = row.try_get(6)?;
    Ok(DeadLetterRow {
        id: row.try_get(0)?,
        machine: row.try_get(1)?,
        received: row.try_get(2)?,
        place: row.try_get(3)?,
        reason: row.try_get(4)?,
        size_bytes: row.try_get(5)?,
        body: String::from_utf8_lossy(&zstd::decode_all(body.as_slice())?).into_owned(),
    })
}

impl fmt::Display for DeadLetterCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.received, self.id)
    }
}

impl FromStr for DeadLetterCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (received, id) = text.split_once('~').ok_or(())?;
        if received.parse::<jiff::Timestamp>().is_err() || !text::is_id(id) {
            return Err(());
        }
        Ok(Self { received: received.to_owned(), id: id.to_owned() })
    }
}
