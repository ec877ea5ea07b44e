//! `GET /api/v1/drift`: which words in the logs are new, and which build prints them.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::csv;
use crate::error::Error;
use crate::openapi::{Filters, Format, Limit};
use crate::query::{self, Pairs, unknown};
use crate::store::{Filter, UnknownWord};

/// Words in an answer when the caller names no limit.
const DEFAULT_LIMIT: u32 = 100;

/// The answer.
#[derive(Serialize, ToSchema)]
#[schema(as = Drift)]
pub struct Answer {
    /// Those of most logs first.
    items: Vec<UnknownWord>,
    /// More of them, behind the limit.
    left_out: i64,
}

/// Unknown reason tokens and unrecognised record shapes, by runtime build.
#[utoipa::path(
    get, path = "/api/v1/drift", operation_id = "drift", tag = "questions",
    params(Limit, Format, Filters),
    responses(
        (status = 200, description = "The words", content((Answer = "application/json"), (String = "text/csv"))),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn answer(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Response, Error> {
    let mut filter = Filter::default();
    let mut limit = DEFAULT_LIMIT;
    let mut format = query::Format::Json;
    for (name, value) in pairs {
        match name.as_str() {
            "limit" => limit = query::limit(&value)?,
            "format" => format = query::Format::read(&value)?,
            _ if filter.take(&name, &value).map_err(Error::BadQuery)? => {}
            _ => return Err(unknown(&name)),
        }
    }
    let (items, left_out) = app.store.drift(&filter, limit).await?;
    match format {
        query::Format::Json => Ok(Json(Answer { items, left_out }).into_response()),
        query::Format::Csv => csv::answer(&items, &["kind", "what", "build", "logs", "machines", "records"]),
    }
}
