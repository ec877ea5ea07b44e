//! `POST /api/v1/ingest`: a batch from an agent. The answer means that what it counts is committed.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use axum::{Extension, Json};
use wire::Ack;

use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, Fault};
use crate::decode::{Encoding, PACKED_LIMIT_BYTES, decode};
use crate::error::Error;
use crate::text;

/// Reads, checks and stores a batch.
pub async fn receive(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Ack>, Error> {
    let encoding = match headers.get(CONTENT_ENCODING) {
        None => Encoding::from_header(None)?,
        Some(value) => Encoding::from_header(Some(value.to_str().map_err(|_| Error::UnsupportedEncoding)?))?,
    };
    let body = body::read(body, PACKED_LIMIT_BYTES, app.body_timeout).await.map_err(|fault| match fault {
        Fault::TooLarge => Error::TooLarge("8 MiB packed"),
        Fault::TooSlow => Error::TooSlow(app.body_timeout),
        Fault::EndedEarly => Error::BadBatch("the body ended early".to_owned()),
    })?;
    // A task of its own: an agent that hangs up does not cut a transaction short.
    let stored = tokio::spawn(async move { store(&app, &caller, encoding, body).await }).await;
    stored.map_err(|error| Error::Internal(error.into()))?.map(Json)
}

async fn store(app: &App, caller: &Caller, encoding: Encoding, body: Bytes) -> Result<Ack, Error> {
    let _turn = app.uploads.acquire().await.map_err(|error| Error::Internal(error.into()))?;
    app.room()?;
    let decoded = tokio::task::spawn_blocking(move || decode(encoding, &body)).await;
    let checked = decoded.map_err(|error| Error::Internal(error.into()))??;
    caller.may_speak_for(&checked.machine)?;
    let mut refused = checked.refused;
    let pieces = checked.segments.len();
    let left = app.store.ingest(&checked.machine, &text::now(), checked.segments, &checked.told).await?;
    let accepted = (pieces - left.len()) as u64;
    for (place, reason) in left {
        refused.add(place, &reason);
    }
    let refused = refused.into_list();
    if let Some(first) = refused.first() {
        tracing::warn!("left {} segments out of a batch, the first because {}", refused.len(), first.reason);
    }
    if let Some(first) = checked.left_out.first() {
        tracing::warn!("left something out of what an agent told of itself, the first because {first:?}");
    }
    Ok(Ack { accepted, refused, left_out: checked.left_out })
}
