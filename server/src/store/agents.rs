//! How the agents of the fleet are: by version, by last contact, with what waits on their disks, and what they lost.

use sqlx::{AssertSqlSafe, Row};

use super::{Store, corrupt};
use crate::text;

/// Agents that are asked for their heartbeats: those that spoke last.
const HEARTBEATS: i64 = 1_000;
/// Versions, reasons and machines in an answer; hostile agents can name more.
const MOST: i64 = 50;

/// The agents of one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version {
    /// Null where none was told.
    pub agent: Option<String>,
    /// How many.
    pub machines: i64,
    /// The newest contact of any, RFC 3339.
    pub last_contact: Option<String>,
}

/// An agent with something to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beat {
    /// Its machine.
    pub machine: String,
    /// When it said so, RFC 3339.
    pub at: String,
    /// Bytes on its disk that wait to be sent.
    pub queue_bytes: u64,
    /// Age of the oldest of them.
    pub lag_s: u64,
    /// Why it reads slowly, if it does.
    pub slowed: Option<String>,
}

/// What was lost for one reason, in all.
#[derive(Clone, PartialEq, Debug)]
pub struct Lost {
    /// As agents name it.
    pub reason: String,
    /// Machines that lost something so.
    pub machines: i64,
    /// Bytes of logs; the sum of hostile numbers has no bound.
    pub bytes: f64,
    /// Events.
    pub events: f64,
}

impl Store {
    /// By version, the most frequent first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn agent_versions(&self) -> sqlx::Result<Vec<Version>> {
        sqlx::query(
            "select agent, count(*), max(last_contact) from machines group by agent
             order by count(*) desc, agent limit $1",
        )
        .bind(MOST)
        .fetch_all(&self.pool)
        .await?
        .iter()
        .map(|row| Ok(Version { agent: row.try_get(0)?, machines: row.try_get(1)?, last_contact: row.try_get(2)? }))
        .collect()
    }

    /// How many machines were heard of at or behind each of these moments (RFC 3339), and how many there are.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn contacts_since<const N: usize>(&self, since: [&str; N]) -> sqlx::Result<([i64; N], i64)> {
        let columns: Vec<_> = (1..=N)
            .map(|place| {
                format!("cast(coalesce(sum(case when last_contact >= ${place} then 1 else 0 end), 0) as bigint)")
            })
            .collect();
        let sql = format!("select {}, count(*) from machines", columns.join(", "));
        // The text holds nothing but placeholders.
        let query = since.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, since| query.bind(*since));
        let row = query.fetch_one(&self.pool).await?;
        let mut counts = [0; N];
        for (place, count) in counts.iter_mut().enumerate() {
            *count = row.try_get(place)?;
        }
        Ok((counts, row.try_get(N)?))
    }

    /// The machines that were heard of longest ago: id, agent, last contact.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn silent_machines(&self, limit: u32) -> sqlx::Result<Vec<(String, Option<String>, Option<String>)>> {
        sqlx::query("select id, agent, last_contact from machines order by coalesce(last_contact, ''), id limit $1")
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)))
            .collect()
    }

    /// What the agents that spoke last said of themselves, and whether that was all of them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn beats(&self) -> sqlx::Result<(Vec<Beat>, bool)> {
        let rows = sqlx::query(
            "select id, heartbeat, heartbeat_at from machines where heartbeat is not null
             order by heartbeat_at desc, id limit $1",
        )
        .bind(HEARTBEATS + 1)
        .fetch_all(&self.pool)
        .await?;
        let all = i64::try_from(rows.len()).is_ok_and(|rows| rows <= HEARTBEATS);
        let beats = rows.iter().take(HEARTBEATS as usize).map(|row| {
            let heartbeat: wire::Heartbeat = serde_json::from_str(row.try_get(1)?).map_err(corrupt)?;
            Ok(Beat {
                machine: row.try_get(0)?,
                at: row.try_get::<Option<String>, _>(2)?.unwrap_or_default(),
                queue_bytes: heartbeat.queue_bytes,
                lag_s: heartbeat.lag_s,
                slowed: heartbeat.slowed,
            })
        });
        Ok((beats.collect::<sqlx::Result<_>>()?, all))
    }

    /// What was lost in the whole fleet, by reason, most events first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn fleet_losses(&self) -> sqlx::Result<Vec<Lost>> {
        // As floating point: the sum of hostile numbers is beyond what a bigint can hold.
        sqlx::query(
            "select reason, count(distinct machine), sum(cast(bytes as double precision)),
                 sum(cast(events as double precision))
             from losses group by reason order by 4 desc, 3 desc, reason limit $1",
        )
        .bind(MOST)
        .fetch_all(&self.pool)
        .await?
        .iter()
        .map(|row| {
            Ok(Lost {
                reason: row.try_get(0)?,
                machines: row.try_get(1)?,
                bytes: row.try_get(2)?,
                events: row.try_get(3)?,
            })
        })
        .collect()
    }

    /// Segments that were refused and are kept, and how many of them came in the last days.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn dead_letter_counts(&self, days: i64) -> sqlx::Result<(i64, i64)> {
        let row = sqlx::query(
            "select count(*), cast(coalesce(sum(case when received >= $1 then 1 else 0 end), 0) as bigint)
             from dead_letters",
        )
        .bind(text::from_now(-days * 86_400))
        .fetch_one(&self.pool)
        .await?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    /// Days of logs that a columnar copy would hold.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn columnar_days(&self) -> sqlx::Result<i64> {
        sqlx::query_scalar("select count(*) from columnar_days").fetch_one(&self.pool).await
    }
}
