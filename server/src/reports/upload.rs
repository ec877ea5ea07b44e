//! The body of an upload to its files: parts of a multipart form that are named `file`, any number (contract section 4),
//! and what is pasted into the page at `/triage`. Each piece goes on to be read while the next one arrives.
//!
//! Pieces are kept as they came, without a copy, unless they are small: a sender of single bytes would have each of them
//! hold a buffer.

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_ENCODING;

use super::analysis::{Analysis, Refusal};
use super::arriving::Reading;
use super::limits::NAME_BYTES;
use crate::app::App;
use crate::body::{Arriving, Fault};
use crate::error::Error;
use crate::forgery;

/// A piece that is kept as it came: the buffer that it holds is not much larger.
const LARGE_BYTES: usize = 32 << 10;
/// Small ones make one of this size.
const JOINED_BYTES: usize = 64 << 10;

/// A file as somebody sent it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// As the sender calls it.
    pub name: String,
    /// Its bytes, in pieces; none of them is empty.
    pub pieces: Vec<Bytes>,
}

/// The files of an upload, what was no file, and what the files say.
#[derive(Debug, Default)]
pub struct Upload {
    /// In the order of the form.
    pub files: Vec<File>,
    /// What is said of them, with what was not taken.
    pub analysis: Analysis,
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

impl File {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }
}

/// Reads the body within its size and time, and its files while they arrive.
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
    let of_body = |fault: Fault| fault.answer(app.body_timeout, too_large, Error::BadForm);
    let arriving = Arriving::new(body, limit, app.body_timeout);
    let form = Request::from_parts(parts, Body::from_stream(arriving.clone()));
    let form = Multipart::from_request(form, &()).await;
    let form = form.map_err(|error| Error::BadForm(format!("the body is no multipart form: {}", error.body_text())))?;
    let reading = Reading::begin(app.report_limits);
    let mut form = Form { parts: form, arriving, reading, files: Vec::new(), refused: Vec::new() };
    let wrong = |wrong| match wrong {
        Wrong::Body(fault) => of_body(fault),
        Wrong::Form(error) => error,
    };
    form.take_apart(app.report_limits.files, way).await.map_err(wrong)?;
    let Form { arriving, reading, files, refused, .. } = form;
    arriving.rest().await.map_err(of_body)?;
    let mut analysis = reading.end().await?;
    analysis.refused.splice(0..0, refused);
    Ok(Upload { files, analysis })
}

/// A form that is taken apart.
struct Form {
    parts: Multipart,
    arriving: Arriving,
    reading: Reading,
    files: Vec<File>,
    refused: Vec<Refusal>,
}

/// Why it cannot be.
enum Wrong {
    Body(Fault),
    Form(Error),
}

impl Form {
    async fn take_apart(&mut self, most: usize, way: Way) -> Result<(), Wrong> {
        let Self { parts, arriving, reading, files, refused } = self;
        while let Some(field) = parts.next_field().await? {
            arriving.progress();
            let mut file = Pieces { field, arriving, joined: Vec::new() };
            let of_page = way == Way::Page;
            if of_page && file.field.name() == Some(forgery::FIELD) {
                while file.next().await?.is_some() {}
                continue;
            }
            let is_text = of_page && file.field.name() == Some("text");
            let is_unnamed = of_page && file.field.file_name() == Some("");
            let name = name(&file.field, files.len() + 1);
            if is_text || is_unnamed {
                let mut pieces = Vec::new();
                while let Some(piece) = file.next().await? {
                    pieces.push(piece);
                }
                let says_something = pieces.iter().any(|piece| !is_text || !piece.trim_ascii().is_empty());
                if says_something {
                    reading.begin_file(PASTED);
                    for piece in &pieces {
                        reading.piece(piece.clone());
                    }
                    reading.end_file();
                    files.push(File { name: PASTED.to_owned(), pieces });
                }
                continue;
            }
            let is_file = file.field.name() == Some("file");
            if is_file && name.len() <= NAME_BYTES {
                reading.begin_file(&name);
                let mut pieces = Vec::new();
                while let Some(piece) = file.next().await? {
                    reading.piece(piece.clone());
                    pieces.push(piece);
                }
                reading.end_file();
                files.push(File { name, pieces });
            } else {
                refused.push(if is_file {
                    let reason = format!("its name is longer than {NAME_BYTES} bytes");
                    Refusal { file: name.chars().take(100).collect(), reason }
                } else {
                    Refusal { file: name, reason: "the part of the form is not named file".to_owned() }
                });
                while file.next().await?.is_some() {}
            }
            if files.len() + refused.len() > most {
                let why = format!("the upload has more than {most} files: pack them into a .zip bundle");
                return Err(Wrong::Form(Error::ReportTooLarge(why)));
            }
        }
        if files.is_empty() && refused.is_empty() {
            let error = match way {
                Way::Page => Error::BadReport("there is nothing to read: choose a file, or paste a log".to_owned()),
                Way::Program => {
                    let why = "the form holds no file: send logs or bundles in parts that are named file";
                    Error::BadForm(why.to_owned())
                }
            };
            return Err(Wrong::Form(error));
        }
        Ok(())
    }
}

/// The pieces of a part that are worth being kept.
struct Pieces<'a> {
    field: Field<'a>,
    arriving: &'a Arriving,
    joined: Vec<u8>,
}

impl Pieces<'_> {
    /// None of them is empty, and only the last one is small.
    async fn next(&mut self) -> Result<Option<Bytes>, MultipartError> {
        loop {
            let piece = self.field.chunk().await?;
            self.arriving.progress();
            match piece {
                Some(piece) if self.joined.is_empty() && piece.len() >= LARGE_BYTES => return Ok(Some(piece)),
                Some(piece) => self.joined.extend_from_slice(&piece),
                None if self.joined.is_empty() => return Ok(None),
                None => return Ok(Some(std::mem::take(&mut self.joined).into())),
            }
            if self.joined.len() >= JOINED_BYTES {
                return Ok(Some(std::mem::take(&mut self.joined).into()));
            }
        }
    }
}

/// Not every sender names its files.
fn name(field: &Field<'_>, number: usize) -> String {
    let given = field.file_name().filter(|name| !name.is_empty());
    given.map_or_else(|| format!("file {number}"), str::to_owned)
}

impl From<MultipartError> for Wrong {
    fn from(error: MultipartError) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(own) = cause {
            if let Some(fault) = own.downcast_ref() {
                return Self::Body(*fault);
            }
            cause = own.source();
        }
        let why = format!("the form cannot be read: {}", error.body_text());
        let is_large = error.status() == StatusCode::PAYLOAD_TOO_LARGE;
        Self::Form(if is_large { Error::ReportTooLarge(why) } else { Error::BadForm(why) })
    }
}
