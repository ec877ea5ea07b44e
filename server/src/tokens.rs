//! `/api/v1/tokens`: an admin lists, makes and revokes tokens from elsewhere; `command` is the same on the command line.

pub mod command;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::args::token_name;
use crate::audit::Actor;
use crate::auth::Scope;
use crate::body;
use crate::error::Error;
use crate::openapi::Paging;
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::store::{TokenRow, Wish};

/// The largest body that is read: a scope, a name and a number.
const LIMIT_BYTES: usize = 16 << 10;
/// A hundred years.
pub const MOST_DAYS: u32 = 36_500;

/// A page of tokens, by their ids.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenPage)]
pub struct Page {
    items: Vec<TokenRow>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// What is asked for.
#[derive(Deserialize, ToSchema)]
#[schema(as = TokenWish)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[schema(pattern = "^(enrolment|agent|reader|triager|admin)$")]
    scope: String,
    /// Who will use it: at most 100 characters, none of them a control code.
    #[serde(default)]
    #[schema(max_length = 100, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    name: String,
    /// It is refused after so many days; without it, never.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 36_500)]
    expires_days: Option<u32>,
}

/// A new token. Nobody can show the secret again.
#[derive(Serialize, ToSchema)]
#[schema(as = NewToken)]
pub struct Made {
    /// For the route that revokes it.
    id: String,
    scope: &'static str,
    /// Who uses it.
    pub name: String,
    /// RFC 3339; null: it does not end by itself.
    expires: Option<String>,
    /// The secret: what its user presents.
    pub token: String,
}

/// What was revoked.
#[derive(Serialize, ToSchema)]
#[schema(as = RevokedToken)]
pub struct Revoked {
    /// Its id.
    revoked: String,
}

/// A page of tokens, without their secrets.
#[utoipa::path(
    get, path = "/api/v1/tokens", operation_id = "tokens", tag = "administration",
    params(Paging),
    responses((status = 200, description = "The page", body = Page), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Page>, Error> {
    let mut after = String::new();
    let mut limit = DEFAULT_LIMIT;
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() || is_id(&value) => after = value,
            "cursor" => return Err(query::no_cursor()),
            "limit" => limit = query::limit(&value)?,
            _ => return Err(unknown(&name)),
        }
    }
    let (items, next) = app.store.token_page(&after, limit).await?;
    Ok(Json(Page { items, next }))
}

/// Makes a token.
///
/// The answer is the only one that ever holds its secret.
#[utoipa::path(
    post, path = "/api/v1/tokens", operation_id = "make_token", tag = "administration",
    request_body = Asked,
    responses(
        (status = 201, description = "The token", body = Made),
        (status = 400, description = "It is no wish for a token"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn make(State(app): State<App>, actor: Actor, body: Body) -> Result<(StatusCode, Json<Made>), Error> {
    let bad = Error::BadRequest;
    let too_large = || bad("the body is longer than 16 KiB".to_owned());
    let body = body::read(body, LIMIT_BYTES, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, bad))?;
    let asked: Asked =
        serde_json::from_slice(&body).map_err(|error| bad(format!("the body is no wish for a token: {error}")))?;
    Ok((StatusCode::CREATED, Json(keep(app, actor, asked).await?)))
}

impl Asked {
    /// As a form asks for it.
    pub fn new(scope: &str, name: &str, expires_days: Option<u32>) -> Self {
        Self { scope: scope.to_owned(), name: name.to_owned(), expires_days }
    }
}

/// Makes the token that is asked for.
///
/// # Errors
/// [`Error::BadRequest`] for a wish that cannot be; what the database says.
pub async fn keep(app: App, actor: Actor, asked: Asked) -> Result<Made, Error> {
    let bad = Error::BadRequest;
    let scope = Scope::from_word(&asked.scope)
        .ok_or_else(|| bad("the scope is none of enrolment, agent, reader, triager and admin".to_owned()))?;
    let name = token_name(&asked.name).map_err(|why| bad(format!("the name is no name: {why}")))?;
    if asked.expires_days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
        return Err(bad(format!("expires_days is not from 1 to {MOST_DAYS}")));
    }
    // A task of its own: whoever hangs up has not made a token that nobody knows of without a line in the log.
    let made = tokio::spawn(async move {
        let wish = Wish { scope, name: &name, expires_days: asked.expires_days };
        let token = app.store.make_token(wish, &actor).await.map_err(Error::from_store)?;
        tracing::info!(made = token.id, scope = scope.as_str(), by = actor.who, "made a token");
        Ok::<_, Error>(Made { id: token.id, scope: scope.as_str(), name, expires: token.expires, token: token.secret })
    });
    made.await.map_err(|error| Error::Internal(error.into()))?
}

/// Refuses a token from now on, with the sessions that it opened.
#[utoipa::path(
    delete, path = "/api/v1/tokens/{id}", operation_id = "revoke_token", tag = "administration",
    params(("id" = String, Path, pattern = "^[0-9a-f]{8}$")),
    responses(
        (status = 200, description = "It is refused", body = Revoked),
        (status = 404, description = "No valid token has this id")
    )
)]
pub async fn revoke(
    State(app): State<App>,
    actor: Actor,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Revoked>, Error> {
    let id = id.ok().map(|Path(id)| id).filter(|id| is_id(id)).ok_or(Error::NotFound)?;
    if !app.store.revoke_token(&id, &actor).await? {
        return Err(Error::NotFound);
    }
    tracing::info!(revoked = id, by = actor.who, "revoked a token");
    Ok(Json(Revoked { revoked: id }))
}

/// Eight hex digits; those of the first versions may be shorter.
fn is_id(text: &str) -> bool {
    text.len() <= 32 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
