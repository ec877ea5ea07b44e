//! From saved `displayxr-cli` output to a machine: the tool tells adapters, memory, scanout and settings, and nothing else.

use wire::{CliAdapter, CliOutput, Machine, MachineAdapter, Resolved, Settings, ToldScanout, Topology};

/// What the tool tells; null where it does not. `None` when the output holds no topology, or one that was not
/// evaluated.
pub(super) fn machine(output: &CliOutput) -> Option<Machine> {
    let topology = output.topology.as_ref().filter(|own| own.verdict.as_deref() != Some("not evaluated"))?;
    let mut machine = Machine::new(topology.adapters.iter().map(adapter).collect());
    // The tool says of the panel only which adapter drives it.
    machine.told_scanout = match &topology.scanout {
        Some(Resolved::Adapter(adapter)) => {
            Some(ToldScanout { name: adapter.name.clone(), luid: Some(adapter.luid), via: None })
        }
        // The tool looked and found none.
        Some(Resolved::Unresolved(_)) => None,
        None => Some(ToldScanout::open()),
    };
    machine.dxgi = !no_factory(topology);
    machine.settings = settings(output, topology);
    Some(machine)
}

fn adapter(told: &CliAdapter) -> MachineAdapter {
    MachineAdapter {
        name: told.name.clone(),
        luid: Some(told.luid),
        vendor_id: None,
        device_id: None,
        dedicated_vram_mib: Some(told.dedicated_vram_mib),
        // The section lists hardware adapters only (vocabulary 10.1).
        software: Some(false),
        remote: None,
        feature_level: None,
        vulkan_type: Some("unknown".to_owned()),
    }
}

fn no_factory(topology: &Topology) -> bool {
    topology.verdict.as_ref().is_some_and(|verdict| verdict.contains("DXGI factory unavailable"))
}

/// `perf list` says who set what; `info` shows the kill switch and the forced ingest of its own environment.
fn settings(output: &CliOutput, topology: &Topology) -> Settings {
    let mut settings = Settings::default();
    for lever in output.perf.iter().flat_map(|perf| &perf.levers) {
        let store = match lever.source.as_str() {
            "env" => &mut settings.env,
            "user" => &mut settings.user,
            "machine" => &mut settings.machine,
            _ => continue,
        };
        // A lever that the environment holds without a value hides the stores and counts as unset.
        store.insert(lever.name.clone(), lever.value.clone().unwrap_or_default());
    }
    let told = |settings: &Settings, name: &str| {
        [&settings.env, &settings.user, &settings.machine].iter().any(|store| store.contains_key(name))
    };
    if let Some(Some(value)) = &topology.weave_on_scanout
        && !told(&settings, "DXR_WEAVE_ON_SCANOUT")
    {
        settings.env.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), value.clone());
    }
    if let Some((value, _)) = topology.service_ingest.as_ref().and_then(|line| line.forced.as_ref())
        && !told(&settings, "DXR_D3D_FORCE_GPU")
    {
        settings.env.insert("DXR_D3D_FORCE_GPU".to_owned(), value.clone());
    }
    settings
}
