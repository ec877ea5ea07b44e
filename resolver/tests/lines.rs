//! What the runtime would print, word for word: every folder of `fixtures/lines/` is a machine and the expected text. The
//! text comes from the document and the vocabulary (`source` in `case.json`), with the document's `…` filled from the
//! machine and its wrapping undone.
//!
//! What is printed is read back by the program's own parser as well, which must know every line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use parser::LogReader;
use resolver::replay::{replay, topology};
use serde_json::Value;
use wire::{Machine, Observation, Path, Policy};

fn folder(name: &str) -> PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/lines").join(name)
}

fn json(path: &FilePath) -> Value {
    let text = fs::read_to_string(path).expect("the case is complete");
    serde_json::from_str(&text).expect("the case is JSON")
}

/// What the case is about, one printed line each.
fn printed(name: &str) -> (String, Vec<String>) {
    let folder = folder(name);
    let machine: Machine = serde_json::from_value(json(&folder.join("machine.json"))).expect("a machine file");
    let asked = json(&folder.join("case.json"));
    let path: Path = serde_json::from_value(asked["path"].clone()).expect("a path");
    let policy: Policy = serde_json::from_value(asked["policy"].clone()).expect("a policy");
    let of = asked["of"].as_str().expect("what is printed").to_owned();
    let answer = replay(&machine, path, policy);
    let lines = match of.as_str() {
        "line" => answer.line.into_iter().collect(),
        "gl" => answer.gl.expect("an OpenGL session").lines,
        "deposit" => answer.deposit.expect("something asks for it").lines,
        "service" => answer.service.expect("a service").lines,
        "topology" => topology(&machine),
        other => panic!("{name}: nothing prints {other}"),
    };
    (of, lines)
}

fn check(name: &str) {
    let expected = fs::read_to_string(folder(name).join("expected.txt")).expect("the case is complete");
    let (of, lines) = printed(name);
    assert_eq!(lines.join("\n") + "\n", expected, "{name}");
    let mut text = String::new();
    for line in &lines {
        let prefix = if of == "topology" { "" } else { "[2026-09-14 12:00:01.370] [WARN ] [d3d_log_weave_placement] " };
        text.extend([prefix, line, "\n"]);
    }
    let mut read = 0;
    let mut reader = LogReader::new();
    let mut keep = |observation: Observation| match observation {
        Observation::Event(event) => {
            assert!(event.spelling.is_empty(), "{name}: not the runtime's own spelling: {event:?}");
            read += 1;
        }
        Observation::Flaw(flaw) => panic!("{name}: {flaw:?}"),
    };
    reader.feed(text.as_bytes(), &mut keep);
    let facts = reader.finish(&mut keep);
    if of == "topology" {
        let cli = facts.cli.expect("the tool's own output");
        let verdict = cli.topology.and_then(|own| own.verdict).expect("a verdict, if only that nothing was evaluated");
        assert!(lines.iter().any(|line| line.contains(&verdict)), "{name}: {verdict}");
    } else {
        assert_eq!(read, lines.len(), "{name}: the parser knows every line");
    }
}

macro_rules! one_test_a_line {
    ($($name:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )+
    };
}

one_test_a_line! {
    deposit_that_comes_up,
    deposit_without_a_match,
    deposit_without_timeline_semaphore,
    gl_advisory_and_interop,
    gl_advisory_that_diverges,
    gl_cross_adapter_interop,
    gl_driver_without_luid,
    gl_interop_unresolved,
    placement_changed,
    placement_of_nothing,
    placement_on_one_adapter,
    placement_on_render,
    placement_on_scanout,
    placement_without_render,
    placement_without_scanout,
    presenter_of_a_client,
    service_ingest_forced,
    service_ingest_unresolved,
    topology_hybrid,
    topology_ingest_forced,
    topology_ingest_override_rejected,
    topology_killed,
    topology_no_dxgi_factory,
    topology_no_hardware_adapter,
    topology_not_probed,
    topology_off_in_mixed_case_is_not_killed,
    topology_same_adapter,
    topology_scanout_claimed_by_nobody,
    topology_scanout_not_enumerated,
    topology_scanout_unresolved,
    topology_single_adapter,
    topology_software_is_not_listed,
    topology_staged_ingress,
}

#[test]
fn no_fixture_is_forgotten() {
    let entries = fs::read_dir(folder("")).expect("the fixtures are there");
    let found: BTreeSet<_> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(found, NAMES.iter().map(|name| (*name).to_owned()).collect());
}
