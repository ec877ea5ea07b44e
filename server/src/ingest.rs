//! `POST /api/v1/ingest`: a batch from an agent. The answer means that what it counts is committed.

use std::mem;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use axum::{Extension, Json};
use tracing::Instrument as _;
use wire::Ack;

use crate::app::{App, WAITING_KIB};
use crate::auth::Caller;
use crate::body;
use crate::decode::{Checked, Encoding, PACKED_LIMIT_BYTES, decode};
use crate::error::Error;
use crate::store::Upload;
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
    let too_large = || Error::TooLarge("8 MiB packed");
    let body = body::read(body, PACKED_LIMIT_BYTES, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, Error::BadBatch))?;
    // A task of its own: an agent that hangs up does not cut a transaction short.
    let task = async move {
        let _under_way = UnderWay::begin();
        store(&app, &caller, encoding, body).await
    };
    let stored = tokio::spawn(task.in_current_span()).await;
    stored.map_err(|error| Error::Internal(error.into()))?.map(Json)
}

/// Reads a body and makes rows of it.
fn unpack(encoding: Encoding, body: &[u8]) -> Result<(Checked, Upload), Error> {
    let mut checked = decode(encoding, body)?;
    let (segments, told) = (mem::take(&mut checked.segments), mem::take(&mut checked.told));
    let upload = Upload::pack(&checked.machine, &text::now(), segments, told);
    let upload = upload.map_err(|error| Error::Internal(error.into()))?;
    let dead_letters = mem::take(&mut checked.dead_letters);
    Ok((checked, upload.with_dead_letters(dead_letters)))
}

/// What an upload takes of [`State::waiting`](crate::app::State::waiting).
fn waiting_kib(upload: &Upload) -> u32 {
    u32::try_from(upload.plain_bytes() >> 10).unwrap_or(u32::MAX).clamp(1, WAITING_KIB)
}

async fn store(app: &App, caller: &Caller, encoding: Encoding, body: Bytes) -> Result<Ack, Error> {
    metrics::counter!(telemetry::BYTES).increment(body.len() as u64);
    let internal = |error: anyhow::Error| Error::Internal(error);
    let turn = app.uploads.acquire().await.map_err(|error| internal(error.into()))?;
    app.room()?;
    let decoded = tokio::task::spawn_blocking(move || unpack(encoding, &body)).await;
    let (checked, upload) = decoded.map_err(|error| internal(error.into()))??;
    caller.may_speak_for(&checked.machine)?;
    app.limits.upload_for(caller, &checked.machine)?;
    // The next upload is unpacked while this one waits for the disk, as long as what waits fits into memory.
    let _place = app.waiting.acquire_many(waiting_kib(&upload)).await.map_err(|error| internal(error.into()))?;
    drop(turn);
    let mut refused = checked.refused;
    let pieces = upload.segments();
    let events = upload.events();
    let logs = upload.log_ids();
    let left = app.store.ingest(upload).await?;
    app.live.arrived(logs);
    let accepted = (pieces - left.len()) as u64;
    for (place, reason) in left {
        refused.add(place, &reason);
    }
    let refused = refused.into_list();
    metrics::counter!(telemetry::BATCHES).increment(1);
    metrics::counter!(telemetry::SEGMENTS).increment(accepted);
    metrics::counter!(telemetry::REFUSED).increment(refused.len() as u64);
    metrics::counter!(telemetry::EVENTS).increment(events.cast_unsigned());
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
