//! From saved `displayxr-cli` output to a machine: what does the tool tell of adapters, panel and settings, and what does
//! its own resolver's answer tell of the facts that it does not print?
//!
//! The section lists hardware adapters without saying whether they are remote or how able they are. The line on the
//! service's ingest adapter names the winner of the same ranking with the words for it, and a winner has passed every
//! exclusion (vocabulary 9.1 and 10.1).

use std::borrow::Cow;

use resolver::replay::Told;
use wire::{
    CliAdapter, CliOutput, IngestLine, Machine, MachineAdapter, Rect, Resolved, SessionFacts, Settings, ToldScanout,
    Topology,
};

/// The kill switch.
const KILL: &str = "DXR_WEAVE_ON_SCANOUT";
/// The override of the adapter.
const FORCE: &str = "DXR_D3D_FORCE_GPU";

/// What the tool tells, and which facts it leaves open. Output without a topology tells settings at most.
pub(super) fn told(output: &CliOutput) -> Told {
    let topology = topology(output);
    let mut machine = Machine::new(topology.map(adapters).unwrap_or_default());
    // No output of the tool tells of a session: it has none.
    let mut missing: Vec<Cow<'static, str>> =
        SessionFacts::FLAGS.into_iter().chain(["session.device_luid"]).map(Cow::Borrowed).collect();
    // The tool says of the panel only which adapter drives it, or where it looked in vain.
    match topology.and_then(|own| own.scanout.as_ref()) {
        Some(Resolved::Adapter(adapter)) => {
            let (name, luid) = (adapter.name.clone(), Some(adapter.luid));
            machine.told_scanout = Some(ToldScanout { name, luid, via: None });
        }
        Some(Resolved::Unresolved(why)) => machine.panel = panel(why),
        None => {
            machine.told_scanout = Some(ToldScanout::open());
            missing.push(Cow::Borrowed("monitors"));
        }
    }
    machine.dxgi = !topology.is_some_and(no_factory);
    if machine.adapters.is_empty() && machine.dxgi {
        missing.push(Cow::Borrowed("adapters"));
    }
    let levers = output.perf.as_ref().map(|perf| perf.levers.as_slice()).unwrap_or_default();
    let kill_told = topology.is_some_and(|own| own.weave_on_scanout.is_some() || own.service_split.is_some());
    if !kill_told && !levers.iter().any(|lever| lever.name == KILL) {
        missing.push(Cow::Borrowed("settings.DXR_WEAVE_ON_SCANOUT"));
    }
    machine.settings = settings(output, topology);
    Told { machine, missing }
}

/// The topology section, when it was evaluated.
pub(super) fn topology(output: &CliOutput) -> Option<&Topology> {
    output.topology.as_ref().filter(|own| own.verdict.as_deref() != Some("not evaluated"))
}

/// True when the tool's build splits only where the kill switch's variable asks for it (vocabulary 10.1, before Phase 3).
pub(super) fn must_be_asked(output: &CliOutput) -> bool {
    const BEFORE_PHASE_3: [&str; 3] = ["OFF (", "flag set", "WOULD ENGAGE (flag set"];
    let split = topology(output).and_then(|own| own.service_split.as_deref());
    split.is_some_and(|words| BEFORE_PHASE_3.iter().any(|start| words.starts_with(start)))
}

fn adapters(topology: &Topology) -> Vec<MachineAdapter> {
    let mut adapters: Vec<_> = topology.adapters.iter().map(adapter).collect();
    if let Some(line) = &topology.service_ingest {
        learn_candidates(&mut adapters, line);
    }
    adapters
}

fn adapter(told: &CliAdapter) -> MachineAdapter {
    MachineAdapter {
        name: told.name.clone(),
        luid: Some(told.luid),
        vendor_id: None,
        device_id: None,
        dedicated_vram_mib: Some(told.dedicated_vram_mib),
        // The section lists hardware adapters only (vocabulary 10.1).
        software: Some(false),
        remote: None,
        feature_level: None,
        vulkan_type: Some("unknown".to_owned()),
    }
}

/// The ranking's winner passed the exclusions; one that would have beaten it did not; and when the words say that it beat
/// somebody, and only one is left that it can have beaten, that one passed them too.
fn learn_candidates(adapters: &mut [MachineAdapter], line: &IngestLine) {
    let (Resolved::Adapter(chosen), Some(words)) = (&line.adapter, line.provenance.as_deref()) else { return };
    let Some(winner) = adapters.iter().position(|own| own.luid == Some(chosen.luid)) else { return };
    if let Some((_, keyword)) = words.split_once("-forced: ") {
        // Every keyword chooses among the candidates, save the one that follows the panel.
        if keyword != "scanout" {
            passed(&mut adapters[winner]);
        }
        return;
    }
    let vram = adapters[winner].dedicated_vram_mib;
    let weaker = |at: usize| adapters[at].dedicated_vram_mib < vram;
    let equal = |at: usize| adapters[at].dedicated_vram_mib == vram && at > winner;
    let others = (0..adapters.len()).filter(|at| *at != winner);
    let (beaten, lost): (Vec<_>, Vec<_>) = match words {
        "only candidate" => (Vec::new(), others.collect()),
        "most VRAM" => others.partition(|at| weaker(*at)),
        "lowest index (tie)" => {
            let lost = others.clone().filter(|at| !weaker(*at) && !equal(*at)).collect();
            (others.filter(|at| equal(*at)).collect(), lost)
        }
        _ => (Vec::new(), Vec::new()),
    };
    passed(&mut adapters[winner]);
    if let [only] = beaten[..] {
        passed(&mut adapters[only]);
    }
    for at in lost {
        // Left out of rendering, for a reason that is not told; this one leaves it its outputs.
        adapters[at].remote = Some(true);
    }
}

fn passed(adapter: &mut MachineAdapter) {
    adapter.remote = Some(false);
    // At least this one.
    adapter.feature_level = Some("11_0".to_owned());
}

fn no_factory(topology: &Topology) -> bool {
    topology.verdict.as_ref().is_some_and(|verdict| verdict.contains("DXGI factory unavailable"))
}

/// From `… (panel 3840x2160 at -3840,0)`; no size is what the tool prints when no plug-in reports the panel.
fn panel(why: &str) -> Option<Rect> {
    let (size, place) = why.split("(panel ").nth(1)?.split_once(')')?.0.split_once(" at ")?;
    let ((width, height), (left, top)) = (size.split_once('x')?, place.split_once(',')?);
    let rect = Rect {
        left: left.parse().ok()?,
        top: top.parse().ok()?,
        width: width.parse().ok()?,
        height: height.parse().ok()?,
    };
    (rect.width > 0 && rect.height > 0).then_some(rect)
}

/// `perf list` says who set what; `info` shows what its own process found, and only of an override who set it.
fn settings(output: &CliOutput, topology: Option<&Topology>) -> Settings {
    let mut settings = Settings::default();
    for lever in output.perf.iter().flat_map(|perf| &perf.levers) {
        // A lever that the environment holds without a value hides the stores and counts as unset.
        let value = lever.value.clone().unwrap_or_default();
        if let Some(store) = store(&mut settings, &lever.source) {
            store.insert(lever.name.clone(), value);
        }
    }
    let Some(topology) = topology else { return settings };
    let mut tell = |source: &str, name: &str, value: String| {
        let told = [&settings.env, &settings.user, &settings.machine].iter().any(|store| store.contains_key(name));
        if let Some(store) = store(&mut settings, source).filter(|_| !told) {
            store.insert(name.to_owned(), value);
        }
    };
    let split = topology.service_split.as_deref().unwrap_or_default();
    match &topology.weave_on_scanout {
        Some(Some(value)) => tell("env", KILL, value.clone()),
        Some(None) => {}
        None => {
            if let Some(value) = killed_by(split) {
                tell("env", KILL, value.to_owned());
            }
        }
    }
    if let Some(("staged" | "adaptive", ingress)) = split.rsplit_once("; ingress ").map(|(_, own)| (own, own)) {
        tell("env", "DXR_SPLIT_INGRESS", ingress.to_owned());
    }
    if let Some(line) = &topology.service_ingest {
        let forced = line.provenance.as_deref().and_then(|words| words.split_once("-forced: "));
        let value = match (&line.forced, forced) {
            (Some((value, _)), _) => Some(value.clone()),
            (None, Some((_, "index"))) => index(topology, line),
            (None, Some((_, keyword))) => Some(keyword.to_owned()),
            (None, None) => None,
        };
        if let Some(value) = value {
            tell(forced.map_or("env", |(source, _)| source), FORCE, value);
        }
    }
    settings
}

fn store<'a>(settings: &'a mut Settings, source: &str) -> Option<&'a mut std::collections::BTreeMap<String, String>> {
    match source {
        "env" => Some(&mut settings.env),
        "user" => Some(&mut settings.user),
        "machine" => Some(&mut settings.machine),
        _ => None,
    }
}

/// The number of the chosen adapter, which the words for a forced choice leave out.
fn index(topology: &Topology, line: &IngestLine) -> Option<String> {
    let Resolved::Adapter(chosen) = &line.adapter else { return None };
    topology.adapters.iter().position(|own| own.luid == chosen.luid).map(|at| at.to_string())
}

/// The value stands between its name and a dash, which a wrong code page may have spelled anew.
fn killed_by(split: &str) -> Option<&str> {
    let (value, _) = split.strip_prefix("KILLED (DXR_WEAVE_ON_SCANOUT=")?.rsplit_once(" the default is ON since")?;
    value.rsplit_once(' ').map(|(value, _)| value)
}

#[cfg(test)]
mod tests;
