//! An empty database is filled with the rows of another one: all of them, or nothing happens.

use sqlx::any::AnyArguments;
use sqlx::{Arguments, AssertSqlSafe};

use super::schema::{Kind, Schema, Table};
use super::{Cell, MIGRATIONS, Place, Store, Write};

/// PostgreSQL takes 65,535 values in a statement, SQLite 32,766.
const STATEMENT_VALUES: usize = 32_000;
/// More rows in a statement are no faster.
const STATEMENT_ROWS: usize = 500;

/// A database in the making; dropped without [`Refill::finish`], it leaves no trace.
pub struct Refill<'a> {
    write: Write<'a>,
    schema: Schema,
    takes_nul: bool,
    nuls: u64,
}

impl Store {
    /// Makes the tables of a version in an empty database; `None` when it is not empty.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refill(&self, version: i64) -> sqlx::Result<Option<Refill<'_>>> {
        let schema = Schema::of(version).await?;
        let mut write = self.write().await?;
        MIGRATIONS.run_to(version, &mut *write.connection()).await?;
        for table in ["machines", "logs", "tokens"] {
            let rows: i64 = sqlx::query_scalar(AssertSqlSafe(format!("select count(*) from {table}")))
                .fetch_one(write.connection())
                .await?;
            if rows != 0 {
                return Ok(None);
            }
        }
        // Rows that a migration has put there are among those that will come.
        for table in schema.tables.iter().rev() {
            sqlx::query(AssertSqlSafe(format!("delete from {}", table.name))).execute(write.connection()).await?;
        }
        let takes_nul = matches!(self.place, Place::File(_));
        Ok(Some(Refill { write, schema, takes_nul, nuls: 0 }))
    }
}

impl Refill<'_> {
    /// What is being filled. Its tables take rows in this order.
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Appends rows of a table; each has a cell for every column.
    ///
    /// # Errors
    /// When the database fails, or a row does not fit.
    pub async fn insert(&mut self, table: &Table, rows: &[Vec<Cell>]) -> sqlx::Result<()> {
        let columns = table.columns.len();
        for rows in rows.chunks(STATEMENT_ROWS.min(STATEMENT_VALUES / columns.max(1)).max(1)) {
            let mut arguments = AnyArguments::default();
            for (cell, column) in rows.iter().flat_map(|row| row.iter().zip(&table.columns)) {
                self.bind(&mut arguments, cell, column.kind)?;
            }
            let places = (0..rows.len()).map(|row| {
                let places: Vec<_> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
                format!("({})", places.join(", "))
            });
            let places: Vec<_> = places.collect();
            let (name, list) = (&table.name, table.column_list());
            let sql = format!("insert into {name} ({list}) values {}", places.join(", "));
            sqlx::query_with(AssertSqlSafe(sql), arguments).execute(self.write.connection()).await?;
        }
        Ok(())
    }

    /// A null has the type of its column, because PostgreSQL asks.
    fn bind(&mut self, arguments: &mut AnyArguments, cell: &Cell, kind: Kind) -> sqlx::Result<()> {
        match (cell, kind) {
            (Cell::Text(text), _) if !self.takes_nul && text.contains('\0') => {
                self.nuls += 1;
                arguments.add(text.replace('\0', "\u{2400}"))
            }
            (Cell::Text(text), _) => arguments.add(text.clone()),
            (Cell::Int(number), _) => arguments.add(*number),
            (Cell::Bytes(bytes), _) => arguments.add(bytes.clone()),
            (Cell::Null, Kind::Text) => arguments.add(None::<String>),
            (Cell::Null, Kind::Int) => arguments.add(None::<i64>),
            (Cell::Null, Kind::Bytes) => arguments.add(None::<Vec<u8>>),
        }
        .map_err(sqlx::Error::Encode)
    }

    /// Brings the schema up to date and commits. Answers in how many texts the picture of NUL stands for NUL, which
    /// PostgreSQL does not take.
    ///
    /// # Errors
    /// When a migration or the commit fails; nothing is there then.
    pub async fn finish(mut self) -> sqlx::Result<u64> {
        MIGRATIONS.run(&mut *self.write.connection()).await?;
        // The marks of the pages came with the rows that they stand for.
        self.write.commit_unseen().await?;
        Ok(self.nuls)
    }
}
