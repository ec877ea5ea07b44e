//! The body of an upload to its files: parts of a multipart form that are named `file`, any number (contract section 4),
//! and what is pasted into the page at `/triage`.
//!
//! The body is in memory when it is taken apart, and is bounded: the form's reader searches what it has from the start each
//! time more arrives, which a slow sender of one endless heading could make expensive.

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_ENCODING;

use super::analysis::Refusal;
use super::limits::NAME_BYTES;
use crate::app::App;
use crate::body;
use crate::error::Error;
use crate::forgery;

/// A file as somebody sent it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// As the sender calls it.
    pub name: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// The files of an upload, and what was no file.
#[derive(Debug, Default)]
pub struct Upload {
    /// In the order of the form.
    pub files: Vec<File>,
    /// Parts that are not taken.
    pub refused: Vec<Refusal>,
}

/// Who wrote the form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// A program: every part is a file.
    Program,
    /// A page: beside files there are its token and a field for text, and a field of files that is left alone is sent as one
    /// without name and bytes.
    Page,
}

/// What is typed into a page becomes a file of this name.
const PASTED: &str = "pasted.log";

/// Reads the body within its size and time.
///
/// # Errors
/// [`Error::ReportTooLarge`] above a limit, [`Error::TooSlow`], [`Error::BadForm`] when it is no form.
pub async fn read(app: &App, request: Request, way: Way) -> Result<Upload, Error> {
    let (parts, body) = request.into_parts();
    if parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let why = "a report is taken as it is: send it without a content encoding, or its files in a .zip bundle";
        return Err(Error::BadForm(why.to_owned()));
    }
    let limit = app.report_limits.body_bytes;
    let too_large = || {
        Error::ReportTooLarge(format!(
            "the upload is larger than {limit} bytes: send fewer files at a time, or pack them into a .zip bundle"
        ))
    };
    let body = body::read(body, limit, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, Error::BadForm))?;
    let form = Multipart::from_request(Request::from_parts(parts, Body::from(body)), &()).await;
    let form = form.map_err(|error| Error::BadForm(format!("the body is no multipart form: {}", error.body_text())))?;
    take_apart(form, app.report_limits.files, way).await
}

async fn take_apart(mut form: Multipart, most: usize, way: Way) -> Result<Upload, Error> {
    let mut upload = Upload::default();
    while let Some(field) = form.next_field().await.map_err(|error| fault(&error))? {
        let of_page = way == Way::Page;
        if of_page && field.name() == Some(forgery::FIELD) {
            continue;
        }
        let is_text = of_page && field.name() == Some("text");
        let is_unnamed = of_page && field.file_name() == Some("");
        if is_text || is_unnamed {
            let bytes = field.bytes().await.map_err(|error| fault(&error))?;
            let says_something = if is_text { !bytes.trim_ascii().is_empty() } else { !bytes.is_empty() };
            if says_something {
                upload.files.push(File { name: PASTED.to_owned(), bytes });
            }
            continue;
        }
        let name = name(&field, upload.files.len() + 1);
        if field.name() != Some("file") {
            let reason = "the part of the form is not named file".to_owned();
            upload.refused.push(Refusal { file: name, reason });
        } else if name.len() > NAME_BYTES {
            let reason = format!("its name is longer than {NAME_BYTES} bytes");
            upload.refused.push(Refusal { file: name.chars().take(100).collect(), reason });
        } else {
            let bytes = field.bytes().await.map_err(|error| fault(&error))?;
            upload.files.push(File { name, bytes });
        }
        if upload.files.len() + upload.refused.len() > most {
            let why = format!("the upload has more than {most} files: pack them into a .zip bundle");
            return Err(Error::ReportTooLarge(why));
        }
    }
    if upload.files.is_empty() && upload.refused.is_empty() {
        if way == Way::Page {
            return Err(Error::BadReport("there is nothing to read: choose a file, or paste a log".to_owned()));
        }
        let why = "the form holds no file: send logs or bundles in parts that are named file";
        return Err(Error::BadForm(why.to_owned()));
    }
    Ok(upload)
}

/// Not every sender names its files.
fn name(field: &Field<'_>, number: usize) -> String {
    let given = field.file_name().filter(|name| !name.is_empty());
    given.map_or_else(|| format!("file {number}"), str::to_owned)
}

fn fault(error: &MultipartError) -> Error {
    let why = format!("the form cannot be read: {}", error.body_text());
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE { Error::ReportTooLarge(why) } else { Error::BadForm(why) }
}
