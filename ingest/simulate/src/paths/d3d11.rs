//! In-process D3D11.

use wire::{Generation, Split};

use super::{is_newest, old};
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::record;

const CREATE: &str = "comp_d3d11_compositor_create";

pub(crate) fn session(log: &mut Log<'_>) -> (Outcome, Option<Ended>) {
    let tagged = log.has_issue_1000();
    if tagged {
        let provenance = log.provenance.clone();
        log.requirements(&provenance);
    }
    let outcome = if is_newest(log) { log.choose(wire::Path::D3d11) } else { Outcome::Old };
    if tagged && outcome != Outcome::Refused("render_unresolvable") {
        let (name, luid) = (log.adapters[log.render].name.clone(), log.luid(log.render));
        log.put(record("t.d11dev").wide("adapter.name", &name).luid("adapter.luid", luid));
        log.issue_1000 |= !super::beyond_latin1(&name);
    }
    if outcome == Outcome::Old {
        if log.build.generation == Generation::G0 {
            return old(log, "t.use11");
        }
        log.found_scanout();
        let ended = log.first_placement(CREATE);
        old(log, "t.use11");
        return (outcome, Some(ended));
    }
    let ended = newest(log, &outcome);
    log.put(record("t.use11").text("suffix", ""));
    log.run(None);
    (outcome, Some(ended))
}

/// Stage A and the placement line.
fn newest(log: &mut Log<'_>, outcome: &Outcome) -> Ended {
    let disabled = |log: &mut Log<'_>, cause: &str| log.put(record("s11.disabled").text("cause", cause));
    match outcome {
        Outcome::Killed => {
            log.found_scanout();
            log.own_placement(false, "killed_by_env")
        }
        Outcome::Refused(token) => {
            if *token == "scanout_unresolvable" {
                log.found_scanout();
            }
            let line = disabled(log, token);
            log.evidence.refusal = Some((line, (*token).to_owned()));
            log.found_scanout();
            let render = Some(log.render).filter(|_| *token != "render_unresolvable");
            log.placement(render, log.scanout, false, token)
        }
        Outcome::Contradiction => {
            log.found_scanout();
            let ended = log.placement(Some(log.render), Some(log.render), false, "same_adapter");
            log.contradicts(ended)
        }
        _ => {
            log.found_scanout();
            stage_a(log, outcome)
        }
    }
}

fn stage_a(log: &mut Log<'_>, outcome: &Outcome) -> Ended {
    let Some(at) = log.scanout else { return log.own_placement(false, "scanout_unresolvable") };
    let (name, luid, app) = (log.adapters[at].name.clone(), log.luid(at), log.luid(log.render));
    let on = |shape| record(shape).wide("adapter.name", &name).luid("adapter.luid", luid);
    match outcome {
        Outcome::Same => {
            log.put(on("s11.noop"));
            log.found_scanout();
            log.own_placement(false, "same_adapter")
        }
        Outcome::SameEngaged => {
            let line = log.put(on("s11.adr039"));
            weaver(log);
            log.stage_a("s11.stagea", CREATE, true);
            log.found_scanout();
            log.own_placement(false, "same_adapter").corrected(Split::Engaged, line)
        }
        Outcome::StageAFailed => {
            let cause = ["D3D11CreateDevice failed", "cross-adapter heap unsupported", "egress share failed"];
            let cause = log.dice.one_of(&cause).copied().unwrap_or_default();
            if cause.starts_with("D3D11") {
                log.put(record("s11.devfail").hex("hresult", 0x887a_0004));
            }
            log.put(record("s11.disabled").text("cause", cause));
            log.stage_a("s11.stagea", CREATE, false);
            log.found_scanout();
            log.own_placement(false, "stage_a_failed")
        }
        Outcome::DpRefused => {
            log.put(record("s11.dpfail").int("error", -1).text("device", "SCANOUT"));
            log.put(
                record("s11.disabled").text("cause", "the display processor declined a weaver on the scanout adapter"),
            );
            log.stage_a("s11.stagea", CREATE, false);
            log.found_scanout();
            log.own_placement(false, "dp_refused_scanout")
        }
        Outcome::NewToken(token) => log.refused_by_new_token("s11.disabled", token),
        _ => {
            weaver(log);
            log.bridge();
            log.put(on("s11.active").luid("app.luid", app));
            log.stage_a("s11.stagea", CREATE, true);
            log.found_scanout();
            log.own_placement(true, "")
        }
    }
}

fn weaver(log: &mut Log<'_>) {
    let hwnd = log.hwnd();
    log.put(record("s11.dpok").text("device", "the SCANOUT").hex("hwnd", hwnd));
}
