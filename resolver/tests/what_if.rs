//! What-if on one session: what is asked of a machine file and of every fixture log.

use std::fs;
use std::path::{Path as FilePath, PathBuf};

use resolver::Examiner;
use resolver::replay::{Change, Effect, ending, replay, situation, what_if};
use wire::{Luid, Outcome, Path, Policy, Situation, Split};

fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("the fixtures are there") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|own| own == end) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn situation_of(bytes: &[u8]) -> Situation {
    let mut examiner = Examiner::new();
    let mut reader = parser::LogReader::new();
    reader.feed(bytes, &mut |observation| examiner.push(&observation));
    let facts = reader.finish(&mut |observation| examiner.push(&observation));
    situation(&examiner.finish(&facts))
}

fn log(name: &str) -> Situation {
    let path = FilePath::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fixtures/logs/ok/{name}.log"));
    situation_of(&fs::read(path).expect("the fixture is there"))
}

fn change(policy: Option<Policy>, set: &[(&str, &str)]) -> Change {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Change { policy, set }
}

#[test]
fn no_change_changes_nothing() {
    let logs = [files("logs", "log"), files("fleet", "log")].concat();
    assert!(logs.len() > 20, "{}", logs.len());
    for path in logs {
        let own = situation_of(&fs::read(&path).expect("it is there"));
        let answer = what_if(own.clone(), None, &change(None, &[]));
        assert!(matches!(answer.effect, Effect::Stay | Effect::CannotReplay), "{path:?}: {answer:?}");
        assert_eq!(answer.effect == Effect::CannotReplay, !answer.missing.is_empty(), "{path:?}: {answer:?}");
        for policy in Policy::ALL {
            let (whole, end) = (replay(&own.machine, own.path, policy), ending(&own.machine, own.path, policy));
            assert_eq!(
                (whole.split, whole.reason.as_deref(), whole.retired, whole.crossing),
                (end.split, end.reason, end.retired, end.crossing),
                "{path:?}"
            );
            assert_eq!(whole.interop.is_some_and(|interop| interop.crossing), end.interop_crossing, "{path:?}");
        }
    }
}

#[test]
fn a_situation_survives_its_json_and_the_next_boot() {
    let mut with_luids = 0;
    for path in files("logs", "log") {
        let bytes = fs::read(&path).expect("it is there");
        let own = situation_of(&bytes);
        let json = serde_json::to_string(&own).expect("plain data");
        assert_eq!(serde_json::from_str::<Situation>(&json).expect("it was just written"), own, "{path:?}");
        // The next boot gives other LUIDs.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let rebooted = text.replace("00000000:0", "00000000:7").replace("00000000:70000000", "00000000:00000000");
        let rebooted = rebooted.replace("0x000000000", "0x000000007").replace("00000000-0", "00000000-7");
        with_luids += usize::from(rebooted != text);
        assert_eq!(situation_of(rebooted.as_bytes()), own, "{path:?}");
    }
    assert!(with_luids > 20, "{with_luids}");
}

#[test]
fn the_kill_switch_turns_both_ways() {
    let killed = log("d3d11_killed_by_env");
    let off = what_if(killed.clone(), None, &change(None, &[("DXR_WEAVE_ON_SCANOUT", "1")]));
    assert_eq!((off.before.outcome(), off.effect), (Outcome::Killed, Effect::Better), "{off:?}");
    let empty = what_if(killed.clone(), None, &change(None, &[("DXR_WEAVE_ON_SCANOUT", "")]));
    assert_eq!(empty.effect, Effect::Better, "an empty value hides the store: {empty:?}");
    assert!(off.assumed.iter().any(|fact| fact == "session.stage_a_ok"), "nobody saw stage A: {:?}", off.assumed);
    let engaged = log("d3d11_split_engaged");
    let on = what_if(engaged.clone(), None, &change(None, &[("DXR_WEAVE_ON_SCANOUT", "0")]));
    assert_eq!((on.effect, on.after.outcome()), (Effect::Worse, Outcome::Killed), "{on:?}");
    let nothing = what_if(engaged, None, &change(None, &[]));
    assert!(nothing.assumed.is_empty(), "it engaged, so every gate was passed: {:?}", nothing.assumed);
}

#[test]
fn a_build_that_wants_to_be_asked_is_not_killed_by_anybody() {
    let off = log("g1_d3d11_on_render");
    assert!(off.unasked);
    let nobody = what_if(off.clone(), None, &change(None, &[("DXR_WEAVE_ON_SCANOUT", "")]));
    assert_eq!((nobody.effect, nobody.before.outcome(), nobody.before.reason), (Effect::Stay, Outcome::Crossing, None));
    let asked = what_if(off, None, &change(None, &[("DXR_WEAVE_ON_SCANOUT", "1")]));
    assert_eq!((asked.effect, asked.after.outcome()), (Effect::Better, Outcome::Engaged), "{asked:?}");
    assert!(!log("g1_d3d11_on_scanout").unasked && !log("d3d11_killed_by_env").unasked);
}

#[test]
fn the_policy_and_an_override_decide() {
    let mut machine = wire::Machine::new(Vec::new());
    for (luid, name, vram, kind) in
        [(1, "NVIDIA GeForce RTX 3080 Laptop GPU", 8018, "discrete"), (2, "Intel(R) UHD Graphics", 128, "integrated")]
    {
        machine.adapters.push(wire::MachineAdapter {
            name: name.to_owned(),
            luid: Some(Luid(luid)),
            vendor_id: Some(1),
            device_id: Some(1),
            dedicated_vram_mib: Some(vram),
            software: Some(false),
            remote: Some(false),
            feature_level: Some("12_1".to_owned()),
            vulkan_type: Some(kind.to_owned()),
        });
    }
    machine.told_scanout =
        Some(wire::ToldScanout { name: "Intel(R) UHD Graphics".to_owned(), luid: Some(Luid(2)), via: None });
    let of = |path| Situation {
        policy: Policy::Document,
        path,
        machine: machine.clone(),
        missing: Vec::new(),
        unasked: false,
    };
    let newest = change(Some(Policy::Adr039), &[]);
    let vulkan = what_if(of(Path::Vulkan), None, &newest);
    assert_eq!((vulkan.before.reason, vulkan.effect), (Some("api_unsupported"), Effect::Better), "{vulkan:?}");
    assert_eq!(what_if(of(Path::Vulkan), Some(Policy::Adr039), &newest).effect, Effect::Stay);
    assert_eq!(what_if(of(Path::D3d11), None, &newest).effect, Effect::Stay);
    let panel = what_if(of(Path::D3d11), None, &change(None, &[("DXR_D3D_FORCE_GPU", "scanout")]));
    assert_eq!((panel.effect, panel.after.outcome()), (Effect::Sideways, Outcome::Local), "{panel:?}");
    // The app was seen where the ranking puts it, so it follows an override; one that went its own way does not.
    for (device, value, effect) in
        [(1, "scanout", Effect::Sideways), (1, "scanout ", Effect::Stay), (2, "dgpu", Effect::Stay)]
    {
        let mut own = of(Path::D3d12);
        own.machine.session.device_luid = Some(Luid(device));
        let answer = what_if(own, None, &change(None, &[("DXR_D3D_FORCE_GPU", value)]));
        assert_eq!(answer.effect, effect, "{device} {value:?}: {answer:?}");
        assert_eq!(answer.assumed, if effect == Effect::Stay { vec![] } else { vec!["session.device_luid"] });
    }
    let mut client = of(Path::IpcClient);
    client.machine.told_scanout = None;
    let client = what_if(client, None, &newest);
    assert_eq!((client.effect, client.before.split), (Effect::CannotReplay, Split::Unknown));
    assert_eq!(client.missing, ["path"]);
}
