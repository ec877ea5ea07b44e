//! Whole logs against whole answers: `fixtures/logs/ok/NAME.log` is read through the parser and judged; the scan object
//! must equal `NAME.json` beside it, field for field.
//!
//! `WEAVEWATCH_BLESS=1` writes the answers anew; read the difference before you keep it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use resolver::{Code, Examiner};
use wire::ScanReport;

/// Uneven, so that chunks end anywhere inside lines.
const CHUNK_BYTES: usize = 97;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok")
}

/// The logs in order of their names.
fn logs() -> Vec<PathBuf> {
    let entries = fs::read_dir(fixtures()).expect("the fixtures are there");
    let mut logs: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    logs
}

fn scan(log: &Path, chunk_bytes: usize) -> ScanReport {
    let bytes = fs::read(log).expect("the fixture can be read");
    let mut examiner = Examiner::new();
    let mut reader = parser::LogReader::new();
    for chunk in bytes.chunks(chunk_bytes) {
        reader.feed(chunk, &mut |observation| examiner.push(&observation));
    }
    let facts = reader.finish(&mut |observation| examiner.push(&observation));
    let judgement = examiner.finish(&facts).judgement;
    let name = log.file_name().expect("logs have names").to_string_lossy().into_owned();
    let process = parser::file_name::merge(facts.process.clone(), &name);
    ScanReport::new(name, process, facts.end, facts.counts, judgement)
}

#[test]
fn every_log_gets_the_answer_beside_it() {
    let bless = std::env::var_os("WEAVEWATCH_BLESS").is_some();
    let mut wrong = Vec::new();
    for log in logs() {
        let answer = scan(&log, CHUNK_BYTES);
        let path = log.with_extension("json");
        let text = serde_json::to_string_pretty(&answer).expect("a report is plain data") + "\n";
        if bless {
            fs::write(&path, &text).expect("the fixtures are writable");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != text {
            let difference = expected.lines().zip(text.lines()).find(|(old, new)| old != new);
            wrong.push(format!("{}: {difference:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "answers differ from the files beside the logs:\n{}", wrong.join("\n"));
}

#[test]
fn the_size_of_chunks_changes_nothing() {
    for log in logs() {
        assert_eq!(scan(&log, usize::MAX), scan(&log, 1), "{}", log.display());
    }
}

#[test]
fn the_logs_show_every_code() {
    let mut missing: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    for log in logs() {
        for finding in scan(&log, CHUNK_BYTES).findings {
            missing.remove(finding.code.as_str());
        }
    }
    // It takes a log of a mebibyte to overflow the budget; scripts of events do so in the unit tests.
    missing.remove(Code::EvidenceOmitted.as_str());
    assert!(missing.is_empty(), "no log shows {missing:?}");
}
