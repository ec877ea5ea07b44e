//! What somebody writes down about a fleet: machines, builds, apps, settings, faults, quirks. Is it sound?
//!
//! Rates are shares of logs from 0 to 1, days count from the first day of the fleet, shares are weights among their like.
//! [`EXAMPLE`] is a whole description with a comment for every key.

mod check;
mod names;

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Deserialize;
use thiserror::Error;
use wire::{Generation, Machine, Path};

pub use names::{Fault, Mutation, Quirk};

/// The fleet that is made when nobody names another one; also the place where every key is explained.
pub const EXAMPLE: &str = include_str!("../fleet.toml");

/// Machine files that come with the program, by the name that a description gives.
const MACHINES: [(&str, &str); 10] = [
    ("arc-a770.json", include_str!("../machines/arc-a770.json")),
    ("desktop-4070ti.json", include_str!("../machines/desktop-4070ti.json")),
    ("dock-a2000.json", include_str!("../machines/dock-a2000.json")),
    ("hybrid-3080.json", include_str!("../machines/hybrid-3080.json")),
    ("hybrid-4060.json", include_str!("../machines/hybrid-4060.json")),
    ("hybrid-4080.json", include_str!("../machines/hybrid-4080.json")),
    ("hybrid-7900m.json", include_str!("../machines/hybrid-7900m.json")),
    ("hybrid-irisxe.json", include_str!("../machines/hybrid-irisxe.json")),
    ("mux-4090.json", include_str!("../machines/mux-4090.json")),
    ("old-2060.json", include_str!("../machines/old-2060.json")),
];

/// The text of a machine file that comes with the program.
pub fn built_in_machine(name: &str) -> Option<&'static str> {
    MACHINES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// A fleet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// How many machines.
    pub machines: u64,
    /// Local date of day 0.
    pub first_day: Date,
    /// How many days.
    pub days: u32,
    /// Sessions of a machine in a day, on average; each writes a log, at times two.
    pub sessions_a_day: f64,
    /// Share of machines that stay on an old build for good.
    pub old_builds: f64,
    /// A machine installs a build at most so many days behind its release.
    pub update_days: u32,
    /// Builds, oldest first.
    #[serde(rename = "build")]
    pub builds: Vec<Build>,
    /// Kinds of machines.
    #[serde(rename = "kind")]
    pub kinds: Vec<Kind>,
    /// Apps.
    #[serde(rename = "app")]
    pub apps: Vec<App>,
    /// What somebody set on some machines.
    #[serde(rename = "setting", default)]
    pub settings: Vec<Setting>,
    /// Faults that one build brought to one kind.
    #[serde(rename = "regression", default)]
    pub regressions: Vec<Regression>,
    /// Faults by name; see [`Fault`].
    #[serde(default)]
    pub faults: BTreeMap<Fault, f64>,
    /// What is odd about a file by name; see [`Quirk`].
    #[serde(default)]
    pub quirks: BTreeMap<Quirk, f64>,
    /// Damage that no runtime does by itself; see [`Mutation`].
    #[serde(default)]
    pub mutations: BTreeMap<Mutation, f64>,
    /// What surrounds the records.
    pub noise: Noise,
}

/// A build of the runtime.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Three numbers.
    pub version: String,
    /// The tag behind it in the log.
    pub tag: String,
    /// `G0`, `G1` or `G2` (contract section 1).
    pub generation: Generation,
    /// The day of its release; negative before the fleet's first day.
    pub released: i64,
    /// Vulkan splits (VK-1).
    #[serde(default)]
    pub vulkan_split: bool,
    /// Settings may come from a store (#1252).
    #[serde(default)]
    pub stores: bool,
    /// In-process sessions engage on one adapter, heavy D3D12 sessions are re-routed (ADR-039).
    #[serde(default)]
    pub adr039: bool,
    /// Writes a record in three calls, so that threads splice theirs (before v2.7.0): share of logs.
    #[serde(default)]
    pub splices: f64,
    /// A reason token that no older build prints.
    #[serde(default)]
    pub new_token: Option<String>,
    /// Share of splitting sessions that end with it.
    #[serde(default)]
    pub new_token_rate: f64,
    /// Share of logs with a record of ours in words that no older build prints.
    #[serde(default)]
    pub new_words_rate: f64,
}

/// A kind of machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// For people, and in the truth.
    pub name: String,
    /// Weight among the kinds.
    pub share: f64,
    /// Its machine file: one that comes with the program, or a path beside the description.
    pub machine: String,
    /// Which of its adapters the runtime suggests for rendering.
    pub render: usize,
    /// Which of them drives the panel; none where nothing resolves it.
    pub scanout: Option<usize>,
    /// How the runtime finds it.
    #[serde(default)]
    pub found_by: FoundBy,
    /// Apps go through the service.
    #[serde(default)]
    pub service: bool,
    /// Driver packages.
    #[serde(rename = "driver")]
    pub drivers: Vec<Driver>,
    /// The file itself, read by [`Fleet::parse`].
    #[serde(skip)]
    pub facts: Option<Machine>,
}

/// How the scanout adapter is found (vocabulary section 9.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// By the display-config database.
    #[default]
    DisplayPath,
    /// By walking the outputs.
    OutputWalk,
}

/// A driver package.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// Such as `576.02`.
    pub name: String,
    /// Weight among the drivers of the kind.
    pub share: f64,
    /// Share of splitting sessions whose set-up fails with it.
    #[serde(default)]
    pub stage_a_failed: f64,
    /// OpenGL tells its adapter.
    #[serde(default = "yes")]
    pub gl_luid: bool,
    /// Which adapter the driver gives to OpenGL; the suggested one unless told.
    #[serde(default)]
    pub gl_render: Option<usize>,
}

/// An app.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct App {
    /// Without `.exe`.
    pub name: String,
    /// Its graphics API: `d3d11`, `d3d12`, `vulkan` or `opengl`.
    pub path: Path,
    /// Weight among the apps.
    pub share: f64,
    /// Engine that it names.
    #[serde(default = "none")]
    pub engine: String,
}

/// A setting that stands on some machines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// `DXR_WEAVE_ON_SCANOUT`, `DXR_D3D_FORCE_GPU`, `DXR_VK_FORCE_GPU` or `DXR_SPLIT_SAME_ADAPTER`.
    pub name: Variable,
    /// As typed, blanks and all.
    pub value: String,
    /// Where it stands.
    pub source: wire::Source,
    /// Share of the machines that have it.
    pub share: f64,
    /// The day on which somebody set it.
    #[serde(default)]
    pub from_day: i64,
    /// Only on these kinds; all unless told.
    #[serde(default)]
    pub kinds: Vec<String>,
}

/// The variables that a fleet may set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Variable {
    /// The kill switch.
    #[serde(rename = "DXR_WEAVE_ON_SCANOUT")]
    WeaveOnScanout,
    /// `scanout`, `igpu`, `dgpu`; other values are ignored by the runtime, with a warning.
    #[serde(rename = "DXR_D3D_FORCE_GPU")]
    D3dForceGpu,
    /// Values that the runtime cannot follow only.
    #[serde(rename = "DXR_VK_FORCE_GPU")]
    VkForceGpu,
    /// `0` brings the refusal on one adapter back.
    #[serde(rename = "DXR_SPLIT_SAME_ADAPTER")]
    SplitSameAdapter,
}

impl Variable {
    /// As the runtime names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WeaveOnScanout => "DXR_WEAVE_ON_SCANOUT",
            Self::D3dForceGpu => "DXR_D3D_FORCE_GPU",
            Self::VkForceGpu => "DXR_VK_FORCE_GPU",
            Self::SplitSameAdapter => "DXR_SPLIT_SAME_ADAPTER",
        }
    }
}

/// A fault that one build brought.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// Version of the build; it stays in later ones.
    pub build: String,
    /// The kind that it hits.
    pub kind: String,
    /// The path that it hits; all unless told.
    #[serde(default)]
    pub path: Option<Path>,
    /// What happens: `stage_a_failed` or `dp_refused`.
    pub fault: Fault,
    /// Share of splitting sessions.
    pub rate: f64,
}

/// What surrounds the records.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Per-frame lines in a window.
    pub frames: u64,
    /// Windows of ten seconds in a session, at most.
    pub windows: u64,
}

/// Why a description cannot be used.
#[derive(Debug, Error)]
pub enum FleetError {
    /// No TOML of this form.
    #[error("failed to read the description of the fleet, line {line}: {message}")]
    Toml {
        /// Where, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A machine file is missing.
    #[error("failed to find the machine file {0:?} of a kind; it is neither beside the description nor built in")]
    NoMachine(String),
    /// A machine file is broken.
    #[error("failed to read the machine file {0:?}")]
    Machine(String, #[source] serde_json::Error),
    /// Something in it does not fit together.
    #[error("failed to use the description of the fleet: {0}")]
    Unsound(String),
}

const fn yes() -> bool {
    true
}

fn none() -> String {
    "None".to_owned()
}

impl Fleet {
    /// Reads a description. `machine` gives the text of a machine file by the name that stands in the description.
    ///
    /// # Errors
    /// When it is no description, names what is not there, or has rates that are none.
    pub fn parse(text: &str, machine: &mut dyn FnMut(&str) -> Option<String>) -> Result<Self, FleetError> {
        let mut fleet: Self = toml::from_str(text).map_err(|error| FleetError::Toml {
            line: 1 + text[..error.span().map_or(0, |span| span.start.min(text.len()))].matches('\n').count(),
            message: error.message().to_owned(),
        })?;
        for kind in &mut fleet.kinds {
            let text = machine(&kind.machine).or_else(|| built_in_machine(&kind.machine).map(str::to_owned));
            let text = text.ok_or_else(|| FleetError::NoMachine(kind.machine.clone()))?;
            let facts =
                serde_json::from_str(&text).map_err(|error| FleetError::Machine(kind.machine.clone(), error))?;
            kind.facts = Some(facts);
        }
        fleet.check().map_err(FleetError::Unsound)?;
        Ok(fleet)
    }

    /// The built-in fleet.
    ///
    /// # Errors
    /// None, unless the program was built with a broken description.
    pub fn example() -> Result<Self, FleetError> {
        Self::parse(EXAMPLE, &mut |_| None)
    }

    /// The same fleet with another number of machines or days.
    ///
    /// # Errors
    /// When it would have none, or too many.
    pub fn resized(mut self, machines: Option<u64>, days: Option<u32>) -> Result<Self, FleetError> {
        self.machines = machines.unwrap_or(self.machines);
        self.days = days.unwrap_or(self.days);
        self.check().map_err(FleetError::Unsound)?;
        Ok(self)
    }

    /// How often a fault happens.
    pub fn fault(&self, fault: Fault) -> f64 {
        self.faults.get(&fault).copied().unwrap_or_default()
    }

    /// How often a quirk shows.
    pub fn quirk(&self, quirk: Quirk) -> f64 {
        self.quirks.get(&quirk).copied().unwrap_or_default()
    }
}
