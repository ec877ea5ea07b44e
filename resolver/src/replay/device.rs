//! Where the app renders: its own device, a forced one, the resolver's suggestion, OpenGL's context (contract section 5).

use std::borrow::Cow;

use wire::{Machine, Path};

use super::gpu::Gpu;
use super::overrides::Forced;
use super::render::{Choice, Provenance, Ranking};
use super::trace::{Trace, outcomes};
use super::{gl, vulkan};

outcomes! {
    /// Who decided where the app renders.
    Device {
        /// The app brought its device.
        Session => "session.device_luid",
        /// `DXR_D3D_FORCE_GPU`.
        D3dOverride => "DXR_D3D_FORCE_GPU",
        /// `DXR_VK_FORCE_GPU`.
        VkOverride => "DXR_VK_FORCE_GPU",
        /// The render resolver.
        Ranking => "ranking",
        /// Vulkan, where the resolver's choice is no Vulkan device.
        TypePriority => "type priority",
        /// OpenGL's driver.
        Driver => "GL_DEVICE_LUID_EXT",
        /// Nobody could identify it.
        None => "none",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

/// Where the app renders, so far as it is known.
pub struct Render {
    /// The adapter with the words for it; null when it is not known or nobody could identify it.
    pub gpu: Option<(Gpu, Option<Provenance>)>,
    /// Who decided.
    pub device: Device,
}

/// What the resolver says before a session brings its own device.
pub struct Suggestion {
    /// The adapter with the words for it.
    pub pick: gl::Pick,
    /// Nothing survived, as against "cannot be told".
    pub unresolved: bool,
    /// A setting decided.
    pub forced: bool,
}

/// An override that is followed outranks the ranking; one of which that cannot be told leaves the choice open.
pub fn suggest<O>(ranking: &Ranking, d3d: Option<&Forced<O>>) -> Suggestion {
    match d3d {
        Some(Forced { gpu: Some((gpu, provenance)), .. }) => {
            Suggestion { pick: Some((*gpu, Some(*provenance))), unresolved: false, forced: true }
        }
        Some(Forced { honoured: None, .. }) => Suggestion { pick: None, unresolved: false, forced: false },
        _ => {
            let pick = match ranking.choice {
                Choice::Adapter(index, words) => Some((Gpu::Listed(index), words.map(Provenance::Ranked))),
                Choice::Unresolved | Choice::Unknown => None,
            };
            Suggestion { pick, unresolved: ranking.choice == Choice::Unresolved, forced: false }
        }
    }
}

pub fn of<O>(machine: &Machine, path: Path, suggestion: &Suggestion, vk: Option<&Forced<O>>) -> Render {
    if path == Path::OpenGl {
        return match gl::context_luid(machine) {
            Some(luid) => Render { gpu: Some((Gpu::by_luid(machine, luid), None)), device: Device::Driver },
            None => Render { gpu: None, device: Device::None },
        };
    }
    if let Some(luid) = machine.session.device_luid.filter(|luid| !luid.is_zero()) {
        return Render { gpu: Some((Gpu::by_luid(machine, luid), None)), device: Device::Session };
    }
    let suggested = if suggestion.forced { Device::D3dOverride } else { Device::Ranking };
    if path != Path::Vulkan {
        let device = match (suggestion.pick, suggestion.unresolved) {
            (Some(_), _) => suggested,
            (None, true) => Device::None,
            (None, false) => Device::Unknown,
        };
        return Render { gpu: suggestion.pick, device };
    }
    match (vk, suggestion.pick) {
        (Some(Forced { gpu: Some((gpu, _)), .. }), _) => Render { gpu: Some((*gpu, None)), device: Device::VkOverride },
        (Some(Forced { honoured: None, .. }), _) => Render { gpu: None, device: Device::Unknown },
        (_, Some((gpu, words))) if vulkan::is_device(machine, gpu) => {
            Render { gpu: Some((gpu, words)), device: suggested }
        }
        (_, None) if !suggestion.unresolved => Render { gpu: None, device: Device::Unknown },
        _ => match vulkan::by_priority(machine) {
            Ok(Some(index)) => Render { gpu: Some((Gpu::Listed(index), None)), device: Device::TypePriority },
            Ok(None) => Render { gpu: None, device: Device::None },
            Err(_) => Render { gpu: None, device: Device::Unknown },
        },
    }
}

/// Which facts would tell where the app renders.
pub fn name_missing(
    machine: &Machine,
    path: Path,
    ranking: &Ranking,
    forced: [Option<&Vec<Cow<'static, str>>>; 2],
    trace: &mut Trace,
) {
    let before = trace.missing.len();
    for fact in forced.into_iter().flatten().flatten() {
        trace.miss(fact.clone());
    }
    if trace.missing.len() == before && ranking.choice == Choice::Unknown {
        ranking.missing(machine).into_iter().for_each(|fact| trace.miss(fact));
    }
    if let (Path::Vulkan, Err(index), true) = (path, vulkan::by_priority(machine), trace.missing.len() == before) {
        trace.miss(format!("adapters[{index}].vulkan_type"));
    }
}
