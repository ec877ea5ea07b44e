//! The GPU topology section of `displayxr-cli info`, line by line (vocabulary section 10.1; the document, "Checking where
//! the weave actually runs").
//!
//! The tool asks the same resolvers, with two differences of its own: its render suggestion is the largest memory among
//! hardware adapters and not the resolver's choice, and its kill switch does not know `Off`.

use wire::{Machine, MachineAdapter};

use super::gpu::Gpu;
use super::kill;
use super::overrides::{self, panel_words};
use super::render::{self, Choice, Provenance, Ranking};
use super::scanout::{self, Scanout};
use super::settings::{self, D3D_FORCE_GPU, SPLIT_INGRESS, WEAVE_ON_SCANOUT};

/// The section with its heading; every line but the heading starts with a TAB.
pub fn topology(machine: &Machine) -> Vec<String> {
    let mut lines = vec![" :: GPU topology (#918 — does the weave cross adapters to reach the panel?)".to_owned()];
    if !machine.os.eq_ignore_ascii_case("windows") {
        lines.push("\tnot evaluated".to_owned());
        return lines;
    }
    let scanout = scanout::resolve(machine, false);
    let hardware = if machine.dxgi { hardware(machine) } else { Vec::new() };
    lines.push(format!("\tadapters:     {}", hardware.len()));
    for (shown, (_, adapter)) in hardware.iter().enumerate() {
        let luid = adapter.luid.unwrap_or_default();
        let vram = adapter.dedicated_vram_mib.unwrap_or_default();
        lines.push(format!("\t  [{shown}] {:<32} LUID={luid}  dedicated VRAM {vram} MB", adapter.name));
    }
    let suggestion = suggestion(&hardware);
    lines.push(scanout_line(machine, &scanout));
    lines.push(match suggestion {
        Some(gpu) => format!("\trender (default suggestion): {}", quoted(machine, gpu)),
        None => "\trender (default suggestion): <none>".to_owned(),
    });
    let verdict = verdict(machine, hardware.len(), &scanout, suggestion);
    lines.push(format!("\tweave-on-scanout topology: {}", verdict.as_str()));
    let value = settings::value(&machine.settings, WEAVE_ON_SCANOUT);
    lines.push(format!(
        "\tDXR_WEAVE_ON_SCANOUT={} (kill switch; the split is ON by default)",
        value.unwrap_or("<unset>")
    ));
    lines.push(format!("\tservice split: {}", service_split(machine, value, verdict)));
    lines.push(format!("\tservice ingest: {}", service_ingest(machine, &scanout)));
    lines
}

/// The tool's own words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Applies,
    SingleAdapter,
    SameAdapter,
    NoFactory,
    NoScanout,
    NoRender,
}

impl Verdict {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Applies => "APPLIES (render != scanout)",
            Self::SingleAdapter => "does not apply (single adapter)",
            Self::SameAdapter => "does not apply (same adapter)",
            Self::NoFactory => "unknown (DXGI factory unavailable)",
            Self::NoScanout => "unknown (scanout adapter unresolvable)",
            Self::NoRender => "unknown (no hardware render adapter found)",
        }
    }
}

fn hardware(machine: &Machine) -> Vec<(usize, &MachineAdapter)> {
    machine.adapters.iter().enumerate().filter(|(_, adapter)| adapter.software != Some(true)).collect()
}

/// The first of the largest.
fn suggestion(hardware: &[(usize, &MachineAdapter)]) -> Option<Gpu> {
    let most = hardware.iter().map(|(_, adapter)| adapter.dedicated_vram_mib.unwrap_or_default()).max()?;
    let first = hardware.iter().find(|(_, adapter)| adapter.dedicated_vram_mib.unwrap_or_default() == most)?;
    Some(Gpu::Listed(first.0))
}

fn quoted(machine: &Machine, gpu: Gpu) -> String {
    format!("'{}' LUID={}", gpu.name(machine), gpu.luid(machine).unwrap_or_default())
}

fn scanout_line(machine: &Machine, scanout: &Scanout) -> String {
    match scanout.gpu {
        _ if !machine.dxgi => {
            "\tpanel scanout: UNRESOLVED (DXGI factory unavailable — adapters not enumerated)".to_owned()
        }
        Some(gpu @ Gpu::Listed(_)) => format!("\tpanel scanout: {}", quoted(machine, gpu)),
        Some(gpu) => {
            format!("\tpanel scanout: '<not enumerated>' LUID={}", gpu.luid(machine).unwrap_or_default())
        }
        None => format!(
            "\tpanel scanout: UNRESOLVED (panel's scanout adapter unresolvable ({}))",
            panel_words(machine, false)
        ),
    }
}

fn verdict(machine: &Machine, adapters: usize, scanout: &Scanout, suggestion: Option<Gpu>) -> Verdict {
    match (suggestion, scanout.gpu) {
        _ if !machine.dxgi => Verdict::NoFactory,
        (None, _) => Verdict::NoRender,
        (Some(_), None) => Verdict::NoScanout,
        (Some(render), Some(scanout)) if render.same_as(scanout, machine) == Some(true) => {
            if adapters == 1 {
                Verdict::SingleAdapter
            } else {
                Verdict::SameAdapter
            }
        }
        (Some(_), Some(_)) => Verdict::Applies,
    }
}

fn service_split(machine: &Machine, value: Option<&str>, verdict: Verdict) -> String {
    match value {
        Some(value) if kill::cli(value) => {
            format!("KILLED (DXR_WEAVE_ON_SCANOUT={value} — the default is ON since #918 Phase 3)")
        }
        _ if verdict != Verdict::Applies => {
            "allowed but INERT (render and scanout are the same adapter — Stage A no-ops, reason=same_adapter)"
                .to_owned()
        }
        _ => {
            let ingress = match settings::value(&machine.settings, SPLIT_INGRESS) {
                Some("staged") => "staged",
                Some(_) => "adaptive",
                None => "adaptive (default)",
            };
            format!("WOULD ENGAGE (default on, render != scanout); ingress {ingress}")
        }
    }
}

fn service_ingest(machine: &Machine, scanout: &Scanout) -> String {
    if !machine.dxgi {
        return "unknown (DXGI factory unavailable)".to_owned();
    }
    let ranking = render::rank(machine);
    let setting = settings::look_up(&machine.settings, D3D_FORCE_GPU).1;
    let forced = setting.map(|setting| overrides::d3d(machine, &ranking, scanout, false, setting));
    let picked = forced.as_ref().and_then(|forced| forced.gpu).or_else(|| ranked(&ranking));
    let Some((gpu, provenance)) = picked else {
        return "UNRESOLVED — the service would fall back to D3D_DRIVER_TYPE_HARDWARE".to_owned();
    };
    let mut line =
        format!("{} ({}) — the adapter clients must share (ADR-037 §7)", quoted(machine, gpu), provenance.as_str());
    if let (Some(setting), Some(forced)) = (setting, forced) {
        let value = setting.value;
        let verdict = match forced.honoured {
            Some(true) => "HONOURED",
            _ => "set but NOT honoured — see the resolver's WARN",
        };
        line.push_str("; DXR_D3D_FORCE_GPU=");
        line.push_str(value);
        line.push(' ');
        line.push_str(verdict);
    }
    line
}

fn ranked(ranking: &Ranking) -> Option<(Gpu, Provenance)> {
    match ranking.choice {
        Choice::Adapter(index, words) => {
            Some((Gpu::Listed(index), Provenance::Ranked(words.unwrap_or(render::Words::Unknown))))
        }
        Choice::Unresolved | Choice::Unknown => None,
    }
}
