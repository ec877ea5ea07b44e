//! Keeps foreign pages from acting in the name of a person who is signed in here: whatever changes something comes from one of
//! our own pages and brings the session's token. Programs that send `Authorization` are not concerned, because no foreign
//! page can make a browser send that.

use std::time::Duration;

use axum::Form;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sha2::{Digest, Sha256};

use crate::body;
use crate::error::Error;
use crate::origin::{self, Source};
use crate::text;

/// The field of forms; scripts send the header instead.
pub const FIELD: &str = "csrf";
const HEADER: &str = "x-csrf-token";
const FORM: &str = "application/x-www-form-urlencoded";
const FORM_WITH_FILES: &str = "multipart/form-data";
/// What is read of a form with files before its first field is looked at: many times what a browser puts around a token.
const HEAD_BYTES: usize = 4 << 10;
/// The largest form: a token, or some names.
const FORM_LIMIT_BYTES: usize = 64 << 10;

/// What the forms of a session send back: nobody can tell it who does not hold the session's cookie, and the cookie cannot be
/// told from it.
pub fn token(session: &str) -> String {
    text::hex(&Sha256::digest(format!("weavewatch form of {session}")))
}

/// The token as one page holds it: another text each time, because pages are compressed, and how long a compressed page is would
/// else tell the token letter by letter to whoever can put text beside it (BREACH). Falls back to the token itself when the system
/// has no random bits.
pub fn masked(token: &str) -> String {
    let mut mask = vec![0; token.len() / 2];
    let Some(bytes) = text::unhex(token).filter(|_| getrandom::fill(&mut mask).is_ok()) else {
        return token.to_owned();
    };
    let both: Vec<u8> = mask.iter().zip(bytes).map(|(mask, byte)| mask ^ byte).collect();
    text::hex(&mask) + &text::hex(&both)
}

/// The way back from [`masked`]; what is not masked stays what it is.
fn unmasked(told: &[u8], expected: &str) -> Vec<u8> {
    if told.len() != 2 * expected.len() {
        return told.to_vec();
    }
    let Some(bytes) = std::str::from_utf8(told).ok().and_then(text::unhex) else { return Vec::new() };
    let (mask, both) = bytes.split_at(bytes.len() / 2);
    let token: Vec<u8> = mask.iter().zip(both).map(|(mask, byte)| mask ^ byte).collect();
    text::hex(&token).into_bytes()
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
    if is_kind(parts, FORM_WITH_FILES) {
        return with_files(parts, body, expected, timeout).await;
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

/// The token of a form with files is its first field, so that it is known before the files are read, and files are never held
/// for somebody who may not send them. In the form's address it would stand in histories and logs.
async fn with_files(parts: &Parts, body: Body, expected: &str, timeout: Duration) -> Result<Body, Error> {
    let mut rest = body.into_data_stream();
    let mut head = Vec::new();
    let read = async {
        while head.len() < HEAD_BYTES
            && let Some(chunk) = rest.try_next().await?
        {
            head.extend_from_slice(&chunk);
        }
        Ok::<_, axum::Error>(())
    };
    let ended = |_| Error::BadRequest("the body ended early".to_owned());
    tokio::time::timeout(timeout, read).await.map_err(|_| Error::TooSlow(timeout))?.map_err(ended)?;
    let head = Bytes::from(head);
    if first_field(parts, head.clone()).await.is_some_and(|told| is_same(&told, expected)) {
        Ok(Body::from_stream(stream::iter([Ok(head)]).chain(rest)))
    } else {
        Err(Error::Forged)
    }
}

/// The first field of a form that starts like this, when it is whole and holds a token.
async fn first_field(parts: &Parts, head: Bytes) -> Option<Bytes> {
    let kind = parts.headers.get(CONTENT_TYPE)?;
    let request = Request::builder().header(CONTENT_TYPE, kind).body(Body::from(head)).ok()?;
    let mut form = Multipart::from_request(request, &()).await.ok()?;
    let field = form.next_field().await.ok()??;
    if field.name() == Some(FIELD) { field.bytes().await.ok() } else { None }
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
    is_kind(parts, FORM)
}

fn is_kind(parts: &Parts, wanted: &str) -> bool {
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
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
    let told = unmasked(told, expected);
    let expected = expected.as_bytes();
    told.len() == expected.len() && told.iter().zip(expected).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_token_is_another_one_each_time_and_the_same_to_us() {
        let token = token("session");
        let (one, two) = (masked(&token), masked(&token));
        assert_ne!(one, two);
        assert!(!one.contains(&token) && is_same(one.as_bytes(), &token) && is_same(two.as_bytes(), &token));
        assert!(is_same(token.as_bytes(), &token), "a script may send it bare");
        let foreign = masked(&super::token("other"));
        for wrong in [foreign.as_str(), "", "0", &"0".repeat(128), &"x".repeat(128), &"é".repeat(64), &one[..64]] {
            assert!(!is_same(wrong.as_bytes(), &token), "{wrong}");
        }
    }
}
