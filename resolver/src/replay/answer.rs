//! From a machine, a path and a policy to the whole answer: asks the rules in order and puts their words together.

use std::borrow::Cow;

use wire::{Crossing, Machine, OverrideUse, Path, Policy, REPLAY_SCHEMA, Replay, ReplayRender, ReplayScanout, Split};

use super::device::{self, Device, Render, Suggestion};
use super::gate::{self, Decision};
use super::gpu::Gpu;
use super::line::{self, Line, Mask};
use super::overrides::{self, Forced, MONITORS};
use super::render::{self, Ranking};
use super::scanout::{self, Scanout};
use super::settings::{self, D3D_FORCE_GPU, Setting, VK_FORCE_GPU};
use super::trace::Trace;
use super::{deposit, gl, service, vulkan};
use crate::cost;

/// Replays one session on a machine.
///
/// Every rule that was asked stands in the answer with its outcome. Facts that a rule needed and did not find are named in
/// `missing`; what depends on them is null or unknown.
pub fn replay(machine: &Machine, path: Path, policy: Policy) -> Replay {
    let Decided { mut trace, scanout, ranking, overrides, suggestion, render, same, decision, crossing } =
        decided(machine, path, policy);
    let deposit = (path == Path::Vulkan)
        .then(|| {
            let for_split = policy == Policy::Adr039 && decision.reached_stage_a;
            deposit::answer(machine, render.gpu.map(|(gpu, _)| gpu), for_split, &mut trace)
        })
        .flatten();
    let (interop, interop_gpu, gl) = if path == Path::OpenGl {
        let (interop, gpu, answer) = gl::answer(machine, suggestion.pick, &mut trace);
        (Some(interop), gpu, Some(answer))
    } else {
        (None, None, None)
    };
    let (line, own_line) = print(machine, path, &render, &scanout, same, decision, &mut trace);
    let service = (path == Path::Service).then(|| {
        let mut answer = service::answer(machine, &ranking, suggestion.pick, &mut trace);
        answer.placement = own_line;
        answer
    });
    Replay {
        schema: Cow::Borrowed(REPLAY_SCHEMA),
        policy,
        path,
        render: render.gpu.map(|(gpu, provenance)| ReplayRender {
            name: gpu.name(machine).to_owned(),
            luid: gpu.luid(machine),
            provenance: provenance.map(|words| Cow::Borrowed(words.as_str())),
        }),
        scanout: scanout.gpu.map(|gpu| ReplayScanout {
            name: gpu.name(machine).to_owned(),
            luid: gpu.luid(machine),
            via: scanout.via,
        }),
        split: decision.split,
        reason: decision.reason.map(Cow::Borrowed),
        retired: decision.retired,
        crossing,
        overrides,
        interop,
        cost: cost::on_reference(crossing, machine.panel),
        line,
        ranking: ranking.list(machine),
        device_mask: mask(machine, [render.gpu.map(|(gpu, _)| gpu), scanout.gpu, interop_gpu]),
        deposit,
        gl,
        service,
        rules: trace.rules,
        warnings: trace.warnings,
        missing: trace.missing,
    }
}

/// What the rules decide, before anything is put into words.
pub(super) struct Decided {
    pub(super) trace: Trace,
    pub(super) scanout: Scanout,
    pub(super) ranking: Ranking,
    pub(super) overrides: Vec<OverrideUse>,
    pub(super) suggestion: Suggestion,
    pub(super) render: Render,
    pub(super) same: Option<bool>,
    pub(super) decision: Decision,
    pub(super) crossing: Crossing,
}

/// Asks the rules in order.
pub(super) fn decided(machine: &Machine, path: Path, policy: Policy) -> Decided {
    let mut trace = Trace::new();
    let at_origin = path == Path::Service;
    let scanout = scanout::resolve(machine, at_origin);
    scanout.note(&mut trace);
    let ranking = render::rank(machine);
    ranking.note(&mut trace);
    let mut overrides = Vec::new();
    let d3d = setting(machine, D3D_FORCE_GPU, "settings.DXR_D3D_FORCE_GPU", &mut trace).map(|setting| {
        let forced = overrides::d3d(machine, &ranking, &scanout, at_origin, setting);
        trace.note("override.DXR_D3D_FORCE_GPU", forced.outcome.as_str());
        use_of(D3D_FORCE_GPU, setting, forced, &mut overrides, &mut trace)
    });
    let vk = setting(machine, VK_FORCE_GPU, "settings.DXR_VK_FORCE_GPU", &mut trace).map(|setting| {
        let forced = vulkan::forced(machine, &scanout, at_origin, setting);
        trace.note("override.DXR_VK_FORCE_GPU", forced.outcome.as_str());
        use_of(VK_FORCE_GPU, setting, forced, &mut overrides, &mut trace)
    });
    let suggestion = device::suggest(&ranking, d3d.as_ref());
    let render = device::of(machine, path, &suggestion, vk.as_ref());
    trace.note("render.device", render.device.as_str());
    if render.device == Device::Unknown {
        device::name_missing(
            machine,
            path,
            &ranking,
            [d3d.as_ref().map(|f| &f.missing), vk.as_ref().filter(|_| path == Path::Vulkan).map(|f| &f.missing)],
            &mut trace,
        );
    }
    let same = match (render.gpu, scanout.gpu) {
        (Some((render, _)), Some(scanout)) => render.same_as(scanout, machine),
        _ => None,
    };
    let decision = decide(machine, path, policy, &render, &scanout, same, &mut trace);
    let crossing = match (same, decision.split) {
        (Some(true), _) => Crossing::None,
        (Some(false), Split::Engaged) => Crossing::AtlasPerFrame,
        (Some(false), Split::Off) => Crossing::EveryPresent,
        _ => Crossing::Unknown,
    };
    Decided { trace, scanout, ranking, overrides, suggestion, render, same, decision, crossing }
}

fn setting<'a>(machine: &'a Machine, name: &str, rule: &'static str, trace: &mut Trace) -> Option<Setting<'a>> {
    let (lookup, setting) = settings::look_up(&machine.settings, name);
    trace.note(rule, lookup.as_str());
    setting
}

/// Writes an override down, with its warning.
fn use_of<O>(
    name: &'static str,
    setting: Setting<'_>,
    mut forced: Forced<O>,
    overrides: &mut Vec<OverrideUse>,
    trace: &mut Trace,
) -> Forced<O> {
    trace.warnings.extend(forced.warning.take());
    overrides.push(OverrideUse {
        name: Cow::Borrowed(name),
        value: setting.value.to_owned(),
        source: setting.source,
        honoured: forced.honoured,
    });
    forced
}

fn decide(
    machine: &Machine,
    path: Path,
    policy: Policy,
    render: &Render,
    scanout: &Scanout,
    same: Option<bool>,
    trace: &mut Trace,
) -> Decision {
    let unknown =
        Decision { split: Split::Unknown, reason: None, retired: false, presenter: false, reached_stage_a: false };
    match path {
        // A client prints no placement line; its service does (vocabulary section 2).
        Path::IpcClient => return unknown,
        Path::Unknown => {
            trace.miss("path");
            return unknown;
        }
        // Neither has a gate for a device that cannot be identified (contract section 5).
        Path::D3d12 | Path::Service if render.gpu.is_none() => {
            trace.miss("session.device_luid");
            return unknown;
        }
        _ => {}
    }
    let facts = gate::Facts {
        path,
        policy,
        render: match render.device {
            Device::Unknown => None,
            _ => Some(render.gpu.is_some()),
        },
        scanout: scanout.is_told().then_some(scanout.gpu.is_some()),
        same,
    };
    let decision = gate::decide(machine, facts, trace);
    if decision.split == Split::Unknown && !scanout.is_told() {
        trace.miss(MONITORS);
    } else if decision.split == Split::Unknown && same.is_none() {
        for gpu in [render.gpu.map(|(gpu, _)| gpu), scanout.gpu].into_iter().flatten() {
            if gpu.luid(machine).is_none() {
                trace.miss(gpu.luid_fact());
            }
        }
    }
    decision
}

/// The line, and for a client's presenter the service's own line as well.
fn print(
    machine: &Machine,
    path: Path,
    render: &Render,
    scanout: &Scanout,
    same: Option<bool>,
    decision: Decision,
    trace: &mut Trace,
) -> (Option<String>, Option<String>) {
    if matches!(path, Path::IpcClient | Path::Unknown) {
        trace.note("line", Mask::None.as_str());
        return (None, None);
    }
    if decision.retired {
        let Line { mask, text } = line::changed(decision.reason.unwrap_or("unknown"));
        trace.note("line", mask.as_str());
        return (Some(text), None);
    }
    let full = full_line(machine, render, scanout, same, decision, trace);
    let own = full.as_ref().map(|line| line.text.clone()).filter(|_| path == Path::Service);
    let line = if decision.presenter { Some(line::presenter(gate::PRESENTER_REASON)) } else { full };
    trace.note("line", line.as_ref().map_or(Mask::Unknown, |line| line.mask).as_str());
    (line.map(|line| line.text), own)
}

/// Null when a part of it is not known: "not told" is no reason to print UNKNOWN.
fn full_line(
    machine: &Machine,
    render: &Render,
    scanout: &Scanout,
    same: Option<bool>,
    decision: Decision,
    trace: &mut Trace,
) -> Option<Line> {
    if decision.split == Split::Unknown || render.device == Device::Unknown {
        return None;
    }
    if !scanout.is_told() {
        trace.miss(MONITORS);
        return None;
    }
    let mut named = |gpu: Gpu| {
        if gpu.luid(machine).is_none() {
            trace.miss(gpu.luid_fact());
        }
        gpu.luid(machine).map(|luid| (gpu.name(machine), luid))
    };
    let render = match render.gpu {
        Some((gpu, _)) => Some(named(gpu)?),
        None => None,
    };
    let scanout = match scanout.gpu {
        Some(gpu) => Some(named(gpu)?),
        None => None,
    };
    let active = decision.split == Split::Engaged || decision.presenter;
    let mut line = line::placement(render, scanout, same == Some(true), active, decision.reason);
    if ![render, scanout].into_iter().flatten().all(|(name, _)| line::prints(name)) {
        trace.note("line.name", "cannot be converted: the record has an empty body");
        line.text.clear();
    }
    Some(line)
}

/// The listed ones among these adapters.
fn mask(machine: &Machine, gpus: [Option<Gpu>; 3]) -> String {
    let listed = gpus.into_iter().flatten().filter_map(|gpu| match gpu {
        Gpu::Listed(index) => Some(index),
        Gpu::Foreign(_) | Gpu::Told => None,
    });
    crate::mask::of(machine.adapters.len(), listed)
}
