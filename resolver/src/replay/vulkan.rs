//! Which device a Vulkan session renders on: forced, else the render resolver's choice, else by type (contract section 5;
//! the document's `DXR_VK_FORCE_GPU` table; vocabulary 9.1 and 11).

use wire::{Machine, MachineAdapter};

use super::gpu::Gpu;
use super::overrides::{Forced, MONITORS, index, panel_words};
use super::render::Keyword;
use super::scanout::{self, Scanout};
use super::settings::Setting;
use super::trace::outcomes;

outcomes! {
    /// What became of `DXR_VK_FORCE_GPU`.
    Vk {
        /// The device on the panel's adapter.
        Scanout => "followed: scanout",
        /// The first integrated device.
        Igpu => "followed: igpu",
        /// The first discrete device.
        Dgpu => "followed: dgpu",
        /// By number among the Vulkan devices.
        Index => "followed: index",
        /// The keyword means nothing here.
        NotWindows => "ignored: windows only",
        /// The plug-in reports no size.
        NoPanel => "ignored: no panel dimensions",
        /// The panel's adapter was not found.
        NoScanout => "ignored: scanout adapter unresolved",
        /// The panel's adapter is no Vulkan device.
        NoDevice => "ignored: no device on the scanout adapter",
        /// No device of that type.
        NoType => "ignored: no such device type",
        /// Fewer devices than that.
        Range => "ignored: too few devices",
        /// Another word, another case, a blank.
        Unrecognised => "ignored: unrecognized value",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

/// The word for "a log leaves the type open".
const UNKNOWN_TYPE: &str = "unknown";

/// Every Vulkan device with its type, in order.
pub fn devices(machine: &Machine) -> impl Iterator<Item = (usize, &str)> {
    let typed = |(index, adapter)| kind(adapter).map(|kind| (index, kind));
    machine.adapters.iter().enumerate().filter_map(typed)
}

fn kind(adapter: &MachineAdapter) -> Option<&str> {
    adapter.vulkan_type.as_deref()
}

/// True when the adapter is a Vulkan device.
pub fn is_device(machine: &Machine, gpu: Gpu) -> bool {
    matches!(gpu, Gpu::Listed(index) if machine.adapters.get(index).and_then(kind).is_some())
}

/// Follows the value, or says why not.
pub fn forced(machine: &Machine, scanout: &Scanout, at_origin: bool, setting: Setting<'_>) -> Forced<Vk> {
    let value = setting.value;
    match value {
        "scanout" => by_scanout(machine, scanout, at_origin, setting),
        "igpu" | "integrated" => by_type(machine, setting, "integrated", Keyword::Igpu, Vk::Igpu),
        "dgpu" | "discrete" => by_type(machine, setting, "discrete", Keyword::Dgpu, Vk::Dgpu),
        _ => match index(value) {
            Some(number) => by_index(machine, setting, number),
            None => {
                Forced::ignored(Vk::Unrecognised, format!("DXR_VK_FORCE_GPU={value}: unrecognized value — ignoring"))
            }
        },
    }
}

/// The device that the type priority takes: discrete 4, integrated 3, virtual 2, CPU 1, others 0; the first of equals.
/// `Err` names the adapter whose type would have to be known.
pub fn by_priority(machine: &Machine) -> Result<Option<usize>, usize> {
    let mut best: Option<(u8, usize)> = None;
    let mut open = None;
    for (index, kind) in devices(machine) {
        let priority = match kind {
            "discrete" => 4,
            "integrated" => 3,
            "virtual" => 2,
            "cpu" => 1,
            _ => 0,
        };
        if kind == UNKNOWN_TYPE {
            open = open.or(Some(index));
        }
        if best.is_none_or(|(most, _)| priority > most) {
            best = Some((priority, index));
        }
    }
    match open {
        Some(index) if devices(machine).count() > 1 => Err(index),
        _ => Ok(best.map(|(_, index)| index)),
    }
}

fn by_scanout(machine: &Machine, scanout: &Scanout, at_origin: bool, setting: Setting<'_>) -> Forced<Vk> {
    let ignored = |outcome, words: &str| Forced::ignored(outcome, format!("DXR_VK_FORCE_GPU=scanout: {words}"));
    if !machine.os.eq_ignore_ascii_case("windows") {
        return ignored(Vk::NotWindows, "Windows-only — ignoring");
    }
    if !scanout.is_told() {
        return Forced::unknown(Vk::Unknown, vec![MONITORS.into()]);
    }
    if !scanout::has_size(machine) {
        return ignored(Vk::NoPanel, "no panel dimensions from the display processor — ignoring");
    }
    match scanout.gpu {
        None => {
            let panel = panel_words(machine, at_origin);
            ignored(Vk::NoScanout, &format!("could not resolve the panel's scanout adapter ({panel}) — ignoring"))
        }
        Some(gpu) if is_device(machine, gpu) => Forced::followed(Vk::Scanout, gpu, setting.source, Keyword::Scanout),
        Some(_) => ignored(Vk::NoDevice, "no Vulkan device on the panel's scanout adapter — using normal selection"),
    }
}

fn by_type(machine: &Machine, setting: Setting<'_>, wanted: &str, keyword: Keyword, outcome: Vk) -> Forced<Vk> {
    match devices(machine).find(|(_, kind)| *kind == wanted || *kind == UNKNOWN_TYPE) {
        Some((index, kind)) if kind == wanted => Forced::followed(outcome, Gpu::Listed(index), setting.source, keyword),
        Some((index, _)) => Forced::unknown(Vk::Unknown, vec![format!("adapters[{index}].vulkan_type").into()]),
        None => Forced::ignored(
            Vk::NoType,
            format!("DXR_VK_FORCE_GPU={}: no such device type present — using normal selection", setting.value),
        ),
    }
}

fn by_index(machine: &Machine, setting: Setting<'_>, number: usize) -> Forced<Vk> {
    match devices(machine).nth(number) {
        Some((index, _)) => Forced::followed(Vk::Index, Gpu::Listed(index), setting.source, Keyword::Index),
        None => Forced::ignored(
            Vk::Range,
            format!("DXR_VK_FORCE_GPU={}: only {} devices present — ignoring", setting.value, devices(machine).count()),
        ),
    }
}
