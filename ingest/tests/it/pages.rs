//! `explain` and `diff`: whole pages against the files in `fixtures/explain` and `fixtures/diff`, bundles, and bad input.
//!
//! `WEAVEWATCH_BLESS=1` writes the pages anew. Read each as somebody who knows nothing else would, before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{log, log_name, run, run_with_stdin, zip};

/// What a page shows, and the log of `fixtures/logs/ok` behind it.
const EXPLAINED: [(&str, &str); 10] = [
    ("engaged", "d3d12_split_engaged"),
    ("killed_by_somebody", "d3d11_killed_by_env"),
    ("retired_on_d3d12", "d3d12_dp_refused_changed_last"),
    ("masked_same_adapter", "d3d11_adr039_corrected"),
    ("opengl_handoff_crosses", "gl_shared_texture_elsewhere"),
    ("stage_a_failed", "d3d11_stage_a_failed"),
    ("old_generation", "g1_d3d11_on_render"),
    ("service_with_a_client_that_presents", "service_engaged_with_windows"),
    ("ipc_client", "ipc_client_vulkan"),
    ("the_real_log", "ipc_client_of_a_real_pc"),
];

/// The same for two logs.
const COMPARED: [(&str, &str, &str); 9] = [
    ("engaged_against_killed_after_a_restart", "d3d11_engaged_the_day_before", "d3d11_killed_by_env"),
    ("engaged_against_retired", "d3d12_split_engaged", "d3d12_dp_refused_changed_last"),
    ("engaged_against_stage_a_failed", "d3d11_split_engaged", "d3d11_stage_a_failed"),
    ("plain_against_masked_same_adapter", "d3d11_same_adapter_single_gpu", "d3d11_adr039_corrected"),
    ("opengl_against_its_handoff", "gl_api_unsupported", "gl_shared_texture_elsewhere"),
    ("old_generation_against_new", "g1_d3d11_on_render", "d3d11_engaged_the_day_before"),
    ("service_against_a_degraded_one", "service_engaged_with_windows", "service_windows_degraded"),
    ("the_real_log_against_one_like_it", "ipc_client_of_a_real_pc", "ipc_client_vulkan"),
    ("two_machines", "d3d11_same_adapter_single_gpu", "d3d11_stage_a_failed"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Runs the command in all three formats and compares what it prints with the files.
fn check(command: &str, name: &str, logs: &[String], wrong: &mut Vec<String>) {
    for (format, extension) in [("text", "txt"), ("markdown", "md"), ("json", "json")] {
        let mut args = vec![command, "--format", format];
        args.extend(logs.iter().map(String::as_str));
        let run = run(&root().join("logs/ok"), &args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        let file = root().join(command).join(format!("{name}.{extension}"));
        if std::env::var_os("WEAVEWATCH_BLESS").is_some() {
            fs::create_dir_all(root().join(command)).expect("the fixtures are writable");
            fs::write(&file, &run.stdout).expect("the fixtures are writable");
            continue;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
        if expected != run.stdout {
            let difference = expected.lines().zip(run.stdout.lines()).find(|(old, new)| old != new);
            wrong.push(format!("{}: {difference:?}", file.display()));
        }
    }
}

#[test]
fn every_page_is_the_one_in_its_file() {
    let mut wrong = Vec::new();
    for (name, log) in EXPLAINED {
        check("explain", name, &[format!("{log}.log")], &mut wrong);
    }
    for (name, file) in [
        ("killed_with_settings_beside", "perf_list.txt"),
        ("killed_from_the_user_store", "perf_list_killed_by_user.txt"),
    ] {
        let file = format!("../../cli/ok/{file}");
        let beside = ["d3d11_killed_by_env.log", "--machine", &file].map(str::to_owned);
        check("explain", name, &beside, &mut wrong);
    }
    for (name, a, b) in COMPARED {
        check("diff", name, &[format!("{a}.log"), format!("{b}.log")], &mut wrong);
    }
    assert!(wrong.is_empty(), "pages differ from their files:\n{}", wrong.join("\n"));
}

fn explained(folder: &Path, log: &str) -> Value {
    let run = run(folder, &["explain", "--format", "json", log]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{log}");
    serde_json::from_str(&run.stdout).expect("it is one object")
}

#[test]
fn the_json_of_every_log_is_its_scan_object_with_three_more_keys() {
    let folder = root().join("logs/ok");
    let mut logs: Vec<_> = fs::read_dir(&folder)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .map(|path| path.file_name().expect("logs have names").to_string_lossy().into_owned())
        .collect();
    logs.sort();
    for log in logs {
        let scanned: Value = serde_json::from_str(&run(&folder, &["scan", "--format", "ndjson", &log]).stdout)
            .expect("one log is one line");
        let explained = explained(&folder, &log);
        for (key, value) in scanned.as_object().expect("it is an object") {
            assert_eq!(&explained[key], value, "{log}: {key}");
        }
        assert!(explained["timeline"].is_array() && explained["advice"].is_array(), "{log}");
        let replay = explained["replay"].as_object().expect("it is an object");
        let mut keys: Vec<_> = replay.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["answer", "because", "comparison", "missing", "policy", "rule"], "{log}");
        // A disagreement is a finding, and nothing else is.
        let findings = scanned["findings"].as_array().expect("it is a list");
        let found = findings.iter().any(|finding| finding["code"] == "replay_mismatch");
        assert_eq!(replay["comparison"] == "disagrees", found, "{log}");
    }
}

/// Two cards of one name: a sentence that gives the name twice would say that one card did both.
#[test]
fn twins_are_told_apart_in_sentences_and_lines() {
    const CARD: &str = "'RTX A2000' LUID=00000000:0000";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let bodies = [
        "[INFO ] [gather_candidates] render adapter: candidate[0] 'RTX A2000', dedicated VRAM 5954 MB, kind 2."
            .to_owned(),
        "[INFO ] [gather_candidates] render adapter: candidate[1] 'RTX A2000', dedicated VRAM 5954 MB, kind 2."
            .to_owned(),
        format!(
            "[WARN ] [log_choice_once] ADR-037 render adapter: {CARD}b002 (lowest index (tie)); DXGI HIGH_PERFORMANCE picks \
             'RTX A2000' — MATCH (#918)"
        ),
        format!("[WARN ] [comp_d3d11_compositor_create] D3D11 compositor: app device on adapter {CARD}b002 (#1000)"),
        "[INFO ] [getScanoutAdapter] scanout: display path '\\\\.\\DISPLAY1' is driven by adapter 'RTX A2000' (LUID \
         00000000:0000a001)."
            .to_owned(),
        format!(
            "[WARN ] [d3d_log_weave_placement] weave placement: render={CARD}b002, panel scanout={CARD}a001 — weave/present on \
             the SCANOUT adapter (split=1) (#918)"
        ),
    ];
    let log: Vec<_> = bodies.iter().map(|body| format!("[2026-10-11 10:00:00.037] {body}\n")).collect();
    fs::write(folder.path().join("a.log"), log.concat()).expect("the folder is writable");
    let page = explained(folder.path(), "a.log");
    let summary = page["summary"].as_str().expect("it is text");
    let named = |luid: &str| summary.contains(&format!("RTX A2000 (LUID 00000000:0000{luid})"));
    assert!(named("b002") && named("a001"), "{summary}");
    assert_eq!(page["replay"]["answer"]["render"]["name"], "RTX A2000");
    let line = page["replay"]["answer"]["line"].as_str().expect("it is text");
    assert!(bodies[5].ends_with(line), "{line}");
    let text = run(folder.path(), &["explain", "--format", "text", "a.log"]).stdout;
    let said: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("RTX A2000 (LUID 00000000:0000b002) renders"), "{text}");
}

/// What a log says in the end, from records that follow a laptop's device and scanout.
fn told_by(records: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let stamped = records.iter().map(|record| format!("[2026-10-11 10:00:00.037] {record}\n"));
    fs::write(folder.path().join("a.log"), stamped.collect::<String>()).expect("the folder is writable");
    explained(folder.path(), "a.log")
}

#[test]
fn a_bridge_that_failed_is_the_cause_of_a_failed_set_up() {
    let page = told_by(&[
        "[WARN ] [comp_d3d11_compositor_create] D3D11 compositor: app device on adapter 'RTX' LUID=00000000:0000b002 (#1000)",
        "[WARN ] [comp_xbridge_create] d3d11 xbridge: cross-adapter heap/placed texture 0 failed 0x80070057",
        "[WARN ] [comp_d3d11_compositor_create] D3D11 output-device split DISABLED (cross-adapter heap unsupported) — falling \
         back to the stock single-device path (#918)",
        "[WARN ] [d3d_log_weave_placement] weave placement: render='RTX' LUID=00000000:0000b002, panel scanout='UHD' \
         LUID=00000000:0000a001 — weave on the RENDER adapter; every present crosses adapters to reach scanout (split=0 \
         reason=stage_a_failed) (#918)",
    ]);
    let summary = page["summary"].as_str().expect("it is text");
    assert!(
        summary.contains("Line 2 names the cause: d3d11 xbridge: cross-adapter heap/placed texture 0 failed"),
        "{summary}"
    );
    assert!(summary.contains("E_INVALIDARG"), "{summary}");
}

#[test]
fn a_reason_that_the_line_masks_is_told_where_another_record_names_it() {
    const DEVICE: &str =
        "[WARN ] [comp_d3d11_service_create_system] D3D11 service compositor using adapter LUID: 00000000-0000b002";
    const LINE: &str = "[WARN ] [d3d_log_weave_placement] weave placement: render='RTX' LUID=00000000:0000b002, panel \
                        scanout=UNRESOLVED — cannot tell whether the weave crosses adapters (split=0 \
                        reason=scanout_unresolvable) (#918)";
    const REFUSED: &str = "[WARN ] [service_split_stage_a] #918 output-device split DISABLED (no_panel_dimensions) — falling \
                           back to the stock single-device path";
    const WINDOW: &str = "[WARN ] [emit_render_diag_if_window_elapsed] [RENDER] split=0 reason=killed_by_env";
    let caveat = |records: &[&str]| {
        let page = told_by(records);
        let all = page["caveats"].to_string();
        assert!(!(all.contains("(killed_by_env)") && all.contains("nobody set the kill switch")), "{all}");
        let caveats = page["caveats"].as_array().expect("it is a list");
        let own = caveats.iter().filter_map(Value::as_str).find(|own| own.contains("masks every other reason"));
        own.expect("the mask is told").to_owned()
    };
    let gate = caveat(&[DEVICE, REFUSED, LINE]);
    assert!(gate.contains("line 2 tells") && gate.contains("(no_panel_dimensions)"), "{gate}");
    let window = caveat(&[DEVICE, LINE, WINDOW]);
    assert!(window.contains("line 3 tells") && window.contains("(killed_by_env)"), "{window}");
    // A refusal behind the line is of a session that never came, one before is of the session before.
    for records in [&[DEVICE, LINE, DEVICE, REFUSED][..], &[DEVICE, REFUSED, LINE, DEVICE, LINE], &[DEVICE, LINE]] {
        let own = caveat(records);
        assert!(own.contains("may have been refused for something else"), "{own}");
    }
}

#[test]
fn sentences_stay_whole_where_a_log_names_little() {
    let folder = root().join("logs/ok");
    for (log, words) in [
        ("empty_body_and_nothing_else.log", "where the weave ran. Nothing in it that can be read decides."),
        ("empty_body_engaged_by_others.log", "the weave ran on the GPU that drives the panel, and one atlas"),
        (
            "d3d12_reroute_changed_before_full_line.log",
            "A split on that one GPU was tried as well and given up, by line 22: VK",
        ),
    ] {
        let page = explained(&folder, log);
        let summary = page["summary"].as_str().expect("it is text");
        assert!(summary.contains(words), "{log}: {summary}");
    }
}

#[test]
fn a_split_whose_end_is_cut_off_gets_the_advice_of_its_retirement() {
    let folder = root().join("logs/ok");
    let advice = |log: &str| explained(&folder, log)["advice"].clone();
    let cut = advice("d3d12_cut_behind_retired.log");
    assert_eq!(cut[0]["change"]["session"]["dp_accepts_scanout"], "true", "{cut}");
    assert_eq!(cut, advice("d3d12_dp_refused_changed_last.log"));
}

#[test]
fn the_policy_is_that_of_the_newest_record() {
    let folder = root().join("logs/ok");
    assert_eq!(explained(&folder, "d3d11_adr039_corrected.log")["replay"]["policy"], "adr039");
    assert_eq!(explained(&folder, "d3d12_split_engaged.log")["replay"]["policy"], "document");
}

#[test]
fn a_bundle_gives_its_last_log_and_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (early, late) = (log_name("A.exe", 2, "12-00-00"), log_name("B.exe", 1, "13-00-00"));
    let bundle = zip(&[
        (&late, log("B.exe", 1, "split=0 reason=killed_by_env").as_bytes()),
        (&early, log("A.exe", 2, "split=1").as_bytes()),
        ("notes.txt", b"nothing of ours\n"),
    ]);
    fs::write(folder.path().join("b.zip"), bundle).expect("the folder is writable");
    fs::write(folder.path().join("a.log"), log("A.exe", 2, "split=1")).expect("the folder is writable");
    let page = explained(folder.path(), "b.zip");
    assert_eq!(page["file"], format!("b.zip!/{late}"));
    let caveats = page["caveats"].as_array().expect("it is a list");
    assert!(caveats.iter().any(|own| own.as_str().is_some_and(|own| own.contains("has 2 logs"))), "{caveats:?}");
    let diff = run(folder.path(), &["diff", "a.log", "b.zip"]);
    assert_eq!(diff.code, 0, "{}", diff.stderr);
    assert!(diff.stdout.contains("First difference, Process: A.exe in A; B.exe in B."), "{}", diff.stdout);
    assert!(diff.stdout.contains("started last"), "{}", diff.stdout);
}

/// A bundle whose members `a.log` and `b.log` have one name, as two tools or one hostile one can write it.
fn twins(early: &str, late: &str) -> Vec<u8> {
    let mut bundle = zip(&[("a.log", late.as_bytes()), ("b.log", early.as_bytes())]);
    for at in 0..bundle.len() - 5 {
        if &bundle[at..at + 5] == b"b.log" {
            bundle[at] = b'a';
        }
    }
    bundle
}

#[test]
fn of_two_members_with_one_name_the_later_start_is_told_and_that_there_are_two() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    // The header alone tells the start, because the names are the same.
    let early = log("Early.exe", 1, "split=1");
    let late = log("Late.exe", 2, "split=1").replace("Timestamp: 2026-09-14 12", "Timestamp: 2026-09-14 13");
    for (name, bundle) in [("first.zip", twins(&early, &late)), ("second.zip", twins(&late, &early))] {
        fs::write(folder.path().join(name), bundle).expect("the folder is writable");
        let scanned = run(folder.path(), &["scan", name]);
        assert_eq!(scanned.files(), [format!("{name}!/a.log"), format!("{name}!/a.log")]);
        for asked in [name.to_owned(), format!("{name}!/a.log")] {
            let page = explained(folder.path(), &asked);
            assert_eq!(
                (&page["file"], &page["process"]["exe"]),
                (&format!("{name}!/a.log").into(), &"Late.exe".into())
            );
            let place = if name == "first.zip" { "number 1" } else { "number 2" };
            let caveats = page["caveats"].to_string();
            assert!(caveats.contains("2 members of this name") && caveats.contains(place), "{asked}: {caveats}");
        }
    }
}

#[test]
fn a_member_can_be_named_as_reports_name_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (a, b) = (log("A.exe", 1, "split=1"), log("B.exe", 2, "split=0 reason=killed_by_env"));
    let bundle = zip(&[("logs/a.log", a.as_bytes()), ("logs/b.log", b.as_bytes()), ("notes.txt", b"nothing\n")]);
    fs::write(folder.path().join("b.zip"), bundle).expect("the folder is writable");
    for name in run(folder.path(), &["scan", "b.zip"]).files() {
        assert_eq!(explained(folder.path(), &name)["file"], name);
    }
    let replayed = run(folder.path(), &["replay", "--machine", "b.zip!/logs/a.log", "--path", "d3d11"]);
    assert_eq!((replayed.code, replayed.stderr.as_str()), (0, ""));
    let missing = run(folder.path(), &["explain", "b.zip!/logs/c.log"]);
    assert!(missing.code == 3 && missing.stderr.contains("no member logs/c.log"), "{}", missing.stderr);
    // A file that has such a name is itself.
    fs::create_dir(folder.path().join("b.zip!")).expect("the folder is writable");
    fs::write(folder.path().join("b.zip!/a.log"), &b).expect("the folder is writable");
    assert_eq!(explained(folder.path(), "b.zip!/a.log")["process"]["exe"], "B.exe");
}

#[test]
fn a_pipe_can_be_explained_and_bad_input_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let piped = run_with_stdin(folder.path(), &["explain", "-"], log("A.exe", 2, "split=1").as_bytes());
    assert!(piped.code == 0 && piped.stdout.contains("● Split engaged"), "{}", piped.stdout);
    let missing = run(folder.path(), &["diff", "no-a", "no-b"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (3, ""));
    assert!(
        missing.stderr.contains("no-a: failed to open it") && missing.stderr.contains("no-b"),
        "{}",
        missing.stderr
    );
    let folder_given = run(folder.path(), &["explain", "."]);
    assert!(folder_given.code == 3 && folder_given.stderr.contains("weavewatch scan"), "{}", folder_given.stderr);
    let twice = run(folder.path(), &["diff", "-", "-"]);
    assert!(twice.code == 3 && twice.stderr.contains("only once"), "{}", twice.stderr);
    assert_eq!(run(folder.path(), &["explain"]).code, 2);
}

#[test]
fn log_text_acts_nowhere() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let hostile = log("A.exe", 2, "split=0 reason=killed_by_env")
        .replace("NVIDIA GeForce RTX 4080 Laptop GPU", "<img src=x> `@team` \u{1b}[31m|");
    fs::write(folder.path().join("a.log"), hostile).expect("the folder is writable");
    for format in ["text", "markdown"] {
        for args in [vec!["explain", "--format", format, "a.log"], vec!["diff", "--format", format, "a.log", "a.log"]] {
            let page = run(folder.path(), &args).stdout;
            assert!(page.contains("img src=x"), "{page}");
            assert!(!page.contains('\u{1b}'), "{page}");
        }
    }
    let page = run(folder.path(), &["explain", "--format", "markdown", "a.log"]).stdout;
    let outside: String = page.split("```").step_by(2).collect();
    assert!(!outside.contains("<img") && !outside.contains("@team"), "{outside}");
}

/// What `displayxr-cli info` says on the PC of `d3d11_split_engaged`, with LUIDs and a kill switch of the caller's.
fn info(render: &str, scanout: &str, switch: &str) -> String {
    let (gpu, panel) = ("NVIDIA GeForce RTX 4080 Laptop GPU", "Intel(R) Iris(R) Xe Graphics");
    format!(
        " :: GPU topology (#918 — does the weave cross adapters to reach the panel?)\n\
         \tadapters:     2\n\
         \t  [0] {gpu} LUID={render}  dedicated VRAM 12010 MB\n\
         \t  [1] {panel:<32} LUID={scanout}  dedicated VRAM 128 MB\n\
         \tpanel scanout: '{panel}' LUID={scanout}\n\
         \trender (default suggestion): '{gpu}' LUID={render}\n\
         \tweave-on-scanout topology: APPLIES (render != scanout)\n\
         \tDXR_WEAVE_ON_SCANOUT={switch} (kill switch; the split is ON by default)\n\
         \tservice split: WOULD ENGAGE (default on, render != scanout); ingress adaptive (default)\n\
         \tservice ingest: '{gpu}' LUID={render} (most VRAM) — the adapter clients must share (ADR-037 §7)\n"
    )
}

/// A log with its resolvers' records hidden, as at level WARN, and files to hold beside it.
fn hidden(log: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let text = fs::read_to_string(root().join("logs/ok").join(log)).expect("the fixture is there");
    let warnings: String = text.split_inclusive('\n').filter(|line| !line.contains("[INFO ]")).collect();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("the folder is writable");
    write("a.log", &warnings);
    write("info.txt", &info("00000000:00015f3a", "00000000:00013c07", "<unset>"));
    write("other_boot.txt", &info("00000000:00013c07", "00000000:00099999", "<unset>"));
    write("killed.txt", &info("00000000:00015f3a", "00000000:00013c07", "0"));
    let panel_on_the_gpu = info("00000000:00015f3a", "00000000:00013c07", "<unset>").replace(
        "panel scanout: 'Intel(R) Iris(R) Xe Graphics' LUID=00000000:00013c07",
        "panel scanout: 'NVIDIA GeForce RTX 4080 Laptop GPU' LUID=00000000:00015f3a",
    );
    write("moved.txt", &panel_on_the_gpu);
    folder
}

fn beside(folder: &Path, log: &str, files: &[&str]) -> Value {
    let machines = files.iter().flat_map(|file| ["--machine", file]);
    let args: Vec<_> = ["explain", "--format", "json", log].into_iter().chain(machines).collect();
    let run = run(folder, &args);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    serde_json::from_str(&run.stdout).expect("it is one object")
}

fn notes(page: &Value) -> String {
    page["beside"].as_array().expect("a file was given").iter().map(|own| own["notes"].to_string()).collect()
}

#[test]
fn saved_tool_output_tells_what_a_log_leaves_open() {
    let folder = hidden("d3d11_split_engaged.log");
    let alone = beside(folder.path(), "a.log", &[]);
    assert_eq!(alone["replay"]["comparison"], "cannot_tell");
    assert!(alone["questions"].to_string().contains("displayxr-cli info") && alone.get("beside").is_none());
    for file in ["info.txt", "other_boot.txt"] {
        let page = beside(folder.path(), "a.log", &[file]);
        assert_eq!(page["replay"]["comparison"], "agrees", "{file}: {page:#}");
        // In the LUIDs of the log, whatever those of the file are.
        assert_eq!(page["replay"]["answer"]["scanout"]["luid"], "00000000:00013c07", "{file}");
        assert_eq!(page["replay"]["answer"]["render"]["luid"], "00000000:00015f3a", "{file}");
        assert!(page["beside"][0]["told"].to_string().contains("panel's GPU"), "{page:#}");
        assert!(!page["questions"].to_string().contains("displayxr-cli info"), "{page:#}");
        assert_eq!(notes(&page).contains("another boot"), file == "other_boot.txt", "{page:#}");
        // Verdict and findings are those of the log alone.
        for key in ["verdict", "findings", "sessions", "counts"] {
            assert_eq!(page[key], alone[key], "{file}: {key}");
        }
    }
}

#[test]
fn where_a_file_says_something_else_the_log_wins() {
    let folder = hidden("d3d11_split_engaged.log");
    let page = beside(folder.path(), "a.log", &["killed.txt"]);
    assert!(notes(&page).contains("killed.txt says that it is switched off. The log wins."), "{page:#}");
    assert_ne!(page["replay"]["answer"]["reason"], "killed_by_env");
    // The whole log names the panel's GPU itself.
    fs::copy(root().join("logs/ok/d3d11_split_engaged.log"), folder.path().join("whole.log")).expect("it is writable");
    let page = beside(folder.path(), "whole.log", &["moved.txt"]);
    assert!(notes(&page).contains("The panel's GPU: the log says 'Intel(R) Iris(R) Xe Graphics'"), "{page:#}");
    assert_eq!(page["replay"]["comparison"], "agrees");
    // A file of another PC tells nothing of this one.
    let other = root().join("cli/ok/info_single_adapter.txt");
    let page = beside(folder.path(), "a.log", &[&other.to_string_lossy()]);
    assert!(notes(&page).contains("of another PC"), "{page:#}");
    assert_eq!(
        (&page["beside"][0]["told"], &page["replay"]["comparison"]),
        (&Value::Array(vec![]), &"cannot_tell".into())
    );
}

#[test]
fn saved_settings_name_who_set_the_kill_switch() {
    let perf = root().join("cli/ok/perf_list.json");
    let unset = root().join("cli/ok/perf_list_not_written.txt");
    let (perf, unset) = (perf.to_string_lossy(), unset.to_string_lossy());
    let folder = root().join("logs/ok");
    let alone = beside(&folder, "d3d11_killed_by_env.log", &[]);
    assert_eq!(alone["replay"]["comparison"], "cannot_tell");
    assert!(alone["questions"].to_string().contains("perf list"));
    let told = beside(&folder, "d3d11_killed_by_env.log", &[&perf]);
    assert_eq!(told["replay"]["comparison"], "agrees", "{told:#}");
    assert!(told["beside"][0]["told"].to_string().contains("DXR_WEAVE_ON_SCANOUT='"), "{told:#}");
    assert!(!told["questions"].to_string().contains("Which source set it"), "{told:#}");
    let changed = beside(&folder, "d3d11_killed_by_env.log", &[&unset]);
    assert!(notes(&changed).contains("that it switched the split off"), "{changed:#}");
    assert_eq!(changed["replay"]["comparison"], "cannot_tell");
}

#[test]
fn a_machine_file_beside_a_log_states_its_session_and_a_bad_one_costs_no_page() {
    let folder = hidden("d3d11_no_hwnd.log");
    let machine =
        r#"{"schema":"weavewatch.machine/1","os":"windows","panel":null,"adapters":[],"session":{"hwnd":false}}"#;
    fs::write(folder.path().join("machine.json"), machine).expect("the folder is writable");
    let page = beside(folder.path(), "a.log", &["machine.json", "info.txt"]);
    assert_eq!(page["replay"]["answer"]["reason"], "no_hwnd", "{page:#}");
    assert_eq!(page["beside"].as_array().map(Vec::len), Some(2));
    let bad = run(folder.path(), &["explain", "a.log", "--info", "no-such-file"]);
    assert!(bad.code == 3 && bad.stderr.contains("no-such-file: failed to open it"), "{}", bad.stderr);
    assert!(bad.stdout.contains("No split"), "{}", bad.stdout);
}
