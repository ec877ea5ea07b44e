//! Can the next upload be stored? Only a committed write tells, and a look at the disk before it is full.

use std::io;

use super::{Place, Store};
use crate::text;

impl Store {
    /// Makes sure that the database answers questions.
    ///
    /// # Errors
    /// When it does not.
    pub async fn can_read(&self) -> sqlx::Result<()> {
        sqlx::query("select 1 from machines limit 1").fetch_optional(&self.pool).await.map(|_| ())
    }

    /// Makes sure that a write can be committed, by committing one.
    ///
    /// # Errors
    /// When it cannot.
    pub async fn can_write(&self) -> sqlx::Result<()> {
        let mut write = self.write().await?;
        sqlx::query(
            "insert into readiness (id, checked) values (1, $1) on conflict (id) do update set checked = excluded.checked",
        )
        .bind(text::now())
        .execute(write.connection())
        .await?;
        write.commit_unseen().await
    }

    /// Bytes that are left on the disk of the database; `None` for PostgreSQL, whose disk is its own business.
    ///
    /// # Errors
    /// When the file system does not tell.
    pub fn free_bytes(&self) -> io::Result<Option<u64>> {
        let Place::File(path) = &self.place else { return Ok(None) };
        let path = std::path::absolute(path)?;
        fs4::available_space(path.parent().unwrap_or(&path)).map(Some)
    }
}
