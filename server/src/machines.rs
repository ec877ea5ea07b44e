//! `/api/v1/machines` and `/api/v1/machines/{id}`: the PCs with what their agents said last, and how one is forgotten.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;
use wire::Deleted;

use crate::app::App;
use crate::audit::Actor;
use crate::auth::{Caller, Scope};
use crate::error::Error;
use crate::openapi::{self, Paging};
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::store::{Cursor, Learned, Machine};
use crate::text;

/// A page of machines.
#[derive(Serialize, ToSchema)]
#[schema(as = MachinePage)]
pub struct Page {
    items: Vec<Machine>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// One machine with a page of its logs.
#[derive(Serialize, ToSchema)]
#[schema(as = MachineDetail)]
pub struct Detail {
    #[serde(flatten)]
    machine: Machine,
    /// Boots and settings, as the logs tell them.
    #[serde(flatten)]
    learned: Learned,
    /// For `/api/v1/logs/{id}`, newest start first.
    log_ids: Vec<String>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// A page of machines.
///
/// They come by their ids: what arrives meanwhile moves none of them to another page.
#[utoipa::path(
    get, path = "/api/v1/machines", operation_id = "machines", tag = "questions",
    params(Paging),
    responses((status = 200, description = "The page", body = Page), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Page>, Error> {
    let mut after = String::new();
    let mut limit = DEFAULT_LIMIT;
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() => {}
            "cursor" if text::is_id(&value) => after = value,
            "cursor" => return Err(query::no_cursor()),
            "limit" => limit = query::limit(&value)?,
            _ => return Err(unknown(&name)),
        }
    }
    let (items, next) = app.store.machines(&after, limit).await?;
    Ok(Json(Page { items, next }))
}

/// One machine.
#[utoipa::path(
    get, path = "/api/v1/machines/{id}", operation_id = "machine", tag = "questions",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$"), Paging),
    responses(
        (status = 200, description = "The machine", body = Detail),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "There is no such machine")
    )
)]
pub async fn one(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    Pairs(pairs): Pairs,
) -> Result<Json<Detail>, Error> {
    let mut after: Option<Cursor> = None;
    let mut limit = DEFAULT_LIMIT;
    for (name, value) in pairs {
        match name.as_str() {
            "cursor" if value.is_empty() => {}
            "cursor" => after = Some(value.parse().map_err(Error::BadQuery)?),
            "limit" => limit = query::limit(&value)?,
            _ => return Err(unknown(&name)),
        }
    }
    let id = known_form(id)?;
    let machine = app.store.machine(&id).await?.ok_or(Error::NotFound)?;
    let (log_ids, next) = app.store.log_ids(&id, after.as_ref(), limit).await?;
    let learned = app.store.learned(&id).await?;
    Ok(Json(Detail { machine, learned, log_ids, next: next.map(|next| next.to_string()) }))
}

/// Deletes everything that is held of a machine.
///
/// For its own agent it is enough that nothing is held any more; an admin is
/// told when there was no such machine. Tokens stay: revoke the machine's if it should not come back.
#[utoipa::path(
    delete, path = "/api/v1/machines/{id}", operation_id = "delete_machine", tag = "agents",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$")),
    responses(
        (status = 200, description = "Nothing is held of it any more", body = openapi::Deleted),
        (status = 404, description = "There was no such machine")
    )
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    actor: Actor,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Deleted>, Error> {
    let admin = caller.scope == Scope::Admin;
    let id = match known_form(id) {
        Ok(id) => id,
        Err(error) => return Err(if admin { error } else { Error::Forbidden }),
    };
    if !admin {
        caller.must_be(&id)?;
    }
    match forget(&app, id, actor, caller.token).await? {
        Some(logs) => Ok(Json(Deleted { logs })),
        None if admin => Err(Error::NotFound),
        None => Ok(Json(Deleted { logs: 0 })),
    }
}

/// Deletes a machine in the name of a token; answers how many logs went, `None` when there was no such machine.
///
/// # Errors
/// When the database fails.
pub(crate) async fn forget(app: &App, id: String, actor: Actor, by: String) -> Result<Option<u64>, Error> {
    let app = app.clone();
    // A task of its own: a caller that hangs up does not cut it short, however many logs there are.
    let deleted = tokio::spawn(async move {
        let logs = app.store.delete_machine(&id, &actor).await?;
        tracing::info!(machine = id, logs, by, "deleted a machine");
        app.copy_wanted.notify_one();
        // Nothing of it stays in unused parts of the file either. The answer does not depend on that.
        if let Err(error) = app.store.give_back().await {
            tracing::warn!("failed to hand back room after a deletion: {error}");
        }
        Ok::<_, Error>(logs)
    });
    deleted.await.map_err(|error| Error::Internal(error.into()))?
}

/// What cannot be a machine's id is not there.
fn known_form(id: Result<Path<String>, PathRejection>) -> Result<String, Error> {
    id.ok().map(|Path(id)| id).filter(|id| text::is_id(id)).ok_or(Error::NotFound)
}
