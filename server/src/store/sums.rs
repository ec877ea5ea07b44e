//! Tables of sums: a row a key, to which transactions add, and which goes when no log counts in it any more.
//!
//! Their writers come with sorted rows, so that none waits for another in a circle.

use sqlx::AssertSqlSafe;

use super::Write;
use super::ingest::placeholders;

/// Rows in one statement. The driver asks SQLite for the name of each parameter, which goes through all names to find it, so the
/// cost of a row grows with the rows of its statement.
pub const ROWS: usize = 60;

/// Adds to the rows of a table, which are made where they are missing and deleted where `logs`, the first of the sums, falls to
/// none. The names are ours.
pub async fn add<const KEYS: usize>(
    write: &mut Write<'_>,
    table: &str,
    keys: [&str; KEYS],
    sums: &[&str],
    rows: &[([&str; KEYS], &[i64])],
) -> sqlx::Result<()> {
    let (keys, names) = (keys.join(", "), sums.join(", "));
    let added: Vec<_> = sums.iter().map(|name| format!("{name} = {table}.{name} + excluded.{name}")).collect();
    let added = added.join(", ");
    for chunk in rows.chunks(ROWS) {
        let sql = format!(
            "insert into {table} ({keys}, {names}) values {} on conflict ({keys}) do update set {added}",
            placeholders(chunk.len(), KEYS + sums.len())
        );
        // The text holds nothing but our own names and a count of placeholders, here and below.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, (key, sums)| {
            let query = key.iter().fold(query, |query, part| query.bind(*part));
            sums.iter().fold(query, |query, sum| query.bind(*sum))
        });
        query.execute(write.connection()).await?;
    }
    let emptied: Vec<_> = rows.iter().filter(|(_, sums)| sums.first().is_some_and(|logs| *logs < 0)).collect();
    for chunk in emptied.chunks(ROWS) {
        let sql =
            format!("delete from {table} where logs <= 0 and ({keys}) in (values {})", placeholders(chunk.len(), KEYS));
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, (key, _)| {
            key.iter().fold(query, |query, part| query.bind(*part))
        });
        query.execute(write.connection()).await?;
    }
    Ok(())
}
