//! `GET /tokens`, `POST /tokens`, `POST /tokens/revoke` and `GET /audit`: for administrators.

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use dashboards::{AuditPage, DeedLine, Query, TokenLine, TokensPage, query};
use utoipa::ToSchema;

use super::{Asked, drawn, frame};
use crate::app::App;
use crate::audit::{Actor, AuditRow};
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::store::TokenRow;
use crate::{forgery, tokens};

/// Rows of a page.
const ROWS: u32 = 100;

/// What the form for a new token sends.
#[derive(ToSchema)]
#[schema(as = TokenForm)]
#[expect(dead_code, reason = "a shape to be described: `forgery::form` reads it")]
struct Wanted {
    csrf: Option<String>,
    name: String,
    scope: String,
    expires_days: Option<String>,
}

/// What the button that revokes a token sends.
#[derive(ToSchema)]
#[schema(as = RevokeForm)]
#[expect(dead_code, reason = "a shape to be described: `forgery::form` reads it")]
struct Unwanted {
    csrf: Option<String>,
    id: String,
}

/// Tokens, and the form that makes one.
#[utoipa::path(
    get, path = "/tokens", operation_id = "tokens_page", tag = "pages",
    params(("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn list(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
) -> Result<Response, Html> {
    let page = TokensPage { frame: frame("/tokens", caller), ..TokensPage::default() };
    let after = cursor(&query).map_err(Html)?;
    draw(&app, page, &after).await.map_err(Html)
}

/// Makes a token and shows its secret, once.
#[utoipa::path(
    post, path = "/tokens", operation_id = "make_token_page", tag = "pages",
    request_body(content = Wanted, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The page with the secret", body = String, content_type = "text/html"),
        (status = 400, description = "It is no wish for a token"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn make(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    actor: Actor,
    request: Request,
) -> Result<Response, Html> {
    let page = TokensPage { frame: frame("/tokens", caller), ..TokensPage::default() };
    try_make(&app, page, actor, request).await.map_err(Html)
}

async fn try_make(app: &App, page: TokensPage, actor: Actor, request: Request) -> Result<Response, Error> {
    let fields = fields(app, request).await?;
    let field = |name: &str| fields.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim());
    let days = field("expires_days");
    let expires_days = (!days.is_empty()).then(|| days.parse()).transpose();
    let expires_days = expires_days.map_err(|_| Error::BadRequest("the days are no number".to_owned()))?;
    let wish = tokens::Asked::new(field("scope"), field("name"), expires_days);
    let made = tokens::keep(app.clone(), actor, wish).await?;
    draw(app, TokensPage { made: Some((made.name, made.token)), ..page }, "").await
}

/// Refuses a token from now on.
#[utoipa::path(
    post, path = "/tokens/revoke", operation_id = "revoke_token_page", tag = "pages",
    request_body(content = Unwanted, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "It is refused; it leads back to the list"),
        (status = 400, description = "It is no form"),
        (status = 404, description = "No valid token has this id"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn revoke(State(app): State<App>, actor: Actor, request: Request) -> Result<Response, Html> {
    let fields = fields(&app, request).await.map_err(Html)?;
    let id = fields.iter().find(|(own, _)| own == "id").map_or("", |(_, value)| value.as_str());
    if !app.store.revoke_token(id, &actor).await.map_err(|error| Html(error.into()))? {
        return Err(Html(Error::NotFound));
    }
    tracing::info!(revoked = id, by = actor.who, "revoked a token");
    Ok((StatusCode::SEE_OTHER, [(LOCATION, HeaderValue::from_static("/tokens"))]).into_response())
}

/// Who did what, newest first.
#[utoipa::path(
    get, path = "/audit", operation_id = "audit_page", tag = "pages",
    params(("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn audit(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
) -> Result<Response, Html> {
    let before = cursor(&query).map_err(Html)?;
    let before = Some(before.as_str()).filter(|before| !before.is_empty());
    let (rows, next) = app.store.audit(before, ROWS).await.map_err(|error| Html(error.into()))?;
    let deeds = rows.into_iter().map(deed).collect();
    drawn(AuditPage { frame: frame("/audit", caller), deeds, next }.render()).map_err(Html)
}

async fn draw(app: &App, page: TokensPage, after: &str) -> Result<Response, Error> {
    let (rows, next) = app.store.token_page(after, ROWS).await?;
    drawn(TokensPage { tokens: rows.into_iter().map(token).collect(), next, ..page }.render())
}

async fn fields(app: &App, request: Request<Body>) -> Result<Vec<(String, String)>, Error> {
    let (parts, body) = request.into_parts();
    forgery::form(&parts, body, app.body_timeout).await
}

/// The only parameter of these pages.
fn cursor(query: &Query) -> Result<String, Error> {
    let cursor = query.get(query::CURSOR).unwrap_or_default();
    if !cursor.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(crate::query::no_cursor());
    }
    Ok(cursor.to_owned())
}

fn token(row: TokenRow) -> TokenLine {
    let TokenRow { id, name, scope, machine, created, expires, revoked } = row;
    TokenLine { id, name, scope, machine, created, expires, revoked }
}

fn deed(row: AuditRow) -> DeedLine {
    let AuditRow { at, who, peer, deed, object, outcome, request, .. } = row;
    DeedLine { at, who, peer, deed, object, outcome, request }
}
