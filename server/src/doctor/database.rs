//! Is the database there, ours, of this version, whole, safe from power cuts, and has it room?

use super::{Check, people};
use crate::store::{Checkup, Found, Place, Store};

/// A write-ahead log of this size is one that nobody could move into the database for long.
const LARGE_WAL_BYTES: u64 = 1 << 30;
/// A transaction of this age keeps PostgreSQL from clearing up behind every update.
const LONG_TRANSACTION_S: i64 = 3_600;

/// Where the database should be, and whether the way there is safe.
pub(super) fn configuration(place: &Place) -> Check {
    match place {
        Place::Postgres(url) if !url.contains("sslmode=") && !is_near(url) => Check::warning(
            "configuration",
            format!("the connection to {place} may not be encrypted"),
            "add ?sslmode=verify-full (or require) to the URL",
        ),
        place => Check::ok("configuration", format!("{place}")),
    }
}

/// A server on this machine, by a loopback address or a socket.
fn is_near(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    host.is_empty() || ["localhost", "127.", "[::1]", "%2F"].iter().any(|near| host.starts_with(near))
}

/// There is none, or another program's.
pub(super) fn not_ours(place: &Place, found: Found) -> Check {
    let (what, advice) = match found {
        Found::Foreign => ("holds the tables of another program", "name another file with --data"),
        _ => ("is not there yet", "`weavewatch-server serve` or `migrate` makes it; or name another with --data"),
    };
    Check::failed("database", format!("{place} {what}"), advice)
}

/// It does not answer.
pub(super) fn unreachable(place: &Place, error: &sqlx::Error) -> Check {
    let advice = match place {
        Place::File(_) => "look at the rights of the file and its folder, and at the disk",
        Place::Postgres(_) => "look whether it runs, and at host, user and password in the URL",
    };
    Check::failed("database", format!("cannot open {place} ({error})"), advice)
}

/// Everything that can be asked of an open database. Answers whether its tables are those of today.
pub(super) async fn examine(store: &Store, reserve_mib: u32, checks: &mut Vec<Check>) -> bool {
    let mut push = |check: &'static str, answer: sqlx::Result<Check>| {
        checks.push(
            answer.unwrap_or_else(|error| Check::failed(check, format!("the database said: {error}"), "see there")),
        );
    };
    push("database", size(store).await);
    let schema = schema(store).await;
    let is_current = matches!(&schema, Ok(check) if check.state == super::State::Ok);
    push("schema", schema);
    push("integrity", integrity(store).await);
    push("durability", durability(store).await);
    push("disk", Ok(disk(store, reserve_mib)));
    push("log", write_ahead_log(store).await);
    // The other questions are about tables of today.
    if is_current {
        push("write", store.can_write().await.map(|()| Check::ok("write", "a write was committed")));
        push("tokens", people::tokens(store).await);
        push("clock", people::clock(store).await);
        push("rules", people::rules(store).await);
        push("counts", people::counts(store).await);
    }
    is_current
}

async fn size(store: &Store) -> sqlx::Result<Check> {
    let (used, free) = store.size_bytes().await?;
    Ok(Check::ok("database", format!("{} MiB, of which {} MiB are free for new rows", used >> 20, free >> 20)))
}

async fn schema(store: &Store) -> sqlx::Result<Check> {
    let (found, ours) = (store.snapshot().await?.version().await?, Store::schema_version());
    Ok(match found.cmp(&ours) {
        std::cmp::Ordering::Equal => Check::ok("schema", format!("version {found}")),
        std::cmp::Ordering::Less => Check::warning(
            "schema",
            format!("version {found}, and this program has {ours}"),
            "make a backup; then `weavewatch-server serve` or `migrate` brings it up to date",
        ),
        std::cmp::Ordering::Greater => Check::failed(
            "schema",
            format!("version {found}, and this program knows {ours}"),
            "use the newer program that made it",
        ),
    })
}

async fn integrity(store: &Store) -> sqlx::Result<Check> {
    let Checkup { problems } = store.integrity().await?;
    Ok(match problems.first() {
        None => Check::ok("integrity", "pages, indexes and references are whole"),
        Some(first) => Check::failed(
            "integrity",
            format!("{} problems, the first: {first}", problems.len()),
            "stop the server, keep a copy of the damaged database, and restore the newest backup",
        ),
    })
}

async fn durability(store: &Store) -> sqlx::Result<Check> {
    let unsafe_settings = store.unsafe_settings().await?;
    Ok(if unsafe_settings.is_empty() {
        Check::ok("durability", "what is acknowledged survives a power cut")
    } else {
        Check::failed(
            "durability",
            format!("what is acknowledged may be lost with the power: {}", unsafe_settings.join(", ")),
            "switch it on where the database is set up",
        )
    })
}

fn disk(store: &Store, reserve_mib: u32) -> Check {
    let reserve = u64::from(reserve_mib) << 20;
    match store.free_bytes() {
        Ok(None) => Check::ok("disk", "PostgreSQL looks after its own"),
        Ok(Some(free)) if free < reserve => Check::failed(
            "disk",
            format!("{} MiB are left, and uploads are refused below {reserve_mib} MiB", free >> 20),
            "make room; the agents keep what they have to send",
        ),
        Ok(Some(free)) if free < reserve.saturating_mul(4) => {
            Check::warning("disk", format!("{} MiB are left", free >> 20), "make room before uploads are refused")
        }
        Ok(Some(free)) => Check::ok("disk", format!("{} MiB are left", free >> 20)),
        Err(error) => Check::warning("disk", format!("it does not tell its room ({error})"), "look yourself"),
    }
}

async fn write_ahead_log(store: &Store) -> sqlx::Result<Check> {
    if let Some(bytes) = store.wal_bytes() {
        return Ok(if bytes > LARGE_WAL_BYTES {
            let advice = "somebody has been reading for long, such as a backup: it shrinks when they are done";
            Check::warning("log", format!("the write-ahead log has {} MiB", bytes >> 20), advice)
        } else {
            Check::ok("log", format!("the write-ahead log has {} MiB", bytes >> 20))
        });
    }
    let oldest_s = store.oldest_transaction_s().await?;
    Ok(if oldest_s > LONG_TRANSACTION_S {
        let advice = "find it in pg_stat_activity: it keeps the database from clearing up";
        Check::warning("log", format!("a transaction is open for {} minutes", oldest_s / 60), advice)
    } else {
        Check::ok("log", "no transaction is open for long")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_way_over_the_network_has_to_be_encrypted() {
        for url in [
            "postgres://a:b@localhost/x",
            "postgres://127.0.0.1:5432/x",
            "postgres:///x?host=/run",
            "postgres://%2Frun/x",
        ] {
            assert!(is_near(url), "{url}");
        }
        for url in ["postgres://a@db.example:5432/x", "postgres://localhost@db.example/x"] {
            assert!(!is_near(url), "{url}");
        }
    }
}
