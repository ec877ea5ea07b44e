//! Does the Vulkan deposit come up? (The document, "DXR_VK_DEPOSIT"; vocabulary section 8.)
//!
//! A setting asks for it, and the Vulkan split needs it. It wants a D3D11 device on the app's own adapter and a Vulkan
//! device with timeline semaphores. Its ring is printed at the size of a side-by-side atlas: the panel's width at half its
//! height, two slots, as in the document's sample.

use std::borrow::Cow;

use wire::{DepositAnswer, Machine};

use super::gpu::Gpu;
use super::scanout;
use super::settings::{self, VK_DEPOSIT};
use super::trace::{Trace, outcomes};

/// Slots of the ring.
const RING_SLOTS: u32 = 2;

outcomes! {
    /// What becomes of it.
    Deposit {
        /// It comes up.
        Active => "active",
        /// No listed adapter has the LUID of the app's device.
        NoMatch => "no same-adapter device",
        /// The app's device cannot wait for a fence.
        NoTimeline => "no timeline semaphore",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

/// Null when nothing asks for it. `for_split`: the split got as far as needing it. `render`: null where not known.
pub fn answer(machine: &Machine, render: Option<Gpu>, for_split: bool, trace: &mut Trace) -> Option<DepositAnswer> {
    let asked_by = match (settings::flag(&machine.settings, VK_DEPOSIT), for_split) {
        (true, _) => VK_DEPOSIT,
        (false, true) => "split",
        (false, false) => return None,
    };
    let size = machine.panel.filter(|_| scanout::has_size(machine)).map(|rect| (rect.width, rect.height / 2));
    let (outcome, lines) = match (render, render.and_then(|gpu| gpu.luid(machine))) {
        (Some(Gpu::Listed(index)), Some(luid)) => {
            let matched = size.map(|(width, height)| {
                format!(
                    "vk deposit: deposit adapter LUID=0x{0:016x} ('{1}'), VkDevice LUID=0x{0:016x}, match=YES — \
                     same-adapter D3D11 deposit, {width}x{height} x{RING_SLOTS} ring",
                    luid.0, machine.adapters[index].name
                )
            });
            if matched.is_none() {
                trace.miss("panel");
            }
            let (outcome, line) = if machine.session.timeline_semaphore {
                (
                    Deposit::Active,
                    "vk deposit: ACTIVE — atlas renders straight into the D3D11 texture (COLOR_ATTACHMENT, zero \
                     copies), completion published on a shared ID3D11Fence imported as a VK timeline semaphore. No CPU \
                     wait added.",
                )
            } else {
                (
                    Deposit::NoTimeline,
                    "vk deposit: the app's VkDevice has no VK_KHR_timeline_semaphore — the deposit's only GPU-side sync \
                     is a D3D fence imported as a timeline semaphore, and a CPU wait is not an acceptable substitute \
                     (#1178). Deposit DISABLED.",
                )
            };
            (outcome, matched.into_iter().chain([line.to_owned()]).collect())
        }
        (Some(_), Some(luid)) => (
            Deposit::NoMatch,
            vec![format!(
                "vk deposit: deposit adapter=NONE, VkDevice LUID=0x{:016x}, match=NO — no same-adapter D3D11 device, \
                 deposit DISABLED (the compositor keeps its own atlas)",
                luid.0
            )],
        ),
        _ => (Deposit::Unknown, Vec::new()),
    };
    trace.note("deposit", outcome.as_str());
    let active = (outcome != Deposit::Unknown).then_some(outcome == Deposit::Active);
    Some(DepositAnswer { asked_by: Cow::Borrowed(asked_by), active, outcome: Cow::Borrowed(outcome.as_str()), lines })
}
