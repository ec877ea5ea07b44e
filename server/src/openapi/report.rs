//! How the scan object looks to a program that reads it: mirrors of `wire::ScanReport` and what is in it.
//!
//! `wire` is linked into the agent and stays free of the description's crate, so its shapes are told here once more. A
//! test holds real answers against them, with every key that is not told counting as a mistake.

#![expect(dead_code, reason = "shapes to be described: `wire` holds the ones that are used")]

use utoipa::ToSchema;

/// One log as `weavewatch scan` prints it.
#[derive(ToSchema)]
pub struct ScanReport {
    /// `weavewatch.scan/1`.
    schema: String,
    /// Base name of the file.
    file: String,
    /// From the header or the file name.
    process: Option<Process>,
    runtime: Runtime,
    path: Path,
    end: End,
    verdict: Verdict,
    /// In file order.
    sessions: Vec<Session>,
    counts: Counts,
    /// By line, those without a line last.
    findings: Vec<Finding>,
}

/// The process that wrote a log.
#[derive(ToSchema)]
pub struct Process {
    /// Base name with its extension.
    exe: String,
    pid: u32,
    /// Local time without zone.
    #[schema(examples("2026-09-14T12:00:00"))]
    started: Option<String>,
}

/// What is known of the runtime build that wrote a log.
#[derive(ToSchema)]
pub struct Runtime {
    #[schema(examples("2.13.0"))]
    version: Option<String>,
    /// The tag of the build.
    #[schema(examples("v2.13.0-4-gabc123def"))]
    build: Option<String>,
    /// Told by what it prints.
    generation: Option<Generation>,
}

/// Age of a build: before the placement line, with one, with `(split=…)` in it.
#[derive(ToSchema)]
pub enum Generation {
    G0,
    G1,
    G2,
}

/// Which compositor.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Path {
    Service,
    #[schema(rename = "opengl")]
    OpenGl,
    D3d12,
    D3d11,
    Vulkan,
    IpcClient,
    Unknown,
}

/// How a log ends; without a footer its process crashed, was killed, or still runs.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum End {
    Footer,
    Missing,
}

/// What the whole log says in the end.
#[derive(ToSchema)]
pub struct Verdict {
    split: Split,
    crossing: Crossing,
    /// Anywhere in the log: OpenGL interop, or a client that crosses by override.
    interop_crossing: bool,
    /// Tokens in print order; empty when engaged.
    reasons: Vec<String>,
    /// A reason is `killed_by_env`.
    killed: bool,
    /// The last session was engaged and was taken back.
    retired: bool,
    basis: Basis,
    /// Where the app renders.
    render: Option<Adapter>,
    /// Which adapter drives the panel.
    scanout: Option<Adapter>,
    /// 1-based line of the deciding record.
    line: Option<u64>,
}

/// Whether the weave ran on the adapter that drives the panel.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Split {
    Engaged,
    Off,
    Unknown,
}

/// What crosses from one GPU to the other.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Crossing {
    None,
    AtlasPerFrame,
    EveryPresent,
    Unknown,
}

/// How sure a verdict is.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Basis {
    Stated,
    Corrected,
    Inferred,
    Absent,
}

/// One GPU as a log names it.
#[derive(ToSchema)]
pub struct Adapter {
    name: String,
    /// Valid within one boot of one machine.
    #[schema(pattern = "^[0-9a-f]{8}:[0-9a-f]{8}$", examples("00000000:00024bbf"))]
    luid: String,
}

/// One full placement record with what took it back.
#[derive(ToSchema)]
pub struct Session {
    line: u64,
    split: Split,
    reasons: Vec<String>,
    changed: Vec<Changed>,
}

/// A `CHANGED` record.
#[derive(ToSchema)]
pub struct Changed {
    line: u64,
    reasons: Vec<String>,
}

/// How much there was of everything; `records` = `events` + `ignored` + `unrecognised`.
#[derive(ToSchema)]
pub struct Counts {
    bytes: u64,
    lines: u64,
    records: u64,
    events: u64,
    ignored: u64,
    continuations: u64,
    truncated: u64,
    spliced: u64,
    empty_bodies: u64,
    unrecognised: u64,
}

/// Something that a reader of the log should know.
#[derive(ToSchema)]
pub struct Finding {
    /// Stable name.
    #[schema(examples("no_footer"))]
    code: String,
    severity: Severity,
    /// 1-based; null where something is not there.
    line: Option<u64>,
    message: String,
}

/// How bad a finding is.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Error,
}
