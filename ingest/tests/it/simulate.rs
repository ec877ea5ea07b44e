//! `simulate`: a folder and a zip stream hold the same fleet, `scan` reads both and says what the truth beside them says,
//! and nothing of anybody's is overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use simulate::{Totals, Truth};
use wire::{Basis, ScanReport};

use crate::common::{Run, run, run_with_stdin, weavewatch};

const FLEET: [&str; 5] = ["simulate", "--machines", "12", "--seed", "11"];

fn with(more: &[&str]) -> Vec<&'static str> {
    FLEET.into_iter().chain(more.iter().map(|word| Box::leak((*word).to_owned().into_boxed_str()) as &str)).collect()
}

fn truths(text: &str) -> Vec<Truth> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line is the truth of a log")).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it was just made")
}

/// Every log once, each with the verdict that is true.
fn agrees(reports: &[ScanReport], truths: &[Truth], name: impl Fn(&str) -> String) {
    let said: BTreeMap<_, _> = reports.iter().map(|report| (report.file.clone(), report)).collect();
    assert_eq!(said.len(), truths.len(), "each log is read, and nothing else");
    for truth in truths {
        let report = said.get(&name(&truth.file)).unwrap_or_else(|| panic!("{} is not read", truth.file));
        assert_eq!(report.verdict, truth.verdict, "{}", truth.file);
    }
}

#[test]
fn a_folder_is_scanned_and_its_truth_is_passed_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = run(folder.path(), &with(&["--out", "fleet"]));
    assert_eq!((made.code, made.stdout.as_str()), (0, ""), "{}", made.stderr);
    let truths = truths(&read(&folder.path().join("fleet/truth.jsonl")));
    assert!(truths.len() > 100, "{} logs", truths.len());

    let scanned = run(folder.path(), &["scan", "fleet"]);
    assert_eq!(scanned.code, 0, "{}", scanned.stderr);
    let reports = scanned.reports();
    agrees(&reports, &truths, |file| format!("fleet/{file}"));

    let totals: Totals = serde_json::from_str(&read(&folder.path().join("fleet/totals.json"))).expect("totals");
    assert_eq!(totals.total.logs, reports.len() as u64);
    assert_eq!(totals.bytes, reports.iter().map(|report| report.counts.bytes).sum::<u64>());
    let count = |which: &dyn Fn(&ScanReport) -> bool| reports.iter().filter(|report| which(report)).count() as u64;
    assert_eq!(totals.total.split.engaged, count(&|report| report.verdict.split == wire::Split::Engaged));
    assert_eq!(totals.total.killed, count(&|report| report.verdict.killed));
    assert_eq!(totals.total.corrected, count(&|report| report.verdict.basis == Basis::Corrected));
}

#[test]
fn a_stream_holds_the_same_logs_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let stream = |more: &[&str]| {
        let output = weavewatch(folder.path()).args(with(more)).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let bytes = stream(&["--out", "-"]);
    assert!(bytes == stream(&["--out", "-"]), "the same seed gives the same bytes");
    let other = weavewatch(folder.path()).args(["simulate", "--machines", "12", "--seed", "12", "--out", "-"]).output();
    assert!(bytes != other.expect("the program starts").stdout, "another seed gives others");

    assert_eq!(run(folder.path(), &with(&["--out", "fleet"])).code, 0);
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).expect("an archive");
    let names: Vec<String> = zip.file_names().map(|name| name.expect("plain").into_owned()).collect();
    for name in &names {
        let mut contents = Vec::new();
        std::io::copy(&mut zip.by_name(name).expect("a member"), &mut contents).expect("its sum is right");
        let file = fs::read(folder.path().join("fleet").join(name)).expect("the folder has it as well");
        assert!(contents == file, "{name}");
    }

    let truths = truths(&read(&folder.path().join("fleet/truth.jsonl")));
    assert_eq!(names.len(), truths.len() + 2);
    let scanned: Run = run_with_stdin(folder.path(), &["scan", "-"], &bytes);
    assert_eq!(scanned.code, 0, "{}", scanned.stderr);
    agrees(&scanned.reports(), &truths, |file| format!("-!/{file}"));
}

#[test]
fn the_truth_may_go_elsewhere_and_replaces_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let args = with(&["--out", "-", "--truth", "truth.jsonl"]);
    let output = weavewatch(folder.path()).args(&args).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
    let zip = zip::ZipArchive::new(std::io::Cursor::new(output.stdout)).expect("an archive");
    assert!(zip.file_names().all(|name| name.expect("plain") != "truth.jsonl"));
    let text = read(&folder.path().join("truth.jsonl"));
    assert_eq!(truths(&text).len() + 1, zip.len());

    let again = run(folder.path(), &args);
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));
    assert!(again.stderr.contains("truth.jsonl"), "{}", again.stderr);
    assert_eq!(read(&folder.path().join("truth.jsonl")), text);
}

#[test]
fn what_cannot_be_made_is_wrong_usage_and_leaves_everything_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("mine")).expect("a writable folder");
    fs::write(folder.path().join("mine/notes.txt"), "mine").expect("a writable folder");
    fs::write(folder.path().join("bad.toml"), "machines = 3\n").expect("a writable folder");
    let cases: [(&[&str], &str); 6] = [
        (&["simulate", "--out", "mine"], "not empty"),
        (&["simulate"], "--out"),
        (&["simulate", "--out", "new", "--machines", "0"], "machines must be"),
        (&["simulate", "--out", "new", "--days", "99999"], "days must be"),
        (&["simulate", "--out", "new", "--fleet", "bad.toml"], "bad.toml"),
        (&["simulate", "--out", "new", "--fleet", "nowhere.toml"], "nowhere.toml"),
    ];
    for (args, says) in cases {
        let run = run(folder.path(), args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing new");
    assert_eq!(fs::read_dir(folder.path().join("mine")).expect("a folder").count(), 1);
}

#[test]
fn a_description_of_ones_own_is_followed_with_the_machine_files_beside_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shown = run(folder.path(), &["simulate", "--show-fleet"]);
    assert_eq!(shown.code, 0);
    fs::create_dir(folder.path().join("own")).expect("a writable folder");
    fs::write(folder.path().join("own/fleet.toml"), &shown.stdout).expect("a writable folder");
    let machine = simulate::built_in_machine("hybrid-4080.json").expect("built in").replace("RTX 4080", "RTX 9990");
    fs::write(folder.path().join("own/hybrid-4080.json"), machine).expect("a writable folder");
    let made = run(
        folder.path(),
        &["simulate", "--fleet", "own/fleet.toml", "--machines", "20", "--days", "9", "--out", "out"],
    );
    assert_eq!(made.code, 0, "{}", made.stderr);
    let truths = truths(&read(&folder.path().join("out/truth.jsonl")));
    assert!(truths.iter().any(|truth| truth.cohort.render.contains("RTX 9990")));
    assert!(truths.iter().all(|truth| !truth.cohort.render.contains("RTX 4080") && truth.cohort.day < 9));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::Read as _;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut child = weavewatch(folder.path())
        .args(["simulate", "--machines", "400", "--out", "-"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut head = [0; 4];
    let mut stdout = child.stdout.take().expect("it was asked for");
    stdout.read_exact(&mut head).expect("it writes");
    drop(stdout);
    assert_eq!(&head, b"PK\x03\x04");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
