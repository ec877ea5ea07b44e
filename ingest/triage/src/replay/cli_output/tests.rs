use wire::{Adapter, Luid};

use super::*;

fn luid(low: usize) -> Luid {
    format!("0:{low:x}").parse().expect("it is a LUID")
}

/// Adapters by memory; the one that the tool's resolver chose, and its words.
fn learned(vram: &[u64], chosen: usize, words: &str) -> Vec<Option<bool>> {
    let adapters = vram.iter().enumerate().map(|(at, mib)| CliAdapter {
        name: format!("GPU {at}"),
        luid: luid(at + 1),
        dedicated_vram_mib: *mib,
    });
    let topology = Topology {
        adapters: adapters.collect(),
        service_ingest: Some(IngestLine {
            adapter: Resolved::Adapter(Adapter { name: "GPU".to_owned(), luid: luid(chosen + 1) }),
            provenance: Some(words.to_owned()),
            forced: None,
        }),
        ..Topology::default()
    };
    let machine = told(&CliOutput { topology: Some(topology), ..CliOutput::default() }).machine;
    machine
        .adapters
        .iter()
        .map(|own| {
            assert_eq!(own.feature_level.is_some(), own.remote == Some(false), "{own:?}");
            own.remote
        })
        .collect()
}

/// Memory of the adapters, which of them won, the words for it, and who is remote or otherwise left out.
type Case<'a> = (&'a [u64], usize, &'a str, &'a [Option<bool>]);

#[test]
fn the_winner_and_whom_it_beat_are_candidates() {
    let (yes, no, open) = (Some(false), Some(true), None);
    let cases: [Case<'_>; 11] = [
        (&[8000, 128], 0, "most VRAM", &[yes, yes]),
        (&[128, 8000], 1, "most VRAM", &[yes, yes]),
        (&[8000, 128], 0, "only candidate", &[yes, no]),
        (&[8000], 0, "only candidate", &[yes]),
        // One of the two was beaten, but not which.
        (&[8000, 128, 512], 0, "most VRAM", &[yes, open, open]),
        // The largest did not win, so it was left out.
        (&[8000, 128, 512], 2, "most VRAM", &[no, yes, yes]),
        (&[8000, 8000, 128], 0, "lowest index (tie)", &[yes, yes, open]),
        (&[8000, 8000], 1, "most VRAM", &[no, yes]),
        (&[8000, 128], 1, "user-forced: igpu", &[open, yes]),
        (&[8000, 128], 1, "env-forced: scanout", &[open, open]),
        (&[8000, 128], 0, "words of another build", &[yes, open]),
    ];
    for (vram, chosen, words, expected) in cases {
        assert_eq!(learned(vram, chosen, words), expected, "{vram:?} {chosen} {words}");
    }
}

#[test]
fn the_words_for_an_unresolved_panel_say_where_it_is() {
    let rect = Rect { left: -3840, top: 12, width: 3840, height: 2160 };
    assert_eq!(panel("panel's scanout adapter unresolvable (panel 3840x2160 at -3840,12)"), Some(rect));
    assert_eq!(panel("panel's scanout adapter unresolvable (panel 0x0 at 0,0)"), None);
    for words in
        ["", "(panel ", "(panel 1x2)", "(panel 1x2 at 3)", "(panel axb at c,d)", "(panel 99999999999x1 at 0,0)"]
    {
        assert_eq!(panel(words), None, "{words}");
    }
}

#[test]
fn settings_come_from_whoever_tells_them() {
    let row = |at: usize| CliAdapter { name: format!("GPU {at}"), luid: luid(at + 1), dedicated_vram_mib: 1 };
    let topology = |weave: Option<Option<&str>>, split: &str, words: &str, forced: Option<(&str, bool)>| Topology {
        adapters: vec![row(0), row(1)],
        weave_on_scanout: weave.map(|value| value.map(str::to_owned)),
        service_split: Some(split.to_owned()),
        service_ingest: Some(IngestLine {
            adapter: Resolved::Adapter(Adapter { name: "GPU 1".to_owned(), luid: luid(2) }),
            provenance: Some(words.to_owned()),
            forced: forced.map(|(value, honoured)| (value.to_owned(), honoured)),
        }),
        ..Topology::default()
    };
    let check = |topology: Topology, expected: &[(&str, &str, &str)]| {
        let output = CliOutput { topology: Some(topology), ..CliOutput::default() };
        let Settings { env, user, machine } = told(&output).machine.settings;
        let stores = [("env", env), ("user", user), ("machine", machine)];
        let found: Vec<_> =
            stores.iter().flat_map(|(from, store)| store.iter().map(move |(n, v)| (*from, n, v))).collect();
        let found: Vec<_> = found.iter().map(|(from, name, value)| (*from, name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
    };
    let killed = "KILLED (DXR_WEAVE_ON_SCANOUT=no  — the default is ON since #918 Phase 3)";
    check(topology(None, killed, "most VRAM", None), &[("env", KILL, "no ")]);
    check(topology(Some(Some("0")), killed, "most VRAM", None), &[("env", KILL, "0")]);
    let engage = |ingress: &str| format!("WOULD ENGAGE (default on, render != scanout); ingress {ingress}");
    check(topology(Some(None), &engage("adaptive (default)"), "most VRAM", None), &[]);
    check(topology(None, &engage("staged"), "most VRAM", None), &[("env", "DXR_SPLIT_INGRESS", "staged")]);
    let forced = Some(("igpu", true));
    check(topology(None, "", "machine-forced: igpu", forced), &[("machine", FORCE, "igpu")]);
    check(topology(None, "", "user-forced: index", None), &[("user", FORCE, "1")]);
    check(topology(None, "", "most VRAM", Some(("igpu ", false))), &[("env", FORCE, "igpu ")]);
}
