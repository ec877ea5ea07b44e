//! How a question for a replay and its answer look: mirrors of `wire::Replay`, `wire::Comparison` and `wire::Machine`.

#![expect(dead_code, reason = "shapes to be described: `wire` holds the ones that are used")]

use std::collections::HashMap;

use utoipa::ToSchema;

use super::report::{Crossing, Path, Split};

/// What should happen?
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ReplayQuestion {
    OfMachine(OfMachine),
    OfSituation(OfSituation),
}

/// In what logs have told: their PC, path and rules.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSituation {
    /// As the links of a what-if name it.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    situation: String,
    /// Instead of its own.
    #[schema(required = false)]
    path: Path,
    /// Instead of its own.
    #[schema(required = false)]
    policy: Policy,
    /// Environment settings to add.
    #[schema(required = false)]
    set: HashMap<String, String>,
}

/// On a machine.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfMachine {
    machine: Told,
    path: Path,
    #[schema(required = false)]
    policy: Policy,
    /// Environment settings to add.
    #[schema(required = false)]
    set: HashMap<String, String>,
}

/// Where the machine is told.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum Told {
    /// A machine file, or the tool's JSON.
    Object(Box<MachineFile>),
    /// The text of a machine file, a log, or what `displayxr-cli info` printed.
    Text(String),
}

/// Which set of rules is asked.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Policy {
    Document,
    Adr039,
}

/// A PC as the resolver sees it. What is not known is null or left out.
#[derive(ToSchema)]
pub struct MachineFile {
    schema: MachineSchema,
    #[schema(examples("windows"))]
    os: String,
    /// In DXGI enumeration order.
    adapters: Vec<MachineAdapter>,
    monitors: Option<Vec<Monitor>>,
    panel: Option<Rect>,
    /// False when DXGI gives no factory.
    #[schema(required = false)]
    dxgi: bool,
    told_scanout: Option<ToldScanout>,
    #[schema(required = false)]
    settings: Settings,
    #[schema(required = false)]
    session: SessionFacts,
}

/// Name and version of the object.
#[derive(ToSchema)]
pub enum MachineSchema {
    #[schema(rename = "weavewatch.machine/1")]
    One,
}

/// One GPU.
#[derive(ToSchema)]
pub struct MachineAdapter {
    name: Option<String>,
    luid: Option<String>,
    vendor_id: Option<u32>,
    device_id: Option<u32>,
    dedicated_vram_mib: Option<u64>,
    software: Option<bool>,
    remote: Option<bool>,
    #[schema(examples("12_1"))]
    feature_level: Option<String>,
    vulkan_type: Option<String>,
    /// LUID of the adapter that this one is an instance of.
    virtual_of: Option<String>,
}

/// One monitor.
#[derive(ToSchema)]
pub struct Monitor {
    gdi_name: String,
    rect: Rect,
    path_luid: Option<String>,
    #[schema(required = false)]
    enumerated_by: Vec<String>,
}

/// A rectangle on the desktop, in pixels.
#[derive(ToSchema)]
pub struct Rect {
    left: i32,
    top: i32,
    width: u32,
    height: u32,
}

/// The scanout adapter, where that is told and the monitors are not.
#[derive(ToSchema)]
pub struct ToldScanout {
    name: String,
    luid: Option<String>,
    via: Option<Via>,
}

/// Settings by source, strongest first.
#[derive(ToSchema)]
pub struct Settings {
    #[schema(required = false)]
    env: HashMap<String, String>,
    #[schema(required = false)]
    user: HashMap<String, String>,
    #[schema(required = false)]
    machine: HashMap<String, String>,
}

/// What a session brings along; every key may be left out.
#[derive(ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are the contract's, each a fact of its own")]
pub struct SessionFacts {
    #[schema(required = false)]
    hwnd: bool,
    #[schema(required = false)]
    shared_texture: bool,
    #[schema(required = false)]
    timeline_semaphore: bool,
    #[schema(required = false)]
    dp_accepts_scanout: bool,
    #[schema(required = false)]
    stage_a_ok: bool,
    #[schema(required = false)]
    presenter: String,
    #[schema(required = false)]
    legacy_standalone: bool,
    #[schema(required = false)]
    unsupported_layers: bool,
    device_luid: Option<String>,
    gl_luid: Option<String>,
    gl_vendor: Option<String>,
    gl_renderer: Option<String>,
}

/// How the scanout adapter was found.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Via {
    DisplayPath,
    OutputWalk,
}

/// The answer of the reference resolver.
#[derive(ToSchema)]
pub struct Replay {
    /// `weavewatch.replay/1`.
    schema: String,
    policy: Policy,
    path: Path,
    /// Where the app renders.
    render: Option<ReplayRender>,
    /// Which adapter drives the panel.
    scanout: Option<ReplayScanout>,
    split: Split,
    /// The tokens before the line masks them; null when engaged.
    reason: Option<String>,
    /// It engaged first and was taken back.
    retired: bool,
    crossing: Crossing,
    overrides: Vec<OverrideUse>,
    interop: Option<Interop>,
    /// Every rule that was asked, in order.
    rules: Vec<RuleOutcome>,
    /// What the runtime would warn of.
    warnings: Vec<String>,
    /// Facts that a rule needed and the machine does not tell.
    missing: Vec<String>,
    cost: Option<Cost>,
    /// What the runtime would print.
    line: Option<String>,
    /// Every adapter with its place in the ranking.
    ranking: Vec<Ranked>,
    /// Adapters that take part, hexadecimal; bit 0 is the first.
    device_mask: String,
    deposit: Option<DepositAnswer>,
    gl: Option<GlAnswer>,
    service: Option<ServiceAnswer>,
}

/// Where the app renders.
#[derive(ToSchema)]
pub struct ReplayRender {
    name: String,
    luid: Option<String>,
    provenance: Option<String>,
}

/// Which adapter drives the panel.
#[derive(ToSchema)]
pub struct ReplayScanout {
    name: String,
    luid: Option<String>,
    via: Option<Via>,
}

/// An override variable that is set.
#[derive(ToSchema)]
pub struct OverrideUse {
    name: String,
    value: String,
    source: Source,
    /// Null when a missing fact leaves that open.
    honoured: Option<bool>,
}

/// Where a setting came from.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Source {
    Env,
    User,
    Machine,
}

/// The adapter of the interop devices of an OpenGL session.
#[derive(ToSchema)]
pub struct Interop {
    name: Option<String>,
    luid: Option<String>,
    evidence: String,
    crossing: bool,
}

/// A rule that was asked.
#[derive(ToSchema)]
pub struct RuleOutcome {
    rule: String,
    outcome: String,
}

/// What a crossing costs on the reference machine.
#[derive(ToSchema)]
pub struct Cost {
    bytes_per_second: u64,
    /// Part of a frame's time that the copy takes.
    frame_share: f64,
}

/// One adapter as the render resolver sees it.
#[derive(ToSchema)]
pub struct Ranked {
    index: u32,
    name: String,
    luid: Option<String>,
    dedicated_vram_mib: Option<u64>,
    kind: Option<String>,
    rank: Option<u32>,
    excluded: Option<String>,
}

/// The Vulkan deposit.
#[derive(ToSchema)]
pub struct DepositAnswer {
    asked_by: String,
    active: Option<bool>,
    outcome: String,
    lines: Vec<String>,
}

/// What an OpenGL session says beside its placement.
#[derive(ToSchema)]
pub struct GlAnswer {
    agreement: String,
    lines: Vec<String>,
}

/// What the service decides before any client comes.
#[derive(ToSchema)]
pub struct ServiceAnswer {
    ingest: Option<ReplayRender>,
    forced: bool,
    unforced_clients_cross: Option<bool>,
    placement: Option<String>,
    lines: Vec<String>,
}

/// An answer beside the placement that a log holds.
#[derive(ToSchema)]
pub struct Comparison {
    #[schema(rename = "comparison")]
    result: Agreement,
    /// The rule whose outcome differs.
    rule: Option<String>,
    because: Option<String>,
    /// The facts that would decide.
    missing: Vec<String>,
}

/// How an answer compares with a log.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Agreement {
    Agrees,
    Disagrees,
    CannotTell,
}
