//! Machines: who they are, how their agents are, which logs they have; and how everything of one is deleted.

use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;
use wire::Heartbeat;

use super::losses::Losses;
use super::{Cursor, Store, corrupt};

/// A machine with what its agent said last. What is not known of it is null.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Machine {
    /// Its pseudonym.
    pub id: String,
    /// When its first batch came, RFC 3339.
    pub first_seen: String,
    /// When its newest batch came, RFC 3339.
    pub last_contact: Option<String>,
    /// Version of the agent that sent it.
    pub agent: Option<String>,
    /// How the agent was.
    pub heartbeat: Option<Heartbeat>,
    /// When it said so, RFC 3339.
    pub heartbeat_at: Option<String>,
    /// What will never arrive.
    #[serde(flatten)]
    pub losses: Losses,
    /// How many logs it has.
    pub logs: i64,
}

impl Store {
    /// At most `limit` machines whose id comes behind `after`, with their losses, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn machines(&self, after: &str, limit: u32) -> sqlx::Result<(Vec<Machine>, Option<String>)> {
        // One more tells whether there is a next page.
        let mut machines = self.machine_rows(after, limit + 1).await?;
        let more = machines.len() > limit as usize;
        machines.truncate(limit as usize);
        self.add_losses(&mut machines).await?;
        let next = machines.last().filter(|_| more).map(|last| last.id.clone());
        Ok((machines, next))
    }

    /// One machine.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn machine(&self, id: &str) -> sqlx::Result<Option<Machine>> {
        let row = sqlx::query(concat!(include_str!("machines.sql"), "where m.id = $1"))
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let mut machines = [machine(&row)?];
        self.add_losses(&mut machines).await?;
        Ok(machines.into_iter().next())
    }

    /// Machines whose id comes behind `after`, without their losses.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn machine_rows(&self, after: &str, limit: u32) -> sqlx::Result<Vec<Machine>> {
        sqlx::query(concat!(include_str!("machines.sql"), "where m.id > $1 order by m.id limit $2"))
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(machine)
            .collect()
    }

    async fn add_losses(&self, machines: &mut [Machine]) -> sqlx::Result<()> {
        let ids: Vec<_> = machines.iter().map(|machine| machine.id.clone()).collect();
        let mut losses = self.machine_losses(&ids).await?;
        for machine in machines {
            machine.losses = losses.remove(&machine.id).unwrap_or_default();
        }
        Ok(())
    }

    /// The ids of a machine's logs, newest start first, at most `limit` behind `after`, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn log_ids(
        &self,
        machine: &str,
        after: Option<&Cursor>,
        limit: u32,
    ) -> sqlx::Result<(Vec<String>, Option<Cursor>)> {
        let after = after.cloned().unwrap_or_else(Cursor::start);
        let rows = sqlx::query(
            "select started_s, id from logs
             where machine = $1 and (started_s < $2 or (started_s = $2 and id < $3))
             order by started_s desc, id desc limit $4",
        )
        .bind(machine)
        .bind(after.started_s)
        .bind(after.id)
        .bind(i64::from(limit) + 1)
        .fetch_all(&self.pool)
        .await?;
        let logs = rows.iter().map(|row| Ok(Cursor { started_s: row.try_get(0)?, id: row.try_get(1)? }));
        let mut logs = logs.collect::<sqlx::Result<Vec<_>>>()?;
        let more = logs.len() > limit as usize;
        logs.truncate(limit as usize);
        let next = logs.last().filter(|_| more).cloned();
        Ok((logs.into_iter().map(|log| log.id).collect(), next))
    }

    /// Deletes everything that is known of a machine but for its token, in one transaction, and answers how many logs
    /// that were; `None` when the machine is unknown.
    ///
    /// # Errors
    /// When the database fails; nothing is deleted then.
    pub async fn delete_machine(&self, id: &str) -> sqlx::Result<Option<u64>> {
        let mut write = self.write().await?;
        // Holds the row as a batch does, so that none of this machine can come in between.
        let known = sqlx::query("update machines set first_seen = first_seen where id = $1")
            .bind(id)
            .execute(write.connection())
            .await?;
        if known.rows_affected() == 0 {
            return Ok(None);
        }
        let mut logs = 0;
        for statement in [
            "delete from observations where log in (select id from logs where machine = $1)",
            "delete from log_reasons where log in (select id from logs where machine = $1)",
            "delete from log_ranges where log in (select id from logs where machine = $1)",
            "delete from losses where machine = $1",
            "delete from logs where machine = $1",
            "delete from machines where id = $1",
        ] {
            let done = sqlx::query(statement).bind(id).execute(write.connection()).await?;
            if statement.starts_with("delete from logs ") {
                logs = done.rows_affected();
            }
        }
        write.commit().await?;
        Ok(Some(logs))
    }
}

fn machine(row: &AnyRow) -> sqlx::Result<Machine> {
    let heartbeat: Option<String> = row.try_get("heartbeat")?;
    Ok(Machine {
        id: row.try_get("id")?,
        first_seen: row.try_get("first_seen")?,
        last_contact: row.try_get("last_contact")?,
        agent: row.try_get("agent")?,
        heartbeat: heartbeat.map(|json| serde_json::from_str(&json)).transpose().map_err(corrupt)?,
        heartbeat_at: row.try_get("heartbeat_at")?,
        losses: Losses::default(),
        logs: row.try_get("logs")?,
    })
}
