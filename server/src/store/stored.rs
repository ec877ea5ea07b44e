//! What is stored of a log's records, read a few megabytes at a time.

use sqlx::{AnyConnection, AssertSqlSafe, Row};
use wire::Observation;

use super::bodies::{COLUMNS, StoredBody};
use super::pieces::{Part, Pieces};
use super::ranges::Range;

/// Rows that are in memory together, by what they hold as plain JSON; a single row may hold more.
pub const GROUP_BYTES: i64 = 4 << 20;

/// The ranges of a log that have arrived, each with what it holds as plain JSON.
pub async fn ranges(connection: &mut AnyConnection, id: &str) -> sqlx::Result<Vec<(Range, i64)>> {
    sqlx::query("select start_offset, end_offset, plain_bytes from log_ranges where log = $1 order by start_offset")
        .bind(id)
        .fetch_all(connection)
        .await?
        .into_iter()
        .map(|row| Ok((Range { start: row.try_get(0)?, end: row.try_get(1)? }, row.try_get(2)?)))
        .collect()
}

/// The rows from one to another, both given by log and start.
pub async fn bodies(
    connection: &mut AnyConnection,
    first: (&str, i64),
    last: (&str, i64),
) -> sqlx::Result<Vec<StoredBody>> {
    // Bounds of the log alone say nothing new, but PostgreSQL guesses from them how few rows are meant; from pairs it guesses a
    // ninth of the table, and reads all of it.
    let sql = format!(
        "select {COLUMNS} from log_ranges r
         where r.log >= $1 and r.log <= $3
             and (r.log, r.start_offset) >= ($1, $2) and (r.log, r.start_offset) <= ($3, $4)
         order by r.log, r.start_offset"
    );
    let query = sqlx::query(AssertSqlSafe(sql)).bind(first.0).bind(first.1).bind(last.0).bind(last.1);
    query.fetch_all(connection).await?.iter().map(StoredBody::from_row).collect()
}

/// Hands every observation of a log that counts to `take`, by offset, with the state that it makes.
pub async fn walk<S: Send + 'static>(
    connection: &mut AnyConnection,
    id: &str,
    state: S,
    take: fn(&mut S, &[Observation]),
) -> sqlx::Result<S> {
    let stored = ranges(connection, id).await?;
    walk_parts(connection, id, &Pieces::new(stored).changes().parts, state, take).await
}

/// The same for parts of a log, which may be on their way into the database.
pub async fn walk_parts<S: Send + 'static>(
    connection: &mut AnyConnection,
    id: &str,
    parts: &[Part<'_>],
    mut state: S,
    take: fn(&mut S, &[Observation]),
) -> sqlx::Result<S> {
    let mut rest = parts;
    while let Some(first) = rest.first() {
        if let Some(piece) = first.fresh {
            // It is in memory because its upload is, and was small enough for that.
            take(&mut state, first.owned(piece));
            rest = &rest[1..];
            continue;
        }
        let (group, behind) = rest.split_at(group(rest));
        rest = behind;
        let last = group.last().unwrap_or(first);
        let rows = bodies(&mut *connection, (id, first.range.start), (id, last.range.start)).await?;
        let limits: Vec<_> = group.iter().map(|part| (part.range, part.limit)).collect();
        let read = move || -> sqlx::Result<S> {
            for row in rows {
                // Another upload can have changed a row since the ranges were read, where nothing holds the log.
                if let Ok(found) = limits.binary_search_by_key(&row.range, |(range, _)| *range) {
                    take(&mut state, &row.read(limits[found].1)?);
                }
            }
            Ok(state)
        };
        state = tokio::task::spawn_blocking(read).await.map_err(|error| sqlx::Error::Io(error.into()))??;
    }
    Ok(state)
}

/// How many of the first parts are stored and read together.
fn group(parts: &[Part<'_>]) -> usize {
    let mut plain_bytes = 0;
    let stored = parts.iter().take_while(|part| {
        plain_bytes += part.plain_bytes;
        part.fresh.is_none() && plain_bytes <= GROUP_BYTES
    });
    stored.count().max(1)
}
