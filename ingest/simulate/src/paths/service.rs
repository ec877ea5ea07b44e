//! The D3D11 service: its ingest adapter, its split, the windows of its renderer and of its clients.

use wire::Generation;

use super::is_newest;
use crate::description::Fault;
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::record;

const STAGE_A: &str = "service_split_stage_a";

pub(crate) fn session(log: &mut Log<'_>) -> (Outcome, Option<Ended>) {
    let (name, luid) = (log.adapters[log.render].name.clone(), log.luid(log.render));
    if !is_newest(log) {
        log.put(record("sv.oldpref").wide("adapter.name", &name));
        log.put(record("sv.luid").luid("adapter.luid", luid));
        if log.build.generation == Generation::G0 {
            windows(log, &Live::Untold);
            return (Outcome::Old, None);
        }
        log.found_scanout();
        let ended = log.first_placement(STAGE_A);
        windows(log, &Live::Untold);
        return (Outcome::Old, Some(ended));
    }
    let provenance = log.provenance.clone();
    let preferred = log.adapters[log.pc.kind.render].name.clone();
    log.put(
        record("sv.ingest")
            .wide("adapter.name", &name)
            .luid("adapter.luid", luid)
            .text("provenance", provenance.clone())
            .wide("preferred.name", &preferred)
            .text("agreement", if log.render == log.pc.kind.render { "MATCH" } else { "DIVERGES" }),
    );
    if provenance.contains("-forced") {
        let line = log.put(record("sv.forced").text("provenance", provenance));
        log.note("ingest_forced", "", line);
    }
    log.w.pass(44);
    log.put(record("sv.luid").luid("adapter.luid", luid));
    let outcome = log.choose(wire::Path::Service);
    let (ended, raw) = open(log, &outcome);
    let raw = raw.map(str::to_owned);
    windows(log, &raw.map_or(Live::Running, Live::Off));
    (outcome, Some(ended))
}

/// Stage A and the placement line; answers the reason that the windows give, unmasked, or none while the split runs.
fn open<'o>(log: &mut Log<'_>, outcome: &'o Outcome) -> (Ended, Option<&'o str>) {
    log.found_scanout();
    let Some(at) = log.scanout.filter(|_| *outcome != Outcome::Killed) else {
        let token = if *outcome == Outcome::Killed { "killed_by_env" } else { "scanout_unresolvable" };
        if token == "scanout_unresolvable" {
            let line = log.put(record("ssv.disabled").text("cause", token));
            log.evidence.refusal = Some((line, token.to_owned()));
        }
        return (log.own_placement(false, token), Some(token));
    };
    let (name, luid, app) = (log.adapters[at].name.clone(), log.luid(at), log.luid(log.render));
    let on = |shape| record(shape).wide("adapter.name", &name).luid("adapter.luid", luid);
    match outcome {
        Outcome::Same => {
            log.put(on("ssv.noop"));
            log.found_scanout();
            (log.own_placement(false, "same_adapter"), Some("same_adapter"))
        }
        Outcome::StageAFailed => {
            log.put(record("ssv.devfail").hex("hresult", 0x887a_0004));
            log.put(record("ssv.disabled").text("cause", "D3D11CreateDevice failed"));
            log.stage_a("ssv.stagea", STAGE_A, false);
            log.found_scanout();
            (log.own_placement(false, "stage_a_failed"), Some("stage_a_failed"))
        }
        Outcome::NewToken(token) => {
            let refusal = log.put(record("ssv.disabled").text("cause", token.clone()));
            log.found_scanout();
            let ended = log.own_placement(false, token);
            log.unknown_token(refusal, &ended, token);
            (ended, Some(token))
        }
        _ => {
            log.bridge();
            log.put(on("ssv.active").luid("app.luid", app));
            log.stage_a("ssv.stagea", STAGE_A, true);
            log.found_scanout();
            (log.own_placement(true, ""), None)
        }
    }
}

/// What the windows say of the split.
#[derive(PartialEq, Eq)]
enum Live {
    /// Nothing: an old build.
    Untold,
    /// It runs.
    Running,
    /// It does not, for this reason, unmasked.
    Off(String),
}

/// The windows of every ten seconds.
fn windows(log: &mut Log<'_>, split: &Live) {
    log.new_words();
    let panel = log.pc.panel();
    let (hwnd, pid) = (log.hwnd(), log.dice.between(1000, 20_000));
    log.w.pass(2400);
    log.put(
        record("sv.app_hwnd")
            .by("init_client_render_resources")
            .hex("hwnd", hwnd)
            .uint("width", u64::from(panel.width))
            .uint("height", u64::from(panel.height))
            .uint("latency", 1),
    );
    let windows = log.dice.between(1, log.fleet.noise.windows + 2);
    let degrades = *split == Live::Running && log.happens(Fault::BridgeDegraded);
    for window in 0..windows {
        log.w.pass(10_003);
        renderer(log);
        match split {
            Live::Running => live(log, degrades && window >= windows / 2),
            Live::Off(reason) => off(log, reason),
            Live::Untold => {}
        }
        health(log, pid);
    }
    if log.happens(Fault::DeviceRemoved) {
        let line = log.put(
            record("t.devremoved")
                .hex("hresult", 0x887a_0005)
                .hex("reason", 0x887a_0006)
                .text("device", "scanout")
                .text("site", "present"),
        );
        log.note("device_removed", "", line);
        log.put(record("t.lost_exit").by("service_exit").int("ms", 2000).hex("reason", 0x887a_0006));
    }
}

fn renderer(log: &mut Log<'_>) {
    let skips = log.dice.below(12);
    let (micros, waits) = (log.dice.between(1100, 1900), log.dice.between(60, 120));
    log.put(
        record("rd.capture")
            .uint("capture_renders", 0)
            .uint("capture_avg_us", 0)
            .uint("client_renders", 600 - skips)
            .uint("client_skips", skips)
            .uint("client_avg_us", micros)
            .uint("wait_avg_us", waits),
    );
    log.put(
        record("rd.pipe")
            .uint("pipe_active_present", 599 - skips)
            .uint("pipe_active_skip", skips + 1)
            .uint("pipe_active_backoff", 0)
            .uint("pipe_flat_present", 0)
            .uint("pipe_flat_skip", 0)
            .uint("pipe_rebind", 0)
            .uint("dp_stale_recreate", 0)
            .uint("atlas_contention", 1)
            .int("presenter", 2)
            .uint("recipe_hold", 0)
            .uint("zones_skip", 0),
    );
}

fn live(log: &mut Log<'_>, degraded: bool) {
    log.window(record("rd.split"), &[("pipe_dev_rebind", 1), ("flat_skip", 0), ("maskpub_skip", 0)], degraded);
}

fn off(log: &mut Log<'_>, reason: &str) {
    let line = log.put(record("rd.split_off").reasons("reasons", reason));
    if reason == "killed_by_env" {
        // Told by the windows also where the placement line masks it.
        log.note("killed", "", line);
    }
    log.evidence.refusal = Some((line, reason.to_owned()));
}

fn health(log: &mut Log<'_>, pid: u64) {
    log.put(
        record("t.healthsum")
            .uint("clients", 1)
            .uint("clients_max", 32)
            .int("active_idx", 0)
            .text("lease", "slot=0")
            .text("device", "ok")
            .text("dp", "ok")
            .int("window_s", 10),
    );
    log.put(
        record("t.health")
            .uint("slot", 0)
            .uint("id", 1)
            .int("pid", i64::try_from(pid).unwrap_or_default())
            .text("class", "APP")
            .text("name", log.app.name.clone())
            .text("session.active", "a")
            .text("session.visible", "v")
            .text("session.focused", "f")
            .text("io", "y")
            .text("primary", "y")
            .text("state", " ACTIVE")
            .uint("swapchains", 2)
            .uint("spaces", 4),
    );
}
