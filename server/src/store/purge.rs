//! How a machine is forgotten: with everything that belongs to it, or not at all.

use super::{Store, audit, costs, learned, rollups};
use crate::audit::{Actor, Deed};

/// How a statement finds the rows that belong to the logs of a machine.
const LOGS_OF_MACHINE: &str = "select id from logs where machine = $1";

/// Children before parents, and the logs last of those that others are found by. A table that holds something of a machine
/// has a line here; a test looks for what is left over.
const TABLES: &[&str] = &[
    // Reports that name the machine go whole, whoever brought them.
    "delete from report_logs where report in (select id from reports where machine = $1)",
    "delete from report_files where report in (select id from reports where machine = $1)",
    "delete from report_notes where report in (select id from reports where machine = $1)",
    "delete from reports where machine = $1",
    "delete from log_drift where log in (select id from logs where machine = $1)",
    "delete from log_costs where log in (select id from logs where machine = $1)",
    "delete from log_reasons where log in (select id from logs where machine = $1)",
    "delete from log_ranges where log in (select id from logs where machine = $1)",
    "delete from verdict_history where log in (select id from logs where machine = $1)",
    "delete from losses where machine = $1",
    "delete from dead_letters where machine = $1",
    "delete from rollup_machines where machine = $1",
    "delete from machine_revisions where machine = $1",
];

/// The statements that go by log, for the logs of a list of placeholders instead.
pub(super) fn by_log(some: &str) -> impl Iterator<Item = String> {
    TABLES.iter().filter(|sql| sql.contains(LOGS_OF_MACHINE)).map(move |sql| sql.replace(LOGS_OF_MACHINE, some))
}

impl Store {
    /// Deletes all that is held of a machine in one transaction, and answers how many logs that were; `None` when the
    /// machine is unknown. Its token stays, and so does the note in the audit log that it was deleted.
    ///
    /// # Errors
    /// When the database fails; nothing is deleted then.
    pub async fn delete_machine(&self, id: &str, by: &Actor) -> sqlx::Result<Option<u64>> {
        let mut write = self.write().await?;
        // Holds the row as a batch does (`losses::hear`), so that none of this machine comes in between.
        let known = sqlx::query("update machines set first_seen = first_seen where id = $1")
            .bind(id)
            .execute(write.connection())
            .await?;
        if known.rows_affected() == 0 {
            return Ok(None);
        }
        for log in rollups::counted_logs(write.connection(), id).await? {
            write.pending.note(id, Some(log), None);
        }
        costs::forget(&mut write, "c.machine = $1", &[id.to_owned()]).await?;
        rollups::settle(&mut write).await?;
        let days: Vec<String> = sqlx::query_scalar("select distinct coalesce(day, '') from logs where machine = $1")
            .bind(id)
            .fetch_all(write.connection())
            .await?;
        write.days.extend(days);
        for statement in TABLES {
            sqlx::query(*statement).bind(id).execute(write.connection()).await?;
        }
        let logs = sqlx::query("delete from logs where machine = $1").bind(id).execute(write.connection()).await?;
        // It leaves no revision.
        write.touched.remove(id);
        write.has_deleted = true;
        learned::sweep(&mut write).await?;
        sqlx::query("delete from machines where id = $1").bind(id).execute(write.connection()).await?;
        let outcome = format!("{} logs", logs.rows_affected());
        audit::write(write.connection(), by, Deed::MachineDeleted, id, &outcome).await?;
        write.commit().await?;
        Ok(Some(logs.rows_affected()))
    }
}
