//! All rows of all tables as they stand at one moment, while the server goes on writing: for backups.

use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::Store;
use super::schema::{Kind, Table};

/// What stands in one column of one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Nothing.
    Null,
    /// Of a column of [`Kind::Text`].
    Text(String),
    /// Of a column of [`Kind::Int`].
    Int(i64),
    /// Of a column of [`Kind::Bytes`].
    Bytes(Vec<u8>),
}

/// One moment of a database.
#[derive(Debug)]
pub struct Snapshot {
    transaction: Transaction<'static, Any>,
}

impl Store {
    /// Takes hold of the present. What is written from here on is not seen, and nobody waits for whoever looks.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn snapshot(&self) -> sqlx::Result<Snapshot> {
        Ok(Snapshot { transaction: self.read().await? })
    }
}

impl Snapshot {
    /// The version of the schema that the database has, which may be older or newer than this program's.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn version(&mut self) -> sqlx::Result<i64> {
        sqlx::query_scalar("select coalesce(max(version), 0) from _sqlx_migrations")
            .fetch_one(&mut *self.transaction)
            .await
    }

    /// Calls `take` with every row of a table, in the order of its key, and answers how many there were. One row is in
    /// memory at a time, and what the driver has fetched ahead.
    ///
    /// # Errors
    /// What the database says, or `take`.
    pub async fn each_row<E: From<sqlx::Error>>(
        &mut self,
        table: &Table,
        mut take: impl FnMut(&[Cell]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let sql = format!("select {} from {} order by {}", table.column_list(), table.name, table.key.join(", "));
        let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(&mut *self.transaction);
        let mut count = 0;
        while let Some(row) = rows.try_next().await? {
            take(&cells(table, &row)?)?;
            count += 1;
        }
        Ok(count)
    }
}

/// A row of [`Table::column_list`].
pub(super) fn cells(table: &Table, row: &AnyRow) -> sqlx::Result<Vec<Cell>> {
    let cell = |(index, kind): (usize, Kind)| {
        Ok(match kind {
            Kind::Text => row.try_get::<Option<_>, _>(index)?.map_or(Cell::Null, Cell::Text),
            Kind::Int => row.try_get::<Option<_>, _>(index)?.map_or(Cell::Null, Cell::Int),
            Kind::Bytes => row.try_get::<Option<_>, _>(index)?.map_or(Cell::Null, Cell::Bytes),
        })
    };
    table.columns.iter().map(|column| column.kind).enumerate().map(cell).collect()
}
