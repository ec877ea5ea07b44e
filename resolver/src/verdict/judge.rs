//! The fold over a log's observations: which session a record belongs to, and what is carried from one to the next.
//!
//! Memory does not grow with the log. One session is open at a time; of the closed ones the last is kept whole and the
//! others inside a budget, with a finding that says how many were left out.

use wire::{Event, Flaw, Judgement, Kind, LogFacts, Observation, Path, Runtime};

use super::decision::{self, Decision};
use super::findings::Findings;
use super::generation::BuildMarks;
use super::kept::KeptSessions;
use super::path::Hints;
use super::session::Session;
use super::silence::{self, Silence};

/// Folds what a parser tells about one log into what Weavewatch says about it (contract section 2).
///
/// The same observations always give the same judgement, however many calls of other judges lie between them.
#[derive(Clone, Default)]
pub struct Judge {
    /// Takes records until the next one opens.
    open: Session,
    /// The newest session with a full placement record that was closed: its decision and its path.
    last: Option<(Decision, Option<Path>)>,
    sessions: KeptSessions,
    findings: Findings,
    build: BuildMarks,
    hints: Hints,
    silence: Silence,
    interop_crossing: bool,
}

impl Judge {
    /// Ready for a log's first observation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next observation, in file order.
    pub fn push(&mut self, observation: &Observation) {
        match observation {
            Observation::Event(event) => self.event(event),
            Observation::Flaw(flaw) => self.flaw(flaw),
        }
    }

    /// Takes the end of the log: header, footer and counts.
    pub fn finish(mut self, facts: &LogFacts) -> Judgement {
        if self.open.has_full_record() {
            self.close();
        }
        // Contract section 2: openers behind which no full record came are no session, so what they hold touches no
        // verdict; their findings are noted already. Where there is no session at all, all records make one verdict.
        let (decision, session_path) = match self.last.take() {
            Some(last) => last,
            None => (self.decide_open(), self.open.hints().best()),
        };
        let path = session_path.or_else(|| self.hints.best()).unwrap_or(Path::Unknown);
        let runtime = Runtime { generation: self.build.generation(), ..self.build.runtime() };
        silence::note(&self.silence, &self.build, path, facts, &mut self.findings);
        let sessions = self.sessions.finish(&mut self.findings);
        Judgement {
            runtime,
            path,
            verdict: decision.verdict(self.interop_crossing),
            sessions,
            findings: self.findings.finish(),
        }
    }

    fn event(&mut self, event: &Event) {
        // Contract section 2: behind a session's full record the first opener opens the next session, and so does a
        // further full record. Everything else belongs to the session that is open.
        let full = matches!(event.kind, Kind::Placement | Kind::PlacementUnreadable);
        if self.open.has_full_record() && (full || event.kind.opens_session()) {
            self.close();
        }
        self.interop_crossing |= matches!(event.kind, Kind::GlCrossing | Kind::ClientCrossing);
        self.build.event(event);
        self.silence.event(event);
        self.findings.event(event);
        if let Some(hint) = event.hint {
            self.hints.add(hint);
        }
        self.open.absorb(event);
    }

    fn flaw(&mut self, flaw: &Flaw) {
        self.build.flaw(flaw);
        self.silence.flaw(flaw);
        self.findings.flaw(flaw);
        if let Some(hint) = flaw.hint {
            self.hints.add(hint);
            self.open.hint(hint);
        }
    }

    /// Ends the open session, which has a full placement record.
    fn close(&mut self) {
        let decision = self.decide_open();
        let session = std::mem::take(&mut self.open);
        let path = session.hints().best();
        if let Some(report) = session.into_report(&mut self.findings) {
            self.sessions.push(report);
        }
        self.last = Some((decision, path));
    }

    fn decide_open(&mut self) -> Decision {
        let decision = decision::decide(&self.open);
        self.findings.decision(&decision);
        decision
    }
}
