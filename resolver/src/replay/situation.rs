//! From one log to the situation behind it: what a replay needs, equal for equal PCs.

use std::collections::BTreeMap;

use wire::{Agreement, Luid, Machine, Path, Policy, SessionFacts, Settings, Situation, ToldScanout, Verdict};

use super::settings::WEAVE_ON_SCANOUT;
use super::told::Switch;
use super::{compare, depends_on, ending, replay};
use crate::Examination;

/// The situation of a log's last session.
///
/// What its placement says counts as a fact: both adapters, and what it says of the session. Where the rules then say what the
/// log says, every gate that they asked is confirmed by it, so its fact is no longer open.
pub fn situation(examination: &Examination) -> Situation {
    let Examination { told, observed, policy, judgement, .. } = examination;
    let path = judgement.path;
    let (mut machine, switch) = match observed {
        Some(observed) => told.as_observed(observed),
        None => (told.machine.clone(), Switch::Named),
    };
    place(&mut machine, path, &judgement.verdict);
    let agrees = |observed| compare(&replay(&machine, path, *policy), observed, &[]).result == Agreement::Agrees;
    let confirmed: Vec<_> = if observed.as_ref().is_some_and(agrees) {
        ending(&machine, path, *policy).asked().collect()
    } else {
        Vec::new()
    };
    // What has no default is missing in the machine itself.
    let has_default = |fact: &str| SessionFacts::FLAGS.contains(&fact) || fact.starts_with("settings.");
    let matters = |fact: &str| Policy::ALL.into_iter().any(|policy| depends_on(path, policy, fact));
    let missing = told.missing.iter().filter(|fact| has_default(fact) && matters(fact) && !confirmed.contains(fact));
    let missing = missing.cloned().collect();
    Situation { policy: *policy, path, machine: renumber(machine), missing, unasked: switch == Switch::NotAsked }
}

/// Sets environment settings for everybody. They outrank every store: an empty value counts as unset and hides what a store
/// says, but it asks no build of generation G1 for the split.
pub fn set(situation: &mut Situation, settings: &BTreeMap<String, String>) {
    for (name, value) in settings {
        let asks = !(situation.unasked && name == WEAVE_ON_SCANOUT && value.is_empty());
        if asks {
            situation.machine.settings.env.insert(name.clone(), value.clone());
        }
    }
}

/// Where resolver and device say nothing of themselves, the verdict still names the adapters; what is not told is left open.
fn place(machine: &mut Machine, path: Path, verdict: &Verdict) {
    if let (Some(true), Some(own)) = (machine.told_scanout.as_ref().map(ToldScanout::is_open), &verdict.scanout) {
        machine.told_scanout = Some(ToldScanout { name: own.name.clone(), luid: Some(own.luid), via: None });
    }
    // No log says that an adapter is no Vulkan device.
    for kind in machine.adapters.iter_mut().map(|adapter| &mut adapter.vulkan_type) {
        kind.get_or_insert_with(|| "unknown".to_owned());
    }
    let device = if path == Path::OpenGl { &mut machine.session.gl_luid } else { &mut machine.session.device_luid };
    *device = device.or(verdict.render.as_ref().map(|own| own.luid));
}

/// LUIDs differ from boot to boot and only tell adapters apart, so they are numbered from 1 in order of appearance. Zero is
/// how the runtime says that it has none. A LUID that a setting names stands for itself, and then all do.
fn renumber(mut machine: Machine) -> Machine {
    let known: Vec<Luid> = luids(&mut machine).map(|luid| *luid).collect();
    if names_any(&machine.settings, &known) {
        return machine;
    }
    let mut numbers = BTreeMap::new();
    for luid in known.into_iter().filter(|luid| !luid.is_zero()) {
        let next = Luid(numbers.len() as u64 + 1);
        numbers.entry(luid).or_insert(next);
    }
    for luid in luids(&mut machine) {
        *luid = numbers.get(luid).copied().unwrap_or_default();
    }
    machine
}

/// Every LUID of a machine, adapters first.
fn luids(machine: &mut Machine) -> impl Iterator<Item = &mut Luid> {
    let Machine { adapters, monitors, told_scanout, session, .. } = machine;
    let adapters = adapters.iter_mut().filter_map(|adapter| adapter.luid.as_mut());
    let monitors =
        monitors.iter_mut().flat_map(|monitor| monitor.path_luid.iter_mut().chain(&mut monitor.enumerated_by));
    let told = told_scanout.iter_mut().filter_map(|told| told.luid.as_mut());
    adapters.chain(monitors).chain(told).chain(session.device_luid.as_mut()).chain(session.gl_luid.as_mut())
}

fn names_any(settings: &Settings, known: &[Luid]) -> bool {
    let values = [&settings.env, &settings.user, &settings.machine].into_iter().flat_map(BTreeMap::values);
    values.filter_map(|value| value.parse().ok()).any(|luid| known.contains(&luid))
}
