//! Every rule with every outcome that it can have: what a table of cases has to reach.

use wire::{Path, Policy};

use super::deposit::Deposit;
use super::device::Device;
use super::gate::{self, Gate, PASSED, REFUSED, SHARED};
use super::gl::{Agreement, Evidence, Rung};
use super::kill::Kill;
use super::line::Mask;
use super::overrides::D3d;
use super::render::{Excluded, Exclusion, Words};
use super::scanout::{At, DisplayPath, Panel, Walk};
use super::service::Ingest;
use super::settings::Lookup;
use super::vulkan::Vk;

/// Rules whose outcomes do not depend on the path, with the words of each outcome.
pub const RULES: &[(&str, &[&str])] = &[
    ("settings.DXR_D3D_FORCE_GPU", Lookup::WORDS),
    ("settings.DXR_VK_FORCE_GPU", Lookup::WORDS),
    ("settings.DXR_WEAVE_ON_SCANOUT", Lookup::WORDS),
    ("scanout.panel", Panel::WORDS),
    ("scanout.monitor", At::WORDS),
    ("scanout.path", DisplayPath::WORDS),
    ("scanout.walk", Walk::WORDS),
    ("render.exclude", Excluded::WORDS),
    ("render.rank", Words::WORDS),
    ("override.DXR_D3D_FORCE_GPU", D3d::WORDS),
    ("override.DXR_VK_FORCE_GPU", Vk::WORDS),
    ("render.device", Device::WORDS),
    ("deposit", Deposit::WORDS),
    ("gl.luid", &[Rung::Found.as_str(), Rung::NotReported.as_str(), Rung::NoMatch.as_str()]),
    ("gl.renderer", Rung::WORDS),
    ("gl.vendor", Rung::WORDS),
    ("gl.evidence", Evidence::WORDS),
    ("gl.advisory", Agreement::WORDS),
    ("service.ingest", Ingest::WORDS),
    ("line", Mask::WORDS),
];

/// Why an adapter can be left out of the ranking.
pub const EXCLUSIONS: &[&str] = Exclusion::WORDS;

/// The paths that have gates.
pub const GATES: [Path; 5] = [Path::D3d11, Path::D3d12, Path::Vulkan, Path::OpenGl, Path::Service];

/// Every gate of a path under a policy, in order, with the outcomes that it can have there when no fact is missing.
pub fn gates(path: Path, policy: Policy) -> Vec<(&'static str, Vec<&'static str>)> {
    let both = gate::before(path, policy).iter().chain(gate::after(path, policy));
    both.map(|gate| (gate.rule(), outcomes(*gate, path, policy))).collect()
}

fn outcomes(gate: Gate, path: Path, policy: Policy) -> Vec<&'static str> {
    match gate {
        Gate::Kill => Kill::WORDS.to_vec(),
        Gate::Api => vec![REFUSED],
        Gate::SameAdapter if policy == Policy::Adr039 && path != Path::Service => vec![PASSED, REFUSED, SHARED],
        _ => vec![PASSED, REFUSED],
    }
}
