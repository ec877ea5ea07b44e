//! What one session would become under another policy or other settings (issue 5, what-if).
//!
//! Better and worse follow what [`advise`](super::advise()) calls good. Session facts that the log leaves open keep their
//! defaults; those that the new answer rests on are named, and so is `session.device_luid` where an app is taken to follow an
//! override.

use std::borrow::Cow;
use std::collections::BTreeMap;

use wire::{Policy, Situation};

use super::settings::{D3D_FORCE_GPU, VK_FORCE_GPU};
use super::situation::set;
use super::{Ending, ending};

/// The token of the kill switch.
const KILLED: &str = "killed_by_env";

/// What is changed, for every session alike.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// The rules to ask; null: those that the log shows.
    pub policy: Option<Policy>,
    /// Environment settings, which outrank every store. An empty value counts as unset and hides what a store says.
    pub set: BTreeMap<String, String>,
}

/// What a change does to a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Effect {
    /// It was not good and is.
    Better,
    /// It was good and is not.
    Worse,
    /// Another outcome, neither better nor worse.
    Sideways,
    /// The same outcome.
    Stay,
    /// A missing fact leaves one of both open.
    CannotReplay,
}

/// One session before and after a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WhatIf {
    /// What it does.
    pub effect: Effect,
    /// As it is, by the rules.
    pub before: Ending,
    /// Under the change.
    pub after: Ending,
    /// Facts that the answer needs and nobody told; empty unless it cannot be replayed.
    pub missing: Vec<Cow<'static, str>>,
    /// Facts that the log leaves open and the new answer takes at their defaults.
    pub assumed: Vec<Cow<'static, str>>,
}

/// Replays a situation as it is, and under the change. `against` are the rules for "as it is"; null: those that the log
/// shows.
pub fn what_if(mut situation: Situation, against: Option<Policy>, change: &Change) -> WhatIf {
    let own = situation.policy;
    let path = situation.path;
    let mut before = ending(&situation.machine, path, against.unwrap_or(own));
    // An app renders where the runtime tells it to. One that was seen elsewhere goes its own way under any override.
    let may_move = [D3D_FORCE_GPU, VK_FORCE_GPU].iter().any(|name| change.set.contains_key(*name));
    let device = situation.machine.session.device_luid.filter(|_| may_move);
    let mut follows = false;
    if device.is_some() {
        situation.machine.session.device_luid = None;
        let suggested = ending(&situation.machine, path, own).render_luid;
        follows = suggested.is_none_or(|suggested| Some(suggested) == device);
    }
    set(&mut situation, &change.set);
    let policy = change.policy.unwrap_or(own);
    let mut after = ending(&situation.machine, path, policy);
    if device.is_some() {
        // An override that is ignored moves nobody.
        let ignored = after.overrides.iter().all(|own| own.honoured == Some(false)) && before.overrides.is_empty();
        if !follows || ignored {
            follows = false;
            situation.machine.session.device_luid = device;
            after = ending(&situation.machine, path, policy);
        }
    }
    if situation.unasked {
        // The kill switch only stands for nobody having asked: no token says so, and no setting is to blame.
        for own in [&mut before, &mut after] {
            own.reason = own.reason.filter(|reason| *reason != KILLED);
        }
    }
    let is_told = before.is_told() && after.is_told();
    let effect = match (before.is_good(), after.is_good()) {
        _ if !is_told => Effect::CannotReplay,
        (false, true) => Effect::Better,
        (true, false) => Effect::Worse,
        _ if (before.outcome(), before.reason) == (after.outcome(), after.reason) => Effect::Stay,
        _ => Effect::Sideways,
    };
    let mut missing = Vec::new();
    for ending in [&before, &after].into_iter().filter(|ending| !ending.is_told()) {
        for fact in &ending.missing {
            if !missing.contains(fact) {
                missing.push(fact.clone());
            }
        }
    }
    // What is set by the change is no assumption.
    let is_set = |fact: &str| fact.strip_prefix("settings.").is_some_and(|name| change.set.contains_key(name));
    let mut assumed: Vec<_> = Vec::new();
    if effect != Effect::CannotReplay {
        assumed.extend(follows.then_some(Cow::Borrowed("session.device_luid")));
        for fact in after.asked().filter(|fact| situation.missing.contains(fact) && !is_set(fact)) {
            if !assumed.contains(&fact) {
                assumed.push(fact);
            }
        }
    }
    WhatIf { effect, before, after, missing, assumed }
}

impl Effect {
    /// All five, in the order of answers.
    pub const ALL: [Self; 5] = [Self::Better, Self::Worse, Self::Sideways, Self::Stay, Self::CannotReplay];

    /// The word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Sideways => "sideways",
            Self::Stay => "stay",
            Self::CannotReplay => "cannot_replay",
        }
    }
}
