//! OpenGL placement and interop (vocabulary section 7).

use wire::{Kind, Level, Path};

use super::{Shape, record};

/// One row a record shape, in the order of the section.
pub const SHAPES: &[Shape] = &[
    record("gl.advisory", Kind::GlAdvisory, "ADR-037 §5 GL placement is OS-ADVISORY: OpenGL exposes no adapter-selection API, so the driver (+ the per-exe UserGpuPreferences pin) decides. GL context is on LUID=%08lx:%08lx (%s); ADR-037 §2 would pick '%ls' LUID=%08lx:%08lx (%s) — %s. The runtime follows the GL context with its interop devices; it cannot move the context. (#1159)", "context.luid renderer suggested.name suggested.luid provenance agreement", "Where the OpenGL context runs and which GPU the runtime would have picked.").by("gl_log_placement_advisory_once").named(Path::OpenGl).since("#1159"),
    record("gl.advisory_noluid", Kind::GlAdvisory, "ADR-037 §5 GL placement is OS-ADVISORY: OpenGL exposes no adapter-selection API, so the driver (+ the per-exe UserGpuPreferences pin) decides. This driver does not report GL_DEVICE_LUID_EXT (no GL_EXT_memory_object_win32), so the GL context's adapter is NOT reliably knowable here — interop devices fall back to the GL_VENDOR/GL_RENDERER match, then to ADR-037 §2 ('%ls', %s). Renderer: %s. (#1159)", "suggested.name provenance renderer", "The OpenGL driver does not tell its GPU; the runtime has to guess.").by("gl_log_placement_advisory_once").named(Path::OpenGl).since("#1159"),
    record("gl.interop", Kind::GlInterop, "ADR-037 §5 GL interop device (%s): '%ls' LUID=%08lx:%08lx (%s) (#1159)", "purpose adapter.name adapter.luid evidence", "The interop device and how its GPU was found.").by("gl_log_interop_placement").named(Path::OpenGl).since("#1159"),
    record("gl.interop_unres", Kind::GlInterop, "ADR-037 §5 GL interop device (%s): adapter UNRESOLVED — created on the DXGI default (#1159)", "purpose", "No GPU was found for the interop device; the system's default was taken.").by("gl_log_interop_placement").named(Path::OpenGl).since("#1159"),
    record("gl.interop_nodxgi", Kind::GlInterop, "ADR-037 §5 GL interop device (%s): no DXGI factory — falling back to the DXGI default adapter (#1159)", "purpose", "DXGI was not available; the system's default GPU was taken.").by("gl_resolve_interop_adapter").named(Path::OpenGl).since("#1159"),
    record("gl.cross", Kind::GlCrossing, "ADR-037 §5: GL interop device (%s) is on LUID=%08lx:%08lx but the GL context runs on LUID=%08lx:%08lx — CROSS-ADAPTER interop; every share/copy crosses the bus, every frame (#1159)", "purpose interop.luid context.luid", "Interop runs on another GPU than the OpenGL context: every share crosses the bus, every frame.").by("gl_log_interop_placement").named(Path::OpenGl).since("#1159"),
    record("gl.st_search", Kind::GlCrossing, "GL shared texture: could not be opened on the resolved adapter '%ls' LUID=%08lx:%08lx — the app created it on a DIFFERENT adapter; searching (#1159)", "adapter.name adapter.luid", "The app's shared texture lives on another GPU; the runtime searches for it.").by("gl_create_shared_texture_device").only(Path::OpenGl).since("#1159"),
    record("gl.st_handoff", Kind::GlCrossing, "ADR-037 §5: GL shared-texture device landed on '%ls' LUID=%08lx:%08lx, which is NOT the GL context's adapter — CROSS-ADAPTER handoff; the app created its present surface on another GPU (#1159)", "adapter.name adapter.luid", "The app's present surface lives on another GPU than its OpenGL context.").by("gl_create_shared_texture_device").named(Path::OpenGl).since("#1159"),
    record("gl.st_default", Kind::GlInterop, "GL shared texture: opened on the DXGI default adapter after the resolved and enumerated adapters all failed (#1159)", "", "The shared texture could be opened on the system's default GPU only.").by("gl_create_shared_texture_device").only(Path::OpenGl).since("#1159"),
    record("gl.st_fail", Kind::Failure, "Failed to create a D3D11 device that can open the GL shared texture on ANY adapter", "", "No GPU can open the app's shared texture.").by("gl_create_shared_texture_device").level(Level::Error).only(Path::OpenGl).since("#1159"),
];

/// Named in the prose of section 7.
pub const PROSE: &[Shape] = &[
    record(
        "gl.loaded",
        Kind::Instance,
        "GLAD loaded: GL %d.%d, renderer: %s",
        "major minor renderer",
        "The OpenGL version and renderer of the app.",
    )
    .only(Path::OpenGl),
    record(
        "gl.created",
        Kind::Compositor,
        "Native OpenGL compositor created: %ux%u",
        "width height",
        "The session uses the OpenGL compositor.",
    )
    .only(Path::OpenGl),
];
