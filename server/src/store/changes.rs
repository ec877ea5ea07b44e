//! Was anything committed since? Two random marks, of which every commit replaces those that it has to, as the last thing in
//! its own transaction.
//!
//! Who reads a mark and then the rows sees at least what was committed with that mark. So what was made of the rows may be
//! kept until the mark is another one: at worst it is newer than its mark, never older. Marks are random and not counted, so
//! that a database which was put back to an earlier state never has a mark that stood for something else. Rows that somebody
//! changes by hand, beside the program, are noticed with its next commit; logs with the next one of their machine, because only
//! machines of newer revisions are read into columns again (`frames.rs`).

use sqlx::{AssertSqlSafe, Row as _};

use super::ingest::placeholders;
use super::sums::ROWS;
use super::{Store, Write};
use crate::text;

/// The marks of one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marks {
    /// Another one after every commit that changes anything that a page may show.
    pub anything: String,
    /// Another one after every commit that changes a log or a count of logs.
    pub logs: String,
}

impl Store {
    /// The marks of what is committed; `None` before the first commit with this schema.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn marks(&self) -> sqlx::Result<Option<Marks>> {
        let row = sqlx::query("select anything, logs from changes where id = 1").fetch_optional(&self.pool).await?;
        row.map(|row| Ok(Marks { anything: row.try_get(0)?, logs: row.try_get(1)? })).transpose()
    }
}

/// Replaces the marks, and notes which machines' logs are others now. The last thing before the commit: every writer holds
/// this row until then, and waits for no other one.
pub(super) async fn mark(write: &mut Write<'_>, logs: bool) -> sqlx::Result<()> {
    let mark = text::random_hex()?;
    if !logs {
        let sql = "insert into changes (id, anything, logs) values (1, $1, $1)
                   on conflict (id) do update set anything = excluded.anything";
        sqlx::query(sql).bind(mark).execute(write.connection()).await?;
        return Ok(());
    }
    let sql = "insert into changes (id, anything, logs, revision) values (1, $1, $1, 1)
               on conflict (id) do update set anything = excluded.anything, logs = excluded.logs,
                   revision = changes.revision + 1
               returning revision";
    let revision: i64 = sqlx::query_scalar(sql).bind(mark).fetch_one(write.connection()).await?;
    if write.has_deleted {
        let sql = "update changes set deleted = revision where id = 1";
        sqlx::query(sql).execute(write.connection()).await?;
    }
    let machines: Vec<_> = std::mem::take(&mut write.touched).into_iter().collect();
    for chunk in machines.chunks(ROWS) {
        let sql = format!(
            "insert into machine_revisions (machine, revision) values {}
             on conflict (machine) do update set revision = excluded.revision",
            placeholders(chunk.len(), 2)
        );
        // The text holds nothing but a count of placeholders.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id).bind(revision));
        query.execute(write.connection()).await?;
    }
    Ok(())
}
