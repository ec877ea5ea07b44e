//! What an agent says of itself and of its machine beside the events, how it joins a server, and how it leaves.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Name and version of the question of `POST /api/v1/enroll`.
pub const ENROLL_SCHEMA: &str = "weavewatch.enroll/1";
/// Name and version of its answer.
pub const ENROLLED_SCHEMA: &str = "weavewatch.enrolled/1";

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

/// What will never arrive of a log, for one reason.
///
/// The numbers are totals since the log began, not what was lost since the last upload: a server keeps, for each machine,
/// log (or none) and reason, the largest that it was told. So a loss that is sent again, late or out of order counts once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loss {
    /// Identity of the log, where it is about one.
    pub log: Option<String>,
    /// Base name of its file.
    pub file: Option<String>,
    /// A stable word, such as `truncated` or `queue_full`.
    pub reason: String,
    /// Bytes of the log, as far as known, in all.
    pub bytes: u64,
    /// Events that were read and never acknowledged, in all.
    pub events: u64,
}

/// The question of `POST /api/v1/enroll`: an agent asks for a token of its machine's own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Enroll {
    /// [`ENROLL_SCHEMA`].
    pub schema: String,
    /// Pseudonymous id of the PC: 32 hex digits.
    pub machine: String,
    /// Version of the agent.
    pub agent: String,
}

/// The answer to [`Enroll`]. A token that the machine got earlier is refused from now on.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Enrolled {
    /// [`ENROLLED_SCHEMA`].
    pub schema: String,
    /// The machine that the token is for, and for no other.
    pub machine: String,
    /// What the agent presents from now on. Nobody can show it again.
    pub token: String,
}

/// The answer of `DELETE /api/v1/machines/{id}`: the server holds nothing of the machine any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Deleted {
    /// Logs that were deleted with everything that belonged to them.
    pub logs: u64,
}

/// Without the token, so that it gets into no log by accident.
impl fmt::Debug for Enrolled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enrolled").field("schema", &self.schema).field("machine", &self.machine).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_in_the_json_and_not_in_the_debug_output() {
        let enrolled =
            Enrolled { schema: ENROLLED_SCHEMA.to_owned(), machine: "m".to_owned(), token: "ww_1".to_owned() };
        let json = serde_json::to_string(&enrolled).expect("plain data");
        assert_eq!(json, r#"{"schema":"weavewatch.enrolled/1","machine":"m","token":"ww_1"}"#);
        assert!(!format!("{enrolled:?}").contains("ww_1"));
    }
}
