//! `GET /explore`: logs by any one or two things.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{Combination, DIMENSIONS, ExplorePage, Query};

use super::{Asked, drawn, filter, frame, key, selection, spread};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::openapi::{Filters, GroupBy};
use crate::store::Dimension;

/// What is counted by when nothing is chosen.
const FIRST: &str = "gpu_pair";

/// Logs counted by one or two dimensions, as a table, a picture and a file.
#[utoipa::path(
    get, path = "/explore", operation_id = "explore_page", tag = "pages",
    params(GroupBy, Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
) -> Result<Response, Html> {
    let page = ExplorePage { frame: frame("/explore", caller), ..ExplorePage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: ExplorePage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let mut group_by = Vec::new();
    for word in query.all("group_by").flat_map(|value| value.split(',')).filter(|word| !word.is_empty()) {
        let known = DIMENSIONS.iter().find(|(name, _)| *name == word);
        let (name, _) = known.ok_or_else(|| Error::BadQuery(format!("logs cannot be counted by {word:?}")))?;
        if !group_by.contains(name) && group_by.len() < 2 {
            group_by.push(*name);
        }
    }
    if group_by.is_empty() {
        group_by.push(FIRST);
    }
    let dimensions: Vec<_> = group_by.iter().filter_map(|word| Dimension::from_word(word)).collect();
    let mut counting = app.store.counting().await?;
    let summary = counting.summary(&filter, &dimensions).await?;
    let groups = summary.groups.iter().map(|group| Combination {
        keys: dimensions
            .iter()
            .map(|dimension| {
                let key = key(group, *dimension);
                let label = key.as_ref().and_then(|key| summary.cohorts.get(key)).cloned();
                (key, label.filter(|_| *dimension == Dimension::Cohort))
            })
            .collect(),
        spread: spread(&group.totals),
    });
    let groups = groups.collect();
    let selection = selection(&mut counting, query, &filter).await?;
    drop(counting);
    drawn(ExplorePage { selection, group_by, groups, ..page }.render())
}
