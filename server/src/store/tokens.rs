//! Who may ask: tokens by their hash. The secret is 256 random bits, so a plain hash cannot be guessed back.

use serde::Serialize;
use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use super::{Store, audit};
use crate::audit::{Actor, Deed};
use crate::auth::{Caller, Scope};
use crate::text;

/// A token that was just made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewToken {
    /// For `token revoke`.
    pub id: String,
    /// What the client presents; nobody can show it again.
    pub secret: String,
    /// When it ends by itself, RFC 3339.
    pub expires: Option<String>,
}

/// The token that somebody would like to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish<'a> {
    /// What it may do.
    pub scope: Scope,
    /// Who will use it.
    pub name: &'a str,
    /// After so many days it is refused; `None`: never.
    pub expires_days: Option<u32>,
}

/// A token without its secret.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = Token)]
pub struct TokenRow {
    /// For `token revoke`.
    pub id: String,
    /// Who uses it.
    pub name: String,
    /// What it may do.
    pub scope: String,
    /// The only machine that it is good for; null: any.
    pub machine: Option<String>,
    /// RFC 3339.
    pub created: String,
    /// RFC 3339; null: it does not end by itself.
    pub expires: Option<String>,
    /// RFC 3339; null while it is valid.
    pub revoked: Option<String>,
}

impl NewToken {
    fn random(expires_days: Option<u32>) -> anyhow::Result<Self> {
        let mut random = [0; 36];
        getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("failed to get random numbers: {error}"))?;
        let expires = expires_days.map(|days| text::from_now(i64::from(days) * 86_400));
        Ok(Self { id: text::hex(&random[..4]), secret: format!("ww_{}", text::hex(&random[4..])), expires })
    }
}

impl Store {
    /// Makes a token that does not expire, as the command line does.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn create_token(&self, scope: Scope, name: &str) -> anyhow::Result<NewToken> {
        self.make_token(Wish { scope, name, expires_days: None }, &Actor::command_line()).await
    }

    /// Makes a token.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn make_token(&self, wish: Wish<'_>, by: &Actor) -> anyhow::Result<NewToken> {
        let token = NewToken::random(wish.expires_days)?;
        let mut write = self.write().await?;
        sqlx::query("insert into tokens (id, name, scope, hash, created, expires) values ($1, $2, $3, $4, $5, $6)")
            .bind(&token.id)
            .bind(wish.name)
            .bind(wish.scope.as_str())
            .bind(hash(&token.secret))
            .bind(text::now())
            .bind(&token.expires)
            .execute(write.connection())
            .await?;
        let outcome = format!("scope {}", wish.scope.as_str());
        audit::write(write.connection(), by, Deed::TokenMade, &token.id, &outcome).await?;
        write.commit().await?;
        Ok(token)
    }

    /// Makes the token of one machine. It takes the place of the one that the machine had, which is refused from then on.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn enroll(&self, machine: &str, name: &str, by: &Actor) -> anyhow::Result<NewToken> {
        let token = NewToken::random(None)?;
        let mut write = self.write().await?;
        // One statement, so that of two enrolments at the same time one token is left, and never none or two.
        sqlx::query(
            "insert into tokens (id, name, scope, hash, created, machine) values ($1, $2, $3, $4, $5, $6)
             on conflict (machine) where revoked is null do update set
                 id = excluded.id, name = excluded.name, hash = excluded.hash, created = excluded.created",
        )
        .bind(&token.id)
        .bind(name)
        .bind(Scope::Agent.as_str())
        .bind(hash(&token.secret))
        .bind(text::now())
        .bind(machine)
        .execute(write.connection())
        .await?;
        audit::write(write.connection(), by, Deed::Enrolled, machine, &format!("token {}", token.id)).await?;
        write.commit().await?;
        Ok(token)
    }

    /// Who bears a secret; `None` for strangers and for tokens that are revoked or have expired.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn caller(&self, secret: &str) -> sqlx::Result<Option<Caller>> {
        let row = sqlx::query(
            "select id, scope, machine, name from tokens
             where hash = $1 and revoked is null and (expires is null or expires > $2)",
        )
        .bind(hash(secret))
        .bind(text::now())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map_or(Ok(None), caller)
    }

    /// All tokens, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tokens(&self) -> sqlx::Result<Vec<TokenRow>> {
        sqlx::query("select id, name, scope, created, revoked, machine, expires from tokens order by created, id")
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(token_row)
            .collect()
    }

    /// At most `limit` tokens whose id comes behind `after`, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn token_page(&self, after: &str, limit: u32) -> sqlx::Result<(Vec<TokenRow>, Option<String>)> {
        let rows = sqlx::query(
            "select id, name, scope, created, revoked, machine, expires from tokens where id > $1 order by id limit $2",
        )
        .bind(after)
        // One more tells whether there is a next page.
        .bind(i64::from(limit) + 1)
        .fetch_all(&self.pool)
        .await?;
        let more = rows.len() > limit as usize;
        let rows = rows.iter().take(limit as usize).map(token_row).collect::<sqlx::Result<Vec<_>>>()?;
        let next = rows.last().filter(|_| more).map(|last| last.id.clone());
        Ok((rows, next))
    }

    /// Whether a token of this scope is good now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn has_token(&self, scope: Scope) -> sqlx::Result<bool> {
        let found = sqlx::query(
            "select id from tokens
             where scope = $1 and revoked is null and (expires is null or expires > $2) limit 1",
        )
        .bind(scope.as_str())
        .bind(text::now())
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.is_some())
    }

    /// Refuses a token from now on, with the sessions that it opened; false when no valid token has this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn revoke_token(&self, id: &str, by: &Actor) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        let result = sqlx::query("update tokens set revoked = $2 where id = $1 and revoked is null")
            .bind(id)
            .bind(text::now())
            .execute(write.connection())
            .await?;
        if result.rows_affected() == 0 {
            return Ok(false);
        }
        sqlx::query("delete from sessions where token = $1").bind(id).execute(write.connection()).await?;
        audit::write(write.connection(), by, Deed::TokenRevoked, id, "done").await?;
        write.commit().await?;
        Ok(true)
    }
}

/// From the columns id, scope, machine and name.
pub(super) fn caller(row: &AnyRow) -> sqlx::Result<Option<Caller>> {
    // A word of a newer version allows nothing here.
    let Some(scope) = Scope::from_word(row.try_get(1)?) else { return Ok(None) };
    Ok(Some(Caller { token: row.try_get(0)?, scope, machine: row.try_get(2)?, name: row.try_get(3)?, csrf: None }))
}

fn token_row(row: &AnyRow) -> sqlx::Result<TokenRow> {
    Ok(TokenRow {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        scope: row.try_get(2)?,
        created: row.try_get(3)?,
        revoked: row.try_get(4)?,
        machine: row.try_get(5)?,
        expires: row.try_get(6)?,
    })
}

/// What is stored instead of a secret.
pub(super) fn hash(secret: &str) -> String {
    text::hex(&Sha256::digest(secret))
}
