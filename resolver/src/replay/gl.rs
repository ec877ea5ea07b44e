//! Where OpenGL's interop devices go, and how the context compares with the resolver's choice (vocabulary section 7).
//!
//! OpenGL cannot choose an adapter, but the runtime's own interop devices must meet the context. The evidence is asked in
//! the order of the code: the driver's LUID, the renderer's name, the vendor, the resolver. A name or a vendor counts
//! only when exactly one adapter fits.

use std::borrow::Cow;

use wire::{GlAnswer, Interop, Luid, Machine, MachineAdapter};

use super::gpu::{Gpu, index_of};
use super::render::Provenance;
use super::trace::{Trace, outcomes};

outcomes! {
    /// A rung of the ladder.
    Rung {
        /// Exactly one adapter fits.
        Found => "found",
        /// The driver tells nothing here.
        NotReported => "not reported",
        /// No adapter fits.
        NoMatch => "no adapter fits",
        /// Several fit.
        Ambiguous => "several adapters fit",
    }
}

outcomes! {
    /// Where the interop devices go, in the runtime's words.
    Evidence {
        /// Exact.
        DriverLuid => "GL context LUID (GL_EXT_memory_object_win32)",
        /// By name.
        Renderer => "GL_RENDERER description match (heuristic)",
        /// By PCI vendor.
        Vendor => "GL_VENDOR PCI vendor-id match (heuristic)",
        /// The render resolver's choice.
        Resolver => "ADR-037 §2 fallback (GL adapter unknown)",
        /// The same, by a setting.
        Forced => "ADR-037 §2 fallback, env-forced (GL adapter unknown)",
        /// Nothing: the system's default adapter.
        Unresolved => "unresolved",
    }
}

outcomes! {
    /// The context against the resolver's choice.
    Agreement {
        /// The same adapter.
        Match => "MATCH",
        /// Another one.
        Diverges => "DIVERGES",
        /// One of both is not known.
        Unverified => "unverified",
    }
}

const SHARED_TEXTURE: &str = "shared-texture upload";
const TRANSPARENCY: &str = "transparency present bridge";

/// The resolver's choice as the ladder sees it: an adapter with the runtime's words for it.
pub type Pick = Option<(Gpu, Option<Provenance>)>;

/// Climbs the ladder and writes what the session says about it.
pub fn answer(machine: &Machine, pick: Pick, trace: &mut Trace) -> (Interop, Option<Gpu>, GlAnswer) {
    let (gpu, evidence, crossing) = interop(machine, pick, trace);
    let luid = gpu.and_then(|gpu| gpu.luid(machine));
    let context = context_luid(machine);
    let agreement = agree(machine, pick, context);
    trace.note("gl.advisory", agreement.as_str());
    let mut lines = vec![advisory(machine, pick, context, agreement)];
    // The upload device exists only when the app shares a texture; it is made first.
    let purposes = [(SHARED_TEXTURE, machine.session.shared_texture), (TRANSPARENCY, true)];
    for (purpose, _) in purposes.iter().filter(|(_, wanted)| *wanted) {
        lines.extend(interop_lines(machine, gpu, evidence, purpose, context));
    }
    let interop = Interop {
        name: gpu.map(|gpu| gpu.name(machine).to_owned()),
        luid,
        evidence: Cow::Borrowed(evidence.as_str()),
        crossing,
    };
    (interop, gpu, GlAnswer { agreement: Cow::Borrowed(agreement.as_str()), lines })
}

/// Where the interop devices go, by which evidence, and whether they cross.
pub fn interop(machine: &Machine, pick: Pick, trace: &mut Trace) -> (Option<Gpu>, Evidence, bool) {
    let (gpu, evidence) = climb(machine, pick, trace);
    trace.note("gl.evidence", evidence.as_str());
    let luid = gpu.and_then(|gpu| gpu.luid(machine));
    let context = context_luid(machine);
    let crossing = context.is_some() && luid.is_some() && luid != context;
    trace.note("gl.interop", if crossing { "crosses adapters" } else { "does not cross" });
    (gpu, evidence, crossing)
}

/// What the driver reports; zero is how it says that it does not.
pub fn context_luid(machine: &Machine) -> Option<Luid> {
    machine.session.gl_luid.filter(|luid| !luid.is_zero())
}

fn climb(machine: &Machine, pick: Pick, trace: &mut Trace) -> (Option<Gpu>, Evidence) {
    let by_luid = match context_luid(machine) {
        None => (Rung::NotReported, None),
        Some(luid) => index_of(machine, luid).map_or((Rung::NoMatch, None), |index| (Rung::Found, Some(index))),
    };
    trace.note("gl.luid", by_luid.0.as_str());
    if let Some(index) = by_luid.1 {
        return (Some(Gpu::Listed(index)), Evidence::DriverLuid);
    }
    let by_name = match machine.session.gl_renderer.as_deref().filter(|renderer| !renderer.is_empty()) {
        None => (Rung::NotReported, None),
        Some(renderer) => only(machine, |adapter| names(renderer, &adapter.name)),
    };
    trace.note("gl.renderer", by_name.0.as_str());
    if let Some(index) = by_name.1 {
        return (Some(Gpu::Listed(index)), Evidence::Renderer);
    }
    let by_vendor = match machine.session.gl_vendor.as_deref().and_then(vendor_id) {
        None => (Rung::NotReported, None),
        Some(vendor) => {
            for (index, _) in machine.adapters.iter().enumerate().filter(|(_, own)| own.vendor_id.is_none()) {
                trace.miss(format!("adapters[{index}].vendor_id"));
            }
            only(machine, |adapter| adapter.vendor_id == Some(vendor))
        }
    };
    trace.note("gl.vendor", by_vendor.0.as_str());
    if let Some(index) = by_vendor.1 {
        return (Some(Gpu::Listed(index)), Evidence::Vendor);
    }
    match pick {
        Some((gpu, Some(Provenance::Forced(..)))) => (Some(gpu), Evidence::Forced),
        Some((gpu, _)) => (Some(gpu), Evidence::Resolver),
        None => (None, Evidence::Unresolved),
    }
}

/// The one hardware adapter that fits.
fn only(machine: &Machine, fits: impl Fn(&MachineAdapter) -> bool) -> (Rung, Option<usize>) {
    let fitting = |(_, adapter): &(usize, &MachineAdapter)| adapter.software != Some(true) && fits(adapter);
    let mut found = machine.adapters.iter().enumerate().filter(fitting);
    match (found.next(), found.next()) {
        (None, _) => (Rung::NoMatch, None),
        (Some((index, _)), None) => (Rung::Found, Some(index)),
        (Some(_), Some(_)) => (Rung::Ambiguous, None),
    }
}

/// Drivers put more behind the name (`/PCIe/SSE2`), DXGI sometimes does (`Laptop GPU`): one contains the other.
fn names(renderer: &str, description: &str) -> bool {
    let chip = renderer.split('/').next().unwrap_or(renderer);
    !description.is_empty() && (renderer.contains(description) || description == chip)
}

/// The PCI vendor behind the words of `GL_VENDOR`.
fn vendor_id(vendor: &str) -> Option<u32> {
    let vendor = vendor.to_ascii_lowercase();
    let known = [
        ("nvidia", 0x10de),
        ("intel", 0x8086),
        ("ati technologies", 0x1002),
        ("amd", 0x1002),
        ("advanced micro devices", 0x1002),
        ("microsoft", 0x1414),
    ];
    known.iter().find(|(word, _)| vendor.contains(word)).map(|(_, id)| *id)
}

fn agree(machine: &Machine, pick: Pick, context: Option<Luid>) -> Agreement {
    match (context, pick.and_then(|(gpu, _)| gpu.luid(machine))) {
        (Some(context), Some(picked)) if context == picked => Agreement::Match,
        (Some(_), Some(_)) => Agreement::Diverges,
        _ => Agreement::Unverified,
    }
}

fn advisory(machine: &Machine, pick: Pick, context: Option<Luid>, agreement: Agreement) -> String {
    let renderer = machine.session.gl_renderer.as_deref().unwrap_or("unknown");
    let name = pick.map_or("<unavailable>", |(gpu, _)| gpu.name(machine));
    let words = match pick {
        Some((_, provenance)) => provenance.map_or("unknown", Provenance::as_str),
        None => "unresolved",
    };
    let head = "ADR-037 §5 GL placement is OS-ADVISORY: OpenGL exposes no adapter-selection API, so the driver (+ the \
                per-exe UserGpuPreferences pin) decides.";
    match context {
        Some(luid) => {
            let picked = pick.and_then(|(gpu, _)| gpu.luid(machine)).unwrap_or_default();
            format!(
                "{head} GL context is on LUID={luid} ({renderer}); ADR-037 §2 would pick '{name}' LUID={picked} \
                 ({words}) — {}. The runtime follows the GL context with its interop devices; it cannot move the \
                 context. (#1159)",
                agreement.as_str()
            )
        }
        None => format!(
            "{head} This driver does not report GL_DEVICE_LUID_EXT (no GL_EXT_memory_object_win32), so the GL context's \
             adapter is NOT reliably knowable here — interop devices fall back to the GL_VENDOR/GL_RENDERER match, then \
             to ADR-037 §2 ('{name}', {words}). Renderer: {renderer}. (#1159)"
        ),
    }
}

fn interop_lines(
    machine: &Machine,
    gpu: Option<Gpu>,
    evidence: Evidence,
    purpose: &str,
    context: Option<Luid>,
) -> Vec<String> {
    if !machine.dxgi {
        return vec![format!(
            "ADR-037 §5 GL interop device ({purpose}): no DXGI factory — falling back to the DXGI default adapter (#1159)"
        )];
    }
    let Some(gpu) = gpu else {
        return vec![format!(
            "ADR-037 §5 GL interop device ({purpose}): adapter UNRESOLVED — created on the DXGI default (#1159)"
        )];
    };
    let Some(luid) = gpu.luid(machine) else { return Vec::new() };
    let mut lines = vec![format!(
        "ADR-037 §5 GL interop device ({purpose}): '{}' LUID={luid} ({}) (#1159)",
        gpu.name(machine),
        evidence.as_str()
    )];
    if let Some(context) = context.filter(|context| *context != luid) {
        lines.push(format!(
            "ADR-037 §5: GL interop device ({purpose}) is on LUID={luid} but the GL context runs on LUID={context} — \
             CROSS-ADAPTER interop; every share/copy crosses the bus, every frame (#1159)"
        ));
    }
    lines
}
