//! The nouns that all Weavewatch programs share, with their JSON.
//!
//! An agent turns log bytes into [`Event`]s, a resolver folds events into a [`Verdict`], a server stores both.
//! What travels between those stages is defined here and nowhere else, so that a change of a field is seen by every
//! reader at once. The names follow the contract of the project (sections 1 to 4).
//!
//! This crate knows nothing of parsing, storage or HTTP: it opens no file and spells no log line.

mod agent;
mod batch;
pub mod cell;
mod cli;
mod cost;
mod event;
mod level;
mod log;
mod luid;
mod machine;
mod outcome;
mod path;
mod placement;
mod reason;
mod replay;
mod report;
mod situation;
mod triage;
mod truth;

pub use agent::{Clock, Deleted, ENROLL_SCHEMA, ENROLLED_SCHEMA, Enroll, Enrolled, Heartbeat, Loss};
pub use batch::{Ack, BATCH_SCHEMA, Batch, Refusal, Segment};
pub use cli::{CliAdapter, CliOutput, IngestLine, Lever, PerfList, Resolved, SelftestCheck, Topology};
pub use cost::{
    COST_SCHEMA, Cheapest, CostInput, CostReport, CostSource, LevelTables, MeasuredCost, MeasuredPlane, PageTables,
    PlacementCost, Span, Strategies, StrategyAdapter, StrategyCost, StrategyMemory, StrategyWork, SurfaceMemory, Way,
};
pub use event::{Event, Fields, Flaw, FlawKind, Kind, Observation, Patch, Value};
pub use level::Level;
pub use log::{ByteLedger, Counts, End, InputKind, LogFacts, Process};
pub use luid::{Luid, LuidError};
pub use machine::{MACHINE_SCHEMA, Machine, MachineAdapter, Monitor, Rect, SessionFacts, Settings, ToldScanout};
pub use outcome::Outcome;
pub use path::{Generation, Path, PathHint};
pub use placement::{Adapter, Placement};
pub use reason::{Reason, ReasonFacts};
pub use replay::{
    Advice, Agreement, Change, Comparison, Cost, DepositAnswer, GlAnswer, Interop, OverrideUse, Policy, REPLAY_SCHEMA,
    Ranked, Replay, ReplayRender, ReplayScanout, RuleOutcome, ServiceAnswer, Source, Unset, Via,
};
pub use report::{
    Basis, Changed, Crossing, Finding, Judgement, Runtime, SCAN_SCHEMA, ScanReport, Session, Severity, Split, Verdict,
};
pub use situation::Situation;
pub use triage::ReportState;
pub use truth::{TOTALS_SCHEMA, TRUTH_SCHEMA};
