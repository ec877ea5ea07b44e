//! Keeps foreign pages from acting in the name of a person who is signed in here: whatever changes something comes from one of
//! our own pages and brings the session's token. Programs that send `Authorization` are not concerned, because no foreign
//! page can make a browser send that.

use std::time::Duration;

use axum::Form;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use sha2::{Digest, Sha256};

use crate::body;
use crate::error::Error;
use crate::origin::{self, Source};
use crate::text;

/// The field of forms; scripts send the header instead.
pub const FIELD: &str = "csrf";
const HEADER: &str = "x-csrf-token";
const FORM: &str = "application/x-www-form-urlencoded";
/// The largest form: a token, or some names.
const FORM_LIMIT_BYTES: usize = 64 << 10;

/// What the forms of a session send back: nobody can tell it who does not hold the session's cookie, and the cookie cannot be
/// told from it.
pub fn token(session: &str) -> String {
    text::hex(&Sha256::digest(format!("weavewatch form of {session}")))
}

/// Makes sure that a request comes from a page of this session; answers its body, which was read when it is a form.
///
/// # Errors
/// [`Error::Forged`], or what goes wrong with the body.
pub async fn refuse(parts: &Parts, body: Body, expected: &str, timeout: Duration) -> Result<Body, Error> {
    if origin::source(parts) != Source::Ours {
        return Err(Error::Forged);
    }
    if let Some(header) = parts.headers.get(HEADER) {
        return if is_same(header.as_bytes(), expected) { Ok(body) } else { Err(Error::Forged) };
    }
    if !is_form(parts) {
        return Err(Error::Forged);
    }
    let bytes = read(body, timeout).await?;
    let fields = fields(bytes.clone()).await?;
    let told =
        fields.iter().find(|(name, _)| name == FIELD).is_some_and(|(_, value)| is_same(value.as_bytes(), expected));
    if told { Ok(bytes.into()) } else { Err(Error::Forged) }
}

/// The fields of a small form, decoded.
///
/// # Errors
/// [`Error::BadRequest`] when it is none.
pub async fn form(parts: &Parts, body: Body, timeout: Duration) -> Result<Vec<(String, String)>, Error> {
    if !is_form(parts) {
        return Err(Error::BadRequest("the body is no form".to_owned()));
    }
    fields(read(body, timeout).await?).await
}

fn is_form(parts: &Parts) -> bool {
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(FORM)
}

async fn read(body: Body, timeout: Duration) -> Result<Bytes, Error> {
    let too_large = || Error::BadRequest("the form is longer than 64 KiB".to_owned());
    let body = body::read(body, FORM_LIMIT_BYTES, timeout).await;
    body.map_err(|fault| fault.answer(timeout, too_large, Error::BadRequest))
}

async fn fields(bytes: Bytes) -> Result<Vec<(String, String)>, Error> {
    let request = Request::builder().method(Method::POST).header(CONTENT_TYPE, FORM).body(bytes.into());
    let request = request.map_err(|error| Error::Internal(error.into()))?;
    let read = Form::from_request(request, &()).await;
    read.map(|Form(fields)| fields).map_err(|error| Error::BadRequest(format!("the form cannot be read: {error}")))
}

/// In a time that does not tell how much of it is right.
fn is_same(told: &[u8], expected: &str) -> bool {
    let expected = expected.as_bytes();
    told.len() == expected.len() && told.iter().zip(expected).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}
