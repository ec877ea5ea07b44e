//! How an upload looks, and what an agent says of itself: mirrors of `wire::Batch`, `wire::Enroll` and their answers.

#![expect(dead_code, reason = "shapes to be described: `wire` holds the ones that are used")]

use std::collections::HashMap;

use utoipa::ToSchema;

use super::report::{Counts, End, Path, Process};

/// One upload.
#[derive(ToSchema)]
pub struct Batch {
    schema: BatchSchema,
    /// Pseudonymous id of the PC.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    machine: String,
    /// Version of the agent.
    agent: String,
    /// Pieces of logs.
    segments: Vec<Segment>,
    heartbeat: Option<Heartbeat>,
    /// What was lost for good, as totals.
    #[schema(required = false)]
    losses: Vec<Loss>,
}

/// Name and version of the object.
#[derive(ToSchema)]
pub enum BatchSchema {
    #[schema(rename = "weavewatch.batch/1")]
    One,
}

/// A byte range of one log.
#[derive(ToSchema)]
pub struct Segment {
    /// Identity of the log on its machine.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    log: String,
    /// Base name of the file.
    file: String,
    /// First byte of the range.
    start: u64,
    /// The byte behind the range; `facts` holds up to here.
    end: u64,
    facts: LogFacts,
    /// What was seen in the range, in file order.
    observations: Vec<Observation>,
    clock: Option<Clock>,
    /// The last line was never completed: its process is gone.
    #[schema(required = false)]
    unfinished: bool,
}

/// What is known of a log up to a byte.
#[derive(ToSchema)]
pub struct LogFacts {
    input: InputKind,
    process: Option<Process>,
    end: End,
    counts: Counts,
    #[schema(required = false)]
    bytes: ByteLedger,
    /// Local wall clock of the newest record, as printed.
    last_time: Option<String>,
    /// What `displayxr-cli` said, when the input is its output.
    #[schema(value_type = Option<Object>)]
    cli: Option<serde_json::Value>,
}

/// What kind of input it is.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum InputKind {
    Log,
    Stderr,
    Json,
    Cli,
    Bare,
}

/// Where the bytes of a log went.
#[derive(ToSchema)]
pub struct ByteLedger {
    in_records: u64,
    mark: u64,
    header: u64,
    footer: u64,
    outside: u64,
}

/// What the parser tells about a record.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Observation {
    /// A record that was understood.
    Event(Event),
    /// Something wrong with a record.
    Flaw(Flaw),
}

/// A record as typed values.
#[derive(ToSchema)]
pub struct Event {
    /// Byte offset of the record in the file.
    offset: u64,
    /// 1-based.
    line: u64,
    /// Local wall clock as printed.
    time: Option<String>,
    level: Level,
    function: Option<String>,
    /// Row of the vocabulary, see docs/shapes.md.
    shape: String,
    /// What it says; a kind that the server does not know counts as `unknown`.
    kind: String,
    hint: Option<PathHint>,
    /// Printed values by name.
    #[schema(required = false)]
    fields: HashMap<String, Value>,
    /// Where the line strayed from the runtime's spelling.
    #[schema(required = false)]
    spelling: Vec<Patch>,
}

/// The level field of a record.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Raw,
    Oxr,
    Unknown,
}

/// What one record says about the path of its log.
#[derive(ToSchema)]
pub struct PathHint {
    path: Path,
    named: bool,
}

/// One printed value, by the type of the conversion that printed it.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Value {
    Text(String),
    Luid(String),
    Reasons(Vec<String>),
    Uint(u64),
    Int(i64),
    Hex(u64),
    Decimal(String),
}

/// A place where the printed body differs from what the shape would print.
#[derive(ToSchema)]
pub struct Patch {
    at: u64,
    len: u64,
    #[schema(value_type = Vec<u32>)]
    bytes: Vec<u8>,
}

/// Something wrong with a record.
#[derive(ToSchema)]
pub struct Flaw {
    offset: u64,
    line: u64,
    /// `empty_body`, `truncated`, `spliced` or `unrecognised`.
    kind: String,
    marker: Option<String>,
    hint: Option<PathHint>,
}

/// The zone of a log's local times.
#[derive(ToSchema)]
pub struct Clock {
    /// In the IANA spelling, where it has a name.
    zone: Option<String>,
    /// Seconds east of UTC at the log's start.
    offset_s: i32,
    /// The start lies in the hour that a clock change repeats.
    #[schema(required = false)]
    repeated: bool,
}

/// How an agent is.
#[derive(ToSchema)]
pub struct Heartbeat {
    #[schema(required = false)]
    logs_followed: u64,
    #[schema(required = false)]
    logs_finished: u64,
    /// Bytes that wait on the agent's disk.
    #[schema(required = false)]
    queue_bytes: u64,
    /// Age of the oldest of them.
    #[schema(required = false)]
    lag_s: u64,
    /// Events that were lost for good, by reason.
    #[schema(required = false)]
    dropped: HashMap<String, u64>,
    /// Why reading is slowed or stopped just now.
    slowed: Option<String>,
    /// The configuration in force, without secrets.
    #[schema(required = false)]
    config: HashMap<String, String>,
}

/// What will never arrive of a log, for one reason: totals since the log began.
#[derive(ToSchema)]
pub struct Loss {
    log: Option<String>,
    file: Option<String>,
    /// A stable word.
    #[schema(examples("truncated"))]
    reason: String,
    bytes: u64,
    events: u64,
}

/// The answer to a batch: what is neither in `refused` nor in `left_out` is committed.
#[derive(ToSchema)]
pub struct Ack {
    /// Segments that are stored now, whether or not they were before.
    accepted: u64,
    /// Segments that were left out, with the reason.
    refused: Vec<Refusal>,
    /// What else was not taken, for a person.
    #[schema(required = false)]
    left_out: Vec<String>,
}

/// A segment that was not taken.
#[derive(ToSchema)]
pub struct Refusal {
    /// Its place in the batch, from 0.
    segment: u64,
    reason: String,
}

/// A question for a token of a machine's own.
#[derive(ToSchema)]
pub struct Enroll {
    schema: EnrollSchema,
    #[schema(pattern = "^[0-9a-f]{32}$")]
    machine: String,
    /// Version of the agent.
    agent: String,
}

/// Name and version of the object.
#[derive(ToSchema)]
pub enum EnrollSchema {
    #[schema(rename = "weavewatch.enroll/1")]
    One,
}

/// The token, shown once.
#[derive(ToSchema)]
pub struct Enrolled {
    /// `weavewatch.enrolled/1`.
    schema: String,
    machine: String,
    token: String,
}

/// The server holds nothing of the machine any more.
#[derive(ToSchema)]
pub struct Deleted {
    /// Logs that were deleted with everything that belonged to them.
    logs: u64,
}
