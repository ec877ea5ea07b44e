//! Everything that one log tells, in one pass: its verdict, the machine behind it, and whether the documented rules would
//! have said the same (contract sections 2, 3 and 5).
//!
//! The command line and the server both read logs through here, so that a mismatch is found once and counted everywhere
//! alike. Memory is bounded as in [`Judge`]; a record that is no event costs nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use wire::{Agreement, Comparison, Event, Finding, Judgement, Kind, LogFacts, Observation, Placement, Policy, Replay};

use crate::levers::{Lever, Levers};
use crate::replay::{MachineFold, Told, compare, replay};
use crate::{Code, Judge};

/// Folds what a parser tells about one log into an [`Examination`].
#[derive(Clone, Default)]
pub struct Examiner {
    judge: Judge,
    /// What all records tell: adapters, panel, settings.
    whole: MachineFold,
    /// The session that is open, by the rules of contract section 2.
    open: SessionFold,
    /// The newest closed session that had a full placement record.
    last: Option<SessionFold>,
    /// A record that only the newest rules explain was seen.
    newest_rules: bool,
    levers: Levers,
}

/// What one session tells of itself.
#[derive(Clone, Default)]
struct SessionFold {
    facts: MachineFold,
    has_full_record: bool,
    /// Line and values of its last placement record, full or `CHANGED`; null values where it cannot be read.
    placement: Option<(u64, Option<Placement>)>,
    /// The newest record behind the full one that takes a split back: it counts only when its `CHANGED` comes as well.
    taken_back: Option<Observation>,
}

/// What one log tells, with expected beside observed.
pub struct Examination {
    /// Verdict, sessions and findings; `replay_mismatch` is among them where it is due.
    pub judgement: Judgement,
    /// The machine behind the log's last session, and what the log leaves open.
    pub told: Told,
    /// The set of rules that the log was compared under.
    pub policy: Policy,
    /// What those rules say about that machine.
    pub answer: Replay,
    /// The answer against the log's last placement record.
    pub comparison: Comparison,
    /// Where that record stands.
    pub line: Option<u64>,
    /// What it says, where it can be read.
    pub observed: Option<Placement>,
    /// What somebody set, by variable, as far as the records tell it.
    pub levers: BTreeMap<&'static str, Lever>,
}

impl Examiner {
    /// Ready for a log's first observation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next observation, in file order.
    pub fn push(&mut self, observation: &Observation) {
        self.judge.push(observation);
        let Observation::Event(event) = observation else { return };
        let full = matches!(event.kind, Kind::Placement | Kind::PlacementUnreadable);
        if self.open.has_full_record && (full || event.kind.opens_session()) {
            self.last = Some(std::mem::take(&mut self.open));
        }
        self.newest_rules |= needs_newest_rules(event);
        self.levers.push(event);
        self.whole.push(observation);
        self.open.push(observation, event);
    }

    /// Takes the end of the log: header, footer and counts.
    pub fn finish(self, facts: &LogFacts) -> Examination {
        let mut judgement = self.judge.finish(facts);
        let session = match self.last {
            Some(last) if !self.open.has_full_record => last,
            _ => self.open,
        };
        let told = of_session(self.whole.finish(), session.facts.finish());
        let policy = if self.newest_rules { Policy::Adr039 } else { Policy::Document };
        let answer = replay(&told.machine, judgement.path, policy);
        let (line, observed) = session.placement.map_or((None, None), |(line, observed)| (Some(line), observed));
        let comparison =
            observed.as_ref().map_or_else(nothing_to_compare, |observed| compare(&answer, observed, &told.missing));
        if comparison.result == Agreement::Disagrees {
            add(&mut judgement.findings, mismatch(&comparison, policy, line));
        }
        let levers = self.levers.finish();
        Examination { judgement, told, policy, answer, comparison, line, observed, levers }
    }
}

impl SessionFold {
    /// What is compared is the placement line, so what is told behind it says nothing about it.
    fn push(&mut self, observation: &Observation, event: &Event) {
        match event.kind {
            Kind::Placement | Kind::PlacementUnreadable => {
                self.has_full_record = true;
                self.placement = Some((event.line, Placement::from_event(event)));
                self.facts.push(observation);
            }
            Kind::PlacementChanged => {
                self.placement = Some((event.line, Placement::from_event(event)));
                if let Some(taken_back) = self.taken_back.take() {
                    self.facts.push(&taken_back);
                }
            }
            _ if !self.has_full_record => self.facts.push(observation),
            kind if kind.takes_back() => self.taken_back = Some(observation.clone()),
            _ => {}
        }
    }
}

/// Adapters, panel and settings are the process's; what a session brings along is its own. OpenGL tells its context once
/// a process.
fn of_session(whole: Told, session: Told) -> Told {
    let Told { mut machine, missing } = whole;
    let gl = machine.session;
    machine.session = session.machine.session;
    machine.session.gl_luid = gl.gl_luid;
    machine.session.gl_vendor = gl.gl_vendor;
    machine.session.gl_renderer = gl.gl_renderer;
    let of_a_session = |fact: &Cow<'static, str>| fact.starts_with("session.");
    let mut facts: Vec<_> = session.missing.into_iter().filter(of_a_session).collect();
    facts.extend(missing.into_iter().filter(|fact| !of_a_session(fact)));
    Told { machine, missing: facts }
}

/// Contract section 3: ADR-039, `#1264` and `VK output-device split` records.
fn needs_newest_rules(event: &Event) -> bool {
    const SHAPES: [&str; 12] = [
        "s11.adr039",
        "s11.adr039.other",
        "s12.adr039",
        "s12.adr039.other",
        "s12.ownlegs",
        "s12.reroute_refused",
        "s12.reroute_active",
        "s12.keyed_mutex",
        "s12.queue_high",
        "dd.active",
        "vd.keyed",
        "svk.",
    ];
    let shape = event.shape.as_ref();
    !matches!(shape, "svk.retired" | "svk.layoutgen")
        && SHAPES.iter().any(|own| shape == *own || own.ends_with('.') && shape.starts_with(own))
}

fn nothing_to_compare() -> Comparison {
    Comparison {
        result: Agreement::CannotTell,
        rule: None,
        because: Some("the log has no placement line that can be read".to_owned()),
        missing: vec![Cow::Borrowed("placement")],
    }
}

fn mismatch(comparison: &Comparison, policy: Policy, line: Option<u64>) -> Finding {
    let rule = comparison.rule.as_deref().unwrap_or("line");
    let because = comparison.because.as_deref().unwrap_or("the lines differ");
    Finding {
        code: Code::ReplayMismatch.as_str().to_owned(),
        severity: Code::ReplayMismatch.severity(),
        line,
        message: format!("By the rules ({}) rule {rule} differs: {because}.", policy.as_str()),
    }
}

/// Where the order of findings wants it: by line, those without a line last, on one line in the order of the codes.
fn add(findings: &mut Vec<Finding>, new: Finding) {
    let rank = |finding: &Finding| {
        let code = Code::ALL.iter().position(|code| code.as_str() == finding.code);
        (finding.line.is_none(), finding.line, code)
    };
    let at = findings.iter().position(|own| rank(own) > rank(&new)).unwrap_or(findings.len());
    findings.insert(at, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_rules_are_known_by_the_words_of_the_contract() {
        for row in parser::vocabulary::rows() {
            let shape = row.shape;
            let event = Event {
                offset: 0,
                line: 1,
                time: None,
                level: shape.level,
                function: None,
                shape: shape.id.into(),
                kind: shape.kind,
                hint: None,
                fields: wire::Fields::new(),
                spelling: Vec::new(),
            };
            let words = ["ADR-039", "#1264", "VK output-device split"];
            let named = words.iter().any(|word| shape.format.contains(word));
            assert_eq!(needs_newest_rules(&event), named, "{}: {}", shape.id, shape.format);
        }
    }
}
