//! `GET /static/{name}`: the files that pages need.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use dashboards::statics::{self, StaticFile};

use crate::error::Error;
use crate::packed;

/// A file of a page: the hash in its name lets browsers keep it for ever.
#[utoipa::path(
    get, path = "/static/{name}", operation_id = "static_file", tag = "pages",
    params(("name" = String, Path)),
    responses(
        (status = 200, description = "The file", content(
            (String = "text/css"), (String = "text/javascript"), (String = "image/svg+xml")
        )),
        (status = 404, description = "There is no such file", body = Object, content_type = "application/problem+json")
    )
)]
pub async fn file(uri: Uri, headers: HeaderMap) -> Result<Response, Error> {
    let file = statics::get(uri.path()).ok_or(Error::NotFound)?;
    let told = [
        (CONTENT_TYPE, file.content_type.to_owned()),
        (CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
        (ETAG, file.etag()),
        (VARY, "accept-encoding".to_owned()),
    ];
    if !packed::is_taken(&headers) {
        return Ok((told, file.bytes).into_response());
    }
    let packed = tokio::task::spawn_blocking(move || packed_file(file)).await;
    let mut response = (told, packed.map_err(|error| Error::Internal(error.into()))??).into_response();
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Ok(response)
}

/// Packed once, when somebody asks first.
fn packed_file(file: StaticFile) -> Result<Bytes, Error> {
    static PACKED: LazyLock<Mutex<HashMap<String, Bytes>>> = LazyLock::new(Mutex::default);
    let mut kept = PACKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = kept.get(&file.path()) {
        return Ok(bytes.clone());
    }
    let bytes = packed::pack(file.bytes);
    let bytes = Bytes::from(bytes.map_err(|error| Error::Internal(error.into()))?);
    kept.insert(file.path(), bytes.clone());
    Ok(bytes)
}
