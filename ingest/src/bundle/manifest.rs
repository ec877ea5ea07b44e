//! `manifest.json`: what is in a bundle, what was taken out of it, and what is not in it.

use redact::Counts;
use serde::{Deserialize, Serialize};

/// The whole file. All names in it are redacted as the members are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// [`triage::bundle::BUNDLE_SCHEMA`].
    pub schema: String,
    /// When it was made, RFC 3339 in UTC.
    pub created: String,
    /// Version of the program that made it.
    pub agent: String,
    /// Pseudonym of the machine, as uploads name it; null when this machine never had one. With it a server puts a report
    /// beside what it knows of the machine already.
    #[serde(default)]
    pub machine: Option<String>,
    /// The local time before which logs were left out; null when none was.
    pub since: Option<String>,
    /// Everything beside this file, in the order of the archive.
    pub members: Vec<Member>,
    /// What is not in it and should be.
    pub unreadable: Vec<Unreadable>,
    /// What is not in it and need not be.
    pub left_out: LeftOut,
    /// What `displayxr-cli` was asked.
    pub topology: ToolReport,
    /// What was taken out, all members together.
    pub redacted: Counts,
}

/// What a member is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberKind {
    /// A redacted log or capture.
    Log,
    /// Output of `displayxr-cli`.
    Topology,
    /// What `scan` says of the logs.
    Report,
}

/// One file of the archive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Its name in the archive.
    pub name: String,
    /// What it is.
    pub kind: MemberKind,
    /// Base name of the file that it was made from; null when there was none.
    pub file: Option<String>,
    /// Its size in the archive, unpacked.
    pub size_bytes: u64,
    /// Its SHA-256, unpacked, in 64 hex digits.
    pub sha256: String,
    /// What was taken out of it.
    pub redacted: Counts,
    /// Lines that were too long and were cut.
    pub cut_lines: u64,
    /// Why it ends before its file does; null when it is whole.
    pub broke_off: Option<String>,
}

/// A file that could not be read at all.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unreadable {
    /// Its base name.
    pub file: String,
    /// Why.
    pub why: String,
}

/// Files that were left out on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// Logs older than `since`.
    pub older: u64,
    /// Files that are not named like a log or a capture.
    pub not_logs: u64,
}

/// What `displayxr-cli` was asked.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ToolReport {
    /// Where it was found; null when it was not.
    pub program: Option<String>,
    /// Each question.
    pub runs: Vec<ToolRun>,
}

/// One question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolRun {
    /// Its arguments, such as `info --json`.
    pub arguments: String,
    /// How it ended.
    pub outcome: ToolOutcome,
    /// Its exit code; null when it had none.
    pub exit_code: Option<i32>,
    /// Members with its output and its messages.
    pub members: Vec<String>,
}

/// How a question to `displayxr-cli` ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It ended by itself, whatever its exit code.
    Ended,
    /// It was stopped when its time was over.
    TimedOut,
    /// It was stopped when it had printed too much.
    TooMuch,
    /// It could not be started.
    NotStarted,
}
