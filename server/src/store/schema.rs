//! What the schema of a version consists of, asked of the migrations themselves: they run in an empty SQLite database in
//! memory, which then tells its tables. So a table that a migration adds is known without being listed anywhere, and tables
//! of another program in the same PostgreSQL are not taken for ours.

use sqlx::{AnyConnection, Connection, Row};
use tokio::sync::OnceCell;

use super::{MIGRATIONS, Store};

/// The tables of one version of the schema, each behind those that it refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schema {
    /// Number of the newest migration in it.
    pub version: i64,
    /// Parents before children.
    pub tables: Vec<Table>,
}

/// One table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// In the order of the migrations.
    pub columns: Vec<Column>,
    /// The columns of the primary key, in its order.
    pub key: Vec<String>,
    /// What it refers to.
    pub parents: Vec<Parent>,
}

/// One column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// The only types that both databases and their common driver know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `text`.
    Text,
    /// `bigint`.
    Int,
    /// `bytea`.
    Bytes,
}

/// A foreign key of one column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parent {
    /// The column here.
    pub column: String,
    /// The table that it refers to.
    pub table: String,
    /// The column there.
    pub to: String,
}

impl Schema {
    /// The schema of this program.
    ///
    /// # Errors
    /// When a migration cannot be read.
    pub async fn newest() -> sqlx::Result<&'static Self> {
        static NEWEST: OnceCell<Schema> = OnceCell::const_new();
        NEWEST.get_or_try_init(|| Self::of(Store::schema_version())).await
    }

    /// The schema of a version.
    ///
    /// # Errors
    /// When there is no such version, or a migration cannot be read.
    pub async fn of(version: i64) -> sqlx::Result<Self> {
        sqlx::any::install_default_drivers();
        let mut empty = AnyConnection::connect("sqlite::memory:").await?;
        // Not `run_to`: what that makes cannot be sent to another thread.
        MIGRATIONS.run_direct(Some(version), &mut empty, false).await?;
        let names: Vec<String> = sqlx::query_scalar(
            "select name from sqlite_master
             where type = 'table' and name <> '_sqlx_migrations' and name not like 'sqlite_%' order by name",
        )
        .fetch_all(&mut empty)
        .await?;
        let mut tables = Vec::new();
        for name in names {
            tables.push(table(&mut empty, name).await?);
        }
        empty.close().await?;
        Ok(Self { version, tables: parents_first(tables)? })
    }

    /// The table of a name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The condition that selects the rows of one machine, `$1`, in a table; `None` when the table holds nothing of machines.
    pub fn of_machine(&self, table: &Table) -> Option<String> {
        if table.name == "machines" {
            return Some("id = $1".to_owned());
        }
        if table.columns.iter().any(|column| column.name == "machine") {
            return Some("machine = $1".to_owned());
        }
        table.parents.iter().find_map(|Parent { column, table, to }| {
            let condition = self.of_machine(self.table(table)?)?;
            Some(format!("{column} in (select {to} from {table} where {condition})"))
        })
    }
}

impl Table {
    /// The names of the columns, for a statement.
    pub fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }
}

impl Kind {
    /// The word of the migrations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int => "bigint",
            Self::Bytes => "bytea",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Text, Self::Int, Self::Bytes].into_iter().find(|kind| kind.as_str() == word)
    }
}

async fn table(empty: &mut AnyConnection, name: String) -> sqlx::Result<Table> {
    let rows = sqlx::query("select name, lower(type), pk from pragma_table_info($1) order by cid")
        .bind(&name)
        .fetch_all(&mut *empty)
        .await?;
    let mut columns = Vec::new();
    let mut key = Vec::new();
    for row in rows {
        let (column, word): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let kind = Kind::from_word(&word)
            .ok_or_else(|| odd(format!("the column {name}.{column} is {word}, and not text, bigint or bytea")))?;
        // From 1; 0 is no part of the key.
        match row.try_get::<i64, _>(2)? {
            0 => {}
            place => key.push((place, column.clone())),
        }
        columns.push(Column { name: column, kind });
    }
    key.sort();
    let rows = sqlx::query("select \"from\", \"table\", \"to\" from pragma_foreign_key_list($1) order by id, seq")
        .bind(&name)
        .fetch_all(empty)
        .await?;
    let parent =
        |row: &sqlx::any::AnyRow| Ok(Parent { column: row.try_get(0)?, table: row.try_get(1)?, to: row.try_get(2)? });
    let parents = rows.iter().map(parent).collect::<sqlx::Result<Vec<_>>>()?;
    Ok(Table { name, columns, key: key.into_iter().map(|(_, column)| column).collect(), parents })
}

/// An order in which rows can be inserted.
fn parents_first(mut rest: Vec<Table>) -> sqlx::Result<Vec<Table>> {
    let mut sorted: Vec<Table> = Vec::new();
    while !rest.is_empty() {
        let is_ready = |table: &Table| {
            let known = |parent: &Parent| sorted.iter().any(|known| known.name == parent.table);
            table.parents.iter().all(known)
        };
        let Some(next) = rest.iter().position(is_ready) else {
            return Err(odd(format!("the tables around {} refer to each other in a circle", rest[0].name)));
        };
        sorted.push(rest.remove(next));
    }
    Ok(sorted)
}

fn odd(why: String) -> sqlx::Error {
    sqlx::Error::Configuration(why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_version_can_be_asked_and_every_table_has_a_key() {
        for version in 1..=Store::schema_version() {
            let schema = Schema::of(version).await.expect("the migrations run");
            assert!(schema.table("logs").is_some(), "{version}");
            for table in &schema.tables {
                assert!(!table.key.is_empty(), "{} has no primary key, so its rows have no order", table.name);
            }
        }
    }

    #[tokio::test]
    async fn parents_come_first_and_rows_of_a_machine_are_found_through_them() {
        let schema = Schema::of(3).await.expect("the migrations run");
        let names: Vec<_> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(
            names,
            ["machines", "logs", "log_ranges", "log_reasons", "losses", "observations", "readiness", "tokens"]
        );
        let of_machine = |name| schema.of_machine(schema.table(name).expect("it exists"));
        assert_eq!(of_machine("losses").as_deref(), Some("machine = $1"));
        assert_eq!(of_machine("log_ranges").as_deref(), Some("log in (select id from logs where machine = $1)"),);
        assert_eq!(of_machine("readiness"), None);
        let ranges = schema.table("log_ranges").expect("it exists");
        assert_eq!(ranges.key, ["log", "start_offset", "end_offset"]);
        assert_eq!(ranges.columns[1], Column { name: "start_offset".to_owned(), kind: Kind::Int });
    }

    #[test]
    fn a_circle_is_told() {
        let table = |name: &str, parent: &str| Table {
            name: name.to_owned(),
            columns: vec![],
            key: vec![],
            parents: vec![Parent { column: "x".to_owned(), table: parent.to_owned(), to: "id".to_owned() }],
        };
        assert!(parents_first(vec![table("a", "b"), table("b", "a")]).is_err());
    }
}
