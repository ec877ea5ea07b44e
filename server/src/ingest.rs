//! `POST /api/v1/ingest`: a batch from an agent. The answer means that what it counts is committed.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use axum::{Extension, Json};
use tracing::Instrument as _;
use wire::Ack;

use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, Fault};
use crate::decode::{Encoding, PACKED_LIMIT_BYTES, decode};
use crate::error::Error;
use crate::{openapi, telemetry, text};

/// Stores a batch.
///
/// What the answer counts is committed. The same batch twice changes nothing.
#[utoipa::path(
    post, path = "/api/v1/ingest", operation_id = "ingest", tag = "agents",
    params(("content-encoding" = Option<String>, Header, description = "`zstd`, `gzip` or `identity`.")),
    request_body = openapi::Batch,
    responses(
        (status = 200, description = "Committed, but for what is named", body = openapi::Ack),
        (status = 400, description = "It is no batch"),
        (status = 408, description = "The body did not arrive in time"),
        (status = 413, description = "More than 8 MiB packed, 64 MiB plain, or too many segments"),
        (status = 415, description = "Another encoding"),
        (status = 507, description = "The disk is full or nearly so")
    )
)]
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
    let task = async move {
        let _under_way = UnderWay::begin();
        store(&app, &caller, encoding, body).await
    };
    let stored = tokio::spawn(task.in_current_span()).await;
    stored.map_err(|error| Error::Internal(error.into()))?.map(Json)
}

async fn store(app: &App, caller: &Caller, encoding: Encoding, body: Bytes) -> Result<Ack, Error> {
    metrics::counter!(telemetry::BYTES).increment(body.len() as u64);
    let _turn = app.uploads.acquire().await.map_err(|error| Error::Internal(error.into()))?;
    app.room()?;
    let decoded = tokio::task::spawn_blocking(move || decode(encoding, &body)).await;
    let checked = decoded.map_err(|error| Error::Internal(error.into()))??;
    caller.may_speak_for(&checked.machine)?;
    app.limits.upload_for(caller, &checked.machine)?;
    let mut refused = checked.refused;
    let pieces = checked.segments.len();
    let events: usize = checked.segments.iter().map(|(_, segment)| segment.observations.len()).sum();
    let left = app.store.ingest(&checked.machine, &text::now(), checked.segments, &checked.told).await?;
    let accepted = (pieces - left.len()) as u64;
    for (place, reason) in left {
        refused.add(place, &reason);
    }
    let refused = refused.into_list();
    metrics::counter!(telemetry::BATCHES).increment(1);
    metrics::counter!(telemetry::SEGMENTS).increment(accepted);
    metrics::counter!(telemetry::REFUSED).increment(refused.len() as u64);
    metrics::counter!(telemetry::EVENTS).increment(events as u64);
    if let Some(first) = refused.first() {
        tracing::warn!("left {} segments out of a batch, the first because {}", refused.len(), first.reason);
    }
    if let Some(first) = checked.left_out.first() {
        tracing::warn!("left something out of what an agent told of itself, the first because {first:?}");
    }
    Ok(Ack { accepted, refused, left_out: checked.left_out })
}

/// Counts an upload as long as it lives.
struct UnderWay;

impl UnderWay {
    fn begin() -> Self {
        metrics::gauge!(telemetry::UPLOADS).increment(1.0);
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        metrics::gauge!(telemetry::UPLOADS).decrement(1.0);
    }
}
