//! Was anything committed since? Two random marks, of which every commit replaces those that it has to, as the last thing in
//! its own transaction.
//!
//! Who reads a mark and then the rows sees at least what was committed with that mark. So what was made of the rows may be
//! kept until the mark is another one: at worst it is newer than its mark, never older. Marks are random and not counted, so
//! that a database which was put back to an earlier state never has a mark that stood for something else. Rows that somebody
//! changes by hand, beside the program, are noticed with its next commit.

use sqlx::Row as _;

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

/// Replaces the marks. The last thing before the commit: every writer holds this row until then, and waits for no other one.
pub(super) async fn mark(write: &mut Write<'_>, logs: bool) -> sqlx::Result<()> {
    let sql = if logs {
        "insert into changes (id, anything, logs) values (1, $1, $1)
         on conflict (id) do update set anything = excluded.anything, logs = excluded.logs"
    } else {
        "insert into changes (id, anything, logs) values (1, $1, $1)
         on conflict (id) do update set anything = excluded.anything"
    };
    sqlx::query(sql).bind(text::random_hex()?).execute(write.connection()).await?;
    Ok(())
}
