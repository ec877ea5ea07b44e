//! One log: from a machine, a day and chance to its bytes and its truth.
//!
//! A [`Log`] is what all paths share while they write: the writer, the facts of the process, and what is due to be found.
//! A path writes the records of a session and says how it ended; verdict and findings of the log follow from that.

mod ended;
mod records;

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::civil::DateTime;
use wire::{Basis, Crossing, End, Generation, Level, MachineAdapter, Path, Process, Verdict};

use crate::description::{App, Build, Fault, Fleet, Quirk};
use crate::dice::Dice;
use crate::outcome::Outcome;
use crate::pc::{Levers, Pc};
use crate::truth::{Cohort, Due, Lever, Truth};
use crate::writer::{Spelling, Writer};
use crate::{mutate, paths};

pub(crate) use ended::{Ended, Evidence};

/// A finished log.
#[derive(Clone, Debug)]
pub struct Made {
    /// The file.
    pub bytes: Vec<u8>,
    /// What is true of it.
    pub truth: Truth,
}

/// Which process writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writes {
    /// An app that renders itself.
    App,
    /// An app that goes through the service.
    Client,
    /// The service.
    Service,
    /// A process that has closed its log and logs on.
    Leftover,
}

/// Where and when a log is written.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// The machine.
    pub pc: &'a Pc<'a>,
    /// Day of the fleet.
    pub day: i64,
    /// Local start.
    pub start: DateTime,
    /// Process id.
    pub pid: u32,
    /// The app; for the service, its first client.
    pub app: &'a App,
    /// Who writes.
    pub writes: Writes,
}

/// What the records of a log do not hold.
struct Outside {
    day: i64,
    process: Process,
    name: String,
    path: Path,
    end: End,
    mutation: Option<&'static str>,
}

/// A log in the making.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that some record brings about")]
pub(crate) struct Log<'a> {
    pub w: Writer,
    /// Figures and noise.
    pub dice: Dice,
    /// What happens.
    pub chance: Dice,
    pub fleet: &'a Fleet,
    pub pc: &'a Pc<'a>,
    pub app: &'a App,
    pub build: &'a Build,
    pub levers: Levers<'a>,
    pub adapters: Vec<MachineAdapter>,
    /// What this process renders on.
    pub render: usize,
    /// What drives the panel.
    pub scanout: Option<usize>,
    /// Why it renders there, in the runtime's words.
    pub provenance: String,
    pub evidence: Evidence,
    pub interop_crossing: bool,
    /// Records with `(#1000)` were printed.
    pub issue_1000: bool,
    /// The version was printed.
    pub versioned: bool,
    /// A placement record was printed, whole or not.
    pub placed: bool,
    /// Nothing comes behind this point: no more noise, no footer.
    pub cut: bool,
    /// The line of the last session that no replay agrees with.
    pub mismatch: Option<u64>,
    /// The clock goes back by an hour meanwhile.
    hour_twice: bool,
    pub due: BTreeMap<(&'static str, String), Option<u64>>,
    outcomes: Vec<Outcome>,
    last: Option<Ended>,
}

impl<'a> Log<'a> {
    /// Writes the log of a scene.
    pub(crate) fn make(scene: &Scene<'a>, mut chance: Dice, dice: Dice, mutation: Dice) -> Made {
        let Scene { fleet, pc, day, app, writes, .. } = *scene;
        // The hour between two and three comes twice, and nothing in a log tells which one it is.
        let hour_twice = chance.chance(fleet.quirk(Quirk::SummerTimeEnds));
        let start = if hour_twice { scene.start.date().at(2, 59, 20, 0) } else { scene.start };
        let build = pc.build(day);
        let adapters = pc.adapters(day);
        let names: Vec<_> = adapters.iter().map(|adapter| adapter.name.clone()).collect();
        let mut log = Self {
            w: Writer::new(start, &names),
            dice,
            chance,
            fleet,
            pc,
            app,
            build,
            levers: pc.levers(day, build),
            adapters,
            render: pc.kind.render,
            scanout: pc.kind.scanout,
            provenance: "most VRAM".to_owned(),
            evidence: Evidence::default(),
            interop_crossing: false,
            issue_1000: false,
            versioned: false,
            placed: false,
            cut: false,
            mismatch: None,
            hour_twice,
            due: BTreeMap::new(),
            outcomes: Vec::new(),
            last: None,
        };
        let spelling = log.spelling();
        let exe =
            if writes == Writes::Service { "displayxr-service.exe".to_owned() } else { format!("{}.exe", app.name) };
        let name = format!("DisplayXR_{exe}.{}_{}.log", scene.pid, start.strftime("%Y-%m-%d_%H-%M-%S"));
        log.header(&exe, scene.pid, start, &name);
        let path = log.process(writes, spelling);
        let mut end = log.footer(writes);
        let mutation = mutate::mutate(&mut log, mutation, spelling, &mut end);
        let outside =
            Outside { day, process: Process { exe, pid: scene.pid, started: None }, name, path, end, mutation };
        log.finish(outside, start, spelling)
    }

    fn finish(mut self, outside: Outside, start: DateTime, spelling: Spelling) -> Made {
        let Outside { day, mut process, name, path, end, mutation } = outside;
        if end == End::Missing {
            self.note_log("no_footer");
        }
        if !self.placed {
            self.note_log("no_placement");
        }
        if let Some(line) = self.mismatch {
            self.note("replay_mismatch", "", line);
        }
        let ended = self.last.take().unwrap_or_else(Ended::absent);
        let machine = self.pc.name();
        process.started = Some(start.strftime("%Y-%m-%dT%H:%M:%S").to_string());
        let mut findings: Vec<_> =
            self.due.iter().map(|((code, _), line)| Due { code: Cow::Borrowed(*code), line: *line }).collect();
        findings.sort();
        let adapters = &self.pc.facts.adapters;
        let named = |at: usize| adapters.get(at).map(|adapter| adapter.name.clone());
        let settings = self.levers.iter().map(|own| Lever {
            name: Cow::Borrowed(own.name.as_str()),
            value: own.value.clone(),
            source: own.source,
        });
        let cohort = Cohort {
            kind: self.pc.kind.name.clone(),
            driver: self.pc.driver.name.clone(),
            render: named(self.pc.kind.render).unwrap_or_default(),
            scanout: self.pc.kind.scanout.and_then(named),
            version: self.build.version.clone(),
            build: self.build.tag.clone(),
            generation: self.build.generation,
            exe: process.exe.clone(),
            day,
            outcomes: self.outcomes.iter().map(Outcome::word).collect(),
            settings: settings.collect(),
        };
        let generation = self.generation();
        let bytes = self.w.finish(spelling);
        let truth = Truth {
            schema: Cow::Borrowed(wire::TRUTH_SCHEMA),
            file: format!("{machine}/{name}"),
            machine,
            bytes: bytes.len() as u64,
            process,
            version: self.versioned.then(|| self.build.version.clone()),
            generation,
            path,
            end,
            verdict: Verdict {
                split: ended.split,
                crossing: ended.crossing(),
                interop_crossing: self.interop_crossing,
                killed: ended.killed(),
                reasons: ended.reasons,
                retired: ended.retired,
                basis: ended.basis,
                render: ended.render,
                scanout: ended.scanout,
                line: ended.line,
            },
            findings,
            mutation: mutation.map(Cow::Borrowed),
            cohort,
        };
        Made { bytes, truth }
    }

    /// Contract section 1: the placement line tells, else marks of a build before it.
    fn generation(&self) -> Option<Generation> {
        let mut numbers = self.build.version.split('.').map(|number| number.parse().unwrap_or(0_u32));
        let version = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
        if self.placed {
            return Some(self.build.generation);
        }
        (self.versioned && version < (2, 9) || self.issue_1000).then_some(Generation::G0)
    }

    /// How the file is spelled. An editor that saves a file anew would keep neither stray bytes nor NULs.
    fn spelling(&mut self) -> Spelling {
        let plain = self.adapters.iter().all(|adapter| adapter.name.is_ascii());
        let thrown =
            [(Quirk::Lf, Spelling::Lf), (Quirk::Utf8Mark, Spelling::Utf8Mark), (Quirk::Utf16, Spelling::Utf16)]
                .map(|(quirk, spelling)| (self.shows(quirk), spelling));
        let mut wanted = thrown.into_iter().filter(|(shows, _)| *shows).map(|(_, spelling)| spelling);
        wanted.find(|spelling| plain || *spelling == Spelling::Lf).unwrap_or_default()
    }

    fn header(&mut self, exe: &str, pid: u32, start: DateTime, name: &str) {
        let sandbox = self.shows(Quirk::Sandbox);
        let folder = if sandbox { r"Packages\Viewer_8wekyb3d8bbwe\AC\Temp" } else { "DisplayXR" };
        self.w.plain("=== DisplayXR Log Started ===");
        self.w.plain(&format!(r"Log file: C:\Users\user\AppData\Local\{folder}\{name}"));
        self.w.plain(&format!("Process: {exe} (PID {pid})"));
        self.w.plain(&format!("Timestamp: {}", start.strftime("%Y-%m-%d %H:%M:%S")));
        self.w.plain("============================\n");
        self.w.pass(31);
    }

    /// Everything between header and footer; answers the path that the records tell.
    fn process(&mut self, writes: Writes, spelling: Spelling) -> Path {
        if writes == Writes::Leftover {
            self.outcomes.push(Outcome::SecondLog);
            self.w.noise(Level::Warn, "u_worker_thread", b"late callback behind exit - ignored");
            return Path::Unknown;
        }
        if writes != Writes::Service && self.happens(Fault::OnlyErrors) {
            self.outcomes.push(Outcome::NoSession);
            self.instance();
            return Path::Unknown;
        }
        self.preamble(writes);
        if writes != Writes::Service && self.happens(Fault::NoSession) {
            self.outcomes.push(Outcome::NoSession);
            return Path::Unknown;
        }
        if self.hour_twice {
            self.w.pass(50_000 - 3_600_000);
        } else if self.shows(Quirk::ClockSetBack) {
            let seconds = self.dice.between(5, 600);
            self.w.pass(-1000 * i64::try_from(seconds).unwrap_or_default());
        }
        if self.shows(Quirk::LongLine) && spelling != Spelling::Utf16 {
            let line = self.long_line();
            self.note("truncated_record", "", line);
        }
        if self.shows(Quirk::GluedRecord) && spelling == Spelling::Crlf {
            let line = self.glued_record();
            self.note("truncated_record", "", line);
        }
        if self.chance.chance(self.build.splices) {
            let line = self.splice();
            self.note("spliced_record", "", line);
        }
        let path = match writes {
            Writes::Service => Path::Service,
            Writes::Client => Path::IpcClient,
            Writes::App | Writes::Leftover => self.app.path,
        };
        let second = path != Path::Service && path != Path::IpcClient && self.shows(Quirk::SecondSession);
        for _ in 0..=u8::from(second) {
            if self.cut {
                break;
            }
            self.session(path);
        }
        path
    }

    fn session(&mut self, path: Path) {
        self.evidence = Evidence::default();
        // A log is compared by its last placement record (contract section 3).
        self.mismatch = None;
        let (outcome, ended) = match path {
            Path::D3d11 => paths::d3d11::session(self),
            Path::D3d12 => paths::d3d12::session(self),
            Path::Vulkan => paths::vulkan::session(self),
            Path::OpenGl => paths::opengl::session(self),
            Path::Service => paths::service::session(self),
            Path::IpcClient | Path::Unknown => paths::client::session(self),
        };
        self.outcomes.push(outcome);
        let Some(mut ended) = ended else { return };
        if self.evidence.lost {
            ended = self.evidence.without_line(ended);
        }
        if let Some(line) = ended.line {
            let dues = [
                ("placement_corrected", ended.basis == Basis::Corrected),
                ("retired", ended.retired),
                ("killed", ended.killed()),
                ("crossing_every_present", ended.crossing() == Crossing::EveryPresent),
            ];
            for (code, _) in dues.into_iter().filter(|(_, due)| *due) {
                self.note(code, "", line);
            }
        }
        self.last = Some(ended);
    }

    fn footer(&mut self, writes: Writes) -> End {
        if self.cut {
            return End::Missing;
        }
        if writes == Writes::Leftover || self.shows(Quirk::StillRunning) {
            return End::Missing;
        }
        if self.happens(Fault::Crash) {
            self.crash();
            return End::Missing;
        }
        self.w.plain("\n=== DisplayXR Log Ended ===");
        if self.shows(Quirk::Reopened) {
            self.w.plain("=== DisplayXR Log Started ===");
            self.w.plain("Process: late.exe (PID 1)");
            self.w.plain("============================\n");
            self.w.noise(Level::Warn, "u_worker_thread", b"late callback behind exit - ignored");
            self.w.plain("\n=== DisplayXR Log Ended ===");
        }
        End::Footer
    }

    /// Does this quirk show here?
    pub(crate) fn shows(&mut self, quirk: Quirk) -> bool {
        let rate = self.fleet.quirk(quirk);
        self.chance.chance(rate)
    }
}
