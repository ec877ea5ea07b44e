//! One analysis everywhere: what `scan` and `explain` print for a log is what a report says of it, byte for byte.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::program::run;
use tests::server::{Database, Server};

#[test]
fn command_line_and_sqlite_server_say_the_same_of_every_fixture_that_is_brought() {
    command_line_and_server_say_the_same(&Database::sqlite());
}

#[test]
fn command_line_and_postgresql_server_say_the_same_of_every_fixture_that_is_brought() {
    command_line_and_server_say_the_same(&Database::postgres());
}

fn command_line_and_server_say_the_same(database: &Database) {
    let server = Server::start(database);
    let http = server.http(&database.token("triager"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures"), &mut paths);
    assert!(paths.len() >= 60, "only {} fixtures", paths.len());
    // A bundle as the agent packs it, with its manifest and its own reports.
    let bundle = folder.path().join("field report.zip");
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok");
    let packed = run(
        "weavewatch",
        [
            "bundle".as_ref(),
            "--dir".as_ref(),
            logs.as_os_str(),
            "--state".as_ref(),
            folder.path().as_os_str(),
            "--out".as_ref(),
            bundle.as_os_str(),
        ],
    );
    packed.with_code(0);
    paths.push(bundle);

    let files: Vec<_> = paths
        .iter()
        .map(|path| (path.to_str().expect("our names are UTF-8"), std::fs::read(path).expect("a fixture")))
        .collect();
    let answer = http.bring("/api/v1/reports", &files);
    assert_eq!(answer.status, 201, "{}", answer.body);
    let report: Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(report["refused"], serde_json::json!([]), "nothing is wrong with the fixtures");

    // Field for field it is the text that `scan` prints, in the same order.
    let mut arguments = vec!["scan".as_ref(), "--format".as_ref(), "ndjson".as_ref()];
    arguments.extend(paths.iter().map(|path| path.as_os_str()));
    let scanned = run("weavewatch", arguments);
    scanned.with_code(0);
    let mut rest = answer.body.as_str();
    let mut said = Vec::new();
    for line in scanned.stdout.lines() {
        let object: Value = serde_json::from_str(line).expect("a line of ndjson");
        let open = line.strip_suffix('}').expect("an object");
        let at = rest.find(open).unwrap_or_else(|| panic!("the server says something else of {}", object["file"]));
        rest = &rest[at + open.len()..];
        assert!(rest.starts_with(",\"number\":"), "it goes on with what only the server knows");
        said.push(object);
    }
    let stored = report["logs"].as_array().expect("a list");
    assert_eq!(stored.len(), said.len());
    assert!(said.len() > paths.len() + 20, "the bundle has many logs");

    let id = report["id"].as_str().expect("an id");
    for (number, object) in said.iter().enumerate() {
        let file = object["file"].as_str().expect("a name");
        let explain =
            |format: &str| run("weavewatch", ["explain", "--format", format, file]).with_code(0).stdout.clone();
        let own = http.get(&format!("/api/v1/reports/{id}?log={number}"));
        assert_eq!(own.status, 200);
        let printed = compact(&explain("json"));
        let open = printed.strip_suffix('}').expect("an object");
        assert!(own.body.starts_with(open), "{file}:\n{}\n{printed}", own.body);
        let page = http.get(&format!("/api/v1/reports/{id}?log={number}&format=markdown"));
        assert_eq!(page.body, explain("markdown"), "{file}");
    }
}

/// The document without blanks and line ends between its tokens.
fn compact(document: &str) -> String {
    let (mut text, mut quoted, mut escaped) = (String::with_capacity(document.len()), false, false);
    for char in document.chars() {
        if quoted || !char.is_ascii_whitespace() {
            text.push(char);
        }
        if char == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && char == '\\' && !escaped;
    }
    text
}

/// Every log and every output of the runtime's tool that is not empty.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the fixtures are checked in");
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        let is_tool = path.parent().is_some_and(|parent| parent.ends_with("cli/ok"))
            && path.extension().is_some_and(|extension| extension == "txt" || extension == "json")
            && !path.to_string_lossy().ends_with(".expected.json");
        if path.is_dir() {
            collect(&path, found);
        } else if (is_log || is_tool) && path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            found.push(path);
        }
    }
}
