//! OpenGL: the driver decides where the context is, and nothing splits.

use super::{is_newest, old};
use crate::description::Fault;
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::record;

pub(crate) fn session(log: &mut Log<'_>) -> (Outcome, Option<Ended>) {
    let context = log.pc.driver.gl_render.unwrap_or(log.pc.kind.render);
    // OpenGL prints narrow strings, in plain letters.
    let renderer: String = log.adapters[context].name.chars().filter(char::is_ascii).collect();
    log.w.pass(40);
    log.put(
        record("gl.loaded")
            .by("comp_gl_compositor_create")
            .int("major", 4)
            .int("minor", 6)
            .text("renderer", renderer.clone()),
    );
    if !is_newest(log) {
        return old(log, "t.usegl");
    }
    let (name, luid) = (log.adapters[log.render].name.clone(), log.luid(log.render));
    let (own_name, own_luid) = (log.adapters[context].name.clone(), log.luid(context));
    let provenance = log.provenance.clone();
    let known = log.pc.driver.gl_luid;
    log.put(if known {
        record("gl.advisory")
            .luid("context.luid", own_luid)
            .text("renderer", renderer)
            .wide("suggested.name", &name)
            .luid("suggested.luid", luid)
            .text("provenance", provenance)
            .text("agreement", if context == log.render { "MATCH" } else { "DIVERGES" })
    } else {
        record("gl.advisory_noluid")
            .wide("suggested.name", &name)
            .text("provenance", provenance)
            .text("renderer", renderer)
    });
    log.found_scanout();
    let ended = log.placement(Some(context).filter(|_| known), log.scanout, false, "api_unsupported");
    log.put(
        record("gl.interop")
            .text("purpose", "transparency present bridge")
            .wide("adapter.name", &own_name)
            .luid("adapter.luid", own_luid)
            .text("evidence", if known { "GL context LUID (GL_EXT_memory_object_win32)" } else { "GL_RENDERER match" }),
    );
    if log.happens(Fault::GlHandoff) {
        let lines = ["gl.st_search", "gl.st_handoff"]
            .map(|shape| log.put(record(shape).wide("adapter.name", &own_name).luid("adapter.luid", own_luid)));
        // A record that lost its text says nothing.
        if !super::beyond_latin1(&own_name) {
            log.interop_crossing = true;
            log.note("gl_interop_crossing", "", lines[0]);
        }
    }
    log.put(record("t.usegl"));
    log.run(None);
    (Outcome::NoSplit, Some(ended))
}
