//! `GET /names`: what filters can be, for the lists below their fields.

use axum::extract::State;
use axum::response::Response;
use dashboards::Names;

use super::{Asked, drawn, key};
use crate::app::App;
use crate::error::{Error, Html};
use crate::store::{Dimension, Filter};

/// Names of adapters, builds and programs as options of lists; a part of pages, which they ask for when filters are opened.
#[utoipa::path(
    get, path = "/names", operation_id = "names_part", tag = "pages",
    responses(
        (status = 200, description = "The lists", body = String, content_type = "text/html"),
        (status = 400, description = "A query, where none is asked")
    )
)]
pub async fn page(State(app): State<App>, _asked: Asked) -> Result<Response, Html> {
    read(&app).await.map_err(Html)
}

async fn read(app: &App) -> Result<Response, Error> {
    let names = async |dimension| {
        let groups = app.store.groups(&Filter::default(), dimension).await?;
        Ok::<_, Error>(groups.iter().filter_map(|group| key(group, dimension)).collect())
    };
    let names = Names {
        gpu_pairs: names(Dimension::GpuPair).await?,
        runtimes: names(Dimension::Runtime).await?,
        programs: names(Dimension::Exe).await?,
    };
    drawn(names.render())
}
