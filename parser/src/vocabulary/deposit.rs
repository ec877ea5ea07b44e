//! Vulkan and D3D12 deposits, and the transparency bridge's adapter match (vocabulary section 8).

use wire::{Kind, Path};

use super::{Shape, record};

/// One row a record shape, in the order of the section.
pub const SHAPES: &[Shape] = &[
    record("vd.match", Kind::Deposit, "vk deposit: deposit adapter LUID=0x%016llx ('%ls'), VkDevice LUID=0x%016llx, match=YES — same-adapter D3D11 deposit, %ux%u x%u ring", "adapter.luid adapter.name device.luid width height count", "The deposit's device is on the app's GPU.").by("comp_vk_deposit_create").named(Path::Vulkan).since("#1178 VK-0"),
    record("vd.nomatch", Kind::Deposit, "vk deposit: deposit adapter=NONE, VkDevice LUID=0x%016llx, match=NO — no same-adapter D3D11 device, deposit DISABLED (the compositor keeps its own atlas)", "device.luid", "No device for the deposit on the app's GPU: no deposit.").by("comp_vk_deposit_create").named(Path::Vulkan).since("#1178 VK-0"),
    record("vd.notimeline", Kind::Deposit, "vk deposit: the app's VkDevice has no VK_KHR_timeline_semaphore — the deposit's only GPU-side sync is a D3D fence imported as a timeline semaphore, and a CPU wait is not an acceptable substitute (#1178). Deposit DISABLED.", "", "The app's device has no timeline semaphores: no deposit.").by("comp_vk_deposit_create").named(Path::Vulkan).since("#1178 VK-0"),
    record("vd.nosync", Kind::Deposit, "vk deposit: device can import neither a D3D12_FENCE timeline semaphore nor bracket a keyed mutex (VK_KHR_win32_keyed_mutex not enabled on the app's VkDevice) — no GPU-side sync. Deposit DISABLED.", "", "The app's device can wait neither on a fence nor on a keyed mutex: no deposit.").by("comp_vk_deposit_create").named(Path::Vulkan).since("ADR-039 Phase A"),
    record("vd.nofence", Kind::Deposit, "vk deposit: device cannot import a D3D12_FENCE timeline semaphore (features=0x%x)", "features", "The device cannot import a D3D fence.").by("deposit_fence_importable").named(Path::Vulkan).since("#1178"),
    record("vd.noext", Kind::Deposit, "vk deposit: no vkImportSemaphoreWin32HandleKHR (VK_KHR_external_semaphore_win32 missing) — no D3D fence import", "", "The extension for importing a D3D fence is missing.").by("deposit_fence_importable").named(Path::Vulkan).since("#1178"),
    record("vd.devfail", Kind::Deposit, "vk deposit: D3D11CreateDevice failed: 0x%08lx — deposit DISABLED", "hresult", "The deposit's device could not be created.").by("comp_vk_deposit_create").named(Path::Vulkan).since("#1178"),
    record("vd.active", Kind::Deposit, "vk deposit: ACTIVE — atlas renders straight into the D3D11 texture (COLOR_ATTACHMENT, zero copies), completion published on a shared ID3D11Fence imported as a VK timeline semaphore. No CPU wait added.", "", "The deposit is up.").by("comp_vk_deposit_create").named(Path::Vulkan).since("#1178"),
    record("vd.resized", Kind::Deposit, "vk deposit: resized to %ux%u", "width height", "The deposit was resized.").named(Path::Vulkan).since("#1178"),
    record("vd.resizefail", Kind::Deposit, "vk deposit: resize to %ux%u failed — deposit is now INACTIVE", "width height", "The deposit could not be resized and is off now.").named(Path::Vulkan).since("#1178"),
    record("vd.probe", Kind::Deposit, "vk deposit probe: fence wait resolved at value %llu; deposit %ux%u has %llu/%llu non-black pixels (%.1f%%), checksum 0x%016llx — %s", "fence width height lit total percent checksum outcome", "A probe looked whether pixels arrived in the deposit.").named(Path::Vulkan).since("#1178"),
    record("dd.active", Kind::Deposit, "d3d12 deposit: ACTIVE — atlas renders straight into the D3D11 texture ring on '%ls' (LUID=0x%016llx, %ux%u x%u), shared ID3D11Fence opened natively as ID3D12Fence both ways. No CPU wait added (#1264 heavy-d3d12 reroute).", "adapter.name adapter.luid width height count", "The D3D12 deposit is up.").only(Path::D3d12).since("#1264"),
    record("dd.nomatch", Kind::Deposit, "d3d12 deposit: no DXGI adapter matches the app device LUID=0x%016llx — deposit DISABLED", "device.luid", "No GPU matches the app's device: no deposit.").only(Path::D3d12).since("#1264"),
    record("dc.match", Kind::Deposit, "DComp bridge: matching VkDevice adapter LUID 0x%016llx (%ls)", "device.luid adapter.name", "The transparency bridge found the app's GPU.").by("dcomp_setup").only(Path::Vulkan).since("#821"),
    record("dc.nomatch", Kind::Deposit, "DComp bridge: no DXGI adapter matches VkDevice LUID 0x%016llx — falling back to opaque WSI", "device.luid", "The transparency bridge found no matching GPU and falls back to opaque.").by("dcomp_setup").only(Path::Vulkan).since("#821"),
    record("dc.noluid", Kind::Deposit, "DComp bridge: VkDevice LUID unavailable — using default D3D11 adapter", "", "The app's GPU is not known; the transparency bridge takes the system's default.").by("dcomp_setup").only(Path::Vulkan).since("#821"),
];

/// Named in the prose of section 8.
pub const PROSE: &[Shape] = &[
    record(
        "vd.keyed",
        Kind::Deposit,
        "vk deposit: ACTIVE (KEYED-MUTEX mode, ADR-039 Phase A)%s",
        "_",
        "The deposit is up, with a keyed mutex in place of a fence.",
    )
    .named(Path::Vulkan),
    record(
        "vd.noformat",
        Kind::Deposit,
        "vk deposit: no DXGI equivalent for VkFormat %d%s",
        "format _",
        "The app's picture format has no counterpart: no deposit.",
    )
    .named(Path::Vulkan),
    record(
        "vd.call_hr",
        Kind::Deposit,
        "vk deposit: %s failed: 0x%08lx%s",
        "call hresult _",
        "A system call for the deposit failed.",
    )
    .named(Path::Vulkan),
    record(
        "vd.call_vk",
        Kind::Deposit,
        "vk deposit: %s failed: %d%s",
        "call result _",
        "A Vulkan call for the deposit failed.",
    )
    .named(Path::Vulkan),
];
