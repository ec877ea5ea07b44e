//! Files as they are found, whole and damaged: what the reader tells of each stands beside it, one JSON object a line.
//! `ok/` can be read, `err/` holds no record that means anything; neither may fail. Regenerate with `WEAVEWATCH_BLESS=1`
//! and read the difference.

use std::fs;
use std::path::{Path, PathBuf};

use parser::LogReader;
use wire::Observation;

fn told(bytes: &[u8], chunk_size: usize) -> String {
    let mut lines = Vec::new();
    let mut sink = |observation: Observation| lines.push(serde_json::to_string(&observation).expect("it is JSON"));
    let mut reader = LogReader::new();
    for chunk in bytes.chunks(chunk_size) {
        reader.feed(chunk, &mut sink);
    }
    let facts = reader.finish(&mut sink);
    lines.push(serde_json::to_string(&facts).expect("it is JSON"));
    lines.join("\n") + "\n"
}

fn logs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/framing").join(folder);
    let entries = fs::read_dir(&folder).expect("the fixtures are in the repository");
    let mut logs: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    logs.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.sort();
    logs
}

#[track_caller]
fn check(log: &Path) {
    let bytes = fs::read(log).expect("the fixture can be read");
    let beside = log.with_extension("jsonl");
    let found = told(&bytes, bytes.len().max(1));
    if std::env::var_os("WEAVEWATCH_BLESS").is_some() {
        fs::write(&beside, &found).expect("the folder can be written");
    }
    let expected = fs::read_to_string(&beside).unwrap_or_default();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>(), "{}", log.display());
    assert_eq!(told(&bytes, 1), found, "{} byte by byte", log.display());
}

#[test]
fn files_that_can_be_read() {
    let logs = logs("ok");
    assert!(logs.len() > 30);
    for log in &logs {
        check(log);
    }
}

#[test]
fn files_that_hold_nothing() {
    for log in logs("err") {
        check(&log);
        let bytes = fs::read(&log).expect("the fixture can be read");
        assert!(!told(&bytes, 7).contains("\"event\":{\"kind\":\"placement\""));
    }
}
