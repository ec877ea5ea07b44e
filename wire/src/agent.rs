//! What an agent says of itself and of its machine beside the events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The zone of a log's local times. A log's lines have none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clock {
    /// The machine's zone in the IANA spelling, such as `Europe/Berlin`, where it has a name.
    pub zone: Option<String>,
    /// Seconds east of UTC at the log's start.
    pub offset_s: i32,
    /// The start lies in the hour that a clock change repeats; the offset is that of the first pass.
    #[serde(default)]
    pub repeated: bool,
}

/// How an agent is. Times are seconds; what the agent does not know is null.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Heartbeat {
    /// Logs that may still grow.
    pub logs_followed: u64,
    /// Logs that have ended.
    pub logs_finished: u64,
    /// Bytes that wait on the agent's disk.
    pub queue_bytes: u64,
    /// Age of the oldest of them.
    pub lag_s: u64,
    /// Events that were lost for good, ever, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Why reading is slowed or stopped just now.
    pub slowed: Option<String>,
    /// The configuration in force, without secrets.
    pub config: BTreeMap<String, String>,
}

/// Something of a log that will never arrive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loss {
    /// Identity of the log, where it is about one.
    pub log: Option<String>,
    /// Base name of its file.
    pub file: Option<String>,
    /// A stable word, such as `truncated` or `queue_full`.
    pub reason: String,
    /// Bytes of the log, as far as known.
    pub bytes: u64,
    /// Events that were read and not acknowledged.
    pub events: u64,
}
