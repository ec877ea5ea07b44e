//! The rows of the audit log: written in the transaction of the deed, never changed, deleted when they are old.

use sqlx::{AnyConnection, Row};

use super::Store;
use crate::audit::{Actor, AuditRow, Deed};
use crate::text;

/// Adds a row to the transaction that does the deed.
///
/// # Errors
/// When the database fails, or the system has no random numbers.
pub(super) async fn write(
    connection: &mut AnyConnection,
    by: &Actor,
    deed: Deed,
    object: &str,
    outcome: &str,
) -> sqlx::Result<()> {
    let now = jiff::Timestamp::now();
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| sqlx::Error::Io(std::io::Error::other(error.to_string())))?;
    let id = format!("{:012x}{}", now.as_millisecond(), text::hex(&random));
    sqlx::query(
        "insert into audit (id, at, who, peer, deed, object, outcome, request) values ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(id)
    .bind(text::timestamp(now))
    .bind(&by.who)
    .bind(&by.peer)
    .bind(deed.as_str())
    .bind(text::for_column(object))
    .bind(text::for_column(outcome))
    .bind(&by.request)
    .execute(connection)
    .await?;
    Ok(())
}

impl Store {
    /// Notes a deed that has no transaction of its own in this database.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn note(&self, by: &Actor, deed: Deed, object: &str, outcome: &str) -> sqlx::Result<()> {
        let mut write = self.write().await?;
        self::write(write.connection(), by, deed, object, outcome).await?;
        write.commit().await
    }

    /// At most `limit` rows from before the row `before`, newest first, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn audit(&self, before: Option<&str>, limit: u32) -> sqlx::Result<(Vec<AuditRow>, Option<String>)> {
        let rows = sqlx::query(
            "select id, at, who, peer, deed, object, outcome, request from audit where id < $1 order by id desc limit $2",
        )
        // Behind every id, which is of hex digits.
        .bind(before.unwrap_or("g"))
        // One more tells whether there is a next page.
        .bind(i64::from(limit) + 1)
        .fetch_all(&self.pool)
        .await?;
        let more = rows.len() > limit as usize;
        let rows = rows.iter().take(limit as usize).map(|row| {
            Ok(AuditRow {
                id: row.try_get(0)?,
                at: row.try_get(1)?,
                who: row.try_get(2)?,
                peer: row.try_get(3)?,
                deed: row.try_get(4)?,
                object: row.try_get(5)?,
                outcome: row.try_get(6)?,
                request: row.try_get(7)?,
            })
        });
        let rows = rows.collect::<sqlx::Result<Vec<AuditRow>>>()?;
        let next = rows.last().filter(|_| more).map(|last| last.id.clone());
        Ok((rows, next))
    }

    /// Deletes the rows from before a time, RFC 3339 in UTC with milliseconds, and answers how many they were.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_audit(&self, before: &str) -> sqlx::Result<u64> {
        let mut write = self.write().await?;
        let gone = sqlx::query("delete from audit where at < $1").bind(before).execute(write.connection()).await?;
        write.commit().await?;
        Ok(gone.rows_affected())
    }
}
