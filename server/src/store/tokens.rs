//! Who may ask: tokens by their hash. The secret is 256 random bits, so a plain hash cannot be guessed back.

use sha2::{Digest, Sha256};
use sqlx::Row;

use super::Store;
use crate::auth::Scope;
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
    /// RFC 3339.
    pub created: String,
    /// RFC 3339; null while it is valid.
    pub revoked: Option<String>,
}

impl Store {
    /// Makes a token.
    ///
    /// # Errors
    /// When the system has no random numbers, or the database fails.
    pub async fn create_token(&self, scope: Scope, name: &str) -> anyhow::Result<NewToken> {
        let mut random = [0; 36];
        getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("failed to get random numbers: {error}"))?;
        let token = NewToken { id: text::hex(&random[..4]), secret: format!("ww_{}", text::hex(&random[4..])) };
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

    /// What the bearer of a secret may do; `None` for strangers and revoked tokens.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn scope_of(&self, secret: &str) -> sqlx::Result<Option<Scope>> {
        let row = sqlx::query("select scope from tokens where hash = $1 and revoked is null")
            .bind(hash(secret))
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|row| row.try_get::<String, _>(0)).transpose()?.and_then(|word| Scope::from_word(&word)))
    }

    /// All tokens, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tokens(&self) -> sqlx::Result<Vec<TokenRow>> {
        sqlx::query("select id, name, scope, created, revoked from tokens order by created, id")
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
