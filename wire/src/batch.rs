//! What an agent uploads and what the server answers.
//!
//! The unit of idempotence is machine + log + byte range (contract section 4). A segment carries the events whose
//! records start inside its range and the totals of the log up to its end, so that repeats, overlaps and ranges out of
//! order all converge to the same rows: an event is keyed by its offset, and the range that ends last knows best.

use serde::{Deserialize, Serialize};

use crate::{Clock, Heartbeat, LogFacts, Loss, Observation};

/// Name and version of the batch object.
pub const BATCH_SCHEMA: &str = "weavewatch.batch/1";

/// One upload.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    /// [`BATCH_SCHEMA`].
    pub schema: String,
    /// Pseudonymous id of the PC: 32 hex digits, never a host or user name.
    pub machine: String,
    /// Version of the agent.
    pub agent: String,
    /// Pieces of logs.
    pub segments: Vec<Segment>,
    /// How the agent is; not in every batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Heartbeat>,
    /// What was lost for good: totals, see [`Loss`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
}

/// A byte range of one log.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Segment {
    /// Identity of the log on its machine: 32 hex digits made from its name and header.
    pub log: String,
    /// Base name of the file.
    pub file: String,
    /// First byte of the range.
    pub start: u64,
    /// The byte behind the range; `facts` holds up to here.
    pub end: u64,
    /// Header, end and totals from the log's first byte to `end`; the file name has filled in what the header lacks.
    pub facts: LogFacts,
    /// What was seen in the range, in file order.
    pub observations: Vec<Observation>,
    /// What the times in the log mean, where the machine knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The last line has no newline and never will have one: its process is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

/// The server's answer to a batch. When it arrives, everything that is not in `refused` or `left_out`
/// is committed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ack {
    /// Segments that are stored now, whether or not they were before.
    pub accepted: u64,
    /// Segments that were left out, with the reason.
    #[serde(default)]
    pub refused: Vec<Refusal>,
    /// What else the server did not take, a heartbeat or a loss, with the reason, for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A segment that the server did not take.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// Its place in the batch, from 0.
    pub segment: u64,
    /// Why, for a person.
    pub reason: String,
}
