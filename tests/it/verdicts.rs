//! One verdict everywhere: what `scan` prints for a log is what the server stores for it, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::agent::{scan, upload};
use tests::server::{Database, Server};

#[test]
fn scan_and_sqlite_server_say_the_same_of_every_fixture() {
    scan_and_server_say_the_same(&Database::sqlite());
}

#[test]
fn scan_and_postgresql_server_say_the_same_of_every_fixture() {
    scan_and_server_say_the_same(&Database::postgres());
}

fn scan_and_server_say_the_same(database: &Database) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut logs = Vec::new();
    collect(&fixtures, &mut logs);
    assert!(logs.len() >= 20, "only {} fixture logs", logs.len());
    // Fixtures of different folders share names; here each gets one of its own, as the runtime would give it.
    for (number, log) in logs.iter().enumerate() {
        let name = format!("DisplayXR_Fixture.exe.{number}_2026-09-14_12-00-00.log");
        std::fs::copy(log, folder.path().join(name)).expect("a writable folder");
    }

    let state = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(database);
    let uploaded = upload(folder.path(), &server.url, &database.token("agent"), state.path());
    uploaded.with_code(0);
    let http = server.http(&database.token("reader"));
    let mut stored = BTreeMap::new();
    for item in http.all_items("/api/v1/logs") {
        let text = |key: &str| item[key].as_str().expect("a text").to_owned();
        let detail = http.get(&format!("/api/v1/logs/{}", text("id")));
        assert_eq!(detail.status, 200);
        stored.insert(text("file"), common(&detail.body).to_owned());
    }

    let scanned = scan(folder.path());
    assert_eq!(scanned.len(), logs.len(), "scan says something of every log");
    let mut both = 0;
    for line in &scanned {
        let object: Value = serde_json::from_str(line).expect("a line of ndjson");
        let name = object["file"].as_str().and_then(|file| file.rsplit('/').next()).expect("an object says which file");
        let number = name.split('.').nth(2).and_then(|rest| rest.split('_').next()?.parse::<usize>().ok());
        let fixture = &logs[number.expect("the names are ours")];
        if let Some(stored) = stored.remove(name) {
            assert_eq!(stored, common(line), "{}", fixture.display());
            both += 1;
        } else {
            // What ends within its header is not told from other logs yet: the agent says so and waits for more of it.
            assert_eq!(object["counts"]["records"], 0, "{}", fixture.display());
            assert!(uploaded.stderr.contains(name), "nothing is said of {}", fixture.display());
        }
    }
    assert!(both >= 60, "only {both} fixtures were compared");
    assert_eq!(stored, BTreeMap::new(), "the server has nothing else");
}

/// The bytes that both have to agree on: all but where the log was found before, and what only the server knows behind.
/// Quotes inside strings are escaped, so neither mark can come from a log.
fn common(object: &str) -> &str {
    let start = object.find(r#""process":"#).expect("an object has a process");
    let end = object.find(r#","missing_bytes":"#).unwrap_or(object.len() - 1);
    &object[start..end]
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the fixtures are checked in")
        .map(|entry| entry.expect("readable").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
}
