//! Verdicts that other rules made, made anew in small transactions; and what they were before.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Row};
use utoipa::ToSchema;

use super::{Store, Write, corrupt, verdict};

/// Logs in one transaction: few, so that uploads wait for moments only and a stop costs no work.
const LOGS: i64 = 50;

/// One step of a long way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejudged {
    /// Logs that were judged.
    pub logs: u64,
    /// Those whose verdict is another one now.
    pub changed: u64,
    /// Where the next step begins.
    pub last: String,
}

/// What a log's verdict was by other rules.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = FormerVerdict)]
pub struct Former {
    /// Their number; 0 for those before numbers.
    pub rules: i64,
    /// When the verdict was replaced, RFC 3339.
    pub replaced: String,
    /// The scan object of then.
    #[schema(value_type = crate::openapi::ScanReport)]
    pub report: Value,
}

impl Store {
    /// How many logs have a verdict by older rules, or by any with `all`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn logs_to_judge(&self, all: bool) -> sqlx::Result<u64> {
        if all {
            return self.log_count().await;
        }
        let count: i64 = sqlx::query_scalar("select count(*) from logs where rules < $1 and events_pruned = 0")
            .bind(i64::from(resolver::RULES))
            .fetch_one(&self.pool)
            .await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Judges the next logs behind `after` that have a verdict by older rules, or by any with `all`; `None` when there are
    /// no more. The counts move in the same transaction.
    ///
    /// # Errors
    /// When the database fails; the step is not done then.
    pub async fn rejudge(&self, after: &str, all: bool) -> sqlx::Result<Option<Rejudged>> {
        let older = if all { i64::MAX } else { i64::from(resolver::RULES) };
        let logs: Vec<String> = sqlx::query_scalar(
            "select id from logs where id > $1 and rules < $2 and events_pruned = 0 order by id limit $3",
        )
        .bind(after)
        .bind(older)
        .bind(LOGS)
        .fetch_all(&self.pool)
        .await?;
        let Some(last) = logs.last() else { return Ok(None) };
        let mut write = self.write().await?;
        let changed = judge(&mut write, &logs).await?;
        write.commit().await?;
        Ok(Some(Rejudged { logs: logs.len() as u64, changed, last: last.clone() }))
    }

    /// What a log's verdict was, the newest rules first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn history(&self, log: &str) -> sqlx::Result<Vec<Former>> {
        let rows =
            sqlx::query("select rules, replaced, report from verdict_history where log = $1 order by rules desc")
                .bind(log)
                .fetch_all(&self.pool)
                .await?;
        rows.iter()
            .map(|row| {
                let report = serde_json::from_str(row.try_get(2)?).map_err(corrupt)?;
                Ok(Former { rules: row.try_get(0)?, replaced: row.try_get(1)?, report })
            })
            .collect()
    }
}

/// Judges logs anew from what is stored of them; those that are gone by now are left out. Answers how many verdicts changed.
pub(super) async fn judge(write: &mut Write<'_>, logs: &[String]) -> sqlx::Result<u64> {
    let ids: Vec<_> = (1..=logs.len()).map(|number| format!("${number}")).collect();
    let sql = format!("select id, machine from logs where id in ({}) order by id", ids.join(", "));
    let query = logs.iter().fold(sqlx::query(AssertSqlSafe(sql)), sqlx::query::Query::bind);
    let rows = query.fetch_all(write.connection()).await?;
    // As a batch does, machines first and in order.
    let machines = rows.iter().map(|row| row.try_get(1)).collect::<sqlx::Result<BTreeSet<String>>>()?;
    for machine in machines {
        sqlx::query("update machines set first_seen = first_seen where id = $1")
            .bind(machine)
            .execute(write.connection())
            .await?;
    }
    let mut changed = 0;
    for row in rows {
        let id: String = row.try_get(0)?;
        let there =
            sqlx::query("update logs set log = log where id = $1").bind(&id).execute(write.connection()).await?;
        if there.rows_affected() > 0 {
            changed += u64::from(verdict::again(write, &id).await?);
        }
    }
    Ok(changed)
}
