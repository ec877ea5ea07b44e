//! What a columnar copy has to know of the database: which days changed, the rows of one day, and who may write.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::ingest::{ROWS_PER_INSERT, placeholders};
use super::logs::{COLUMNS, StoredLog, stored_log};
use super::{Store, Write};
use crate::text;

/// A log with all that the copy tells of it.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names are those of the columns, which the migrations explain")]
pub struct CopiedLog {
    pub log: StoredLog,
    pub started_s: i64,
    pub end_offset: i64,
    /// How many of its observations are stored.
    pub events: i64,
    pub exe: Option<String>,
    pub runtime: Option<String>,
    pub outcome: String,
    pub render: Option<String>,
    pub scanout: Option<String>,
    pub gpu_pair: Option<String>,
    pub events_pruned: bool,
}

impl Store {
    /// All days with their stamps; the day of logs without a date is empty.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn days(&self) -> sqlx::Result<Vec<(String, String)>> {
        let rows = sqlx::query("select day, stamp from columnar_days order by day").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// At most `limit` logs of a day behind the id `after`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn logs_of_day(&self, day: &str, after: &str, limit: u32) -> sqlx::Result<Vec<CopiedLog>> {
        // Without its index, logs that have no date would be looked for among all.
        let which = if day.is_empty() { "(l.day is null and $1 = '')" } else { "l.day = $1" };
        let sql = format!(
            "select {COLUMNS}, l.end_offset, l.events, l.exe, l.runtime, l.outcome, l.render, l.scanout, l.gpu_pair, l.events_pruned
             from logs l where {which} and l.id > $2 order by l.id limit $3"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(day)
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(copied_log)
            .collect()
    }

    /// What this database is called in its copies; the first question names it.
    ///
    /// # Errors
    /// When the database or the source of random numbers fails.
    pub async fn identity(&self) -> sqlx::Result<String> {
        let mut write = self.write().await?;
        sqlx::query("insert into identity (id, name) values (1, $1) on conflict (id) do nothing")
            .bind(text::random_hex()?)
            .execute(write.connection())
            .await?;
        let name = sqlx::query_scalar("select name from identity where id = 1").fetch_one(write.connection()).await?;
        write.commit_unseen().await?;
        Ok(name)
    }

    /// What the database is called, when it has a name already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn known_identity(&self) -> sqlx::Result<Option<String>> {
        sqlx::query_scalar("select name from identity where id = 1").fetch_optional(&self.pool).await
    }

    /// Takes or renews the lease of a kind of work until `until` (RFC 3339, as `text::now` writes it). False: another
    /// holder has it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn lease(&self, name: &str, holder: &str, now: &str, until: &str) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        let taken = take_lease(write.connection(), name, holder, now, until).await?;
        write.commit_unseen().await?;
        Ok(taken)
    }
}

/// The same within a transaction, which holds the lease's row until its end.
pub(super) async fn take_lease(
    connection: &mut AnyConnection,
    name: &str,
    holder: &str,
    now: &str,
    until: &str,
) -> sqlx::Result<bool> {
    let taken = sqlx::query(
        "insert into leases (name, holder, until) values ($1, $2, $3)
         on conflict (name) do update set holder = excluded.holder, until = excluded.until
         where leases.holder = excluded.holder or leases.until < $4",
    )
    .bind(name)
    .bind(holder)
    .bind(until)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(taken.rows_affected() == 1)
}

/// Gives the days that a transaction has changed a new stamp. The last thing before its commit and in one order, because
/// every upload of a day holds the row of that day.
pub(super) async fn mark(write: &mut Write<'_>) -> sqlx::Result<()> {
    let days: Vec<_> = std::mem::take(&mut write.days).into_iter().collect();
    for chunk in days.chunks(ROWS_PER_INSERT) {
        let stamp = text::random_hex()?;
        let sql = format!(
            "insert into columnar_days (day, stamp) values {} on conflict (day) do update set stamp = excluded.stamp",
            placeholders(chunk.len(), 2)
        );
        // The text holds nothing but a count of placeholders.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, day| query.bind(day).bind(&stamp));
        query.execute(write.connection()).await?;
    }
    Ok(())
}

fn copied_log(row: &AnyRow) -> sqlx::Result<CopiedLog> {
    Ok(CopiedLog {
        log: stored_log(row)?,
        started_s: row.try_get("started_s")?,
        end_offset: row.try_get("end_offset")?,
        events: row.try_get("events")?,
        exe: row.try_get("exe")?,
        runtime: row.try_get("runtime")?,
        outcome: row.try_get("outcome")?,
        render: row.try_get("render")?,
        scanout: row.try_get("scanout")?,
        gpu_pair: row.try_get("gpu_pair")?,
        events_pruned: row.try_get::<i64, _>("events_pruned")? != 0,
    })
}
