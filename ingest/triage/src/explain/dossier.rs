//! Everything that is to be said about one log, gathered in one pass over it.

use std::convert::Infallible;
use std::io::Read;

use resolver::Examiner;
use resolver::cost::{Measure, MeasureFold};
use resolver::replay::{Told, advise, advise_on_log, compare, replay};
use wire::{
    Adapter, Advice, Comparison, Event, Fields, InputKind, Kind, Level, Observation, Outcome, Placement, Policy,
    Reason, Replay, ScanReport, Split,
};

use super::causes::{Cause, Causes};
use super::timeline::Timeline;
use crate::one::{self, Found};
use crate::replay::beside::{self, Beside};
use crate::replay::source::Source;

/// One log, examined.
pub struct Dossier {
    /// What `scan` says of it.
    pub report: ScanReport,
    /// Its evidence.
    pub timeline: Timeline,
    /// The machine behind it, and what it leaves open.
    pub told: Told,
    /// Under which rules it was compared.
    pub policy: Policy,
    /// What those rules expect.
    pub answer: Replay,
    /// Expected against observed.
    pub comparison: Comparison,
    /// What would make it better, smallest first.
    pub advice: Vec<Advice>,
    /// What its counters say, and what it tells of its pictures: [`cost`](crate::cost::of_dossier) makes a price of it.
    pub measure: Box<Measure>,
    /// What the last placement record says, where it can be read.
    pub observed: Option<Placement>,
    /// Files beside the log that told more of the machine.
    pub beside: Vec<Beside>,
    /// Which step failed, in the session that decides.
    pub causes: Vec<Cause>,
    /// Facts beside the verdict.
    pub seen: Seen,
    /// What a reader should know of the way it was found and read.
    pub notes: Vec<String>,
    /// Log, capture, or output of the tool.
    pub input: InputKind,
    /// Why reading stopped early.
    pub error: Option<std::io::Error>,
}

/// A dossier in the making, for whoever has the observations of a log and not its bytes.
#[derive(Default)]
pub struct Gathering {
    examiner: Examiner,
    measure: Box<MeasureFold>,
    timeline: Timeline,
    causes: Causes,
    seen: Seen,
}

/// Records that the verdict does not tell of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// The service wove for a client on the render GPU: line and tokens of the newest such record.
    pub presenter: Option<(u64, Vec<Reason>)>,
    /// OpenGL pictures that crossed: line and meaning of the newest record.
    pub interop: Option<(u64, String)>,
    /// Where the app made the picture that OpenGL had to fetch from another GPU.
    pub surface: Option<Adapter>,
    /// Why a gate refused the split, before a placement line masked it: line and token of the newest such record.
    pub refused: Option<(u64, Vec<Reason>)>,
    /// Why the newest split was taken back, as a token or in words.
    pub taken_back: Option<Reason>,
    /// Why the split is off, as the service's windows tell it.
    pub off: Option<(u64, Vec<Reason>)>,
    /// The app renders through the service.
    pub service_mode: bool,
    /// A record of level INFO: the resolvers were not hidden.
    pub info: bool,
    /// Display plug-in with its version.
    pub plugin: Option<String>,
    /// The display: what the plug-in calls it, or its size.
    pub display: Option<String>,
}

impl Dossier {
    /// Gathers all about a log: `read` reads it and hands every observation on.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn gather<E>(read: impl FnOnce(&mut dyn FnMut(Observation)) -> Result<Found, E>) -> Result<Self, E> {
        let mut gathering = Gathering::default();
        let found = read(&mut |observation| gathering.push(&observation))?;
        Ok(gathering.finish(found))
    }

    /// All about the log that `contents` hands out; `name` is what reports call it.
    pub fn of_log(contents: &mut dyn Read, name: String) -> Self {
        let Ok(dossier) = Self::gather::<Infallible>(|sink| Ok(one::log(contents, name, Vec::new(), sink)));
        dossier
    }

    /// Takes what the log leaves open from a file beside it, and compares anew. Findings stay those of the log alone
    /// (contract section 3).
    pub fn add(&mut self, source: &Source, file: &str) {
        let observed =
            beside::Observed { path: self.report.path, policy: self.policy, placement: self.observed.as_ref() };
        self.beside.push(beside::add(&mut self.told, source, file, observed));
        self.answer = replay(&self.told.machine, self.report.path, self.policy);
        if let Some(observed) = &self.observed {
            self.comparison = compare(&self.answer, observed, &self.told.missing);
        }
        self.advice = advice(&self.report, &self.told, self.observed.as_ref(), &self.seen, self.policy);
    }

    /// The reason that the placement line of the last session masks, where another record of it tells.
    pub fn masked(&self) -> Option<(u64, &[Reason])> {
        const MASKS: [&str; 2] = ["same_adapter", "scanout_unresolvable"];
        let reasons = &self.report.verdict.reasons;
        if !reasons.iter().any(|reason| MASKS.contains(&reason.as_str())) {
            return None;
        }
        // A gate refuses before its session's line; behind that it is of a session that never came.
        let (start, own) = (before_last_session(&self.report), self.report.sessions.last()?.line);
        let of_gate = self.seen.refused.as_ref().filter(|(line, _)| start < *line && *line < own);
        let of_window = self.seen.off.as_ref().filter(|(line, _)| start < *line);
        let (line, told) = of_gate.or(of_window)?;
        (told != reasons).then_some((*line, told.as_slice()))
    }
}

impl Gathering {
    /// Takes the next observation, in file order.
    pub fn push(&mut self, observation: &Observation) {
        self.examiner.push(observation);
        self.measure.push(observation);
        self.timeline.push(observation);
        self.causes.push(observation);
        if let Observation::Event(event) = observation {
            self.seen.event(event);
        }
    }

    /// Everything that is to be said; `found` is what the reading of the log told beside the observations.
    pub fn finish(self, found: Found) -> Dossier {
        let Self { examiner, measure, timeline, causes, seen } = self;
        let examination = examiner.finish(&found.facts);
        let facts = found.facts;
        let report = ScanReport::new(found.name, facts.process, facts.end, facts.counts, examination.judgement);
        let causes = of_last_session(&causes, &report);
        let advice = advice(&report, &examination.told, examination.observed.as_ref(), &seen, examination.policy);
        Dossier {
            report,
            timeline,
            told: examination.told,
            policy: examination.policy,
            answer: examination.answer,
            comparison: examination.comparison,
            advice,
            measure: Box::new(measure.finish()),
            observed: examination.observed,
            beside: Vec::new(),
            causes,
            seen,
            notes: found.notes,
            input: facts.input,
            error: found.error,
        }
    }
}

/// A log whose verdict is good needs none, whatever its placement line says.
fn advice(report: &ScanReport, told: &Told, observed: Option<&Placement>, seen: &Seen, policy: Policy) -> Vec<Advice> {
    match (observed, Outcome::of(&report.verdict)) {
        (_, Outcome::Engaged | Outcome::Local) if !report.verdict.interop_crossing => Vec::new(),
        // A cut log: the record that takes its split back is told, the line that would say so is not.
        (Some(engaged), _) if report.verdict.retired && engaged.split == Split::Engaged => {
            let reasons = seen.taken_back.iter().cloned().collect();
            let taken_back = Placement { split: Split::Off, reasons, ..engaged.clone() };
            advise_on_log(told, &taken_back, report.path, policy)
        }
        (Some(observed), _) => advise_on_log(told, observed, report.path, policy),
        (None, _) => advise(&told.machine, report.path, policy),
    }
}

impl Seen {
    fn event(&mut self, event: &Event) {
        let fields = &event.fields;
        self.info |= event.level == Level::Info;
        match event.kind {
            Kind::Presenter => {
                if let Some(reasons) = fields.reasons("reasons") {
                    self.presenter = Some((event.line, reasons.to_vec()));
                }
            }
            Kind::GlCrossing | Kind::ClientCrossing => {
                let meaning = parser::vocabulary::shape(&event.shape).map_or("", |shape| shape.meaning);
                self.interop = Some((event.line, meaning.to_owned()));
                // The record before it names where the picture is not.
                if event.shape == "gl.st_handoff" {
                    let named = fields.text("adapter.name").zip(fields.luid("adapter.luid"));
                    self.surface = named.map(|(name, luid)| Adapter { name: name.to_owned(), luid });
                }
            }
            Kind::RenderOff => {
                if let Some(reasons) = fields.reasons("reasons") {
                    self.off = Some((event.line, reasons.to_vec()));
                }
            }
            Kind::SplitRetired => self.taken_back = fields.text("cause").map(Reason::new),
            Kind::SplitDisabled => {
                // Prose is the cause of a failed set-up, which is told as such.
                let token = fields.text("cause").map(Reason::new).filter(Reason::is_known);
                self.refused = token.map(|token| (event.line, vec![token])).or_else(|| self.refused.take());
            }
            Kind::ServiceMode => self.service_mode = true,
            Kind::Plugin => self.plugin = plugin(fields).or_else(|| self.plugin.take()),
            Kind::Display => {
                if let (Some(width), Some(height)) = (fields.int("pixels.width"), fields.int("pixels.height")) {
                    self.display = Some(format!("{width}x{height}"));
                }
            }
            _ => {}
        }
    }
}

fn plugin(fields: &Fields) -> Option<String> {
    let name = fields.text("name").or_else(|| fields.text("id"))?;
    Some(fields.text("version").map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
}

/// Where the session before the last one ends: the line of its last placement record.
fn before_last_session(report: &ScanReport) -> u64 {
    report.sessions.len().checked_sub(2).map_or(0, |at| {
        let session = &report.sessions[at];
        session.changed.last().map_or(session.line, |changed| changed.line)
    })
}

/// The causes between the placement of the session before and the record that decides.
fn of_last_session(causes: &Causes, report: &ScanReport) -> Vec<Cause> {
    let until = report.verdict.line.unwrap_or(u64::MAX);
    if report.verdict.split == Split::Engaged {
        Vec::new()
    } else {
        causes.between(before_last_session(report), until).cloned().collect()
    }
}
