//! No machine is too strange: whatever stands in a machine file, every rule answers, and the answer survives its JSON.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use resolver::replay::{advise, compare, replay, topology};
use wire::{
    Luid, Machine, MachineAdapter, Monitor, Path, Placement, Policy, Rect, Replay, SessionFacts, Settings, Split,
    ToldScanout,
};

/// Few, so that adapters, paths and devices meet.
fn luid() -> impl Strategy<Value = Luid> {
    (0_u64..5).prop_map(Luid)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("'".to_owned()),
        Just("Karte \u{30d7}\u{30ed}".to_owned()),
        Just("Microsoft Basic Render Driver".to_owned()),
        "[a-zA-Z0-9 _/-]{0,12}",
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("scanout".to_owned()),
        Just("igpu".to_owned()),
        Just("discrete".to_owned()),
        Just("0".to_owned()),
        Just("1".to_owned()),
        Just("99999999999999999999999".to_owned()),
        text(),
    ]
}

fn rect() -> impl Strategy<Value = Rect> {
    let size = || prop_oneof![Just(0), Just(3840), any::<u32>()];
    let place = || prop_oneof![Just(0), any::<i32>()];
    (place(), place(), size(), size()).prop_map(|(left, top, width, height)| Rect { left, top, width, height })
}

prop_compose! {
    fn adapter()(
        name in text(),
        luid in option::of(luid()),
        vendor_id in option::of(prop_oneof![Just(0x1414_u32), Just(0x10de), any::<u32>()]),
        device_id in option::of(prop_oneof![Just(0x8c_u32), any::<u32>()]),
        dedicated_vram_mib in option::of(prop_oneof![0_u64..3, any::<u64>()]),
        software in any::<Option<bool>>(),
        remote in any::<Option<bool>>(),
        feature_level in option::of(prop_oneof![Just("12_1".to_owned()), Just("9_3".to_owned()), text()]),
        vulkan_type in option::of(prop_oneof![Just("discrete".to_owned()), Just("unknown".to_owned()), text()]),
    ) -> MachineAdapter {
        MachineAdapter {
            name, luid, vendor_id, device_id, dedicated_vram_mib, software, remote, feature_level, vulkan_type,
        }
    }
}

prop_compose! {
    fn monitor()(
        gdi_name in text(),
        rect in rect(),
        path_luid in option::of(luid()),
        enumerated_by in vec(luid(), 0..3),
    ) -> Monitor {
        Monitor { gdi_name, rect, path_luid, enumerated_by }
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let name = prop_oneof![
        Just("DXR_D3D_FORCE_GPU"),
        Just("DXR_VK_FORCE_GPU"),
        Just("DXR_WEAVE_ON_SCANOUT"),
        Just("DXR_SPLIT_SAME_ADAPTER"),
        Just("DXR_VK_DEPOSIT"),
    ];
    let store = || btree_map(name.clone().prop_map(str::to_owned), value(), 0..3);
    (store(), store(), store()).prop_map(|(env, user, machine)| Settings { env, user, machine })
}

prop_compose! {
    fn session()(
        flags in any::<[bool; 7]>(),
        presenter in prop_oneof![Just("SELF".to_owned()), Just("APP_HWND".to_owned()), text()],
        device_luid in option::of(luid()),
        gl_luid in option::of(luid()),
        gl_vendor in option::of(prop_oneof![Just("NVIDIA".to_owned()), text()]),
        gl_renderer in option::of(text()),
    ) -> SessionFacts {
        let [hwnd, shared_texture, timeline_semaphore, dp_accepts_scanout, stage_a_ok, legacy_standalone, unsupported_layers]
            = flags;
        SessionFacts {
            hwnd, shared_texture, timeline_semaphore, dp_accepts_scanout, stage_a_ok, presenter, legacy_standalone,
            unsupported_layers, device_luid, gl_luid, gl_vendor, gl_renderer,
        }
    }
}

prop_compose! {
    fn machine()(
        adapters in vec(adapter(), 0..6),
        monitors in vec(monitor(), 0..4),
        panel in option::of(rect()),
        dxgi in prop::bool::weighted(0.9),
        told in option::weighted(0.3, (text(), option::of(luid()))),
        settings in settings(),
        session in session(),
        windows in prop::bool::weighted(0.9),
    ) -> Machine {
        Machine {
            os: if windows { "windows" } else { "linux" }.to_owned(),
            monitors, panel, dxgi, settings, session,
            told_scanout: told.map(|(name, luid)| ToldScanout { name, luid, via: None }),
            ..Machine::new(adapters)
        }
    }
}

proptest! {
    #[test]
    fn every_machine_gets_an_answer(machine in machine()) {
        for path in Path::ALL {
            for policy in Policy::ALL {
                let answer = replay(&machine, path, policy);
                prop_assert_eq!(answer.ranking.len(), machine.adapters.len());
                prop_assert_eq!(answer.split == Split::Off, answer.reason.is_some());
                // An unknown that names no fact is no answer; a client's log simply has no line.
                let silent = path == Path::IpcClient;
                prop_assert!(answer.split != Split::Unknown || silent || !answer.missing.is_empty(), "{answer:#?}");
                prop_assert!(answer.line.is_some() || silent || !answer.missing.is_empty(), "{answer:#?}");
                let json = serde_json::to_string(&answer).expect("an answer is plain data");
                let back: Replay = serde_json::from_str(&json).expect("it was just written");
                prop_assert_eq!(back.line, answer.line);
            }
        }
    }

    #[test]
    fn the_tools_section_and_comparisons_never_fail(machine in machine(), seen in option::of((text(), luid()))) {
        prop_assert!(topology(&machine).len() >= 2);
        let adapter = seen.map(|(name, luid)| wire::Adapter { name, luid });
        let observed = Placement {
            split: Split::Off,
            reasons: wire::Reason::list("no_hwnd"),
            render: adapter.clone(),
            scanout: adapter,
            generation: wire::Generation::G2,
        };
        for path in Path::ALL {
            compare(&replay(&machine, path, Policy::Adr039), &observed, &[]);
        }
    }

    #[test]
    fn a_machine_file_survives_its_json(machine in machine()) {
        let json = serde_json::to_string(&machine).expect("a machine is plain data");
        prop_assert_eq!(serde_json::from_str::<Machine>(&json).expect("it was just written"), machine);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn advice_is_found_or_not_but_never_fails(machine in machine(), path in prop::sample::select(&Path::ALL[..])) {
        for advice in advise(&machine, path, Policy::Document) {
            prop_assert!(!advice.change.text.is_empty() && !advice.outcome.is_empty());
        }
    }
}

#[test]
fn a_machine_file_without_monitors_tells_nothing_of_the_panel() {
    let file = r#"{"schema":"weavewatch.machine/1","os":"windows","adapters":[],"monitors":null,"panel":null}"#;
    let machine: Machine = serde_json::from_str(file).expect("a machine file");
    assert!(machine.told_scanout.is_some_and(|told| told.is_open()) && machine.dxgi);
}
