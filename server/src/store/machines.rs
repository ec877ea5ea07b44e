//! Machines: who they are, how their agents are, which logs they have.

use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;
use utoipa::ToSchema;
use wire::Heartbeat;

use super::losses::Losses;
use super::{Cursor, Store, corrupt};

/// A machine with what its agent said last. What is not known of it is null.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
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
    #[schema(value_type = Option<crate::openapi::Heartbeat>)]
    pub heartbeat: Option<Heartbeat>,
    /// When it said so, RFC 3339.
    pub heartbeat_at: Option<String>,
    /// What will never arrive.
    #[serde(flatten)]
    pub losses: Losses,
    /// How many logs it has.
    pub logs: i64,
    /// The newest verdict's one word.
    pub outcome: Option<String>,
    /// What kind of PC it is, by the newest log that tells.
    pub cohort: Option<CohortName>,
}

/// A kind of PC as answers name it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct CohortName {
    /// For the filter `cohort`.
    pub id: String,
    /// For people.
    pub label: String,
}

/// The flat columns of one machine, for export.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the columns, which the migration explains")]
pub struct MachineRow {
    pub id: String,
    pub first_seen: String,
    pub last_contact: Option<String>,
    pub agent: Option<String>,
    pub heartbeat: Option<String>,
    pub heartbeat_at: Option<String>,
    pub logs: i64,
    pub outcome: Option<String>,
    pub cohort: Option<String>,
}

impl Store {
    /// At most `limit` machines whose id comes behind `after`, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn machines(&self, after: &str, limit: u32) -> sqlx::Result<(Vec<Machine>, Option<String>)> {
        // One more tells whether there is a next page.
        let mut rows = self.machine_rows(after, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| more).map(|last| last.id.clone());
        Ok((self.with_losses(rows).await?, next))
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
        let row = row.as_ref().map(machine_row).transpose()?;
        Ok(self.with_losses(row.into_iter().collect()).await?.pop())
    }

    /// At most `limit` flat rows whose id comes behind `after`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn machine_rows(&self, after: &str, limit: u32) -> sqlx::Result<Vec<MachineRow>> {
        sqlx::query(concat!(include_str!("machines.sql"), "where m.id > $1 order by m.id limit $2"))
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(machine_row)
            .collect()
    }

    pub(super) async fn with_losses(&self, rows: Vec<MachineRow>) -> sqlx::Result<Vec<Machine>> {
        let ids: Vec<_> = rows.iter().map(|row| row.id.clone()).collect();
        let mut losses = self.machine_losses(&ids).await?;
        let cohorts: Vec<_> = rows.iter().filter_map(|row| row.cohort.clone()).collect();
        let labels = self.cohort_labels(&cohorts).await?;
        let name = |id: String| {
            let label = labels.get(&id).cloned().unwrap_or_default();
            CohortName { id, label }
        };
        let whole = |row: MachineRow| {
            Ok(Machine {
                outcome: row.outcome,
                cohort: row.cohort.map(name),
                losses: losses.remove(&row.id).unwrap_or_default(),
                heartbeat: row.heartbeat.map(|json| serde_json::from_str(&json)).transpose().map_err(corrupt)?,
                id: row.id,
                first_seen: row.first_seen,
                last_contact: row.last_contact,
                agent: row.agent,
                heartbeat_at: row.heartbeat_at,
                logs: row.logs,
            })
        };
        rows.into_iter().map(whole).collect()
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
}

pub(super) fn machine_row(row: &AnyRow) -> sqlx::Result<MachineRow> {
    Ok(MachineRow {
        id: row.try_get("id")?,
        first_seen: row.try_get("first_seen")?,
        last_contact: row.try_get("last_contact")?,
        agent: row.try_get("agent")?,
        heartbeat: row.try_get("heartbeat")?,
        heartbeat_at: row.try_get("heartbeat_at")?,
        logs: row.try_get("logs")?,
        outcome: row.try_get("outcome")?,
        cohort: row.try_get("cohort")?,
    })
}
