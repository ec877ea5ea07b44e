//! What people make of a report: its state, who looks after it, what they note. Each change has its row in the audit log.

use sqlx::Row;
use wire::ReportState;

use super::{Store, audit};
use crate::audit::{Actor, Deed};
use crate::reports::Change;
use crate::text;

/// What somebody noted.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, utoipa::ToSchema)]
#[schema(as = ReportNote)]
pub struct Note {
    /// When, RFC 3339.
    pub at: String,
    /// Id of the token, or `nobody` in a demo.
    pub who: String,
    /// Name of the token.
    pub name: Option<String>,
    /// What.
    pub text: String,
}

impl Store {
    /// Changes what differs; false when there is no such report.
    ///
    /// # Errors
    /// When the database fails; nothing is changed then.
    pub async fn change_report(&self, id: &str, change: &Change, by: &Actor) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        // Holds the row, so that what is noted of the change is what changed.
        let held = sqlx::query("update reports set state = state where id = $1").bind(id).execute(write.connection());
        if held.await?.rows_affected() == 0 {
            return Ok(false);
        }
        let before = sqlx::query("select state, build, assignee from reports where id = $1").bind(id);
        let before = before.fetch_one(write.connection()).await?;
        let was: (String, Option<String>, Option<String>) =
            (before.try_get(0)?, before.try_get(1)?, before.try_get(2)?);
        let mut done = Vec::new();
        if let Some(state) = change.state {
            let build = change.build.as_deref().filter(|_| state == ReportState::Fixed);
            if (was.0.as_str(), was.1.as_deref()) != (state.as_str(), build) {
                let sql = "update reports set state = $2, build = $3 where id = $1";
                let query = sqlx::query(sql).bind(id).bind(state.as_str()).bind(build);
                query.execute(write.connection()).await?;
                done.push(format!("{}{}", state.label(), build.map(|build| format!(" {build}")).unwrap_or_default()));
            }
        }
        if let Some(assignee) = &change.assignee {
            let assignee = Some(assignee.as_str()).filter(|name| !name.is_empty());
            if was.2.as_deref() != assignee {
                let query = sqlx::query("update reports set assignee = $2 where id = $1").bind(id).bind(assignee);
                query.execute(write.connection()).await?;
                done.push(assignee.map_or("assigned to nobody".to_owned(), |name| format!("assigned to {name}")));
            }
        }
        if let Some(note) = &change.note {
            let now = jiff::Timestamp::now();
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(|error| sqlx::Error::Io(std::io::Error::other(error.to_string())))?;
            sqlx::query("insert into report_notes (id, report, at, who, note) values ($1, $2, $3, $4, $5)")
                .bind(format!("{:012x}{}", now.as_millisecond(), text::hex(&random)))
                .bind(id)
                .bind(text::timestamp(now))
                .bind(&by.who)
                .bind(note)
                .execute(write.connection())
                .await?;
            done.push("noted something".to_owned());
        }
        for outcome in done {
            audit::write(write.connection(), by, Deed::ReportChanged, id, &outcome).await?;
        }
        write.commit().await?;
        Ok(true)
    }

    /// What was noted of a report, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_notes(&self, id: &str) -> sqlx::Result<Vec<Note>> {
        let sql = "select n.at, n.who, t.name, n.note from report_notes n left join tokens t on t.id = n.who
             where n.report = $1 order by n.id";
        let rows = sqlx::query(sql).bind(id).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                let name: Option<String> = row.try_get(2)?;
                let name = name.filter(|name| !name.is_empty());
                Ok(Note { at: row.try_get(0)?, who: row.try_get(1)?, name, text: row.try_get(3)? })
            })
            .collect()
    }
}
