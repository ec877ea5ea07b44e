//! Rows of any table as they are stored, page by page, for exports.

use sqlx::any::AnyArguments;
use sqlx::{Arguments, AssertSqlSafe};

use super::schema::Table;
use super::snapshot::cells;
use super::{Cell, Store};

impl Store {
    /// At most `limit` rows behind a key, in its order. `machine` is a condition with its `$1`, see
    /// [`super::Schema::of_machine`]: only those rows.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn plain_rows(
        &self,
        table: &Table,
        machine: Option<(&str, &str)>,
        after: Option<&[Cell]>,
        limit: u32,
    ) -> sqlx::Result<Vec<Vec<Cell>>> {
        let mut arguments = AnyArguments::default();
        let mut clauses = Vec::new();
        if let Some((condition, id)) = machine {
            arguments.add(id.to_owned()).map_err(sqlx::Error::Encode)?;
            clauses.push(condition.to_owned());
        }
        let key = table.key.join(", ");
        if let Some(after) = after {
            let mut places = Vec::new();
            for cell in after {
                match cell {
                    Cell::Text(text) => arguments.add(text.clone()),
                    Cell::Int(number) => arguments.add(*number),
                    Cell::Bytes(bytes) => arguments.add(bytes.clone()),
                    Cell::Null => return Err(sqlx::Error::RowNotFound),
                }
                .map_err(sqlx::Error::Encode)?;
                places.push(format!("${}", arguments.len()));
            }
            clauses.push(format!("({key}) > ({})", places.join(", ")));
        }
        arguments.add(i64::from(limit)).map_err(sqlx::Error::Encode)?;
        let condition = if clauses.is_empty() { String::new() } else { format!("where {}", clauses.join(" and ")) };
        let (columns, name, limit) = (table.column_list(), &table.name, arguments.len());
        let sql = format!("select {columns} from {name} {condition} order by {key} limit ${limit}");
        let rows = sqlx::query_with(AssertSqlSafe(sql), arguments).fetch_all(&self.pool).await?;
        rows.iter().map(|row| cells(table, row)).collect()
    }
}

impl Table {
    /// The key of a row that has a cell for every column.
    pub fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        let place = |name: &String| self.columns.iter().position(|column| column.name == *name);
        self.key.iter().filter_map(place).filter_map(|index| row.get(index).cloned()).collect()
    }
}
