//! A record as a reader wants it: where it stands, what it means, and how the runtime put it.

use serde::Serialize;
use utoipa::ToSchema;
use wire::{FlawKind, Observation};

use crate::text;

/// One record of evidence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Record {
    /// 1-based line number.
    pub line: u64,
    /// The log's own local time.
    pub time: Option<String>,
    /// Row of the vocabulary; null for damage.
    pub shape: Option<String>,
    /// What it says, or what is wrong with it.
    pub kind: String,
    /// In plain words.
    pub meaning: String,
    /// The record's body, made again from its values; null when that is not possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Looks the record up in the vocabulary.
pub fn record(observation: &Observation) -> Record {
    match observation {
        Observation::Event(event) => Record {
            line: event.line,
            time: event.time.clone(),
            shape: Some(event.shape.to_string()),
            kind: text::word(&event.kind),
            meaning: parser::vocabulary::shape(&event.shape)
                .map_or("a record that this version does not know by its shape", |shape| shape.meaning)
                .to_owned(),
            // Patches of spelling can hold bytes of any code page.
            text: parser::format::body(event).map(|body| String::from_utf8_lossy(&body).into_owned()),
        },
        Observation::Flaw(flaw) => Record {
            line: flaw.line,
            time: None,
            shape: None,
            kind: text::word(&flaw.kind),
            meaning: damage(flaw.kind).to_owned(),
            text: flaw.marker.as_ref().map(ToString::to_string),
        },
    }
}

const fn damage(kind: FlawKind) -> &'static str {
    match kind {
        FlawKind::EmptyBody => "The record has lost its text: a name in it could not be converted.",
        FlawKind::Truncated => "The record is cut off.",
        FlawKind::Spliced => "Another record starts inside this one: two were written over each other.",
        FlawKind::Unrecognised => "The record starts like one of ours and goes on in unknown words.",
        FlawKind::Unknown => "Something is wrong with the record that this version does not know.",
    }
}
