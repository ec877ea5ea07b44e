//! One PC as the resolver sees it: adapters, monitors, panel, settings (contract section 5).

mod file;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Luid, Via};

/// Name and version of the machine object.
pub const MACHINE_SCHEMA: &str = "weavewatch.machine/1";

/// A machine file. Without a key `monitors`, or with null, nothing is known of the wiring: then `told_scanout` says so.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "file::File")]
pub struct Machine {
    /// [`MACHINE_SCHEMA`].
    pub schema: String,
    /// `windows` for every PC with a split.
    pub os: String,
    /// In DXGI enumeration order, which is also the Vulkan device order.
    pub adapters: Vec<MachineAdapter>,
    /// In the order of the system.
    pub monitors: Vec<Monitor>,
    /// Where the 3D panel is on the desktop, in physical pixels; null when no plug-in reports it.
    pub panel: Option<Rect>,
    /// False when DXGI gives no factory: then there are no adapters to choose from.
    #[serde(skip_serializing_if = "is_yes")]
    pub dxgi: bool,
    /// What the runtime's own scanout resolver answered, where a log tells that but not the monitors behind it. It stands
    /// in for `monitors` and `panel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_scanout: Option<ToldScanout>,
    /// What somebody set.
    pub settings: Settings,
    /// What one session brings along.
    pub session: SessionFacts,
}

/// A scanout adapter that a log names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToldScanout {
    /// DXGI's description, or `<not enumerated>`; empty, with no LUID, when nothing is told.
    pub name: String,
    /// Valid within one boot; null after an output walk, which prints none.
    pub luid: Option<Luid>,
    /// How it was found, where that is told.
    pub via: Option<Via>,
}

impl ToldScanout {
    /// Nobody told which adapter drives the panel, nor the monitors that would.
    pub const fn open() -> Self {
        Self { name: String::new(), luid: None, via: None }
    }

    /// True for [`ToldScanout::open`].
    pub const fn is_open(&self) -> bool {
        self.name.is_empty() && self.luid.is_none()
    }
}

/// One GPU. Null is "not told".
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MachineAdapter {
    /// DXGI's description.
    pub name: String,
    /// Valid within one boot; null where a log names the adapter only.
    pub luid: Option<Luid>,
    /// PCI vendor.
    pub vendor_id: Option<u32>,
    /// PCI device.
    pub device_id: Option<u32>,
    /// Dedicated video memory in MiB.
    pub dedicated_vram_mib: Option<u64>,
    /// WARP and its like.
    pub software: Option<bool>,
    /// Of a remote desktop session.
    pub remote: Option<bool>,
    /// `12_1`.
    pub feature_level: Option<String>,
    /// `discrete`, `integrated`, `virtual`, `cpu`, `other`; null when it is no Vulkan device; `unknown` when a log leaves
    /// its type open.
    pub vulkan_type: Option<String>,
}

impl MachineAdapter {
    /// One of which only the name is told, and the LUID where there is one.
    pub fn new(name: &str, luid: Option<Luid>) -> Self {
        Self {
            name: name.to_owned(),
            luid,
            vendor_id: None,
            device_id: None,
            dedicated_vram_mib: None,
            software: None,
            remote: None,
            feature_level: None,
            vulkan_type: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
const fn is_yes(value: &bool) -> bool {
    *value
}

/// One monitor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Monitor {
    /// `\\.\DISPLAY1`.
    pub gdi_name: String,
    /// On the desktop.
    pub rect: Rect,
    /// The adapter that the display-config database names.
    pub path_luid: Option<Luid>,
    /// The adapters whose DXGI outputs claim the monitor.
    #[serde(default)]
    pub enumerated_by: Vec<Luid>,
}

/// A rectangle on the desktop, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rect {
    /// May be negative: monitors left of the primary one.
    pub left: i32,
    /// May be negative.
    pub top: i32,
    /// Zero when the plug-in does not know.
    pub width: u32,
    /// Zero when the plug-in does not know.
    pub height: u32,
}

/// Settings by source, strongest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// The store of the user.
    pub user: BTreeMap<String, String>,
    /// The store of the machine.
    pub machine: BTreeMap<String, String>,
}

/// What a session brings along; every key may be left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are the contract's, each a fact of its own")]
pub struct SessionFacts {
    /// The app has a window.
    pub hwnd: bool,
    /// It presents through a shared texture.
    pub shared_texture: bool,
    /// Its Vulkan device has timeline semaphores.
    pub timeline_semaphore: bool,
    /// The plug-in weaves on the scanout adapter.
    pub dp_accepts_scanout: bool,
    /// The device on the scanout adapter can be set up.
    pub stage_a_ok: bool,
    /// The presenter class of a service client.
    pub presenter: String,
    /// The service runs in its legacy mode.
    pub legacy_standalone: bool,
    /// The app uses layers that the split cannot carry.
    pub unsupported_layers: bool,
    /// The device that the app brought, where it is known.
    pub device_luid: Option<Luid>,
    /// What OpenGL's driver reports.
    pub gl_luid: Option<Luid>,
    /// `GL_VENDOR`.
    pub gl_vendor: Option<String>,
    /// `GL_RENDERER`.
    pub gl_renderer: Option<String>,
}

impl SessionFacts {
    /// The flags by the names that an answer gives to missing facts. Each has a default, so a source that does not tell one
    /// leaves it open.
    pub const FLAGS: [&str; 7] = [
        "session.hwnd",
        "session.shared_texture",
        "session.timeline_semaphore",
        "session.dp_accepts_scanout",
        "session.stage_a_ok",
        "session.legacy_standalone",
        "session.unsupported_layers",
    ];
}

impl Machine {
    /// A PC of which nothing is known yet.
    pub fn new(adapters: Vec<MachineAdapter>) -> Self {
        Self {
            schema: MACHINE_SCHEMA.to_owned(),
            os: "windows".to_owned(),
            adapters,
            monitors: Vec::new(),
            panel: None,
            dxgi: true,
            told_scanout: None,
            settings: Settings::default(),
            session: SessionFacts::default(),
        }
    }
}

impl Default for SessionFacts {
    fn default() -> Self {
        Self {
            hwnd: true,
            shared_texture: false,
            timeline_semaphore: true,
            dp_accepts_scanout: true,
            stage_a_ok: true,
            presenter: "APP_HWND".to_owned(),
            legacy_standalone: false,
            unsupported_layers: false,
            device_luid: None,
            gl_luid: None,
            gl_vendor: None,
            gl_renderer: None,
        }
    }
}
