//! The query string as pairs, and its mistakes as problems: axum's own extractor answers in plain text.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;

use crate::error::Error;
use crate::store::Dimension;

/// Decoded pairs in order; a name may repeat.
pub struct Pairs(pub Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Pairs {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(pairs)| Self(pairs))
            .map_err(|error| Error::BadQuery(format!("the query cannot be read: {error}")))
    }
}

/// Items on a page when the caller names no limit.
pub const DEFAULT_LIMIT: u32 = 50;
/// The most that one may name.
const MAX_LIMIT: u32 = 500;

/// The value of the parameter `limit`.
pub fn limit(value: &str) -> Result<u32, Error> {
    value
        .parse()
        .ok()
        .filter(|limit| (1..=MAX_LIMIT).contains(limit))
        .ok_or_else(|| Error::BadQuery(format!("the value of limit is not a number from 1 to {MAX_LIMIT}")))
}

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
}

impl Format {
    /// The value of the parameter `format`.
    ///
    /// # Errors
    /// [`Error::BadQuery`].
    pub fn read(value: &str) -> Result<Self, Error> {
        match value {
            "" | "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            _ => Err(Error::BadQuery("the value of format is not json or csv".to_owned())),
        }
    }
}

/// Takes a value of the parameter `group_by`; one that is there already says nothing new.
///
/// # Errors
/// [`Error::BadQuery`].
pub fn group_by(dimensions: &mut Vec<Dimension>, value: &str) -> Result<(), Error> {
    let dimension = Dimension::from_word(value)
        .ok_or_else(|| Error::BadQuery("the value of group_by is no dimension".to_owned()))?;
    if !dimensions.contains(&dimension) {
        dimensions.push(dimension);
    }
    Ok(())
}

/// The answer to a parameter that means nothing.
pub fn unknown(name: &str) -> Error {
    Error::BadQuery(format!("there is no parameter {name:?} here"))
}

/// The answer to a cursor that nobody gave out.
pub fn no_cursor() -> Error {
    Error::BadQuery("the value of cursor is not one that this server gave out".to_owned())
}
