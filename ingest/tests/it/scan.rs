//! Formats, order, bundles, pipes and exit codes of `scan`.

use std::fs;
use std::path::Path;

use ingest::scan::{COUNT_SCHEMA, MarkerCount};
use tempfile::TempDir;
use wire::{ScanReport, Split};

use crate::common::{log, log_name, run, run_with_stdin, weavewatch, zip};

/// Two logs with a start time, the later one engaged, and one without.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder is writable");
        fs::write(path, text).expect("the folder is writable");
    };
    write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    write(&format!("sub/{}", log_name("B.exe", 1, "12-00-00")), &log("B.exe", 1, "split=0 reason=killed_by_env"));
    write("a-note.txt", "nothing of ours\n");
    folder
}

fn exit_code(folder: &Path, args: &[&str], expected: i32) -> String {
    let run = run(folder, args);
    assert_eq!(run.code, expected, "{args:?}: {}", run.stderr);
    run.stderr
}

#[test]
fn a_pipe_gets_one_object_a_line_sorted_by_start_and_those_without_last() {
    let folder = folder();
    let run = run(folder.path(), &["scan", "."]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let (first, second) = (log_name("B.exe", 1, "12-00-00"), log_name("A.exe", 2, "13-00-00"));
    assert_eq!(run.files(), [format!("./sub/{first}"), format!("./{second}"), "./a-note.txt".to_owned()]);
    let reports = run.reports();
    assert_eq!(reports[0].verdict.split, Split::Off);
    assert!(reports[0].verdict.killed);
    assert_eq!(reports[1].verdict.split, Split::Engaged);
    assert_eq!(reports[2].process, None);
    let process = reports[0].process.as_ref().expect("header and file name tell");
    assert_eq!((process.exe.as_str(), process.pid), ("B.exe", 1));
    assert_eq!(process.started.as_deref(), Some("2026-09-14T12:00:00"));
}

#[test]
fn json_is_one_array_of_the_same_objects() {
    let folder = folder();
    let lines = run(folder.path(), &["scan", "."]).reports();
    let array: Vec<ScanReport> =
        serde_json::from_str(&run(folder.path(), &["scan", "--format", "json", "."]).stdout).expect("it is one array");
    assert_eq!(array, lines);
    let empty = tempfile::tempdir().expect("a temporary folder can be made");
    assert_eq!(run(empty.path(), &["scan", "--format", "json", "."]).stdout, "[]\n");
}

#[test]
fn csv_has_a_row_a_log() {
    let folder = folder();
    let csv = run(folder.path(), &["scan", "--format", "csv", "."]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heading = reader.headers().expect("there is a heading").clone();
    let rows: Vec<_> = reader.records().map(|row| row.expect("all rows are as long")).collect();
    let cell = |row: usize, column: &str| {
        let index = heading.iter().position(|own| own == column).expect("the column is there");
        rows[row].get(index).expect("the row is as long").to_owned()
    };
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (cell(0, "exe"), cell(0, "split"), cell(0, "reasons")),
        ("B.exe".into(), "off".into(), "killed_by_env".into())
    );
    assert_eq!((cell(1, "render_luid"), cell(1, "crossing")), ("00000000:00015f3a".into(), "atlas_per_frame".into()));
    assert_eq!((cell(2, "exe"), cell(2, "line")), (String::new(), String::new()));
}

#[test]
fn people_get_a_table_and_a_sentence() {
    let folder = folder();
    let table = run(folder.path(), &["scan", "--format", "table", "."]).stdout;
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[1].contains("2026-09-14 12:00:00") && lines[1].contains("✕ killed"), "{table}");
    assert!(lines[2].contains("A.exe (2)") && lines[2].contains("● engaged"), "{table}");
    assert!(lines[3].contains("a-note.txt") && lines[3].contains("– unknown"), "{table}");
    assert_eq!(lines[4], "3 logs: 1 engaged, 1 killed, 1 unknown");
    assert!(!table.contains('\u{1b}'), "a pipe gets no colours: {table}");

    let markdown = run(folder.path(), &["scan", "--format", "markdown", "."]).stdout;
    let lines: Vec<_> = markdown.lines().collect();
    assert_eq!(lines[1], "| --- | --- | --- | --- | --- | --- | --- |");
    assert!(lines[2].contains(r"| killed\_by\_env |"), "{markdown}");
    assert_eq!(lines.last(), Some(&"3 logs: 1 engaged, 1 killed, 1 unknown"));
}

#[test]
fn exit_codes_and_which_one_wins() {
    let folder = folder();
    let exit = |args: &[&str], expected| exit_code(folder.path(), args, expected);
    exit(&["scan", "."], 0);
    exit(&["scan", "--fail-on", "bridge_degraded,killed", "."], 1);
    exit(&["scan", "--fail-on", "bridge_degraded", "."], 0);
    let said = exit(&["scan", "no-such-file", "."], 3);
    assert!(said.contains("no-such-file: failed to find it"), "{said}");
    exit(&["scan", "--fail-on", "killed", "no-such-file", "."], 3);
    let said = exit(&["scan", "--fail-on", "killed,no_such_code", "no-such-file"], 2);
    assert!(said.contains("no_such_code") && said.contains("unknown_reason_token"), "{said}");
    exit(&["scan", "--format", "yaml", "."], 2);
    exit(&["no-such-command"], 2);
    exit(&["--version"], 0);
}

#[test]
fn what_is_good_is_printed_beside_what_cannot_be_read() {
    let folder = folder();
    let run = run(folder.path(), &["scan", "no-such-file", "a-note.txt"]);
    assert_eq!((run.code, run.files()), (3, vec!["a-note.txt".to_owned()]));
}

#[test]
fn members_of_a_bundle_are_logs_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (a, b) = (log_name("A.exe", 2, "13-00-00"), log_name("B.exe", 1, "12-00-00"));
    let inner = zip(&[("x.log", b"x\n")]);
    let bundle = zip(&[
        ("logs/", b""),
        (&format!("logs/{a}"), log("A.exe", 2, "split=1").as_bytes()),
        (&format!("logs/deep/{b}"), log("B.exe", 1, "split=1").as_bytes()),
        ("inner.zip", &inner),
    ]);
    fs::write(folder.path().join("bundle.zip"), &bundle).expect("the folder is writable");
    let expected = |name: &str| [format!("{name}!/logs/deep/{b}"), format!("{name}!/logs/{a}")];

    let named = run(folder.path(), &["scan", "bundle.zip"]);
    assert_eq!((named.code, named.files()), (3, expected("bundle.zip").to_vec()));
    assert_eq!(named.reports()[1].process.as_ref().map(|process| process.pid), Some(2));
    assert!(named.stderr.contains("bundle.zip!/inner.zip: not opened"), "{}", named.stderr);

    let piped = run_with_stdin(folder.path(), &["scan", "-"], &bundle);
    assert_eq!(piped.files(), expected("-"));
}

#[test]
fn damaged_bundles_give_what_is_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut bundle = zip(&[("a.log", b"first\n"), ("b.log", &[b'x'; 300])]);
    // The first byte of the second member's data.
    let at = bundle.windows(5).rposition(|window| window == b"b.log").expect("it is in the table of contents");
    let second = bundle[..at].windows(5).position(|window| window == b"b.log").expect("it has a header") + 5;
    bundle[second] ^= 0xff;
    fs::write(folder.path().join("damaged.zip"), &bundle).expect("the folder is writable");
    fs::write(folder.path().join("no.zip"), "this is no zip archive").expect("the folder is writable");
    fs::write(folder.path().join("cut.zip"), &bundle[..40]).expect("the folder is writable");
    let run = run(folder.path(), &["scan", "."]);
    assert_eq!((run.code, run.files()), (3, vec!["./damaged.zip!/a.log".to_owned()]));
    for name in ["damaged.zip!/b.log", "no.zip", "cut.zip"] {
        assert!(run.stderr.contains(&format!("./{name}: failed to ")), "{name}: {}", run.stderr);
    }
}

#[test]
fn a_bundle_without_its_extension_is_still_one() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("upload"), zip(&[("a.log", b"x\n")])).expect("the folder is writable");
    assert_eq!(run(folder.path(), &["scan", "upload"]).files(), ["upload!/a.log"]);
}

#[test]
fn standard_input_is_one_log() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let run = run_with_stdin(folder.path(), &["scan", "-"], log("A.exe", 2, "split=1").as_bytes());
    let reports = run.reports();
    assert_eq!((run.code, reports.len(), reports[0].file.as_str()), (0, 1, "-"));
    assert_eq!(reports[0].process.as_ref().map(|process| process.exe.as_str()), Some("A.exe"));
    assert_eq!(reports[0].counts.bytes, log("A.exe", 2, "split=1").len() as u64);
}

#[test]
#[cfg(not(windows))]
fn without_a_path_the_runtime_s_own_folder_is_read() {
    let data = tempfile::tempdir().expect("a temporary folder can be made");
    let scan = || -> crate::common::Run {
        let mut command = weavewatch(data.path());
        command.env("XDG_DATA_HOME", data.path()).arg("scan").output().expect("the program starts").into()
    };
    let missing = scan();
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.contains("DisplayXR: the runtime has no log folder here"), "{}", missing.stderr);
    fs::create_dir(data.path().join("DisplayXR")).expect("the folder is writable");
    fs::write(data.path().join("DisplayXR/a.log"), "x\n").expect("the folder is writable");
    let found = scan();
    assert_eq!((found.code, found.files().len()), (0, 1));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let folder = folder();
    // More than a pipe holds.
    for index in 0..200 {
        fs::write(folder.path().join(format!("{index}.log")), "x\n").expect("the folder is writable");
    }
    let mut child = weavewatch(folder.path())
        .args(["scan", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn counting_counts_records_that_start_with_a_marker() {
    let folder = folder();
    let strange = "[2026-09-14 12:00:00.001] [WARN ] [some_function] weave placement: in new words\r\n\
                   [2026-09-14 12:00:00.002] [WARN ] [some_function] says 'weave placement: x'\r\n\
                   [2026-09-14 12:00:00.003] [INFO ] [emit] [RENDER] plane=mask kb=1 new_key=2 window_s=10\r\n\
                   \tweave placement: in a line that goes on\r\n";
    fs::write(folder.path().join("strange.log"), strange).expect("the folder is writable");
    let counts: Vec<_> = run(folder.path(), &["scan", "--count", "."])
        .stdout
        .lines()
        .map(|line| {
            let count: MarkerCount = serde_json::from_str(line).expect("a line is an object");
            assert_eq!(count.schema, COUNT_SCHEMA);
            (count.file, count.markers)
        })
        .collect();
    let (first, second) = (log_name("B.exe", 1, "12-00-00"), log_name("A.exe", 2, "13-00-00"));
    let expected = [
        (format!("./sub/{first}"), 1),
        (format!("./{second}"), 1),
        ("./a-note.txt".to_owned(), 0),
        ("./strange.log".to_owned(), 2),
    ];
    assert_eq!(counts, expected);
    let table = run(folder.path(), &["scan", "--count", "--format", "table", "."]).stdout;
    assert_eq!(table.lines().last(), Some("       4 in 4 logs"));
    assert_eq!(run(folder.path(), &["scan", "--count", "--format", "csv", "."]).stdout.lines().count(), 5);
    exit_code(folder.path(), &["scan", "--count", "--fail-on", "killed", "."], 2);
}
