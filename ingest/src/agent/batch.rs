//! Entries of the queue to the bytes of an upload. `watch` sends them and `preview` prints them: both come from here.

use serde::Serialize;
use serde_json::value::RawValue;
use wire::BATCH_SCHEMA;

use crate::agent::memory::Entry;

/// An upload has this much JSON of segments, or this many of them, and then no more; one segment is always taken.
pub const MOST_BYTES: usize = 4 << 20;
/// See [`MOST_BYTES`].
pub const MOST_SEGMENTS: usize = 500;

/// [`wire::Batch`] with the segments as the text that they already are.
#[derive(Serialize)]
struct Batch<'a> {
    schema: &'a str,
    machine: &'a str,
    agent: &'a str,
    segments: Vec<&'a RawValue>,
}

/// The JSON of an upload, before it is packed.
///
/// # Errors
/// Never for entries that were read from the queue.
pub fn json<'a>(machine: &str, entries: impl IntoIterator<Item = &'a Entry>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Batch {
        schema: BATCH_SCHEMA,
        machine,
        agent: env!("CARGO_PKG_VERSION"),
        segments: entries.into_iter().map(|entry| entry.segment.as_ref()).collect(),
    })
}
