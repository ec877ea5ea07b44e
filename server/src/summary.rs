//! `GET /api/v1/summary`: counts by any combination of dimensions.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::error::Error;
use crate::openapi::{Filters, GroupBy};
use crate::query::{Pairs, unknown};
use crate::store::{Dimension, Filter, Summary};

/// Counts of logs and of distinct machines, in all and by any combination of dimensions.
#[utoipa::path(
    get, path = "/api/v1/summary", operation_id = "summary", tag = "questions",
    params(GroupBy, Filters),
    responses((status = 200, description = "The counts", body = Summary), (status = 400, description = "A wrong query"))
)]
pub async fn answer(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Summary>, Error> {
    let mut filter = Filter::default();
    let mut group_by = Vec::new();
    for (name, value) in pairs {
        if name == "group_by" {
            let dimension = Dimension::from_word(&value)
                .ok_or_else(|| Error::BadQuery("the value of group_by is no dimension".to_owned()))?;
            if !group_by.contains(&dimension) {
                group_by.push(dimension);
            }
        } else if !filter.take(&name, &value).map_err(Error::BadQuery)? {
            return Err(unknown(&name));
        }
    }
    Ok(Json(app.store.summary(&filter, &group_by).await?))
}
