//! In-process Vulkan: deposit, split, bridge behind the placement line.

use wire::Split;

use super::{is_newest, old};
use crate::description::Variable;
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::record;

const RETIRE: &str = "comp_vk_split_retire";
const DIAG: &str = "comp_vk_split_render_diag";

pub(crate) fn session(log: &mut Log<'_>) -> (Outcome, Option<Ended>) {
    if !is_newest(log) {
        return old(log, "t.usevk");
    }
    if let Some(setting) = log.levers.vulkan {
        let line = log.put(record("vf.value").text("value", setting.value.clone()));
        log.note("override_not_honoured", Variable::VkForceGpu.as_str(), line);
    }
    log.w.pass(9);
    let outcome = if log.build.vulkan_split { log.choose(wire::Path::Vulkan) } else { Outcome::NoSplit };
    let ended = open(log, &outcome);
    log.put(record("t.usevk").text("suffix", ""));
    let ended = match outcome {
        Outcome::Engaged | Outcome::SameEngaged => {
            log.run(Some(DIAG));
            ended
        }
        Outcome::Mask | Outcome::CutBehindRetired => {
            log.run(Some(DIAG));
            let line = log.put(record("svk.retired").text("cause", "an authored mask cannot be carried"));
            if outcome == Outcome::CutBehindRetired {
                log.cut = true;
                Ended { retired: true, ..ended.corrected(Split::Off, line) }
            } else {
                log.changed(ended, RETIRE, "authored_mask")
            }
        }
        _ => {
            log.run(None);
            ended
        }
    };
    (outcome, Some(ended))
}

fn open(log: &mut Log<'_>, outcome: &Outcome) -> Ended {
    log.found_scanout();
    // A gate that refuses Vulkan prints no DISABLED line (vocabulary section 5).
    let refused = |log: &mut Log<'_>, token: &str| {
        let render = Some(log.render).filter(|_| token != "render_unresolvable");
        let ended = log.placement(render, log.scanout, false, token);
        if token == "no_timeline_semaphore" {
            log.put(record("vd.notimeline"));
        } else if token != "render_unresolvable" {
            deposit(log);
        }
        ended
    };
    match outcome {
        Outcome::Refused(token) => return refused(log, token),
        Outcome::Killed => return refused(log, "killed_by_env"),
        Outcome::NoSplit => return refused(log, "api_unsupported"),
        Outcome::NewToken(token) => {
            let ended = refused(log, token);
            if !log.evidence.lost {
                log.unknown_token(ended.line.unwrap_or_default(), &ended, token);
            }
            return ended;
        }
        Outcome::Contradiction => {
            let ended = log.placement(Some(log.render), Some(log.render), false, "same_adapter");
            deposit(log);
            return log.contradicts(ended);
        }
        _ => {}
    }
    let Some(at) = log.scanout else { return refused(log, "scanout_unresolvable") };
    let (name, luid, app) = (log.adapters[at].name.clone(), log.luid(at), log.luid(log.render));
    let on = |shape| record(shape).wide("adapter.name", &name).luid("adapter.luid", luid);
    match outcome {
        Outcome::Same => {
            log.put(on("svk.noop"));
            log.found_scanout();
            return refused(log, "same_adapter");
        }
        Outcome::StageAFailed => {
            log.put(record("svk.devfail").hex("hresult", 0x887a_0004));
            log.put(record("svk.disabled").text("cause", "D3D11CreateDevice failed"));
            log.found_scanout();
            return refused(log, "stage_a_failed");
        }
        Outcome::DpRefused => {
            log.put(record("svk.dpfail").int("error", -1));
            let cause = "the display processor declined a weaver on the scanout adapter";
            log.put(record("svk.disabled").text("cause", cause));
            log.found_scanout();
            return refused(log, "dp_refused_scanout");
        }
        Outcome::SameEngaged => {
            log.put(on("svk.adr039"));
        }
        _ => {}
    }
    stage_a1(log);
    log.found_scanout();
    let ended = log.own_placement(true, "");
    deposit(log);
    log.put(record("vd.active"));
    log.bridge();
    let line = log.put(on("svk.active").luid("app.luid", app));
    log.put(record("svk.a2").decimal("ms", "34.5"));
    if *outcome == Outcome::SameEngaged { ended.corrected(Split::Engaged, line) } else { ended }
}

/// Device, weaver and swapchain on the panel's GPU.
pub(super) fn stage_a1(log: &mut Log<'_>) {
    let hwnd = log.hwnd();
    log.w.pass(34);
    log.put(record("svk.dpok").hex("hwnd", hwnd));
    let tenths = log.dice.between(600, 900);
    log.put(record("svk.a1").decimal("ms", format!("{}.{}", tenths / 10, tenths % 10)));
}

/// The deposit finds its adapter.
fn deposit(log: &mut Log<'_>) {
    let panel = log.pc.panel();
    let (name, luid) = (log.adapters[log.render].name.clone(), log.luid(log.render));
    log.w.pass(9);
    log.put(
        record("vd.match")
            .luid("adapter.luid", luid)
            .wide("adapter.name", &name)
            .luid("device.luid", luid)
            .uint("width", u64::from(panel.width))
            .uint("height", u64::from(panel.height))
            .uint("count", 2),
    );
}
