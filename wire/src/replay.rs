//! What should have happened on a machine, and how that compares with what a log says (contract section 5).
//!
//! [`Replay`] is the answer of the reference resolver, [`Comparison`] its check against a log, [`Advice`] what would make
//! it better. The first keys of the answer are the contract's, in its order; those behind `line` say more.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Crossing, Luid, Path, Split};

/// Name and version of the replay object.
pub const REPLAY_SCHEMA: &str = "weavewatch.replay/1";

/// Words that are nearly always one of a fixed list.
type Words = Cow<'static, str>;

/// Which set of rules is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The adapter-selection document: Vulkan has no split, equal adapters decline.
    #[default]
    Document,
    /// The newest code: Vulkan splits, in-process sessions engage on one adapter.
    Adr039,
}

/// Where a setting came from; the first that has it wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The environment of the process.
    Env,
    /// The store of the user.
    User,
    /// The store of the machine.
    Machine,
}

/// How the scanout adapter was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The display-config database named it.
    DisplayPath,
    /// It is the first adapter whose outputs include the monitor.
    OutputWalk,
}

/// The answer of the reference resolver.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// [`REPLAY_SCHEMA`].
    pub schema: Words,
    /// The rules that were asked.
    pub policy: Policy,
    /// For which compositor.
    pub path: Path,
    /// Where the app renders; null when it cannot be told.
    pub render: Option<ReplayRender>,
    /// Which adapter drives the panel.
    pub scanout: Option<ReplayScanout>,
    /// What the session ends as.
    pub split: Split,
    /// The caller's tokens before the line masks them; null when engaged.
    pub reason: Option<Words>,
    /// It engaged first and was taken back.
    pub retired: bool,
    /// What crosses from one GPU to the other.
    pub crossing: Crossing,
    /// Every override variable that is set, whatever the path.
    pub overrides: Vec<OverrideUse>,
    /// OpenGL only: the adapter of the interop devices.
    pub interop: Option<Interop>,
    /// Every rule that was asked, in order.
    pub rules: Vec<RuleOutcome>,
    /// What the runtime would warn of, in its own words.
    pub warnings: Vec<String>,
    /// Facts that a rule needed and the machine does not tell, such as `session.device_luid`.
    pub missing: Vec<Words>,
    /// What the crossing costs; null when that cannot be told.
    pub cost: Option<Cost>,
    /// What the runtime would print; null when a part of it cannot be told.
    pub line: Option<String>,
    /// Every adapter with its place in the ranking, in enumeration order.
    pub ranking: Vec<Ranked>,
    /// Adapters that take part in the session, as a hexadecimal number; bit 0 is the first in enumeration order.
    pub device_mask: String,
    /// Vulkan only: the deposit, when anything asks for it.
    pub deposit: Option<DepositAnswer>,
    /// OpenGL only.
    pub gl: Option<GlAnswer>,
    /// The service only.
    pub service: Option<ServiceAnswer>,
}

/// Where the app renders.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReplayRender {
    /// DXGI's description, or `<unknown>`.
    pub name: String,
    /// Null where the machine does not tell it.
    pub luid: Option<Luid>,
    /// The runtime's words for the choice; null where it was not the resolver's.
    pub provenance: Option<Words>,
}

/// Which adapter drives the panel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReplayScanout {
    /// DXGI's description.
    pub name: String,
    /// Null where the machine does not tell it.
    pub luid: Option<Luid>,
    /// Null where a log names the adapter only.
    pub via: Option<Via>,
}

/// One override variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OverrideUse {
    /// `DXR_D3D_FORCE_GPU` or `DXR_VK_FORCE_GPU`.
    pub name: Words,
    /// As set, blanks included.
    pub value: String,
    /// Who set it.
    pub source: Source,
    /// Whether the resolver accepted it; null when a missing fact leaves that open.
    pub honoured: Option<bool>,
}

/// The adapter of the interop devices of an OpenGL session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interop {
    /// Null when it is unresolved: the system's default is taken.
    pub name: Option<String>,
    /// Null when it is unresolved or not told.
    pub luid: Option<Luid>,
    /// The runtime's words for the evidence.
    pub evidence: Words,
    /// It is another adapter than the OpenGL context's.
    pub crossing: bool,
}

/// A rule that was asked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
pub struct RuleOutcome {
    /// Such as `render.rank`.
    pub rule: Words,
    /// Such as `most VRAM`.
    pub outcome: Words,
}

/// What a crossing costs on the reference machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes that cross in a second.
    pub bytes_per_second: u64,
    /// Part of a frame's time that the copy takes; above 1 it cannot keep up.
    pub frame_share: f64,
}

/// One adapter as the render resolver sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ranked {
    /// In enumeration order, from 0.
    pub index: u32,
    /// DXGI's description.
    pub name: String,
    /// Null where not told.
    pub luid: Option<Luid>,
    /// First key: more is better. MiB.
    pub dedicated_vram_mib: Option<u64>,
    /// Second key: `discrete` before `integrated`.
    pub kind: Option<Words>,
    /// Place in the ranking, from 1; null when it is left out or cannot be ranked.
    pub rank: Option<u32>,
    /// Why it is left out.
    pub excluded: Option<Words>,
}

/// The Vulkan deposit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DepositAnswer {
    /// `DXR_VK_DEPOSIT` or `split`.
    pub asked_by: Words,
    /// It comes up; null when a fact is missing.
    pub active: Option<bool>,
    /// Why, or why not.
    pub outcome: Words,
    /// What the runtime would print.
    pub lines: Vec<String>,
}

/// What an OpenGL session says beside its placement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlAnswer {
    /// `MATCH`, `DIVERGES` or `unverified`: the context against the render resolver's choice.
    pub agreement: Words,
    /// The advisory, then what each interop device would print.
    pub lines: Vec<String>,
}

/// What the service decides before any client comes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ServiceAnswer {
    /// The adapter that clients must share; null when nothing survived the ranking.
    pub ingest: Option<ReplayRender>,
    /// An override put it there.
    pub forced: bool,
    /// A client without that override renders elsewhere and crosses adapters; null when a fact is missing.
    pub unforced_clients_cross: Option<bool>,
    /// The service's own placement line, whatever its client's presenter.
    pub placement: Option<String>,
    /// What the runtime would print about its ingest device.
    pub lines: Vec<String>,
}

/// How an answer compares with a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// The line says what the replay says.
    Agrees,
    /// It says something else.
    Disagrees,
    /// A fact is missing.
    CannotTell,
}

/// An answer beside the placement that a log holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The outcome.
    #[serde(rename = "comparison")]
    pub result: Agreement,
    /// The rule whose outcome differs.
    pub rule: Option<String>,
    /// Both values, and what may explain them.
    pub because: Option<String>,
    /// The facts that would decide.
    pub missing: Vec<Words>,
}

/// A change under which the replay becomes good.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Advice {
    /// What to change.
    pub change: Change,
    /// What the replay says then, in plain words.
    pub outcome: String,
}

/// Settings and wiring to change, all together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Environment variables to set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// Settings to remove.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<Unset>,
    /// What to plug in elsewhere, in plain words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wiring: Option<String>,
    /// What the session would have to be, by the name of the fact.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub session: BTreeMap<String, String>,
    /// The same in plain words.
    pub text: String,
}

/// A setting to remove from one source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unset {
    /// The variable.
    pub name: String,
    /// Where it is set; null when a log tells that it is, and not where.
    pub source: Option<Source>,
}

impl Policy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Document, Self::Adr039];

    /// The word of the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Adr039 => "adr039",
        }
    }
}

impl Source {
    /// The word of the contract, which is also the runtime's.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::User => "user",
            Self::Machine => "machine",
        }
    }
}

impl Via {
    /// The word of the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DisplayPath => "display_path",
            Self::OutputWalk => "output_walk",
        }
    }
}

impl Agreement {
    /// The word of the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Disagrees => "disagrees",
            Self::CannotTell => "cannot_tell",
        }
    }
}
