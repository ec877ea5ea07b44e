//! `scan --count`: how many records of a log start with a marker of ours, understood or not.

use std::io::{self, Read};

use parser::vocabulary;
use serde::{Deserialize, Serialize};
use triage::reading;
use wire::{FlawKind, Observation};

/// Name and version of the object.
pub const COUNT_SCHEMA: &str = "weavewatch.count/1";

/// How many marker records one log has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MarkerCount {
    /// [`COUNT_SCHEMA`].
    pub schema: String,
    /// The path as found.
    pub file: String,
    /// Records whose body starts with a marker (contract section 3).
    pub markers: u64,
}

/// What one pass tells.
pub(super) struct Counted {
    pub count: MarkerCount,
    pub started: Option<String>,
    pub bytes: u64,
    pub error: Option<io::Error>,
}

/// Counts the marker records of one log, up to its end or to the error.
pub(super) fn count(contents: &mut dyn Read, file: String, buffer: &mut [u8]) -> Counted {
    let mut markers = 0;
    // A record can give both an event and a flaw.
    let mut last = None;
    let reading = reading::read(contents, reading::base_name(&file), buffer, &mut |seen| {
        if has_marker(&seen) && last.replace(seen.offset()) != Some(seen.offset()) {
            markers += 1;
        }
    });
    Counted {
        count: MarkerCount { schema: COUNT_SCHEMA.to_owned(), file, markers },
        started: reading.facts.process.and_then(|process| process.started),
        bytes: reading.facts.counts.bytes,
        error: reading.error,
    }
}

fn has_marker(seen: &Observation) -> bool {
    match seen {
        // Nothing is left of such a body, so it starts with nothing.
        Observation::Flaw(flaw) => flaw.marker.is_some() && flaw.kind != FlawKind::EmptyBody,
        Observation::Event(event) => {
            // A window with other keys than its row has is named after that row.
            let shape = event.shape.strip_suffix(".other").unwrap_or(&event.shape);
            vocabulary::shape(shape).is_some_and(|shape| vocabulary::marker(shape.format).is_some())
        }
    }
}
