//! `replay`: every case of `fixtures/machines/` through the command line, the three kinds of input, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::run;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The answer as the program printed it.
fn answer(folder: &Path, args: &[&str]) -> Value {
    let run = run(folder, &[&["replay", "--format", "json"], args].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    serde_json::from_str(&run.stdout).expect("the answer is one object")
}

/// What the program said on the way to exit code `code`.
fn refused(folder: &Path, args: &[&str], code: i32) -> String {
    let run = run(folder, &[&["replay"], args].concat());
    assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}: {}", run.stderr);
    run.stderr
}

#[test]
fn every_machine_of_the_fixtures_gets_its_answer_through_the_command_line() {
    let mut cases: Vec<_> = fs::read_dir(root().join("fixtures/machines"))
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.join("case.json").is_file())
        .collect();
    cases.sort();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let json = |folder: &Path, name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.join(name)).expect("the case is complete")).expect("it is JSON")
    };
    let mut wrong = Vec::new();
    for case in &cases {
        let asked = json(case, "case.json");
        let word = |key: &str| asked[key].as_str().expect("a word of the contract").to_owned();
        let mut args = vec!["--machine".to_owned(), "machine.json".to_owned(), "--path".to_owned(), word("path")];
        args.extend(["--policy".to_owned(), word("policy")]);
        for (name, value) in asked["set"].as_object().expect("settings by name") {
            args.extend(["--set".to_owned(), format!("{name}={}", value.as_str().expect("settings are text"))]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let answer = answer(case, &args);
        for (key, expected) in json(case, "expected.json").as_object().expect("answers by key") {
            let got = &answer[key];
            let fits = match (key.as_str(), got.as_array(), expected.as_array()) {
                ("rules", Some(got), Some(expected)) => expected.iter().all(|rule| got.contains(rule)),
                _ => got == expected,
            };
            if !fits {
                wrong.push(format!("{}: {key}\n  expected {expected}\n  got      {got}", case.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_log_and_saved_tool_output_are_machines_too() {
    let root = root();
    let log = answer(&root, &["--machine", "fixtures/logs/ok/d3d12_split_engaged.log", "--path", "d3d12"]);
    assert_eq!((&log["split"], &log["crossing"]), (&"engaged".into(), &"atlas_per_frame".into()));
    assert!(log["line"].as_str().expect("everything is told").ends_with("(split=1) (#918)"));

    for name in ["info_hybrid.txt", "info_hybrid.json"] {
        let file = format!("fixtures/cli/ok/{name}");
        let tool = answer(&root, &["--machine", &file, "--path", "d3d11"]);
        assert_eq!(tool["scanout"]["name"], "Intel(R) Arc(TM) Graphics", "{name}");
        // The words for the service's choice say that both adapters are candidates.
        assert_eq!((&tool["split"], &tool["missing"]), (&"engaged".into(), &Value::Array(Vec::new())), "{name}");
        let render = (&tool["render"]["name"], &tool["render"]["provenance"]);
        assert_eq!(render, (&"NVIDIA GeForce RTX 4070 Laptop GPU".into(), &"most VRAM".into()), "{name}");
        let page = run(&root, &["replay", "--machine", &file, "--path", "service"]).stdout;
        assert!(page.contains("TAKEN FOR GRANTED") && page.contains("session.stage_a_ok"), "{page}");
    }
    // An older tool has no such line, and does not say whether an adapter is remote, so the choice is open.
    let old = answer(&root, &["--machine", "fixtures/cli/ok/info_before_ingest.json", "--path", "d3d11"]);
    assert_eq!(old["split"], "unknown");
    assert!(old["missing"].as_array().expect("a list").contains(&"adapters[0].remote".into()), "{old}");
    let forced = answer(&root, &["--machine", "fixtures/cli/ok/ingest_override_honoured.txt", "--path", "service"]);
    assert_eq!(forced["render"]["provenance"], "env-forced: scanout");
    let old = run(&root, &["replay", "--machine", "fixtures/cli/ok/info_before_phase3.txt", "--path", "service"]);
    assert!(old.stdout.contains("splits only where DXR_WEAVE_ON_SCANOUT=1"), "{}", old.stdout);
    assert!(
        refused(&root, &["--machine", "fixtures/cli/ok/perf_list.txt", "--path", "d3d11"], 3)
            .contains("no GPU topology")
    );
    // A kill switch that the tool shows decides before anything that it does not show.
    let killed = answer(&root, &["--machine", "fixtures/cli/ok/info_before_phase3_flag_set.txt", "--path", "d3d11"]);
    assert!(killed["rules"].as_array().expect("a list").iter().any(|own| own["rule"] == "kill"), "{killed}");
}

#[test]
fn people_get_a_drawing_with_the_crossing_and_the_line() {
    let folder = root().join("fixtures/machines/d3d11_document_killed");
    let text = run(&folder, &["replay", "--machine", "machine.json", "--path", "d3d11"]).stdout;
    for part in ["RENDER + WEAVE", "EVERY PRESENT CROSSES HERE: 2.0 GB/s", "◄ 3D PANEL", "reason=killed_by_env"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // The lines of a box are as long as each other.
    let borders: Vec<_> =
        text.lines().filter(|line| line.contains(['┌', '└'])).map(|line| line.chars().count()).collect();
    assert!(borders.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
}

#[test]
fn a_setting_that_no_rule_reads_is_said() {
    let folder = root().join("fixtures/machines/d3d11_document_engages");
    let args = ["replay", "--machine", "machine.json", "--path", "d3d11", "--set", "DXR_WEAVE_ON_SCANUOT=0"];
    let text = run(&folder, &args);
    assert!(text.code == 0 && text.stdout.contains("No rule reads DXR_WEAVE_ON_SCANUOT"), "{}", text.stdout);
    let json = run(&folder, &[&args[..], &["--format", "json"]].concat());
    assert!(json.code == 0 && json.stderr.contains("No rule reads DXR_WEAVE_ON_SCANUOT"), "{}", json.stderr);
    // A store in which the runtime does not look for a name.
    let folder = root().join("fixtures/machines/same_adapter_variable_in_a_store_does_not_count");
    let text = run(&folder, &["replay", "--machine", "machine.json", "--path", "d3d11"]).stdout;
    assert!(text.contains("DXR_SPLIT_SAME_ADAPTER of the user's settings changes nothing"), "{text}");
}

#[test]
fn a_bad_outcome_comes_with_what_to_try_and_with_what_the_tool_would_say() {
    let folder = root().join("fixtures/machines/killed_from_the_user_store");
    let text = run(&folder, &["replay", "--machine", "machine.json", "--path", "d3d11"]).stdout;
    let spaces = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Remove DXR_WEAVE_ON_SCANOUT from the user's settings. Then the split engages",
        "GPU topology (#918",
        "service split: KILLED (DXR_WEAVE_ON_SCANOUT=off",
    ] {
        assert!(spaces(&text).contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("\\t"), "{text}");
    let good = root().join("fixtures/machines/d3d11_document_engages");
    let text = run(&good, &["replay", "--machine", "machine.json", "--path", "d3d11"]).stdout;
    assert!(!text.contains("WHAT TO TRY") && text.contains("WOULD ENGAGE"), "{text}");
}

#[test]
fn what_cannot_be_a_machine_is_refused_in_words() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("the folder is writable");
    write("other.json", r#"{"schema":"weavewatch.scan/1"}"#);
    write(
        "twice.json",
        r#"{"schema":"weavewatch.machine/1","os":"windows","panel":null,"adapters":[{"name":"A","luid":"0:1"},{"name":"B","luid":"0:1"}]}"#,
    );
    write("notes.txt", "nothing of ours\n");
    let machine = |name: &str| refused(folder, &["--machine", name, "--path", "d3d11"], 3);
    assert!(machine("other.json").contains("its schema is 'weavewatch.scan/1'"));
    assert!(machine("twice.json").contains("have the same LUID 00000000:00000001"));
    assert!(machine("notes.txt").contains("no machine file, no log and no displayxr-cli output"));
    let not_probed = root().join("fixtures/cli/ok/info_not_probed.txt");
    assert!(machine(&not_probed.to_string_lossy()).contains("tells no GPU topology"));
    assert!(machine("no-such-file").contains("failed to open it"));
    assert!(refused(folder, &["--machine", "twice.json", "--path", "metal"], 2).contains("ipc_client"));
    assert!(refused(folder, &["--machine", "twice.json", "--path", "d3d11", "--set", "X"], 2).contains("NAME=VALUE"));
    assert!(refused(folder, &["--machine", "twice.json", "--path", "d3d11", "--policy", "new"], 2).contains("adr039"));
}
