//! An app that goes through the service: its log has no placement line, that one is in the log of the service.

use wire::{Level, Path};

use super::is_newest;
use crate::description::Fault;
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::record;

pub(crate) fn session(log: &mut Log<'_>) -> (Outcome, Option<Ended>) {
    let api = log.app.path;
    if matches!(api, Path::D3d11 | Path::D3d12) && log.has_issue_1000() {
        d3d(log);
    }
    if api == Path::Vulkan && log.happens(Fault::SuggestedGpuMissing) {
        let uuid = "00 ".repeat(16);
        let line = log.put(record("t.vkfallback").text("uuid", uuid));
        log.note("vk_suggested_gpu_missing", "", line);
    }
    log.w.pass(60);
    match api {
        Path::Vulkan => {
            log.put(record("t.ipc_vk").by("oxr_vk_native_compositor_supported"));
        }
        Path::OpenGl => {
            log.put(record("t.ipc_gl").by("oxr_gl_native_compositor_supported"));
        }
        _ => {}
    }
    let forced = "forcing timeline semaphores on (runtime-required extension).";
    log.put(record("t.ipc_mode").text("_", forced));
    let luid = log.luid(log.render);
    match api {
        Path::D3d11 => {
            log.put(record("cl.d11").luid("adapter.luid", luid));
        }
        Path::D3d12 => {
            log.put(record("cl.d12").luid("adapter.luid", luid));
        }
        Path::Vulkan => {
            let body =
                "[FENCE] client=00000219182B64F0 workspace_sync_semaphore imported (VK GPU-side wait path active)";
            log.w.noise(Level::Warn, "client_vk_compositor_create", body.as_bytes());
        }
        _ => {}
    }
    log.new_words();
    for _ in 0..log.dice.between(0, log.fleet.noise.windows + 1) {
        log.commits(log.fleet.noise.frames, 10_000);
    }
    (Outcome::Client, None)
}

/// What a D3D client is told to render on, and an override that makes it cross.
fn d3d(log: &mut Log<'_>) {
    let Some(ingest) = log.scanout.filter(|at| *at != log.render && is_newest(log)) else {
        return log.requirements("compositor-device");
    };
    if !log.happens(Fault::ClientOverride) {
        return log.requirements("compositor-device");
    }
    let provenance = "env-forced: dgpu";
    log.requirements(provenance);
    let (own, ingest) = (log.luid(log.render), log.luid(ingest));
    let line = log
        .put(record("od.cross").text("provenance", provenance).luid("session.luid", own).luid("ingest.luid", ingest));
    log.interop_crossing = true;
    log.note("client_crossing_override", "", line);
}
