//! `GET /api/v1/dead-letters`: segments that were refused, as they were sent.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::Error;
use crate::openapi::Paging;
use crate::query::{self, DEFAULT_LIMIT, Pairs, unknown};
use crate::store::DeadLetterRow;
use crate::text;

/// A page of dead letters.
#[derive(Serialize, ToSchema)]
#[schema(as = DeadLetterPage)]
pub struct Page {
    items: Vec<DeadLetterRow>,
    /// For the parameter `cursor`; null on the last page.
    next: Option<String>,
}

/// Segments that were refused.
///
/// The newest first. Of each machine the last hundred are kept, and of each the first 16 KiB.
#[utoipa::path(
    get, path = "/api/v1/dead-letters", operation_id = "dead_letters", tag = "questions",
    params(("machine" = Option<String>, Query, description = "Only of this machine.", pattern = "^([0-9a-f]{32})?$"), Paging),
    responses((status = 200, description = "The page", body = Page), (status = 400, description = "A wrong query"))
)]
pub async fn list(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Page>, Error> {
    let (mut machine, mut after, mut limit) = (None, None, DEFAULT_LIMIT);
    for (name, value) in pairs {
        match name.as_str() {
            "machine" if value.is_empty() => machine = None,
            "machine" if text::is_id(&value) => machine = Some(value),
            "machine" => return Err(Error::BadQuery("the value of machine is not 32 hex digits".to_owned())),
            "cursor" if value.is_empty() => {}
            "cursor" => after = Some(value.parse().map_err(|()| query::no_cursor())?),
            "limit" => limit = query::limit(&value)?,
            _ => return Err(unknown(&name)),
        }
    }
    let (items, next) = app.store.dead_letters(machine.as_deref(), after.as_ref(), limit).await?;
    Ok(Json(Page { items, next: next.map(|next| next.to_string()) }))
}
