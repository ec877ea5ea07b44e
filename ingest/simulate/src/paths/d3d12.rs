//! In-process D3D12, with its re-route through the D3D11 fill engine (#1264).

use wire::Split;

use super::{is_newest, old};
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::record;

const STAGE_A: &str = "d3d12_split_stage_a";
const RETIRE: &str = "d3d12_split_retire";
const DIAG: &str = "d3d12_split_render_diag";
const REROUTED_DIAG: &str = "comp_vk_split_render_diag";

pub(crate) fn session(log: &mut Log<'_>) -> (Outcome, Option<Ended>) {
    if log.has_issue_1000() {
        let provenance = log.provenance.clone();
        log.requirements(&provenance);
        let luid = log.luid(log.render);
        log.put(record("t.d12dev").luid("adapter.luid", luid));
        log.issue_1000 = true;
    }
    if !is_newest(log) {
        return old(log, "t.use12");
    }
    let panel = log.pc.panel();
    let (width, height) = (u64::from(panel.width), u64::from(panel.height));
    log.put(
        record("t.pixels")
            .by("comp_d3d12_compositor_create")
            .uint("pixels.width", width)
            .uint("pixels.height", height)
            .uint("view.width", width / 2)
            .uint("view.height", height),
    );
    let outcome = log.choose(wire::Path::D3d12);
    let ended = open(log, &outcome);
    if log.cut {
        return (outcome, Some(ended));
    }
    let uses = |log: &mut Log<'_>| log.put(record("t.use12").text("suffix", ""));
    let ended = match outcome {
        Outcome::Mask | Outcome::CutBehindRetired => {
            uses(log);
            log.run(Some(DIAG));
            let cause = "an authored mask cannot be carried";
            let line = log.put(record("s12.retired").text("cause", cause));
            if outcome == Outcome::CutBehindRetired {
                log.cut = true;
                Ended { retired: true, ..ended.corrected(Split::Off, line) }
            } else {
                log.changed(ended, RETIRE, "authored_mask")
            }
        }
        Outcome::Engaged => {
            uses(log);
            log.run(Some(DIAG));
            ended
        }
        Outcome::SameEngaged | Outcome::HybridReroute => {
            uses(log);
            log.run(Some(REROUTED_DIAG));
            ended
        }
        _ => {
            uses(log);
            log.run(None);
            ended
        }
    };
    (outcome, Some(ended))
}

/// Stage A, the placement line, and a take-back that follows at once.
fn open(log: &mut Log<'_>, outcome: &Outcome) -> Ended {
    if let Outcome::Refused(token) = outcome {
        if *token == "scanout_unresolvable" {
            log.found_scanout();
        }
        let line = log.put(record("s12.disabled").text("cause", *token));
        log.evidence.refusal = Some((line, (*token).to_owned()));
        log.found_scanout();
        return log.own_placement(false, token);
    }
    log.found_scanout();
    let Some(at) = log.scanout else { return log.own_placement(false, "killed_by_env") };
    let (name, luid, app) = (log.adapters[at].name.clone(), log.luid(at), log.luid(log.render));
    let on = |shape| record(shape).wide("adapter.name", &name).luid("adapter.luid", luid);
    match outcome {
        Outcome::Killed => log.own_placement(false, "killed_by_env"),
        Outcome::Same => {
            log.put(on("s12.noop"));
            log.found_scanout();
            log.own_placement(false, "same_adapter")
        }
        Outcome::Contradiction => {
            let ended = log.placement(Some(log.render), Some(log.render), false, "same_adapter");
            log.contradicts(ended)
        }
        Outcome::SameEngaged | Outcome::HybridReroute => {
            let (mode, note) = match outcome {
                Outcome::SameEngaged => ("same-adapter", ", accepted default"),
                _ => ("HYBRID (cross-adapter)", ", PROTOTYPE opt-in DXR_SPLIT_D3D12_HYBRID_REROUTE=1"),
            };
            let engage = record("s12.adr039").text("mode", mode).wide("adapter.name", &name).luid("adapter.luid", luid);
            log.put(engage.text("note", note));
            let line = reroute(log, &name, luid, app);
            log.found_scanout();
            let ended = log.own_placement(false, "unknown");
            if *outcome == Outcome::HybridReroute {
                // The rules expect `split=1` here; the line says `unknown` all the same (vocabulary section 2).
                log.mismatch = ended.line.filter(|_| !log.evidence.lost);
            }
            ended.corrected(Split::Engaged, line)
        }
        Outcome::StageAFailed => {
            log.put(record("s12.createdev").hex("hresult", 0x887e_0003));
            log.stage_a("ssv.stagea", STAGE_A, false);
            log.found_scanout();
            log.own_placement(false, "stage_a_failed")
        }
        Outcome::NewToken(token) => log.refused_by_new_token("s12.disabled", token),
        _ => {
            log.bridge();
            log.put(on("s12.active").luid("app.luid", app));
            log.stage_a("ssv.stagea", STAGE_A, true);
            log.found_scanout();
            let ended = log.own_placement(true, "");
            if *outcome == Outcome::DpRefused {
                log.put(record("s12.dpfail").int("error", -1).text("device", "SCANOUT").by("d3d12_create_dp"));
                let cause = "the display processor declined a weaver on the scanout adapter";
                log.put(record("s12.retired").text("cause", cause));
                return log.changed(ended, RETIRE, "dp_refused_scanout");
            }
            let hwnd = log.hwnd();
            log.put(record("s12.dpok").text("device", "SCANOUT").hex("hwnd", hwnd).by("d3d12_create_dp"));
            ended
        }
    }
}

/// The fill engine of D3D11 takes over; answers the line that says so.
fn reroute(log: &mut Log<'_>, name: &str, luid: wire::Luid, app: wire::Luid) -> u64 {
    let panel = log.pc.panel();
    let (width, height) = (u64::from(panel.width), u64::from(panel.height));
    super::vulkan::stage_a1(log);
    let own = log.adapters[log.render].name.clone();
    log.put(
        record("dd.active")
            .by("comp_d3d12_deposit_create")
            .wide("adapter.name", &own)
            .luid("adapter.luid", app)
            .uint("width", width)
            .uint("height", height)
            .uint("count", 2),
    );
    log.bridge();
    log.put(record("svk.active").wide("adapter.name", name).luid("adapter.luid", luid).luid("app.luid", app));
    log.put(record("svk.a2").decimal("ms", "36.2"));
    log.put(record("s12.reroute_active").uint("width", width).uint("height", height).uint("count", 2))
}
