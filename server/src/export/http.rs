//! `GET /api/v1/export/{table}` and `GET /api/v1/machines/{id}/export`: the bytes go out as they come together, so that
//! memory holds a page and not the table. A failure on the way cuts the answer off, which every client notices.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{Extensions, HeaderValue};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame};
use tokio::sync::mpsc::{Receiver, channel};

use super::{Pages, Pieces, machine as archive, tables};
use crate::app::App;
use crate::auth::{Caller, Scope};
use crate::error::Error;
use crate::query::{Pairs, unknown};
use crate::text;

/// Pieces that wait for a slow reader.
const WAITING: usize = 1;

/// One table, whole.
#[utoipa::path(
    get, path = "/api/v1/export/{table}", operation_id = "export_table", tag = "questions",
    params(
        ("table" = String, Path, description = "As `weavewatch-server export --table`"),
        ("format" = Option<String>, Query, description = "`csv`, the default, or `parquet`")
    ),
    responses(
        (
            status = 200, description = "The file",
            content((String = "text/csv"), (String = "application/vnd.apache.parquet"))
        ),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "There is no such table")
    )
)]
pub(crate) async fn table(
    State(app): State<App>,
    extensions: Extensions,
    name: Result<Path<String>, PathRejection>,
    Pairs(pairs): Pairs,
) -> Result<Response, Error> {
    let export = name.ok().and_then(|Path(name)| tables::find(&name)).ok_or(Error::NotFound)?;
    let is_admin = extensions.get::<Caller>().is_some_and(|caller| caller.scope == Scope::Admin);
    if export.needs == Scope::Admin && !is_admin {
        return Err(Error::Forbidden);
    }
    let mut format = analytics::Format::Csv;
    for (name, value) in pairs {
        format = match (name.as_str(), value.as_str()) {
            ("format", "" | "csv") => analytics::Format::Csv,
            ("format", "parquet") => analytics::Format::Parquet,
            ("format", _) => return Err(Error::BadQuery("the value of format is not csv or parquet".to_owned())),
            _ => return Err(unknown(&name)),
        };
    }
    let mut pages = Pages::begin(export).await?;
    // A database that does not answer is told, not an answer that breaks off.
    let first = pages.next(&app.store).await?;
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move {
        if let Err(error) = stream(&app, pages, first, format, &sender).await {
            tracing::warn!("failed to export {}: {error:#}", export.name);
            let _ = sender.send(Err(io::Error::other("the export failed"))).await;
        }
    });
    let (kind, end) = match format {
        analytics::Format::Csv => ("text/csv; charset=utf-8", "csv"),
        analytics::Format::Parquet => ("application/vnd.apache.parquet", "parquet"),
    };
    Ok(download(kind, &format!("{}.{end}", export.name), receiver))
}

/// Everything of one machine, as a `.zip`.
#[utoipa::path(
    get, path = "/api/v1/machines/{id}/export", operation_id = "export_machine", tag = "questions",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$")),
    responses(
        (status = 200, description = "The archive", body = String, content_type = "application/zip"),
        (status = 400, description = "A query, where none is asked"),
        (status = 404, description = "There is no such machine")
    )
)]
pub(crate) async fn machine(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    Pairs(pairs): Pairs,
) -> Result<Response, Error> {
    if let Some((name, _)) = pairs.first() {
        return Err(unknown(name));
    }
    let id = id.ok().map(|Path(id)| id).filter(|id| text::is_id(id)).ok_or(Error::NotFound)?;
    let found = app.store.machine(&id).await?.ok_or(Error::NotFound)?;
    let (sender, receiver) = channel(WAITING);
    let name = format!("machine-{id}.zip");
    tokio::spawn(async move {
        if let Err(error) = archive::write(&app.store, &found, &sender).await {
            tracing::warn!("failed to export a machine: {error:#}");
            let _ = sender.send(Err(io::Error::other("the export failed"))).await;
        }
    });
    Ok(download("application/zip", &name, receiver))
}

async fn stream(
    app: &App,
    mut pages: Pages,
    first: Vec<Vec<analytics::Cell>>,
    format: analytics::Format,
    sender: &Pieces,
) -> anyhow::Result<()> {
    let mut stream = analytics::Stream::begin(format, pages.columns.clone())?;
    let mut rows = first;
    while !rows.is_empty() {
        let packed = tokio::task::spawn_blocking(move || stream.write(&rows).map(|bytes| (bytes, stream))).await?;
        let bytes;
        (bytes, stream) = packed?;
        if sender.send(Ok(bytes.into())).await.is_err() {
            // Nobody listens any more.
            return Ok(());
        }
        rows = pages.next(&app.store).await?;
    }
    let _ = sender.send(Ok(stream.finish()?.into())).await;
    Ok(())
}

fn download(kind: &'static str, name: &str, receiver: Receiver<io::Result<Bytes>>) -> Response {
    let mut response = Body::new(Pieced(receiver)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // Names of our own: letters, digits, `_`, `-` and `.`.
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    response
}

/// A body that comes from another task.
struct Pieced(Receiver<io::Result<Bytes>>);

impl HttpBody for Pieced {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
