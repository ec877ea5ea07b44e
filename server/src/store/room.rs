//! How SQLite gives room back, and how what was deleted is really gone from its files.
//!
//! `secure_delete = fast` writes zeros over a row that goes, wherever its page is written anyway. What is left are whole pages
//! that nothing uses any more, and old pages in the write-ahead log: the first are handed back to the file system, the second
//! are copied to their place and the log is cut. PostgreSQL does the like by itself (autovacuum), later.

use sqlx::{AnyConnection, AssertSqlSafe, Row as _};
use tokio::sync::Mutex;

use super::Store;

/// Pages that are handed back in one go; other writers wait for that.
const PAGES: i64 = 2_000;
/// `pragma auto_vacuum` of a file that can hand back pages; only an empty file, or `vacuum`, takes it.
const INCREMENTAL: i64 = 2;

impl Store {
    /// Hands unused pages back and empties the write-ahead log as far as no reader is in the way. False: the file is of an
    /// earlier version, so only `vacuum` can do it; see [`Store::rebuild`].
    ///
    /// # Errors
    /// When the database fails.
    pub async fn give_back(&self) -> sqlx::Result<bool> {
        let Some(turn) = &self.turn else { return Ok(true) };
        let mut connection = self.pool.acquire().await?;
        let mode: i64 = sqlx::query("pragma auto_vacuum").fetch_one(&mut *connection).await?.try_get(0)?;
        let can = mode == INCREMENTAL;
        if can {
            hand_back(turn, &mut connection).await?;
        }
        sqlx::query("pragma wal_checkpoint(truncate)").fetch_all(&mut *connection).await?;
        Ok(can)
    }

    /// Writes the whole SQLite file anew, without what was deleted, and so that it can hand back pages from then on. It takes
    /// as much room again for as long, and nobody else can write meanwhile. PostgreSQL is left alone.
    ///
    /// # Errors
    /// When the database fails, or its disk has no room.
    pub async fn rebuild(&self) -> sqlx::Result<()> {
        let Some(turn) = &self.turn else { return Ok(()) };
        let _turn = turn.lock().await;
        let mut connection = self.pool.acquire().await?;
        sqlx::query("pragma auto_vacuum = incremental").execute(&mut *connection).await?;
        sqlx::query("vacuum").execute(&mut *connection).await?;
        sqlx::query("pragma wal_checkpoint(truncate)").fetch_all(&mut *connection).await?;
        Ok(())
    }
}

async fn hand_back(turn: &Mutex<()>, connection: &mut AnyConnection) -> sqlx::Result<()> {
    loop {
        let _turn = turn.lock().await;
        let unused: i64 = sqlx::query_scalar("pragma freelist_count").fetch_one(&mut *connection).await?;
        if unused == 0 {
            return Ok(());
        }
        // It works a page a step, so all of its answers are wanted.
        let sql = format!("pragma incremental_vacuum({PAGES})");
        sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await?;
    }
}
