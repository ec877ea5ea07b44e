//! Does the reader of `displayxr-cli` output say what stands beside each fixture, and does it bear any text?
//!
//! `fixtures/cli/ok` holds output of all generations, `err` what is refused or only half understood. An expectation
//! lists the events, the whole output, the lines that no event came from and what the sniffing answers.

use std::fs;
use std::path::{Path, PathBuf};

use parser::cli::{CliReader, json, looks_like};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{CliOutput, Observation, Resolved};

#[test]
fn fixtures_read_as_expected() {
    let mut wrong = Vec::new();
    let inputs = inputs();
    assert!(inputs.len() > 40, "the fixtures are missing");
    for input in inputs {
        let actual = read(&fs::read_to_string(&input).expect("fixtures are UTF-8"), is_json(&input));
        let beside = fs::read_to_string(input.with_extension(format!("{}.expected.json", extension(&input))));
        let expected: Value = beside.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("{}:\n{actual:#}", input.display()));
        }
    }
    assert!(wrong.is_empty(), "{} fixtures read otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn text_and_json_of_one_machine_agree() {
    let output = |name: &str| {
        let path = fixtures().join("ok").join(name);
        let text = fs::read_to_string(&path).expect("the fixture exists");
        let read = read(&text, is_json(&path));
        serde_json::from_value::<CliOutput>(read["output"].clone()).expect("an output was read")
    };
    assert_eq!(output("info_hybrid.txt"), output("info_hybrid.json"));
    assert_eq!(output("perf_list_not_written.txt").perf.map(|perf| perf.levers), {
        output("perf_list_not_written.json").perf.map(|perf| perf.levers)
    });
}

#[test]
fn events_of_a_document_stand_where_their_parts_stand() {
    let text = fs::read_to_string(fixtures().join("ok/info_hybrid.json")).expect("the fixture exists");
    let mut places = Vec::new();
    json(&text, &mut |seen| places.push((seen.offset(), seen.line()))).expect("it is a report of the tool");
    assert!(places.windows(2).all(|pair| pair[0].0 < pair[1].0), "offsets key events: {places:?}");
    for (offset, line) in places {
        let before = &text[..usize::try_from(offset).expect("a small file")];
        assert_eq!(before.matches('\n').count() as u64 + 1, line);
    }
}

#[test]
fn a_capture_without_end_is_kept_in_bounds() {
    let mut reader = CliReader::new();
    let mut events = 0;
    for line in 1..=10_000 {
        assert!(reader.line(line, line, "PASS: loop — again", &mut |_| events += 1));
    }
    assert_eq!(events, 10_000, "every line is an event");
    assert_eq!(reader.finish().checks.len(), 256, "the output is bounded");
}

#[test]
fn a_deeply_nested_document_is_refused() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(json(&deep, &mut |_| panic!("nothing to say")), None);
}

/// What a fixture's expectation holds.
fn read(text: &str, is_json: bool) -> Value {
    let mut events = Vec::new();
    let mut sink = |seen: Observation| match seen {
        Observation::Event(event) => events.push(json!({
            "line": event.line, "shape": event.shape, "kind": event.kind, "fields": event.fields,
        })),
        Observation::Flaw(flaw) => panic!("the reader of the tool's output reports no flaws, but saw {flaw:?}"),
    };
    let mut not_understood = Vec::new();
    let output = if is_json {
        json(text, &mut sink)
    } else {
        let mut reader = CliReader::new();
        let mut offset = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            if !reader.line(offset, number, line.trim_end_matches('\n'), &mut sink) {
                not_understood.push(number);
            }
            offset += line.len() as u64;
        }
        Some(reader.finish())
    };
    let json = serde_json::to_value(&output).expect("an output is plain data");
    let back: Option<CliOutput> = serde_json::from_value(json.clone()).expect("it was just written");
    assert_eq!(back, output, "the output survives its JSON");
    json!({ "looks_like": looks_like(text), "output": json, "events": events, "not_understood": not_understood })
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/cli")
}

fn inputs() -> Vec<PathBuf> {
    let mut all: Vec<_> = ["ok", "err"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(fixtures().join(folder)).expect("the fixture folder exists"))
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| !path.to_string_lossy().ends_with(".expected.json"))
        .collect();
    all.sort();
    all
}

fn is_json(path: &Path) -> bool {
    extension(path) == "json"
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// Pieces of the tool's own language, so that random texts come near to it.
fn near_miss() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("service ingest: "),
        Just("'"),
        Just("' LUID="),
        Just("00000000:00015f3a"),
        Just(" ("),
        Just(")"),
        Just(" — "),
        Just(" ? "),
        Just("the adapter clients must share (ADR-037 §7)"),
        Just("; DXR_D3D_FORCE_GPU="),
        Just(" HONOURED"),
        Just(" set but NOT honoured — see the resolver's WARN"),
        Just("panel scanout: "),
        Just("UNRESOLVED "),
        Just("[0] "),
        Just(" LUID="),
        Just("  dedicated VRAM "),
        Just("8018"),
        Just(" MB"),
        Just("service split: KILLED (DXR_WEAVE_ON_SCANOUT="),
        Just(" the default is ON since #918 Phase 3)"),
        Just(" :: "),
        Just("SELF-TEST FAILED (rc="),
        Just("PASS: "),
        Just("DXR_WEAVE_ON_SCANOUT"),
        Just(" = "),
        Just(" [user]"),
        Just("store: "),
        Just("(not written yet)"),
        Just("\t"),
        Just("\r\n"),
        Just("ÔÇö"),
        Just("{\"gpu_topology\":"),
        Just("{\"probed\":true,"),
        Just("\"adapters\":["),
        Just("\"levers\":["),
        Just("}"),
        Just("\u{feff}"),
        Just("名"),
        Just("\0"),
    ];
    prop_oneof![any::<String>(), prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())]
}

proptest! {
    #[test]
    fn any_text_is_borne(text in near_miss()) {
        read(&text, false);
        read(&text, true);
    }

    #[test]
    fn an_adapter_row_is_read_whatever_the_name(name in "\\PC{0,60}", high: u32, low: u32, mib: u64, index: u32) {
        // Blanks behind a short name cannot be told from its padding.
        prop_assume!(name.chars().count() > 32 || !name.ends_with(' '));
        let row = format!("\t  [{index}] {name:<32} LUID={high:08x}:{low:08x}  dedicated VRAM {mib} MB");
        let mut reader = CliReader::new();
        prop_assert!(reader.line(0, 1, &row, &mut |_| ()));
        let topology = reader.finish().topology.expect("a row is part of the topology");
        prop_assert_eq!(&topology.adapters[0].name, &name);
        prop_assert_eq!(topology.adapters[0].luid, wire::Luid::from_parts(high, low));
        prop_assert_eq!(topology.adapters[0].dedicated_vram_mib, mib);
    }

    #[test]
    fn an_ingest_line_is_read_whatever_name_and_value(
        name in "\\PC{0,40}", low: u32, value in "[ -~]{1,20}", honoured: bool,
        dash in prop::sample::select(vec!["—", "â€”", "ÔÇö", "ΓÇö", "\u{97}", "-", "?"]),
    ) {
        // The literal text behind a value ends it.
        prop_assume!(!value.contains(" HONOURED") && !value.contains(" set but NOT honoured "));
        prop_assume!(!name.contains(" the adapter clients must share"));
        let end = if honoured { " HONOURED".into() } else { format!(" set but NOT honoured {dash} see the resolver's WARN") };
        let line = format!(
            "service ingest: '{name}' LUID=00000000:{low:08x} (most VRAM) {dash} the adapter clients must share (ADR-037 §7); DXR_D3D_FORCE_GPU={value}{end}",
        );
        let mut reader = CliReader::new();
        prop_assert!(reader.line(0, 1, &line, &mut |_| ()));
        let ingest = reader.finish().topology.and_then(|topology| topology.service_ingest).expect("it is an ingest line");
        prop_assert_eq!(ingest.forced, Some((value, honoured)));
        prop_assert_eq!(ingest.provenance.as_deref(), Some("most VRAM"));
        let Resolved::Adapter(adapter) = ingest.adapter else { panic!("it names an adapter") };
        prop_assert_eq!(adapter.name, name);
    }
}
