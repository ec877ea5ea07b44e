//! Who is signed in: what a browser holds is stored as a hash, and is good as long as its token is.

use std::time::Duration;

use super::tokens::{caller, hash};
use super::{Store, audit};
use crate::audit::{Actor, Deed};
use crate::auth::Caller;
use crate::text;

/// So long after signing in a session ends: a lead who looks once a day signs in once a week.
pub const SESSION_LIFE: Duration = Duration::from_hours(7 * 24);

impl Store {
    /// Starts a session of the token's bearer and answers what the browser shall hold. The session that it had ends, so that
    /// nobody goes on with one that he slipped in before.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn sign_in(&self, token: &str, earlier: Option<&str>, by: &Actor) -> anyhow::Result<String> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("failed to get random numbers: {error}"))?;
        let secret = text::hex(&random);
        let mut write = self.write().await?;
        if let Some(earlier) = earlier {
            sqlx::query("delete from sessions where hash = $1").bind(hash(earlier)).execute(write.connection()).await?;
        }
        sqlx::query("insert into sessions (hash, token, created, expires) values ($1, $2, $3, $4)")
            .bind(hash(&secret))
            .bind(token)
            .bind(text::now())
            .bind(text::from_now(SESSION_LIFE.as_secs().cast_signed()))
            .execute(write.connection())
            .await?;
        audit::write(write.connection(), by, Deed::SignedIn, token, "done").await?;
        write.commit().await?;
        Ok(secret)
    }

    /// Whose session it is; `None` when it or its token is over.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn session(&self, secret: &str) -> sqlx::Result<Option<Caller>> {
        let row = sqlx::query(
            "select t.id, t.scope, t.machine, t.name from sessions s join tokens t on t.id = s.token
             where s.hash = $1 and s.expires > $2 and t.revoked is null and (t.expires is null or t.expires > $2)",
        )
        .bind(hash(secret))
        .bind(text::now())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map_or(Ok(None), caller)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sign_out(&self, secret: &str, by: &Actor) -> sqlx::Result<()> {
        let mut write = self.write().await?;
        sqlx::query("delete from sessions where hash = $1").bind(hash(secret)).execute(write.connection()).await?;
        audit::write(write.connection(), by, Deed::SignedOut, &by.who, "done").await?;
        write.commit().await
    }

    /// Deletes the sessions that are over.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_sessions(&self) -> sqlx::Result<u64> {
        let mut write = self.write().await?;
        let gone = sqlx::query("delete from sessions where expires <= $1")
            .bind(text::now())
            .execute(write.connection())
            .await?;
        write.commit_unseen().await?;
        Ok(gone.rows_affected())
    }
}
