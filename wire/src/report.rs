//! What Weavewatch says about one log: the object that `scan` prints and the API returns (contract sections 2 and 3).

use serde::{Deserialize, Serialize};

use crate::{Adapter, Counts, End, Generation, Path, Process, Reason};

/// Name and version of the scan object.
pub const SCAN_SCHEMA: &str = "weavewatch.scan/1";

/// Whether the weave was split from the render adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// It ran on the adapter that drives the panel.
    Engaged,
    /// It ran on the render adapter.
    Off,
    /// Nothing readable tells.
    Unknown,
}

/// What crossed from one GPU to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// Render and scanout are one adapter.
    None,
    /// The split carries the atlas across, once per rendered frame.
    AtlasPerFrame,
    /// Without a split every present crosses.
    EveryPresent,
    /// One of the adapters is not known.
    Unknown,
}

/// How sure a verdict is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Straight from the last placement record.
    Stated,
    /// Other records overrule the last placement record.
    Corrected,
    /// No readable placement record; other records decide.
    Inferred,
    /// Nothing decides.
    Absent,
}

/// What the whole log says in the end (contract section 2).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// Engaged, off or unknown.
    pub split: Split,
    /// From the two adapters and the split.
    pub crossing: Crossing,
    /// Anywhere in the log: OpenGL interop, or a client that crosses by override.
    pub interop_crossing: bool,
    /// Tokens in print order; empty when engaged.
    pub reasons: Vec<Reason>,
    /// A reason is `killed_by_env`.
    pub killed: bool,
    /// The last session was engaged and was taken back.
    pub retired: bool,
    /// How sure.
    pub basis: Basis,
    /// Where the app renders.
    pub render: Option<Adapter>,
    /// Which adapter drives the panel.
    pub scanout: Option<Adapter>,
    /// 1-based line of the deciding record.
    pub line: Option<u64>,
}

/// One full placement record with what took it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Session {
    /// Line of its full placement record.
    pub line: u64,
    /// As the full line says; unknown when its body was lost.
    pub split: Split,
    /// As the full line says.
    pub reasons: Vec<Reason>,
    /// `CHANGED` records of the session.
    pub changed: Vec<Changed>,
}

/// A `CHANGED` record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Changed {
    /// Its line.
    pub line: u64,
    /// Its tokens.
    pub reasons: Vec<Reason>,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something to look at.
    Warning,
    /// Something is broken.
    Error,
}

/// Something that a reader of the log should know. Codes, severities and lines are fixed; messages are free.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name, such as `no_footer`.
    pub code: String,
    /// How bad.
    pub severity: Severity,
    /// 1-based line; null where the finding is that something is not there.
    pub line: Option<u64>,
    /// One sentence.
    pub message: String,
}

/// What is known of the runtime build that wrote a log.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Runtime {
    /// `2.13.0`.
    pub version: Option<String>,
    /// The tag of the build, `v2.13.0-4-gabc123def`.
    pub build: Option<String>,
    /// Told by what it prints.
    pub generation: Option<Generation>,
}

/// What the resolver makes of a log's events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Judgement {
    /// Version, build, generation.
    pub runtime: Runtime,
    /// Which compositor wrote the log.
    pub path: Path,
    /// The last word.
    pub verdict: Verdict,
    /// In file order.
    pub sessions: Vec<Session>,
    /// By line, those without a line last.
    pub findings: Vec<Finding>,
}

/// One log as `scan` prints it; field order is that of the contract.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScanReport {
    /// [`SCAN_SCHEMA`].
    pub schema: String,
    /// The path as found; a bundle's member is `bundle.zip!/path/name.log`.
    pub file: String,
    /// From the header or the file name.
    pub process: Option<Process>,
    /// The build.
    pub runtime: Runtime,
    /// Which compositor.
    pub path: Path,
    /// Footer or missing.
    pub end: End,
    /// The last word.
    pub verdict: Verdict,
    /// In file order.
    pub sessions: Vec<Session>,
    /// Of this file.
    pub counts: Counts,
    /// By line, those without a line last.
    pub findings: Vec<Finding>,
}

impl ScanReport {
    /// Puts the parts together under the name of the file.
    pub fn new(file: String, process: Option<Process>, end: End, counts: Counts, judgement: Judgement) -> Self {
        let Judgement { runtime, path, verdict, sessions, findings } = judgement;
        Self { schema: SCAN_SCHEMA.to_owned(), file, process, runtime, path, end, verdict, sessions, counts, findings }
    }
}

macro_rules! words {
    ($($type:ty { $($variant:ident => $word:literal),+ $(,)? })+) => {$(
        impl $type {
            /// The word of the contract.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    )+};
}

words! {
    Split { Engaged => "engaged", Off => "off", Unknown => "unknown" }
    Crossing { None => "none", AtlasPerFrame => "atlas_per_frame", EveryPresent => "every_present", Unknown => "unknown" }
    Basis { Stated => "stated", Corrected => "corrected", Inferred => "inferred", Absent => "absent" }
    Severity { Info => "info", Warning => "warning", Error => "error" }
}
