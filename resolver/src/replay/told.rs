//! A machine from a log's own records: what its candidates, its scanout resolver, its devices and its overrides tell.
//!
//! A log tells the answers of the runtime's resolvers rather than the wiring behind them, so the scanout adapter goes into
//! `told_scanout`. Names and LUIDs often stand in different records and are joined within the log. The placement line
//! itself gives only that join: what it decides is what a replay is compared with.

mod names;
mod observed;
mod run;
mod session;

use std::borrow::Cow;

use wire::{Event, Fields, Kind, Machine, Observation, Rect, SessionFacts, ToldScanout, Via};

use self::names::Names;
use self::run::Run;
use self::session::is_prose;
use super::settings::{D3D_FORCE_GPU, VK_FORCE_GPU};

pub use self::observed::Switch;

/// A machine, and the facts that the log leaves open; [`compare`](super::compare()) wants them.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    /// What is known. Session facts that the log leaves open have their defaults.
    pub machine: Machine,
    /// Names of facts, such as `session.hwnd`.
    pub missing: Vec<Cow<'static, str>>,
}

/// Folds a log into a machine, as [`Judge`](crate::Judge) folds it into a verdict.
#[derive(Clone, Debug)]
pub struct MachineFold {
    machine: Machine,
    run: Run,
    names: Names,
    scanout_asked: bool,
    told: Vec<&'static str>,
}

impl Default for MachineFold {
    fn default() -> Self {
        Self::new()
    }
}

impl MachineFold {
    /// Before the first record.
    pub fn new() -> Self {
        Self {
            machine: Machine::new(Vec::new()),
            run: Run::default(),
            names: Names::default(),
            scanout_asked: false,
            told: Vec::new(),
        }
    }

    /// The next record, in file order.
    pub fn push(&mut self, observation: &Observation) {
        let Observation::Event(event) = observation else { return };
        if !matches!(event.kind, Kind::RenderCandidate | Kind::RenderSkipped) {
            self.run.end();
        }
        self.names.learn(event);
        self.read(event);
    }

    /// What the whole log told.
    pub fn finish(mut self) -> Told {
        self.run.end();
        let Self { mut machine, run, names, scanout_asked, told } = self;
        machine.adapters = run.adapters;
        names.join(&mut machine);
        // A log tells these by accident only.
        let open = SessionFacts::FLAGS.into_iter().chain(["settings.DXR_WEAVE_ON_SCANOUT"]);
        let mut missing: Vec<_> = open.filter(|fact| !told.contains(fact)).map(Cow::Borrowed).collect();
        if machine.adapters.is_empty() {
            missing.push(Cow::Borrowed("adapters"));
        }
        if !scanout_asked {
            machine.told_scanout = Some(ToldScanout::open());
            missing.push(Cow::Borrowed("monitors"));
        }
        if machine.session.device_luid.is_none() {
            missing.push(Cow::Borrowed("session.device_luid"));
        }
        Told { machine, missing }
    }

    fn read(&mut self, event: &Event) {
        let fields = &event.fields;
        match event.kind {
            Kind::RenderCandidate => self.run.candidate(fields),
            Kind::RenderSkipped => self.run.skipped(fields),
            Kind::Scanout => self.scanout(fields),
            Kind::Device => self.machine.session.device_luid = fields.luid("adapter.luid"),
            Kind::Deposit => {
                if let Some(luid) = fields.luid("device.luid").filter(|luid| !luid.is_zero()) {
                    self.machine.session.device_luid = Some(luid);
                }
            }
            Kind::GlAdvisory => {
                self.machine.session.gl_luid = fields.luid("context.luid");
                self.machine.session.gl_renderer = fields.text("renderer").map(str::to_owned);
            }
            Kind::Display => self.display(fields),
            Kind::OverrideFollowed | Kind::OverrideIgnored | Kind::IngestForced | Kind::ClientCrossing => {
                self.setting(fields);
            }
            Kind::SplitEngaged | Kind::BridgeEngaged => self.tell("session.stage_a_ok"),
            Kind::DeviceFailed => self.stage_a_failed(),
            // The plug-in's refusal ends stage A as well, and is told before its duration.
            Kind::StageTook if fields.int("active") == Some(0) && self.machine.session.dp_accepts_scanout => {
                self.stage_a_failed();
            }
            Kind::SplitDisabled | Kind::SplitRefused => {
                if let Some(cause) = fields.text("cause")
                    && !self.denied(cause)
                    && is_prose(cause)
                {
                    self.stage_a_failed();
                }
            }
            // What takes a running split back is no failure of stage A, whatever its words.
            Kind::SplitRetired => {
                if let Some(cause) = fields.text("cause") {
                    self.denied(cause);
                }
            }
            Kind::RenderOff => {
                for reason in fields.reasons("reasons").unwrap_or_default() {
                    self.denied(reason.as_str());
                }
            }
            _ => {}
        }
    }

    fn tell(&mut self, fact: &'static str) {
        if !self.told.contains(&fact) {
            self.told.push(fact);
        }
    }

    /// The last record of the scanout resolver is its answer. One that names no adapter is a failure or a step on the way.
    fn scanout(&mut self, fields: &Fields) {
        self.scanout_asked = true;
        let (name, luid) = (fields.text("adapter.name"), fields.luid("adapter.luid"));
        self.machine.told_scanout = name.map(|name| ToldScanout {
            name: name.to_owned(),
            luid,
            via: Some(if luid.is_some() { Via::DisplayPath } else { Via::OutputWalk }),
        });
    }

    /// Place and size are told by different builds; without a place the size alone still gives the cost.
    fn display(&mut self, fields: &Fields) {
        let number = |name: &str| fields.int(name);
        let size = |name: &str| number(name).and_then(|value| u32::try_from(value).ok());
        if let (Some(width), Some(height)) = (size("panel.width"), size("panel.height")) {
            let place = |name: &str| number(name).and_then(|value| i32::try_from(value).ok()).unwrap_or_default();
            self.machine.panel = Some(Rect { left: place("panel.left"), top: place("panel.top"), width, height });
        } else if let (Some(width), Some(height), None) =
            (size("pixels.width"), size("pixels.height"), self.machine.panel)
        {
            self.machine.panel = Some(Rect { left: 0, top: 0, width, height });
        }
    }

    /// Either the variable with its value, or a provenance such as `user-forced: igpu`.
    fn setting(&mut self, fields: &Fields) {
        let settings = &mut self.machine.settings;
        if let (Some(name), Some(value)) = (fields.text("variable"), fields.text("value")) {
            let known = [&settings.env, &settings.user, &settings.machine].iter().any(|store| store.contains_key(name));
            if !known && [D3D_FORCE_GPU, VK_FORCE_GPU].contains(&name) {
                settings.env.insert(name.to_owned(), value.to_owned());
            }
            return;
        }
        let Some((source, keyword)) = fields.text("provenance").and_then(|words| words.split_once("-forced: ")) else {
            return;
        };
        let value = match (keyword, fields.int("index")) {
            ("index", Some(index)) => index.to_string(),
            ("index", None) => return,
            (keyword, _) => keyword.to_owned(),
        };
        let store = match source {
            "user" => &mut settings.user,
            "machine" => &mut settings.machine,
            _ => &mut settings.env,
        };
        store.insert(D3D_FORCE_GPU.to_owned(), value);
    }
}
