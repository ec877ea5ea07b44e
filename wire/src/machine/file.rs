//! A machine file as it is written: what may be left out, what null means, and virtual instances of an adapter, which let
//! somebody try a case of several GPUs with the facts of one.

use serde::Deserialize;

use super::{Machine, MachineAdapter, Monitor, Rect, SessionFacts, Settings, ToldScanout};
use crate::Luid;

/// The whole file.
#[derive(Deserialize)]
pub(super) struct File {
    schema: String,
    os: String,
    adapters: Vec<Adapter>,
    #[serde(default)]
    monitors: Option<Vec<Monitor>>,
    panel: Option<Rect>,
    #[serde(default = "yes")]
    dxgi: bool,
    #[serde(default)]
    told_scanout: Option<ToldScanout>,
    #[serde(default)]
    settings: Settings,
    #[serde(default)]
    session: SessionFacts,
}

/// One adapter, or a virtual instance of one that stands before it.
#[derive(Deserialize)]
struct Adapter {
    /// Only an instance may leave it out.
    name: Option<String>,
    luid: Option<Luid>,
    vendor_id: Option<u32>,
    device_id: Option<u32>,
    dedicated_vram_mib: Option<u64>,
    software: Option<bool>,
    remote: Option<bool>,
    feature_level: Option<String>,
    vulkan_type: Option<String>,
    /// LUID of the adapter that this one is an instance of: what it does not tell itself is that adapter's.
    virtual_of: Option<Luid>,
}

const fn yes() -> bool {
    true
}

impl TryFrom<File> for Machine {
    type Error = String;

    fn try_from(file: File) -> Result<Self, String> {
        let File { schema, os, adapters, monitors, panel, dxgi, told_scanout, settings, session } = file;
        let told_scanout = told_scanout.or_else(|| monitors.is_none().then(ToldScanout::open));
        let monitors = monitors.unwrap_or_default();
        let adapters = instantiate(adapters)?;
        Ok(Self { schema, os, adapters, monitors, panel, dxgi, told_scanout, settings, session })
    }
}

/// Every instance becomes an adapter like any other, at its place in the enumeration.
fn instantiate(given: Vec<Adapter>) -> Result<Vec<MachineAdapter>, String> {
    let mut adapters: Vec<MachineAdapter> = Vec::with_capacity(given.len());
    // How many instances each adapter has so far.
    let mut instances = Vec::with_capacity(given.len());
    for (index, own) in given.into_iter().enumerate() {
        let mut name = own.name;
        let mut of = None;
        if let Some(luid) = own.virtual_of {
            let at = adapters.iter().position(|before| before.luid == Some(luid)).ok_or_else(|| {
                format!("adapters[{index}].virtual_of is {luid}, and no adapter before it has that LUID")
            })?;
            if own.luid.is_none() {
                return Err(format!("adapters[{index}] is a virtual instance and needs a luid of its own"));
            }
            instances[at] += 1;
            name = name.or_else(|| Some(format!("{} (virtual {})", adapters[at].name, instances[at])));
            of = Some(adapters[at].clone());
        }
        let of = of.as_ref();
        adapters.push(MachineAdapter {
            name: name.ok_or_else(|| format!("adapters[{index}] has no name"))?,
            luid: own.luid,
            vendor_id: own.vendor_id.or_else(|| of?.vendor_id),
            device_id: own.device_id.or_else(|| of?.device_id),
            dedicated_vram_mib: own.dedicated_vram_mib.or_else(|| of?.dedicated_vram_mib),
            software: own.software.or_else(|| of?.software),
            remote: own.remote.or_else(|| of?.remote),
            feature_level: own.feature_level.or_else(|| of?.feature_level.clone()),
            vulkan_type: own.vulkan_type.or_else(|| of?.vulkan_type.clone()),
        });
        instances.push(0);
    }
    Ok(adapters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(adapters: &str) -> Result<Machine, String> {
        let text =
            format!(r#"{{"schema":"weavewatch.machine/1","os":"windows","panel":null,"adapters":[{adapters}]}}"#);
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    const CARD: &str = r#"{"name":"Card","luid":"0:1","vendor_id":4318,"dedicated_vram_mib":8018,"software":false}"#;

    #[test]
    fn an_instance_has_what_its_adapter_has_and_what_it_tells_itself() {
        let text = format!(
            r#"{CARD},{{"luid":"0:2","virtual_of":"0:1"}},{{"luid":"0:3","virtual_of":"0:1","dedicated_vram_mib":128}},
               {{"luid":"0:4","virtual_of":"0:3","name":"Copy"}}"#
        );
        let adapters = machine(&text).expect("the file is sound").adapters;
        let told: Vec<_> = adapters
            .iter()
            .map(|own| (own.name.as_str(), own.luid.map(|luid| luid.0), own.dedicated_vram_mib))
            .collect();
        assert_eq!(
            told,
            [
                ("Card", Some(1), Some(8018)),
                ("Card (virtual 1)", Some(2), Some(8018)),
                ("Card (virtual 2)", Some(3), Some(128)),
                ("Copy", Some(4), Some(128)),
            ]
        );
        assert!(adapters.iter().all(|own| own.vendor_id == Some(4318) && own.software == Some(false)));
    }

    #[test]
    fn what_is_no_instance_is_refused_with_its_place() {
        for (adapters, expected) in [
            (r#"{"luid":"0:2","virtual_of":"0:1"}"#.to_owned(), "adapters[0].virtual_of is 00000000:00000001"),
            (format!(r#"{CARD},{{"virtual_of":"0:1"}}"#), "adapters[1] is a virtual instance and needs a luid"),
            (format!(r#"{CARD},{{"luid":"0:2"}}"#), "adapters[1] has no name"),
        ] {
            let error = machine(&adapters).expect_err("the file is wrong");
            assert!(error.contains(expected), "{error}");
        }
    }
}
