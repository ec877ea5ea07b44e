//! How much there is, for whoever watches over the server.

use std::collections::BTreeMap;

use sqlx::Row;

use super::Store;
use crate::auth::Scope;
use crate::text;

/// What the database holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holdings {
    /// On disk, for SQLite with its write-ahead log.
    pub size_bytes: u64,
    /// Machines that are known.
    pub machines: i64,
    /// Logs by the word of their verdict.
    pub logs_by_split: [(&'static str, i64); 3],
    /// Valid tokens; every scope is there.
    pub tokens_by_scope: [(&'static str, i64); 5],
    /// When the newest upload was stored, RFC 3339.
    pub last_upload: Option<String>,
}

impl Store {
    /// Counts.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn holdings(&self) -> sqlx::Result<Holdings> {
        let now = text::now();
        let machines = sqlx::query("select count(*), max(last_contact) from machines");
        let logs = sqlx::query(
            "select cast(coalesce(sum(split_engaged), 0) as bigint), cast(coalesce(sum(split_off), 0) as bigint),
                    cast(coalesce(sum(split_unknown), 0) as bigint)
             from rollups where dimension = '' and day = 'all'",
        );
        let tokens = sqlx::query(
            "select scope, count(*) from tokens
             where revoked is null and (expires is null or expires > $1) group by scope",
        );
        let (machines, logs, tokens, (size_bytes, _)) = tokio::try_join!(
            machines.fetch_one(&self.pool),
            logs.fetch_one(&self.pool),
            tokens.bind(now).fetch_all(&self.pool),
            self.size_bytes(),
        )?;
        let tokens = tokens.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        let tokens = tokens.collect::<sqlx::Result<BTreeMap<String, i64>>>()?;
        let scopes = [Scope::Enrolment, Scope::Agent, Scope::Reader, Scope::Triager, Scope::Admin].map(Scope::as_str);
        Ok(Holdings {
            size_bytes,
            machines: machines.try_get(0)?,
            logs_by_split: [("engaged", logs.try_get(0)?), ("off", logs.try_get(1)?), ("unknown", logs.try_get(2)?)],
            tokens_by_scope: scopes.map(|scope| (scope, tokens.get(scope).copied().unwrap_or_default())),
            last_upload: machines.try_get(1)?,
        })
    }
}
