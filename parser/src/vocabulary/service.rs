//! The service's ingest device, its presenters, and its clients' adapters (vocabulary section 9.4).

use wire::{Kind, Path};

use super::{SPLIT_OFF, Shape, record};

/// One row a record shape, in the order of the section.
pub const SHAPES: &[Shape] = &[
    record("sv.ingest", Kind::Ingest, "ADR-037 service ingest adapter: '%ls' LUID=%08lx:%08lx (%s); DXGI HIGH_PERFORMANCE picks '%ls' — %s (#1153)", "adapter.name adapter.luid provenance preferred.name agreement", "The GPU on which the service takes pictures in: its clients must share it.").by("comp_d3d11_service_create_system").only(Path::Service).since("#1153"),
    record("sv.forced", Kind::IngestForced, "ADR-037 §7: the service INGEST device was FORCED by DXR_D3D_FORCE_GPU (%s). Clients that do not carry the same override will ingest ACROSS adapters — intended for measurement, proceeding (#1153)", "provenance", "A setting forced the service's GPU; clients without the same setting cross GPUs.").by("comp_d3d11_service_create_system").only(Path::Service).since("#1153"),
    record("sv.unres", Kind::Ingest, "ADR-037 service ingest adapter: UNRESOLVED (%s) — falling back to D3D_DRIVER_TYPE_HARDWARE (#1153)", "provenance", "The service's GPU could not be chosen; the system's default is taken.").by("comp_d3d11_service_create_system").only(Path::Service).since("#1153"),
    record("sv.oldpref", Kind::Requirements, "D3D11 service: preferring high-performance adapter '%ls'", "adapter.name", "The GPU that this old service prefers.").by("comp_d3d11_service_create_system").only(Path::Service).until("#1153"),
    record("sv.luid", Kind::Device, "D3D11 service compositor using adapter LUID: %08lx-%08lx", "adapter.luid", "The GPU that the service runs on.").by("comp_d3d11_service_create_system").named(Path::Service),
    record("sv.presenter", Kind::Presenter, "[pipeline] this presenter weaves on the RENDER adapter (split=0 reason=%s,%s)", "reasons", "This client's weave stays on the render GPU.").by("init_client_render_resources").fixed(SPLIT_OFF).named(Path::Service).since("Phase 3"),
    record("sv.crossdp", Kind::Presenter, "[pipeline] panel DP crossing devices: %p (hwnd=%p) retired, rebinding on device %p hwnd=%p (#918 split=%d)", "old.device old.hwnd new.device new.hwnd split", "The panel's weaver moves from one GPU to the other.").by("pipeline_bind_panel_dp").named(Path::Service).since("Phase 2b"),
    record("cl.d11", Kind::ClientAdapter, "Client D3D11 adapter LUID: %08lx-%08lx (must match service for texture sharing)", "adapter.luid", "The GPU of this client of the service.").by("client_d3d11_compositor_create").named(Path::IpcClient),
    record("cl.d12", Kind::ClientAdapter, "Client D3D12 adapter LUID: %08lx-%08lx (must match service for texture sharing)", "adapter.luid", "The GPU of this client of the service.").by("client_d3d12_compositor_create").named(Path::IpcClient),
];

/// `[pipeline]` records named in the prose of section 9.4; any other one still tells the path (section 12.2).
pub const PROSE: &[Shape] = &[
    record(
        "sv.client_texture",
        Kind::Presenter,
        "[pipeline] presenter=CLIENT_TEXTURE hwnd=%p %ux%u (shared texture + service->client fence)",
        "hwnd width height",
        "This client presents its own texture.",
    )
    .named(Path::Service),
    record(
        "sv.app_hwnd",
        Kind::Presenter,
        "[pipeline] presenter=APP_HWND hwnd=%p %ux%u (waitable, max latency %u)",
        "hwnd width height latency",
        "The service presents into the app's window.",
    )
    .named(Path::Service),
    record(
        "sv.app_hwnd_unpaced",
        Kind::Presenter,
        "[pipeline] presenter=APP_HWND hwnd=%p %ux%u (UNPACED — watchdog only)",
        "hwnd width height",
        "The service presents into the app's window, without pacing.",
    )
    .named(Path::Service),
    record(
        "sv.service_window",
        Kind::Presenter,
        "[pipeline] presenter=SERVICE_WINDOW (canvas %ux%u)",
        "width height",
        "The service presents into its own window.",
    )
    .named(Path::Service),
    record(
        "sv.self",
        Kind::Presenter,
        "[pipeline] presenter=SELF (present-owner) hwnd=%p",
        "hwnd",
        "The client presents by itself.",
    )
    .named(Path::Service),
    record(
        "sv.mode",
        Kind::Presenter,
        "[pipeline] %s (DXR_LEGACY_STANDALONE=%s)",
        "mode setting",
        "The mode that the service runs in.",
    )
    .named(Path::Service),
    record("sv.pipeline", Kind::Neighbour, "[pipeline] %s", "_", "The service's pipeline.").named(Path::Service),
];
