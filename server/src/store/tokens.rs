//! Who may ask: tokens by their hash. The secret is 256 random bits, so a plain hash cannot be guessed back.

use sha2::{Digest, Sha256};
use sqlx::Row;

use super::Store;
use crate::auth::{Caller, Scope};
use crate::text;

/// A token that was just made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewToken {
    /// For `token revoke`.
    pub id: String,
    /// What the client presents; nobody can show it again.
    pub secret: String,
}

/// A token without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
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
    /// RFC 3339; null while it is valid.
    pub revoked: Option<String>,
}

impl NewToken {
    fn random() -> anyhow::Result<Self> {
        let mut random = [0; 36];
        getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("failed to get random numbers: {error}"))?;
        Ok(Self { id: text::hex(&random[..4]), secret: format!("ww_{}", text::hex(&random[4..])) })
    }
}

impl Store {
    /// Makes a token.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn create_token(&self, scope: Scope, name: &str) -> anyhow::Result<NewToken> {
        let token = NewToken::random()?;
        let mut write = self.write().await?;
        sqlx::query("insert into tokens (id, name, scope, hash, created) values ($1, $2, $3, $4, $5)")
            .bind(&token.id)
            .bind(name)
            .bind(scope.as_str())
            .bind(hash(&token.secret))
            .bind(text::now())
            .execute(write.connection())
            .await?;
        write.commit().await?;
        Ok(token)
    }

    /// Makes the token of one machine. It takes the place of the one that the machine had, which is refused from then on.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn enroll(&self, machine: &str, name: &str) -> anyhow::Result<NewToken> {
        let token = NewToken::random()?;
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
        write.commit().await?;
        Ok(token)
    }

    /// Who bears a secret; `None` for strangers and revoked tokens.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn caller(&self, secret: &str) -> sqlx::Result<Option<Caller>> {
        let row = sqlx::query("select id, scope, machine from tokens where hash = $1 and revoked is null")
            .bind(hash(secret))
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        // A word of a newer version allows nothing here.
        let Some(scope) = Scope::from_word(row.try_get(1)?) else { return Ok(None) };
        Ok(Some(Caller { token: row.try_get(0)?, scope, machine: row.try_get(2)? }))
    }

    /// All tokens, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tokens(&self) -> sqlx::Result<Vec<TokenRow>> {
        sqlx::query("select id, name, scope, created, revoked, machine from tokens order by created, id")
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(|row| {
                Ok(TokenRow {
                    id: row.try_get(0)?,
                    name: row.try_get(1)?,
                    scope: row.try_get(2)?,
                    created: row.try_get(3)?,
                    revoked: row.try_get(4)?,
                    machine: row.try_get(5)?,
                })
            })
            .collect()
    }

    /// Refuses a token from now on; false when no valid token has this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn revoke_token(&self, id: &str) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        let result = sqlx::query("update tokens set revoked = $2 where id = $1 and revoked is null")
            .bind(id)
            .bind(text::now())
            .execute(write.connection())
            .await?;
        write.commit().await?;
        Ok(result.rows_affected() > 0)
    }
}

fn hash(secret: &str) -> String {
    text::hex(&Sha256::digest(secret))
}
