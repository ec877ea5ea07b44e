//! What a whole file tells beside its records: header, end, counts.

use serde::{Deserialize, Serialize};

use crate::CliOutput;

/// The process that wrote a log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Base name with its extension, `MyViewer.exe`.
    pub exe: String,
    /// Process id.
    pub pid: u32,
    /// Local time without zone, `2026-09-14T12:00:00`.
    pub started: Option<String>,
}

/// How a log ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The last line that is not blank is the footer.
    Footer,
    /// It is not: the process crashed, was killed, or still runs.
    #[default]
    Missing,
}

/// What kind of input it is, decided once from its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A log file of the runtime.
    #[default]
    Log,
    /// What the runtime printed on stderr.
    Stderr,
    /// One JSON object per line (`XRT_JSON_LOG`).
    Json,
    /// Saved output of `displayxr-cli`.
    Cli,
    /// Records without their prefix, as people paste them into a chat.
    Bare,
}

/// How much there was of everything (contract section 3). `records` = `events` + `ignored` + `unrecognised`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Bytes of the file.
    pub bytes: u64,
    /// Physical lines; a last line without a newline counts.
    pub lines: u64,
    /// Prefixed lines; the lines of header and footer are no records.
    pub records: u64,
    /// Records that the parser understands.
    pub events: u64,
    /// Records that are none of our business.
    pub ignored: u64,
    /// Lines that belong to the record before them.
    pub continuations: u64,
    /// Records cut at a NUL, and `[OXR  ]` records that lost their newline.
    pub truncated: u64,
    /// Records with another record's prefix inside.
    pub spliced: u64,
    /// Records with nothing behind the prefix.
    pub empty_bodies: u64,
    /// Records that start with a marker of ours and fit no known shape.
    pub unrecognised: u64,
}

/// Where the bytes of a log went: every byte is in exactly one of the sums, so that they add up to `Counts::bytes`
/// (contract section 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ByteLedger {
    /// In records with their continuation lines.
    pub in_records: u64,
    /// A byte order mark.
    pub mark: u64,
    /// Header blocks with their blank line.
    pub header: u64,
    /// Footers with their blank line.
    pub footer: u64,
    /// Lines that belong to nothing: in front of the first record, or in no known spelling.
    pub outside: u64,
}

impl ByteLedger {
    /// What is in no record, by reason.
    pub const fn skipped(&self) -> [(&'static str, u64); 4] {
        [("mark", self.mark), ("header", self.header), ("footer", self.footer), ("outside", self.outside)]
    }

    /// All of it.
    pub const fn total(&self) -> u64 {
        self.in_records + self.mark + self.header + self.footer + self.outside
    }
}

/// What is known of a log when its last byte has been read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LogFacts {
    /// Decided from the first bytes.
    pub input: InputKind,
    /// From the first header; file names are the caller's.
    pub process: Option<Process>,
    /// Footer or not.
    pub end: End,
    /// Totals of the whole file.
    pub counts: Counts,
    /// Where its bytes went.
    #[serde(default)]
    pub bytes: ByteLedger,
    /// Local wall clock of the newest record, whatever it says, as printed: `2026-09-14 12:00:01.370`. Null where records have no
    /// time, and from agents before this was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_time: Option<String>,
    /// What `displayxr-cli` said, when the input is its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<CliOutput>,
}
