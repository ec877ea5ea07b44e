//! Output-device split records of every path (vocabulary section 5).

use wire::{Kind, Level, Path};

use super::{Shape, record};

/// One row a record shape, in the order of the section.
pub const SHAPES: &[Shape] = &[
    record("s11.noop", Kind::SplitNoop, "D3D11 output-device split: scanout adapter '%ls' LUID=%08lx:%08lx IS the app's adapter — split is a no-op (#918)", "adapter.name adapter.luid", "The app already renders on the panel's GPU; there is nothing to split.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.adr039", Kind::SplitEngaged, "D3D11 output-device split: ADR-039 same-adapter ENGAGE (Phase C bring-up) on '%ls' LUID=%08lx:%08lx — one fill engine for every tier (DXR_SPLIT_SAME_ADAPTER_D3D11)", "adapter.name adapter.luid", "The split engages although render and panel share one GPU (ADR-039).").by("comp_d3d11_compositor_create").only(Path::D3d11).since("ADR-039"),
    record("s11.devfail", Kind::DeviceFailed, "D3D11 output-device split: D3D11CreateDevice failed 0x%08lx", "hresult", "The device on the panel's GPU could not be created.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.dxgifail", Kind::SplitDetail, "D3D11 output-device split: scanout DXGI factory failed 0x%08lx", "hresult", "DXGI could not be opened on the panel's GPU.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.active", Kind::SplitEngaged, "D3D11 output-device split ACTIVE: weave/repaint/present move to '%ls' LUID=%08lx:%08lx (app device on LUID=%08lx:%08lx); atlas crosses via a D3D12 cross-adapter heap once per frame (#918)", "adapter.name adapter.luid app.luid", "The split is up: weave and present move to the panel's GPU.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.disabled", Kind::SplitDisabled, "D3D11 output-device split DISABLED (%s) — falling back to the stock single-device path (#918)", "cause", "The split was refused or its set-up failed; the app stays on one device.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.stagea", Kind::StageTook, "D3D11 output-device split: stage A took %.1f ms (bridge %.1f ms, active=%d)", "ms bridge_ms active", "How long setting up the split took, and whether it is up.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.skip", Kind::SplitDetail, "D3D11 output-device split: %s had nothing woven — present SKIPPED, the panel holds the last woven frame (%llu skips so far, %llu of them refusing a superseded layout) (#918)", "what skips superseded", "A present was skipped because nothing had been woven; the panel holds its last picture.").by("d3d11_split_note_skipped_present").only(Path::D3d11).since("Phase 1"),
    record("s11.stageb", Kind::SplitDetail, "D3D11 output-device split: stage B could not size the egress ring to %ux%u — keeping the worst-case ring and cropping on the output device (#918)", "width height", "The bridge keeps its largest size because it could not be fitted to the content.").by("comp_d3d11_compositor_create").only(Path::D3d11).since("Phase 1"),
    record("s11.clamp", Kind::SplitDetail, "D3D11 output-device split: composite region %ux%u exceeds the panel %ux%u — clamping; the bridge planes are panel-sized by construction (#918 Phase 2a)", "width height panel.width panel.height", "A composite region was larger than the panel and was clamped.").by("d3d11_clamp_region_to_panel").only(Path::D3d11).since("Phase 2a"),
    record("s11.local2d", Kind::SplitDetail, "D3D11 output-device split: the Local2D plane could not be bound — 2D content does not composite under the split for this session; the 3D weave is unaffected (#918 Phase 2a)", "", "2D content does not show under the split in this session; the weave itself is fine.").by("d3d11_composite_zone_mask").only(Path::D3d11).since("Phase 2a"),
    record("s11.phase1gate", Kind::SplitDetail, "D3D11 output-device split: %s is device-crossing and is NOT implemented in Phase 1 — skipped for this session; plain projection weave continues (#918)", "feature", "A feature that this early build could not carry across was left out.").only(Path::D3d11).since("Phase 1").until("Phase 2a"),
    record("s11.teardown", Kind::SplitDetail, "D3D11 output-device split: %llu presents skipped for want of a woven frame (%llu refusing a superseded layout, #918 R1); %llu transition frames woven from an in-flight slot rather than held; %llu composites refused for a stale recipe stamp (#918 Phase 2a — expected 0); longest gap between weaves %.1f ms (#918 F4/R1/R2)", "skips superseded transitions refused longest_ms", "Counters of the split at the end of the session.").by("d3d11_compositor_destroy").only(Path::D3d11).since("Phase 2a"),
    record("s11.dpfail", Kind::SplitDetail, "D3D11 display processor factory failed (error %d) on the %s device", "error device", "The display plug-in could not make its weaver on this device.").by("d3d11_make_dp").only(Path::D3d11).since("Phase 3"),
    record("s11.dpok", Kind::SplitDetail, "D3D11 display processor created via factory on %s device (hwnd %p)", "device hwnd", "The display plug-in made its weaver on this device.").by("d3d11_make_dp").only(Path::D3d11).since("Phase 3"),
    record("s11.dpnone", Kind::SplitDetail, "D3D11 display processor unavailable on the app device — continuing without", "", "No weaver could be made on the app's device either.").by("d3d11_make_dp").only(Path::D3d11).since("Phase 3"),
    record("s11.testrefuse", Kind::SplitDetail, "DXR_TEST_FAKE_DP_REFUSE=1: refusing the display processor on the SCANOUT device (test)", "", "A test switch made the display plug-in refuse the panel's GPU.").by("d3d11_make_dp").only(Path::D3d11).since("Phase 3"),
    record("ssv.noop", Kind::SplitNoop, "#918 output-device split: scanout adapter '%ls' LUID=%08lx:%08lx IS the service's adapter — split is a no-op", "adapter.name adapter.luid", "The service already runs on the panel's GPU; there is nothing to split.").by("service_split_stage_a").only(Path::Service).since("Phase 2b"),
    record("ssv.active", Kind::SplitEngaged, "#918 output-device split ACTIVE: weave/present move to '%ls' LUID=%08lx:%08lx (service device on LUID=%08lx:%08lx); the focused client's cropped atlas crosses via a D3D12 cross-adapter heap once per rendered frame", "adapter.name adapter.luid app.luid", "The split is up: the service weaves and presents on the panel's GPU.").by("service_split_stage_a").only(Path::Service).since("Phase 2b"),
    record("ssv.disabled", Kind::SplitDisabled, "#918 output-device split DISABLED (%s) — falling back to the stock single-device path", "cause", "The service's split was refused or its set-up failed.").by("service_split_stage_a").only(Path::Service).since("Phase 2b"),
    record("ssv.devfail", Kind::DeviceFailed, "#918 output-device split: D3D11CreateDevice failed 0x%08lx", "hresult", "The service could not create its device on the panel's GPU.").by("service_split_stage_a").only(Path::Service).since("Phase 2b"),
    record("ssv.dxgifail", Kind::SplitDetail, "#918 output-device split: scanout DXGI factory failed 0x%08lx", "hresult", "DXGI could not be opened on the panel's GPU.").by("service_split_stage_a").since("Phase 2b"),
    record("ssv.stagea", Kind::StageTook, "#918 output-device split: stage A took %.1f ms (bridge %.1f ms, active=%d)", "ms bridge_ms active", "How long setting up the split took, and whether it is up.").by("service_split_stage_a d3d12_split_stage_a").since("Phase 2b"),
    record("ssv.ingress", Kind::SplitDetail, "#918: DXR_SPLIT_INGRESS=staged — pinning the staged ingress ring (A/B control)", "", "A setting pinned the slower staged way into the bridge.").by("service_split_stage_a").only(Path::Service).since("PR 6/6"),
    record("s12.noop", Kind::SplitNoop, "#918 output-device split: scanout adapter '%ls' LUID=%08lx:%08lx IS the app's adapter — split is a no-op (#918)", "adapter.name adapter.luid", "The app already renders on the panel's GPU; there is nothing to split.").by("d3d12_split_stage_a").only(Path::D3d12).since("D12-3"),
    record("s12.active", Kind::SplitEngaged, "#918 output-device split ACTIVE: weave/repaint/present move to '%ls' LUID=%08lx:%08lx (app device on LUID=%08lx:%08lx); atlas crosses via a D3D12 cross-adapter heap once per frame, D3D12 ends both sides (#918 D12-3)", "adapter.name adapter.luid app.luid", "The split is up: weave and present move to the panel's GPU.").by("d3d12_split_stage_a").only(Path::D3d12).since("D12-3"),
    record("s12.disabled", Kind::SplitDisabled, "#918 output-device split DISABLED (%s) — falling back to the stock single-device path (#918)", "cause", "The split was refused; the app stays on one device.").by("d3d12_split_stage_a").only(Path::D3d12).since("D12-3"),
    record("s12.createdev", Kind::DeviceFailed, "#918 output-device split: D3D12CreateDevice(scanout) failed 0x%08lx", "hresult", "The device on the panel's GPU could not be created.").by("d3d12_split_stage_a").only(Path::D3d12).since("D12-3"),
    record("s12.objs", Kind::SplitDetail, "#918 output-device split: out queue/allocator/list/fence failed 0x%08lx", "hresult", "Queue, allocator, list or fence on the panel's GPU could not be created.").by("d3d12_split_stage_a").only(Path::D3d12).since("D12-3"),
    record("s12.heap", Kind::SplitDetail, "#918 output-device split: out DP SRV heap failed 0x%08lx", "hresult", "The descriptor heap for the weaver could not be created.").by("d3d12_split_stage_a").only(Path::D3d12).since("D12-3"),
    record("s12.retired", Kind::SplitRetired, "#918 output-device split RETIRED (%s) — moving the weave back to the app adapter for the rest of the session (#918 D12-5)", "cause", "The split was taken back for the rest of the session.").by("d3d12_split_retire").only(Path::D3d12).since("D12-5"),
    record("s12.nodp", Kind::SplitDetail, "#918: no display processor on the app device either, after retiring the split — this session will not weave", "", "After the split was taken back no weaver could be made: this session shows no 3D.").level(Level::Error).only(Path::D3d12).since("D12-3"),
    record("s12.notarget", Kind::SplitDetail, "#918: could not rebuild the D3D12 target on the app device after retiring the split", "", "After the split was taken back the app's own target could not be rebuilt.").level(Level::Error).only(Path::D3d12).since("D12-3"),
    record("s12.dpfail", Kind::SplitDetail, "D3D12 display processor factory failed (error %d) on the %s device", "error device", "The display plug-in could not make its weaver on this device.").only(Path::D3d12).since("D12-3"),
    record("s12.dpok", Kind::SplitDetail, "D3D12 display processor created via factory on %s device (hwnd %p)", "device hwnd", "The display plug-in made its weaver on this device.").only(Path::D3d12).since("D12-3"),
    record("s12.adr039", Kind::SplitEngaged, "#918 output-device split: ADR-039 %s ENGAGE via the d3d11 fill arm on '%ls' LUID=%08lx:%08lx (#1264 heavy-d3d12 reroute%s; DXR_SPLIT_SAME_ADAPTER=0 reverts, DXR_SPLIT_D3D12_ROUTE=own for the own-legs arm)", "mode adapter.name adapter.luid note", "A heavy D3D12 session engages through the D3D11 fill engine (ADR-039).").by("d3d12_split_stage_a").only(Path::D3d12).since("ADR-039 (#1264)"),
    record("s12.ownlegs", Kind::SplitEngaged, "#918 output-device split: ADR-039 same-adapter ENGAGE on the OWN-LEGS arm on '%ls' LUID=%08lx:%08lx (DXR_SPLIT_D3D12_ROUTE=own — the A/B control; its event record did not pass the matrix, so the partition refuses on this arm)", "adapter.name adapter.luid", "The split engages on one GPU on the older D3D12 arm (ADR-039, by setting).").by("d3d12_split_stage_a").only(Path::D3d12).since("ADR-039 (#1264)"),
    record("s12.reroute_refused", Kind::SplitRefused, "#1264 reroute: d3d11 fill arm Stage A refused (%s) — stock path", "cause", "The re-route through the D3D11 fill engine was refused.").by("d3d12_reroute_stage_a").only(Path::D3d12).since("ADR-039 (#1264)"),
    record("s12.reroute_active", Kind::SplitEngaged, "#1264 heavy-d3d12 reroute ACTIVE: this session's fill/weave/present run on the d3d11 fill arm (ADR-039 — one fill engine); the atlas renders into a D3D11 deposit ring opened on the app's D3D12 device, %ux%u x%u. DXR_SPLIT_D3D12_ROUTE=own reverts to the tier's own arm.", "width height count", "The session's fill, weave and present run on the D3D11 fill engine.").by("d3d12_reroute_stage_a").only(Path::D3d12).since("ADR-039 (#1264)"),
    record("svk.adr039", Kind::SplitEngaged, "VK output-device split: ADR-039 same-adapter ENGAGE on '%ls' LUID=%08lx:%08lx — one fill engine for every tier (DXR_SPLIT_SAME_ADAPTER)", "adapter.name adapter.luid", "The split engages although render and panel share one GPU (ADR-039).").by("comp_vk_split_stage_a").named(Path::Vulkan).since("ADR-039"),
    record("svk.noop", Kind::SplitNoop, "VK output-device split: scanout adapter '%ls' LUID=%08lx:%08lx IS the app's adapter — split is a no-op (#918)", "adapter.name adapter.luid", "The app already renders on the panel's GPU; there is nothing to split.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.devfail", Kind::DeviceFailed, "VK output-device split: D3D11CreateDevice failed 0x%08lx", "hresult", "The device on the panel's GPU could not be created.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.dxgifail", Kind::SplitDetail, "VK output-device split: scanout DXGI factory failed 0x%08lx", "hresult", "DXGI could not be opened on the panel's GPU.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.nodpfactory", Kind::SplitDetail, "VK output-device split: no D3D11 display-processor factory — the scanout adapter has nothing to weave with (#1178)", "", "The display plug-in has no weaver for D3D11, so there is nothing to weave with.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.dpfail", Kind::SplitDetail, "VK output-device split: D3D11 display processor factory failed (error %d) on the SCANOUT device", "error", "The display plug-in could not make its weaver on the panel's GPU.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.dpok", Kind::SplitDetail, "VK output-device split: D3D11 display processor created on the SCANOUT device (hwnd %p)", "hwnd", "The display plug-in made its weaver on the panel's GPU.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.swapchain", Kind::SplitDetail, "VK output-device split: could not create the scanout-adapter swapchain (%d)", "error", "The swapchain on the panel's GPU could not be created.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.disabled", Kind::SplitDisabled, "VK output-device split DISABLED (%s) — falling back to the stock single-device Vulkan path (#918)", "cause", "Setting up the split failed; the app stays on one device.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.a1", Kind::StageTook, "VK output-device split: stage A1 took %.1f ms (device+DP+swapchain on the scanout adapter)", "ms", "How long setting up device, weaver and swapchain took.").by("comp_vk_split_stage_a").named(Path::Vulkan).since("VK-1"),
    record("svk.nodeposit", Kind::SplitDetail, "VK output-device split: no deposit to bridge from (#1178)", "", "There is no deposit to bridge from.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.noctx4", Kind::SplitDetail, "VK output-device split: the deposit's device has no ID3D11DeviceContext4, so the bridge cannot GPU-wait on the atlas fence (#1178)", "", "The deposit's device is too old for the bridge to wait on its fence.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.bridge", Kind::SplitDetail, "VK output-device split: bridge creation failed (%s)", "cause", "The bridge could not be created.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.ingress", Kind::SplitDetail, "VK output-device split: the ingress staging ring could not be allocated", "", "The ring into the bridge could not be allocated.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.egress", Kind::SplitDetail, "VK output-device split: egress share failed", "", "The ring out of the bridge could not be shared.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.active", Kind::BridgeEngaged, "VK output-device split ACTIVE: weave/repaint/present move to '%ls' LUID=%08lx:%08lx (app device on LUID=%08lx:%08lx); the VK-0 D3D11 deposit crosses via a D3D12 cross-adapter heap once per frame (#918 VK-1)", "adapter.name adapter.luid app.luid", "The split is up: the deposit crosses once per frame to the panel's GPU.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.a2", Kind::SplitDetail, "VK output-device split: stage A2 (bridge) took %.1f ms", "ms", "How long wiring the bridge took.").by("comp_vk_split_wire_bridge").named(Path::Vulkan).since("VK-1"),
    record("svk.retired", Kind::SplitRetired, "#918 output-device split RETIRED (%s) — moving the weave back to the app adapter for the rest of the session (#918 VK-1)", "cause", "The split was taken back for the rest of the session.").by("comp_vk_split_retire").only(Path::Vulkan).since("VK-1"),
    record("svk.teardown_old", Kind::SplitDetail, "VK output-device split: %llu frames bridged, %llu weaves with no usable slot, %llu stale-slot refusals, %llu in-flight (transition) weaves, %llu output-device crops (#918)", "bridged no_slot stale transitions crops", "Counters of the split at the end of the session.").by("comp_vk_split_destroy").named(Path::Vulkan).since("VK-1").until("VK layers rung"),
    record("svk.teardown", Kind::SplitDetail, "VK output-device split: %llu frames bridged, %llu weaves with no usable slot, %llu stale-slot refusals, %llu in-flight (transition) weaves, %llu output-device crops, %llu composites, %llu composite bails (#918)", "bridged no_slot stale transitions crops composites bails", "Counters of the split at the end of the session.").by("comp_vk_split_destroy").named(Path::Vulkan).since("VK layers rung"),
    record("svk.layoutgen", Kind::SplitDetail, "#918: layout generation %llu — %ux%u tiles of %ux%u (#918 R1)", "generation_nr columns rows width height", "The layout of the views changed.").by("comp_vk_split_submit_atlas").only(Path::Vulkan).since("VK-1"),
];

/// Named in the prose of section 5, or printed by neighbours of the rows above.
pub const PROSE: &[Shape] = &[
    record(
        "s11.diag",
        Kind::SplitDetail,
        "#918 DIAG: %s",
        "_",
        "Detail of the weave, switched on by DXR_XBRIDGE_DIAG.",
    )
    .only(Path::D3d11),
    record(
        "s12.keyed_mutex",
        Kind::SplitDetail,
        "#1264%sAcquireSync%s",
        "_ _",
        "The re-routed session waited for a keyed mutex.",
    )
    .only(Path::D3d12),
    record(
        "s12.queue_high",
        Kind::SplitDetail,
        "#1264%sPRIORITY_HIGH%s",
        "_ _",
        "The re-routed session asked for a high-priority queue.",
    )
    .only(Path::D3d12),
    record(
        "s11.adr039.other",
        Kind::SplitEngaged,
        "D3D11 output-device split: ADR-039 %s ENGAGE%s",
        "mode _",
        "The split engages although render and panel share one GPU (ADR-039).",
    )
    .only(Path::D3d11),
    record(
        "s12.adr039.other",
        Kind::SplitEngaged,
        "#918 output-device split: ADR-039 %s ENGAGE%s",
        "mode _",
        "A D3D12 session engages a split on one GPU (ADR-039).",
    ),
    record(
        "svk.adr039.other",
        Kind::SplitEngaged,
        "VK output-device split: ADR-039 %s ENGAGE%s",
        "mode _",
        "The split engages although render and panel share one GPU (ADR-039).",
    )
    .named(Path::Vulkan),
    record(
        "split.retired",
        Kind::SplitRetired,
        "#918 output-device split RETIRED (%s)%s",
        "cause _",
        "The split was taken back for the rest of the session.",
    ),
];
