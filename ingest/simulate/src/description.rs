//! What somebody writes down about a fleet: machines, builds, apps, settings, faults, quirks. Is it sound?
//!
//! Rates are shares of logs from 0 to 1, days count from the first day of the fleet, shares are weights among their like.
//! [`EXAMPLE`] is a whole description with a comment for every key.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Deserialize;
use thiserror::Error;
use wire::{Generation, Machine, Path};

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

macro_rules! named {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$of])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in descriptions and in the truth.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

named! {
    /// What can go wrong in a session. Those of set-up and take-back concern sessions that would split.
    Fault {
        /// The device on the panel's GPU cannot be set up.
        StageAFailed => "stage_a_failed",
        /// The display plug-in refuses the panel's GPU.
        DpRefused => "dp_refused",
        /// An app draws a mask that cannot be carried: the split is taken back.
        AuthoredMask => "authored_mask",
        /// The log ends between `RETIRED` and `CHANGED`.
        CutBehindRetired => "cut_behind_retired",
        /// No window.
        NoWindow => "no_hwnd",
        /// Presents through a shared texture.
        SharedTexture => "shared_texture",
        /// The session's own adapter cannot be told.
        RenderUnresolvable => "render_unresolvable",
        /// A Vulkan device without timeline semaphores.
        NoTimeline => "no_timeline_semaphore",
        /// The bridge gives up after a while.
        BridgeDegraded => "bridge_degraded",
        /// A GPU is lost.
        DeviceRemoved => "device_removed",
        /// The process dies: a stack, no footer.
        Crash => "crash",
        /// The process ends before it opens a session.
        NoSession => "no_session",
        /// The plug-in loader falls back.
        PluginFallback => "plugin_fallback",
        /// A Vulkan client misses the suggested GPU.
        SuggestedGpuMissing => "suggested_gpu_missing",
        /// OpenGL interop crosses adapters although its context does not.
        GlHandoff => "gl_handoff",
        /// A client crosses by its own override.
        ClientOverride => "client_override",
        /// The placement line contradicts what the log's own resolvers say.
        Contradiction => "contradiction",
        /// Only errors are logged (`XRT_LOG=error`).
        OnlyErrors => "only_errors",
    }
}

named! {
    /// What is odd about a file and is no fault.
    Quirk {
        /// LF line ends.
        Lf => "lf",
        /// A byte order mark, from an editor.
        Utf8Mark => "utf8_mark",
        /// UTF-16, from an editor.
        Utf16 => "utf16",
        /// The sandbox's temporary folder in the header.
        Sandbox => "sandbox",
        /// A second session in one process.
        SecondSession => "second_session",
        /// A second log with the same process id.
        SecondLog => "second_log",
        /// Logging starts anew in the same file behind the footer.
        Reopened => "reopened",
        /// The clock goes back by an hour: the end of summer time.
        SummerTimeEnds => "summer_time_ends",
        /// Somebody sets the clock back.
        ClockSetBack => "clock_set_back",
        /// A record that is too long: cut at a NUL.
        LongLine => "long_line",
        /// An OpenXR record that is too long and loses its newline.
        GluedRecord => "glued_record",
        /// The process still runs: no footer.
        StillRunning => "still_running",
    }
}

named! {
    /// Damage that is done to a finished log; the truth stays what happened.
    Mutation {
        /// Another record's prefix stands before the placement line.
        SplicedLine => "spliced_line",
        /// The placement line is cut at a NUL.
        CutLine => "cut_line",
        /// The placement line has other keys.
        RenamedKey => "renamed_key",
        /// The windows have other keys.
        RenamedWindowKey => "renamed_window_key",
        /// The placement line has a reason that nobody knows.
        NewToken => "new_token",
        /// The file ends in the middle of its last record.
        CutFile => "cut_file",
    }
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
    #[error("failed to read the description of the fleet: {0}")]
    Toml(#[from] toml::de::Error),
    /// A machine file is missing.
    #[error("failed to find the machine file {0:?} of a kind; it is neither beside the description nor built in")]
    NoMachine(String),
    /// A machine file is broken.
    #[error("failed to read the machine file {0:?}: {1}")]
    Machine(String, serde_json::Error),
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
        let mut fleet: Self = toml::from_str(text)?;
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

    fn check(&self) -> Result<(), String> {
        const MOST_MACHINES: u64 = 1_000_000;
        const MOST_DAYS: u32 = 3660;
        /// What is made of a machine waits until the machines before it are written.
        const MOST_SESSIONS: f64 = 20_000.0;
        let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        ensure((1..=MOST_MACHINES).contains(&self.machines), "machines must be from 1 to 1000000")?;
        ensure((1..=MOST_DAYS).contains(&self.days), "days must be from 1 to 3660")?;
        ensure((1970..=2100).contains(&self.first_day.year()), "first_day must be from 1970 to 2100")?;
        ensure((0.0..=100.0).contains(&self.sessions_a_day), "sessions_a_day must be from 0 to 100")?;
        let sessions = self.sessions_a_day * f64::from(self.days);
        ensure(sessions <= MOST_SESSIONS, "a machine may have at most 20000 sessions: fewer days or sessions_a_day")?;
        ensure(self.noise.frames <= 100_000, "noise.frames must be at most 100000")?;
        ensure(self.noise.windows <= 10_000, "noise.windows must be at most 10000")?;
        ensure(!self.builds.is_empty(), "there must be a [[build]]")?;
        ensure(!self.kinds.is_empty(), "there must be a [[kind]]")?;
        ensure(!self.apps.is_empty(), "there must be an [[app]]")?;
        ensure(self.builds[0].released <= 0, "the first [[build]] must be released on day 0 or before")?;
        ensure(self.builds.is_sorted_by_key(|build| build.released), "builds must stand oldest first")?;
        for build in &self.builds {
            let numbers: Vec<_> = build.version.split('.').map(str::parse::<u32>).collect();
            let three = numbers.len() == 3 && numbers.iter().all(Result::is_ok);
            ensure(three, &format!("the version {:?} must be three numbers", build.version))?;
        }
        for app in &self.apps {
            let in_process = matches!(app.path, Path::D3d11 | Path::D3d12 | Path::Vulkan | Path::OpenGl);
            ensure(in_process, &format!("the app {} must have a path of a graphics API", app.name))?;
            let plain = app.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            ensure(plain && !app.name.is_empty(), &format!("the app {:?} must have a plain name", app.name))?;
        }
        self.check_kinds()?;
        self.check_rates()
    }

    fn check_kinds(&self) -> Result<(), String> {
        let known = |name: &str| self.kinds.iter().any(|kind| kind.name == name);
        for kind in &self.kinds {
            let adapters = kind.facts.as_ref().map_or(&[][..], |facts| &facts.adapters);
            let hardware = |at: usize| adapters.get(at).is_some_and(|own| own.software != Some(true));
            let drivers = kind.drivers.iter().filter_map(|driver| driver.gl_render);
            for at in [Some(kind.render), kind.scanout].into_iter().flatten().chain(drivers) {
                if !hardware(at) {
                    return Err(format!("the kind {} has no hardware adapter {at}", kind.name));
                }
            }
            if kind.drivers.is_empty() {
                return Err(format!("the kind {} must have a [[kind.driver]]", kind.name));
            }
        }
        for regression in &self.regressions {
            if !known(&regression.kind) || !self.builds.iter().any(|build| build.version == regression.build) {
                return Err(format!(
                    "a regression of {} on {} fits no build and kind",
                    regression.build, regression.kind
                ));
            }
            if !matches!(regression.fault, Fault::StageAFailed | Fault::DpRefused) {
                return Err("a regression must be stage_a_failed or dp_refused".to_owned());
            }
        }
        for setting in &self.settings {
            if let Some(name) = setting.kinds.iter().find(|name| !known(name)) {
                return Err(format!("a setting is for the kind {name}, which is not there"));
            }
            let index = setting.value.starts_with(|first: char| first.is_ascii_digit());
            if index && matches!(setting.name, Variable::D3dForceGpu | Variable::VkForceGpu) {
                return Err("a force-GPU setting by number is not simulated; use a word".to_owned());
            }
        }
        Ok(())
    }

    fn check_rates(&self) -> Result<(), String> {
        let builds = self.builds.iter().flat_map(|own| [own.splices, own.new_token_rate, own.new_words_rate]);
        let rates = builds
            .chain([self.old_builds])
            .chain(self.faults.values().copied())
            .chain(self.quirks.values().copied())
            .chain(self.mutations.values().copied())
            .chain(self.settings.iter().map(|own| own.share))
            .chain(self.regressions.iter().map(|own| own.rate))
            .chain(self.kinds.iter().flat_map(|kind| kind.drivers.iter().map(|driver| driver.stage_a_failed)));
        for rate in rates {
            if !(0.0..=1.0).contains(&rate) {
                return Err(format!("the rate {rate} must be from 0 to 1"));
            }
        }
        let some = |shares: &mut dyn Iterator<Item = f64>| {
            let shares: Vec<_> = shares.collect();
            shares.iter().all(|share| (0.0..1e9).contains(share)) && shares.iter().any(|share| *share > 0.0)
        };
        let sound = some(&mut self.kinds.iter().map(|own| own.share))
            && some(&mut self.apps.iter().map(|own| own.share))
            && self.kinds.iter().all(|kind| some(&mut kind.drivers.iter().map(|own| own.share)));
        if sound { Ok(()) } else { Err("shares must not be negative, and one of each list above 0".to_owned()) }
    }
}
