//! Retention: what is old goes, a few logs of one machine a transaction, and every count moves with it.
//!
//! A log is as old as its newest piece, by the server's clock: a log of last year that comes today is new here. Its events
//! may go before the log itself does; then its verdict stays, and nothing judges it anew.

use sqlx::{AssertSqlSafe, Row as _};

use super::purge::by_log;
use super::{Store, Write, costs, rollups};

/// Logs in one transaction: other writers wait for it.
const LOGS: i64 = 200;
/// As a condition on `logs l`: what retention goes by.
const AGE: &str = "coalesce(l.last_received, l.received)";
/// The room that a range takes.
const BODY_BYTES: &str = "coalesce(length(r.body), 0) + coalesce(length(r.plain), 0)";

/// What of old logs goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Their events, once.
    Events,
    /// All of them, with what was lost of them.
    Logs,
}

/// What went, or what would go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    /// Logs that went, or lost their events.
    pub logs: i64,
    /// Events that went with them.
    pub events: i64,
}

impl Part {
    /// Which logs are meant; `$1` is the end of their time.
    fn condition(self) -> String {
        match self {
            Self::Events => format!("{AGE} < $1 and l.events_pruned = 0 and l.events > 0"),
            Self::Logs => format!("{AGE} < $1"),
        }
    }
}

impl Store {
    /// What is older than `before` (RFC 3339, as `text::now` writes it).
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prunable(&self, part: Part, before: &str) -> sqlx::Result<Pruned> {
        let sql = format!(
            "select count(*), cast(coalesce(sum(l.events), 0) as bigint) from logs l where {}",
            part.condition()
        );
        let row = sqlx::query(AssertSqlSafe(sql)).bind(before).fetch_one(&self.pool).await?;
        Ok(Pruned { logs: row.try_get(0)?, events: row.try_get(1)? })
    }

    /// Takes away what is older than `before`. Interrupted, it goes on where it was.
    ///
    /// # Errors
    /// When the database fails; what went before that stays away.
    pub async fn prune(&self, part: Part, before: &str) -> sqlx::Result<Pruned> {
        let sql = format!("select distinct l.machine from logs l where {} order by l.machine", part.condition());
        let machines: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql)).bind(before).fetch_all(&self.pool).await?;
        let mut all = Pruned::default();
        for machine in machines {
            loop {
                let some = self.prune_some(part, &machine, before).await?;
                all.logs += some.logs;
                all.events += some.events;
                if some.logs < LOGS {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// The age that events may have so that no more than `most_bytes` of them are left, as the start of a day; none when they
    /// take no more already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn events_before(&self, most_bytes: i64) -> sqlx::Result<Option<String>> {
        let sql = format!(
            "select substr({AGE}, 1, 10), cast(sum({BODY_BYTES}) as bigint)
             from logs l join log_ranges r on r.log = l.id group by 1 order by 1 desc"
        );
        let mut left = most_bytes;
        for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&self.pool).await? {
            left -= row.try_get::<i64, _>(1)?;
            if left < 0 {
                // This day goes whole: everything that sorts in front of the next one.
                return Ok(Some(format!("{}T99", row.try_get::<String, _>(0)?)));
            }
        }
        Ok(None)
    }

    /// Some logs of one machine, whose row is held as a batch holds it, so that no piece of them comes in between.
    async fn prune_some(&self, part: Part, machine: &str, before: &str) -> sqlx::Result<Pruned> {
        let mut write = self.write().await?;
        sqlx::query("update machines set first_seen = first_seen where id = $1")
            .bind(machine)
            .execute(write.connection())
            .await?;
        let sql = format!(
            "select l.id, l.events, coalesce(l.day, '') from logs l where {} and l.machine = $2 order by l.id limit {LOGS}",
            part.condition()
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(before).bind(machine).fetch_all(write.connection()).await?;
        let (mut pruned, mut ids) = (Pruned::default(), Vec::<String>::new());
        for row in rows {
            ids.push(row.try_get(0)?);
            pruned.logs += 1;
            pruned.events += row.try_get::<i64, _>(1)?;
            write.days.insert(row.try_get(2)?);
        }
        if ids.is_empty() {
            return Ok(pruned);
        }
        let some = (1..=ids.len()).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ");
        match part {
            Part::Events => {
                for sql in [
                    format!(
                        "update log_ranges set body = null, plain = null, observations = 0, plain_bytes = 0
                         where log in ({some})"
                    ),
                    format!("update logs set events_pruned = 1, events = 0 where id in ({some})"),
                ] {
                    execute(&mut write, sql, &ids).await?;
                }
            }
            Part::Logs => {
                for log in rollups::counted(write.connection(), machine, &ids).await? {
                    write.pending.note(machine, Some(log), None);
                }
                costs::forget(&mut write, &format!("c.log in ({some})"), &ids).await?;
                for sql in by_log(&some) {
                    execute(&mut write, sql, &ids).await?;
                }
                execute(&mut write, format!("delete from losses where log in ({some})"), &ids).await?;
                execute(&mut write, format!("delete from logs where id in ({some})"), &ids).await?;
            }
        }
        write.commit().await?;
        Ok(pruned)
    }
}

/// The text holds names of ours and placeholders only.
async fn execute(write: &mut Write<'_>, sql: String, ids: &[String]) -> sqlx::Result<()> {
    let query = ids.iter().fold(sqlx::query(AssertSqlSafe(sql)), sqlx::query::Query::bind);
    query.execute(write.connection()).await?;
    Ok(())
}
