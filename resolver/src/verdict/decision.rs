//! From what one session remembers to its verdict: the rules of contract section 2, as one pure function.

use wire::{Adapter, Basis, Crossing, Placement, Reason, Split, Verdict};

use super::session::Session;

/// A session's verdict, before anything is added that concerns the whole log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Decision {
    /// Engaged, off or unknown.
    pub(crate) split: Split,
    /// Empty when engaged.
    pub(crate) reasons: Vec<Reason>,
    /// It was engaged and was taken back.
    pub(crate) retired: bool,
    /// How sure.
    pub(crate) basis: Basis,
    /// Where the app renders.
    pub(crate) render: Option<Adapter>,
    /// Which adapter drives the panel.
    pub(crate) scanout: Option<Adapter>,
    /// 1-based line of the deciding record.
    pub(crate) line: Option<u64>,
    /// Where the placement record stands that was overruled.
    pub(crate) overruled: Option<u64>,
}

/// Decides one session, or all records of a log without a session.
pub(crate) fn decide(session: &Session) -> Decision {
    if let Some((line, placement)) = session.stated() {
        return correct(session, line, placement).unwrap_or_else(|| stated(line, placement));
    }
    changed(session).unwrap_or_else(|| infer(session))
}

impl Decision {
    /// From the two adapters and the split.
    pub(crate) fn crossing(&self) -> Crossing {
        let (Some(render), Some(scanout)) = (&self.render, &self.scanout) else {
            return Crossing::Unknown;
        };
        match self.split {
            _ if render.luid == scanout.luid => Crossing::None,
            Split::Engaged => Crossing::AtlasPerFrame,
            Split::Off => Crossing::EveryPresent,
            Split::Unknown => Crossing::Unknown,
        }
    }

    /// A reason is `killed_by_env`; the kill can come from any settings source.
    pub(crate) fn killed(&self) -> bool {
        self.reasons.iter().any(is_kill)
    }

    /// The object of the contract.
    pub(crate) fn verdict(self, interop_crossing: bool) -> Verdict {
        Verdict {
            split: self.split,
            crossing: self.crossing(),
            interop_crossing,
            killed: self.killed(),
            reasons: self.reasons,
            retired: self.retired,
            basis: self.basis,
            render: self.render,
            scanout: self.scanout,
            line: self.line,
        }
    }

    fn new(split: Split, basis: Basis, line: Option<u64>) -> Self {
        Self { split, reasons: Vec::new(), retired: false, basis, render: None, scanout: None, line, overruled: None }
    }

    fn with_adapters(mut self, placement: &Placement) -> Self {
        self.render.clone_from(&placement.render);
        self.scanout.clone_from(&placement.scanout);
        self
    }
}

/// The token of the kill switch.
pub(crate) fn is_kill(reason: &Reason) -> bool {
    reason.as_str() == "killed_by_env"
}

/// The last placement record is a full one and speaks for itself.
fn stated(line: u64, placement: &Placement) -> Decision {
    let mut decision = Decision::new(placement.split, Basis::Stated, Some(line)).with_adapters(placement);
    if placement.split != Split::Engaged {
        decision.reasons.clone_from(&placement.reasons);
    }
    decision
}

/// Stronger evidence against a last full record.
///
/// Evidence (a) or (b) overrules two masks only: newer builds print `same_adapter` for a split on one adapter, and
/// `unknown` for a re-routed session. A `RETIRED` behind the record of a session that ran a split means that the
/// `CHANGED` which comes with it was cut off; it is asked second, because (a) and (b) hold only where nothing of that
/// kind stands behind them.
fn correct(session: &Session, placement_line: u64, placement: &Placement) -> Option<Decision> {
    let masked = placement.split == Split::Off
        && matches!(placement.reasons.as_slice(), [only] if matches!(only.as_str(), "same_adapter" | "unknown"));
    let corrected = |split, line| {
        let decision = Decision::new(split, Basis::Corrected, Some(line)).with_adapters(placement);
        Decision { overruled: Some(placement_line), ..decision }
    };
    if let Some(line) = session.runs_split().filter(|_| masked) {
        return Some(corrected(Split::Engaged, line));
    }
    let retired = session.retired().filter(|record| record.behind_full && record.engaged_before)?;
    Some(Decision { retired: true, ..corrected(Split::Off, retired.line) })
}

/// A `CHANGED` is the last placement record, or the only one that can be read, such as before an unreadable full one.
/// It carries no adapters: those of the full record before it go on, where that could be read. Without a full record
/// before it nobody can say what it changed, so `retired` stays false (contract section 2).
fn changed(session: &Session) -> Option<Decision> {
    let record = session.last_changed()?;
    let mut decision = Decision::new(Split::Off, Basis::Stated, Some(record.line));
    decision.reasons.clone_from(&record.reasons);
    if record.behind_full {
        decision.retired = record.engaged_before;
        if let Some(placement) = session.full_placement() {
            decision = decision.with_adapters(placement);
        }
    }
    Some(decision)
}

/// No placement record can be read: what the other records say. A `RETIRED` alone is proof enough that a split ran.
fn infer(session: &Session) -> Decision {
    if let Some(line) = session.runs_split() {
        return Decision::new(Split::Engaged, Basis::Inferred, Some(line));
    }
    if let Some(refusal) = session.refusal() {
        let decision = Decision::new(Split::Off, Basis::Inferred, Some(refusal.line));
        return Decision { reasons: refusal.reasons.clone(), ..decision };
    }
    match session.retired() {
        Some(record) => Decision { retired: true, ..Decision::new(Split::Off, Basis::Inferred, Some(record.line)) },
        None => Decision::new(Split::Unknown, Basis::Absent, None),
    }
}
