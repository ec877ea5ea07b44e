//! How a session ends by the rules: what of a replay decides, with nothing put into words.
//!
//! Questions about a fleet ask a million times and print nothing, so they ask here. A test holds every ending against the
//! whole answer.

use std::borrow::Cow;

use wire::{Crossing, Luid, Machine, Outcome, OverrideUse, Path, Policy, RuleOutcome, Split};

use super::advise::ends_well;
use super::answer::{Decided, decided};
use super::gate::fact_of;
use super::gl;
use super::overrides::MONITORS;

/// The end of one session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    /// What the session ends as.
    pub split: Split,
    /// The caller's tokens before the line masks them; null when engaged.
    pub reason: Option<&'static str>,
    /// It engaged first and was taken back.
    pub retired: bool,
    /// What crosses from one GPU to the other.
    pub crossing: Crossing,
    /// OpenGL only: its interop devices are on another adapter than its context.
    pub interop_crossing: bool,
    /// Where the app renders, so far as that is told.
    pub render_luid: Option<Luid>,
    /// Every override variable that is set.
    pub overrides: Vec<OverrideUse>,
    /// Facts that would tell more; empty when the end is certain.
    pub missing: Vec<Cow<'static, str>>,
    rules: Vec<RuleOutcome>,
}

/// Replays one session and keeps its end only.
pub fn ending(machine: &Machine, path: Path, policy: Policy) -> Ending {
    let Decided { mut trace, scanout, suggestion, render, decision, crossing, overrides, .. } =
        decided(machine, path, policy);
    let interop_crossing = path == Path::OpenGl && gl::interop(machine, suggestion.pick, &mut trace).2;
    if crossing == Crossing::Unknown && decision.split == Split::Off {
        if !scanout.is_told() {
            trace.miss(MONITORS);
        }
        if let (Some((render, _)), Some(scanout)) = (render.gpu, scanout.gpu) {
            for gpu in [render, scanout].into_iter().filter(|gpu| gpu.luid(machine).is_none()) {
                trace.miss(gpu.luid_fact());
            }
        }
    }
    if decision.split == Split::Unknown && trace.missing.is_empty() {
        // A client of the service has no placement of its own.
        trace.miss("path");
    }
    Ending {
        split: decision.split,
        reason: decision.reason,
        retired: decision.retired,
        crossing,
        interop_crossing,
        render_luid: render.gpu.and_then(|(gpu, _)| gpu.luid(machine)),
        overrides,
        missing: trace.missing,
        rules: trace.rules,
    }
}

impl Ending {
    /// False when a missing fact leaves open how it ends or what crosses.
    pub fn is_told(&self) -> bool {
        self.split != Split::Unknown && (self.crossing != Crossing::Unknown || self.missing.is_empty())
    }

    /// Good in the sense of [`advise`](super::advise()): the split engages or nothing crosses, and no interop does.
    pub fn is_good(&self) -> bool {
        ends_well(self.split, self.crossing, self.interop_crossing)
    }

    /// The one word for it.
    pub fn outcome(&self) -> Outcome {
        let tokens = || self.reason.into_iter().flat_map(|reason| reason.split(','));
        let killed = tokens().any(|token| token == "killed_by_env");
        Outcome::of_end(self.split, self.crossing, self.retired, killed, tokens())
    }

    /// The session facts and settings that a gate asked for, as a log's missing facts name them.
    pub fn asked(&self) -> impl Iterator<Item = Cow<'static, str>> {
        self.rules.iter().filter_map(|RuleOutcome { rule, .. }| match rule.strip_prefix("gate.") {
            Some(token) => fact_of(token),
            None if rule == "kill" => fact_of("killed_by_env"),
            None => None,
        })
    }
}
