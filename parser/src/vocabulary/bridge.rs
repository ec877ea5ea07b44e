//! The bridge that carries pictures across GPUs (vocabulary section 5).

use wire::Kind;

use super::{Shape, record};

/// One row a record shape, in the order of the section.
pub const SHAPES: &[Shape] = &[
    record("xb.ring", Kind::BridgeDetail, "d3d11 xbridge: cross-adapter ring %ux%u rowPitch=%u heap=%llu bytes x%d", "width height row_pitch heap_bytes count", "Size of the bridge's ring across the GPUs.").by("comp_xbridge_create").since("Phase 1"),
    record("xb.egress", Kind::BridgeDetail, "d3d11 xbridge: egress ring x%d at %ux%u on the scanout adapter (%s), rebuild #%llu (#918)", "count width height sizing rebuild", "The ring on the panel's GPU was built or rebuilt.").by("xb_alloc_egress").since("Phase 1"),
    record("xb.stall", Kind::BridgeDetail, "d3d11 xbridge: %s stalled for %lld ms — submitted=%llu prod=%llu cons=%llu attempts=%llu (#1017)", "what ms submitted produced consumed attempts", "The bridge stalled.").by("xb_watchdog_thread").since("#1017"),
    record("xb.degraded", Kind::BridgeDegraded, "d3d11 xbridge: DEGRADED — no further submissions; the last good egress slot keeps being woven (#1017)", "", "The bridge gave up: the panel shows its last picture from here on.").by("xb_watchdog_thread").since("#1017"),
    record("xb.recovered", Kind::BridgeDetail, "d3d11 xbridge: bridge recovered at prod=%llu cons=%llu (#1017)", "produced consumed", "The bridge recovered.").by("xb_watchdog_thread").since("#1017"),
    record("xb.fail", Kind::BridgeDetail, "d3d11 xbridge: D3D12CreateDevice(consumer/scanout adapter) failed %s", "code", "The bridge's device on the panel's GPU could not be created.").by("comp_xbridge_create").since("Phase 1"),
    record("xb.heapfail", Kind::BridgeDetail, "d3d11 xbridge: cross-adapter heap/placed texture %d failed %s", "index code", "The bridge's memory across the GPUs could not be created.").by("comp_xbridge_create").since("Phase 1"),
    record("xb.throttle", Kind::BridgeDetail, "d3d11 xbridge: transport measured %.2f GB/s over the last second (planes %.2f GB/s), above the %.1f GB/s acceptance gate — latching the %s plane to HALF RATE until the transport settles. The split stays on (#918 Phase 2a)", "gb_per_s planes_gb_per_s gate_gb_per_s plane", "The bridge moved too much and halved the rate of one plane.").by("xb_bandwidth_gate").since("Phase 2a"),
];

/// About forty more lines start alike (section 5); their figures are not needed.
pub const PROSE: &[Shape] = &[
    record(
        "xb.degraded.other",
        Kind::BridgeDegraded,
        "d3d11 xbridge: DEGRADED%s",
        "_",
        "The bridge gave up: the panel shows its last picture from here on.",
    ),
    record(
        "xb.failed",
        Kind::BridgeDetail,
        "d3d11 xbridge: %s failed 0x%08lx%s",
        "what hresult _",
        "A step of the bridge failed.",
    ),
    record("xb.other", Kind::BridgeDetail, "d3d11 xbridge: %s", "_", "The bridge reports itself."),
    record("xb.ring_full", Kind::BridgeDetail, "[XBRIDGE] %s", "_", "The bridge's ring of retired textures is full."),
];
