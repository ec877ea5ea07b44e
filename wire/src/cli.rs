//! What `displayxr-cli` printed: `info`, `selftest` and `perf list`, text or JSON (vocabulary section 10).

use serde::{Deserialize, Serialize};

use crate::{Adapter, Luid};

/// The parts of the tool's output that were found in one capture. Text that is none of them is counted, not kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CliOutput {
    /// `info`: the section on GPU topology.
    pub topology: Option<Topology>,
    /// `selftest`: its checks in order.
    pub checks: Vec<SelftestCheck>,
    /// `selftest`: null when the closing line is missing.
    pub passed: Option<bool>,
    /// `perf list`.
    pub perf: Option<PerfList>,
}

/// A choice that may have failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolved {
    /// It names an adapter.
    Adapter(Adapter),
    /// It does not; the tool's own words say why.
    Unresolved(String),
}

/// The topology section of `info`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Topology {
    /// In enumeration order.
    pub adapters: Vec<CliAdapter>,
    /// Which adapter drives the panel.
    pub scanout: Option<Resolved>,
    /// The largest dedicated memory; not the resolver's choice.
    pub render_suggestion: Option<Resolved>,
    /// Such as `APPLIES (render != scanout)`.
    pub verdict: Option<String>,
    /// The value of `DXR_WEAVE_ON_SCANOUT`; `Some(None)` when it is said to be unset.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "told")]
    pub weave_on_scanout: Option<Option<String>>,
    /// Such as `WOULD ENGAGE (default on, render != scanout); ingress adaptive (default)`.
    pub service_split: Option<String>,
    /// The service's ingest adapter.
    pub service_ingest: Option<IngestLine>,
}

/// An adapter row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CliAdapter {
    /// DXGI's description.
    pub name: String,
    /// Valid within one boot.
    pub luid: Luid,
    /// Dedicated video memory in MiB (text) or rounded down to MiB (JSON, which prints bytes).
    pub dedicated_vram_mib: u64,
}

/// The line on the service's ingest adapter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IngestLine {
    /// The adapter, or why there is none.
    pub adapter: Resolved,
    /// The resolver's words for its choice, such as `most VRAM`.
    pub provenance: Option<String>,
    /// The override that was set, and whether the resolver followed it.
    pub forced: Option<(String, bool)>,
}

/// One check of `selftest`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SelftestCheck {
    /// `gpu_topology` and others.
    pub name: String,
    /// PASS or FAIL.
    pub passed: bool,
    /// The tool's words.
    pub detail: String,
}

/// The output of `perf list`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PerfList {
    /// The user's settings file.
    pub store: Option<String>,
    /// When it was last written.
    pub written: Option<String>,
    /// Every managed setting.
    pub levers: Vec<Lever>,
}

/// One managed setting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lever {
    /// Such as `DXR_WEAVE_ON_SCANOUT`.
    pub name: String,
    /// Null when unset.
    pub value: Option<String>,
    /// `env`, `user`, `machine` or `default`.
    pub source: String,
}

/// Keeps "said to be unset" apart from "not said" in JSON: null against no key.
mod told {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::option_option, clippy::ref_option, reason = "serde's `with` hands over a reference to the field")]
    pub fn serialize<S: Serializer>(value: &Option<Option<String>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    #[expect(clippy::option_option, reason = "three states: not said, unset, set")]
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
        Option::<String>::deserialize(deserializer).map(Some)
    }
}
