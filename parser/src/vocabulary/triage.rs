//! Version, plug-ins, display, devices, health and loss (vocabulary section 12).

use wire::{Kind, Level, Path};

use super::{Shape, record};

/// One row a record shape, in the order of the section.
pub const SHAPES: &[Shape] = &[
    record("t.runtime", Kind::RuntimeVersion, "DisplayXR runtime v%u.%u.%u '%s' loaded from: %ls (XR_RUNTIME_JSON=%ls)", "major minor patch build library manifest", "Version and build of the runtime.").by("oxr_instance_create"),
    record("t.plugin", Kind::Plugin, "plugin loader: active plug-in: id=%s name='%s' vendor='%s' version='%s' plugin_api=%u probe_order=%u path=%ls", "id name vendor version plugin_api probe_order library", "The display plug-in that is in use.").by("try_load_one"),
    record("t.plugin_none", Kind::PluginFallback, "plugin loader: no registered plug-in claimed the system — falling back to static drivers.", "", "No plug-in knows this system; built-in drivers are used.").by("discover_active_plugin"),
    record("t.plugin_pref", Kind::PluginFallback, "plugin loader: preferred plug-in '%s' failed — falling back to ProbeOrder.", "id", "The preferred plug-in failed; the others were tried in their order.").by("discover_active_plugin"),
    record("t.plugin_abi", Kind::PluginFallback, "plugin loader:   %s: ABI major mismatch — plugin_api=%u, runtime expects %u; the plug-in must be rebuilt against this runtime's headers — skipping (ADR-020 rule 3).", "id plugin_api expected", "The plug-in was built for another runtime and was skipped.").by("load_and_probe_one").level(Level::Error),
    record("t.head", Kind::Display, "System head device: '%s'", "name", "The display as the runtime names it.").by("t_instance_create_system"),
    record("t.display", Kind::Display, "XR_DXR_display_info (iface=%s): display=%.4f x %.4f m, nominal=(%.4f, %.4f, %.4f) m, scale=%.4f x %.4f, pixels=%ux%u, atlas=%ux%u", "iface width_m height_m nominal.x nominal.y nominal.z scale.x scale.y pixels.width pixels.height atlas.width atlas.height", "Size and pixels of the 3D display.").by("t_instance_create_system"),
    record("t.d11dev", Kind::Device, "D3D11 compositor: app device on adapter '%ls' LUID=%08lx:%08lx (#1000)", "adapter.name adapter.luid", "The GPU that the app's device is on.").by("comp_d3d11_compositor_create").named(Path::D3d11).since("v2.7.0"),
    record("t.d12dev", Kind::Device, "D3D12 compositor: app device on adapter LUID=%08lx:%08lx (#1000)", "adapter.luid", "The GPU that the app's device is on.").by("comp_d3d12_compositor_create").named(Path::D3d12).since("v2.7.0"),
    record("t.use11", Kind::Compositor, "Using D3D11 native compositor (bypassing Vulkan)%s", "suffix", "The session uses the D3D11 compositor.").by("oxr_session_populate_d3d11_native").level(Level::Info).named(Path::D3d11),
    record("t.use12", Kind::Compositor, "Using D3D12 native compositor (bypassing Vulkan)%s", "suffix", "The session uses the D3D12 compositor.").by("oxr_session_populate_d3d12_native").level(Level::Info).named(Path::D3d12),
    record("t.usevk", Kind::Compositor, "Using VK native compositor (direct Vulkan, no multi-compositor)%s", "suffix", "The session uses the Vulkan compositor.").by("oxr_session_populate_vk_native").level(Level::Info).named(Path::Vulkan),
    record("t.usegl", Kind::Compositor, "Using GL native compositor (bypassing Vulkan)", "", "The session uses the OpenGL compositor.").by("oxr_session_populate_gl_native").named(Path::OpenGl),
    record("t.devremoved", Kind::DeviceRemoved, "[DEVICE_REMOVED] hr=0x%08lX reason=0x%08lX device=%s site=%s — the display processor will not be touched again; the service will exit for relaunch", "hresult reason device site", "A GPU was lost; the service will restart.").by("service_note_device_lost").level(Level::Error).only(Path::Service).since("#1002"),
    record("t.healthsum", Kind::Window, "[HEALTH] clients=%u/%u active_idx=%d lease=%s device=%s dp=%s window_s=%ld", "clients clients_max active_idx lease device dp window_s", "State of the service and its clients.").by("emit_health_if_elapsed").only(Path::Service).since("#951"),
    record("t.health", Kind::Window, "[HEALTH] slot=%u id=%u pid=%d class=%s name='%s' session=%c%c%c io=%c primary=%c%s swapchains=%u spaces=%u", "slot id pid class name session.active session.visible session.focused io primary state swapchains spaces", "State of one client of the service.").by("emit_health_if_elapsed").only(Path::Service).since("#951"),
    record("t.vkfallback", Kind::SuggestedGpuMissing, "WARNING in xrGetVulkanGraphicsDeviceKHR: Did not find runtime suggested GPU, fall back to GPU 0\n\tuuid: %s", "uuid", "Vulkan did not find the suggested GPU and took the first one: an early sign of a GPU mix-up.").level(Level::Oxr),
];

/// Named in the prose of section 12.
pub const PROSE: &[Shape] = &[
    record("t.vkfallback.cut", Kind::SuggestedGpuMissing, "WARNING in xrGetVulkanGraphicsDeviceKHR:%sDid not find runtime suggested GPU%s", "_ _", "Vulkan did not find the suggested GPU: an early sign of a GPU mix-up.").level(Level::Oxr),
    record("t.display_ext", Kind::Display, "XR_EXT_display_info (iface=%s): display=%.4f x %.4f m, nominal=(%.4f, %.4f, %.4f) m, scale=%.4f x %.4f, pixels=%ux%u, atlas=%ux%u", "iface width_m height_m nominal.x nominal.y nominal.z scale.x scale.y pixels.width pixels.height atlas.width atlas.height", "Size and pixels of the 3D display (older name).").by("t_instance_create_system"),
    record("t.panel_rect", Kind::Display, "XR_DXR_display_info panel rect: %ux%u at (%d, %d) on '%s'%s", "panel.width panel.height panel.left panel.top monitor _", "Where the panel is on the desktop.").since("#1301"),
    record("t.refresh", Kind::Display, "Display refresh rate: %.2f Hz (frame period %.2f ms)", "hz period_ms", "The panel's refresh rate."),
    record("t.pacing", Kind::Display, "Null-compositor frame pacing: %.2f Hz", "hz", "The pace of frames without a display."),
    record("t.pixels", Kind::Display, "Display pixel info: %ux%u, base view dims: %ux%u per eye", "pixels.width pixels.height view.width view.height", "Pixels of the panel and of a view.").only(Path::D3d12),
    record("t.lost", Kind::DeviceRemoved, "#747 DEVICE REMOVED observed by the compositor at gpu_wait_idle: GetDeviceRemovedReason=0x%08x", "reason", "A GPU was lost.").level(Level::Error),
    record("t.lost.other", Kind::DeviceRemoved, "#747 DEVICE REMOVED%s", "_", "A GPU was lost.").level(Level::Error),
    record("t.lost_exit", Kind::DeviceRemoved, "[DEVICE_REMOVED] exiting for relaunch (DXR_DEVICE_REMOVED_EXIT_MS=%lld, reason=0x%08lX)", "ms reason", "A GPU was lost; the service restarts.").level(Level::Error).only(Path::Service),
    record("t.lost_idle", Kind::DeviceRemoved, "[DEVICE_REMOVED] render thread idle — not driving the display processor", "", "A GPU was lost; the service stands still.").level(Level::Error).only(Path::Service),
    record("t.lost_refuse", Kind::DeviceRemoved, "[DEVICE_REMOVED] refusing a new session — the D3D11 device is gone (reason=0x%08lX)", "reason", "A GPU was lost; the service takes no new session.").level(Level::Error).only(Path::Service),
    record("t.lost_service", Kind::DeviceRemoved, "[DEVICE_REMOVED] %s", "_", "A GPU was lost.").level(Level::Error).only(Path::Service),
    record("t.present_hr", Kind::Failure, "Present failed: 0x%08x", "hresult", "A present failed.").level(Level::Error),
    record("t.present_vk", Kind::Failure, "Present failed: %d", "result", "A present failed.").level(Level::Error),
    record("t.present_dcomp", Kind::Failure, "DComp bridge: Present failed: 0x%08x", "hresult", "A present of the transparency bridge failed.").level(Level::Error),
    record("t.present_gl", Kind::Failure, "Transparent GL: swapchain Present failed: 0x%08x", "hresult", "A present of transparent OpenGL failed.").level(Level::Error),
    record("t.terminate", Kind::Failure, "[TERMINATE] %s", "_", "The process died of an error.").level(Level::Error),
    record("t.exit", Kind::Failure, "[EXIT] %s", "_", "The process ended unexpectedly.").level(Level::Error),
    record("t.version_mismatch", Kind::Failure, "DisplayXR client library version %s does not match service version %s", "client service", "App and service come from different builds."),
    record("t.window_closed", Kind::Instance, "WARNING in xrWaitFrame: Runtime window closed — exiting the session", "", "The session ended because its window was closed.").level(Level::Oxr),
    record("t.destroy11", Kind::Instance, "Destroying D3D11 compositor", "", "The session ended.").level(Level::Info).only(Path::D3d11),
    record("t.instance", Kind::Instance, "LOG in xrCreateInstance: Instance created%s", "_", "The app created its OpenXR instance.").level(Level::Oxr),
    record("t.devices", Kind::Instance, "LOG in xrCreateInstance: Selected devices%s", "_", "The devices that the runtime selected.").level(Level::Oxr),
    record("t.ipc_mode", Kind::ServiceMode, "LOG in xrCreateSession: Workspace/IPC mode: %s", "_", "The app renders through the service.").level(Level::Oxr).named(Path::IpcClient),
    record("t.ipc_d3d11", Kind::ServiceMode, "D3D11 native compositor DISABLED - running in service mode", "", "The app renders through the service.").named(Path::IpcClient),
    record("t.ipc_d3d12", Kind::ServiceMode, "D3D12 native compositor DISABLED - running in service mode", "", "The app renders through the service.").named(Path::IpcClient),
    record("t.ipc_vk", Kind::ServiceMode, "VK native compositor DISABLED - running in service mode", "", "The app renders through the service.").named(Path::IpcClient),
    record("t.ipc_gl", Kind::ServiceMode, "GL native compositor DISABLED - running in service mode", "", "The app renders through the service.").named(Path::IpcClient),
];
