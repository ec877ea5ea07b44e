//! What will never arrive: kept as totals, so that telling it again changes nothing, and summed by reason.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use utoipa::ToSchema;

use super::filter::Sql;
use super::ingest::{log_id, placeholders};
use super::{Store, corrupt};
use crate::told::Told;

/// Rows in one `insert`.
const ROWS_PER_INSERT: usize = 500;
/// Reasons that an answer lists; an agent knows a dozen.
const REASONS: i64 = 50;

/// Losses of a machine or of a log.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
pub struct Losses {
    /// By reason.
    #[serde(rename = "losses")]
    pub by_reason: BTreeMap<String, LossTotal>,
    /// Reasons with fewer events, behind the limit.
    pub losses_left_out: i64,
}

/// What was lost for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
pub struct LossTotal {
    /// Bytes of logs.
    pub bytes: u64,
    /// Events that were read.
    pub events: u64,
}

/// One row, for export.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the columns, which the migration explains")]
pub struct LossRow {
    pub machine: String,
    pub log: String,
    pub reason: String,
    pub file: Option<String>,
    pub bytes: i64,
    pub events: i64,
}

/// Where a page of loss rows begins: machine, log, reason.
pub type LossCursor = (String, String, String);

/// Which losses.
enum Of<'a> {
    Machines(&'a [String]),
    Log { machine: &'a str, id: &'a str },
}

/// Writes what an agent said of itself and of its losses. Holds the machine's row until the transaction ends, so that
/// batches of one machine, and its deletion, come one after the other.
pub(super) async fn hear(
    connection: &mut AnyConnection,
    machine: &str,
    received: &str,
    told: &Told,
) -> sqlx::Result<()> {
    let heartbeat = told.heartbeat.as_ref().map(serde_json::to_string).transpose().map_err(corrupt)?;
    let heartbeat_at = heartbeat.as_ref().map(|_| received);
    sqlx::query(include_str!("hear.sql"))
        .bind(machine)
        .bind(received)
        .bind(told.agent.as_deref())
        .bind(heartbeat)
        .bind(heartbeat_at)
        .execute(&mut *connection)
        .await?;
    let losses: Vec<_> = told.losses.iter().collect();
    for chunk in losses.chunks(ROWS_PER_INSERT) {
        let sql = format!(
            "insert into losses (machine, log, reason, file, bytes, events) values {}
             on conflict (machine, log, reason) do update set
                 file = coalesce(excluded.file, losses.file),
                 bytes = case when excluded.bytes > losses.bytes then excluded.bytes else losses.bytes end,
                 events = case when excluded.events > losses.events then excluded.events else losses.events end",
            placeholders(chunk.len(), 6)
        );
        // The text holds nothing but a count of placeholders.
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for ((log, reason), lost) in chunk {
            let log = if log.is_empty() { String::new() } else { log_id(machine, log) };
            query = query
                .bind(machine)
                .bind(log)
                .bind(reason.as_str())
                .bind(lost.file.as_deref())
                .bind(lost.bytes)
                .bind(lost.events);
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

impl Store {
    /// What was lost of one log.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn log_losses(&self, machine: &str, id: &str) -> sqlx::Result<Losses> {
        let mut found = self.losses(Of::Log { machine, id }).await?;
        Ok(found.remove(machine).unwrap_or_default())
    }

    /// What machines lost, those without a loss left out.
    pub(super) async fn machine_losses(&self, machines: &[String]) -> sqlx::Result<BTreeMap<String, Losses>> {
        if machines.is_empty() { Ok(BTreeMap::new()) } else { self.losses(Of::Machines(machines)).await }
    }

    async fn losses(&self, of: Of<'_>) -> sqlx::Result<BTreeMap<String, Losses>> {
        let mut sql = Sql::default();
        let filter = match of {
            Of::Machines(ids) => {
                let ids: Vec<_> = ids.iter().map(|id| sql.bind(id.clone())).collect();
                format!("machine in ({})", ids.join(", "))
            }
            Of::Log { machine, id } => {
                let (machine, id) = (sql.bind(machine.to_owned()), sql.bind(id.to_owned()));
                format!("machine = {machine} and log = {id}")
            }
        };
        // As floating point: the sum of hostile numbers is beyond what a bigint can hold.
        let (bytes, events) = ("sum(cast(bytes as double precision))", "sum(cast(events as double precision))");
        sql.text = format!(
            "select * from (
                 select machine, reason, {bytes} as all_bytes, {events} as all_events,
                     row_number() over (partition by machine order by {events} desc, {bytes} desc, reason) as place,
                     count(*) over (partition by machine) as reasons
                 from losses where {filter} group by machine, reason
             ) ranked where place <= {}",
            sql.bind(REASONS)
        );
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let mut found: BTreeMap<String, Losses> = BTreeMap::new();
        for row in rows {
            let losses = found.entry(row.try_get("machine")?).or_default();
            let total =
                LossTotal { bytes: whole(row.try_get("all_bytes")?), events: whole(row.try_get("all_events")?) };
            losses.by_reason.insert(row.try_get("reason")?, total);
            losses.losses_left_out = (row.try_get::<i64, _>("reasons")? - REASONS).max(0);
        }
        Ok(found)
    }

    /// At most `limit` flat rows behind `after`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn loss_rows(&self, after: &LossCursor, limit: u32) -> sqlx::Result<Vec<LossRow>> {
        sqlx::query(
            "select machine, log, reason, file, bytes, events from losses
             where machine > $1 or (machine = $1 and (log > $2 or (log = $2 and reason > $3)))
             order by machine, log, reason limit $4",
        )
        .bind(&after.0)
        .bind(&after.1)
        .bind(&after.2)
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?
        .iter()
        .map(|row| {
            Ok(LossRow {
                machine: row.try_get(0)?,
                log: row.try_get(1)?,
                reason: row.try_get(2)?,
                file: row.try_get(3)?,
                bytes: row.try_get(4)?,
                events: row.try_get(5)?,
            })
        })
        .collect()
    }
}

#[expect(clippy::cast_sign_loss, reason = "stored numbers are not negative, and the cast stops at both ends")]
fn whole(sum: f64) -> u64 {
    sum as u64
}
