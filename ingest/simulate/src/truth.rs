//! What is true of a log, because the description made it so: the answer that a reader of the log is held against.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use wire::{End, Generation, Path, Process, Source, Verdict};

/// The truth of one log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Truth {
    /// [`wire::TRUTH_SCHEMA`].
    pub schema: Cow<'static, str>,
    /// Folder of the machine and name of the file.
    pub file: String,
    /// The machine.
    pub machine: String,
    /// Size of the file.
    pub bytes: u64,
    /// What header and name say.
    pub process: Process,
    /// Version of the runtime, where the log tells it.
    pub version: Option<String>,
    /// Generation, by the rules of contract section 1.
    pub generation: Option<Generation>,
    /// Which compositor.
    pub path: Path,
    /// Whether the footer is there.
    pub end: End,
    /// What happened to the weave, with the line that says so.
    pub verdict: Verdict,
    /// Findings that are due, each with its first line.
    pub findings: Vec<Due>,
    /// What was damaged afterwards, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation: Option<Cow<'static, str>>,
    /// What stands behind the log.
    pub cohort: Cohort,
}

/// A finding that is due.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Due {
    /// Code of contract section 3.
    pub code: Cow<'static, str>,
    /// 1-based; null for what concerns the whole log.
    pub line: Option<u64>,
}

/// What stands behind a log, told or not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cohort {
    /// Kind of machine.
    pub kind: String,
    /// Driver package.
    pub driver: String,
    /// The adapter that the machine suggests for rendering.
    pub render: String,
    /// The adapter that drives its panel; null where nothing resolves it.
    pub scanout: Option<String>,
    /// Version of the runtime.
    pub version: String,
    /// Its tag.
    pub build: String,
    /// Its generation.
    pub generation: Generation,
    /// The program.
    pub exe: String,
    /// Day of the fleet, from 0.
    pub day: i64,
    /// What happened, by session, in the words of the description.
    pub outcomes: Vec<Cow<'static, str>>,
    /// What was in force.
    pub settings: Vec<Lever>,
}

/// A setting that was in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lever {
    /// The variable.
    pub name: Cow<'static, str>,
    /// Its value.
    pub value: String,
    /// Where it stands.
    pub source: Source,
}
