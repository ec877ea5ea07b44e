//! Uploading again changes nothing, a new log adds one, a log that grew replaces its row: on both databases.

use std::path::Path;

use tests::agent::upload;
use tests::http::Http;
use tests::logs::{Log, Placement};
use tests::server::{Database, Server};

#[test]
fn logs_are_counted_once_on_sqlite() {
    logs_are_counted_once(&Database::sqlite());
}

#[test]
fn logs_are_counted_once_on_postgresql() {
    logs_are_counted_once(&Database::postgres());
}

fn logs_are_counted_once(database: &Database) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(database);
    let token = database.token("agent");
    let http = server.http(&database.token("reader"));
    let send = || {
        upload(folder.path(), &server.url, &token, state.path()).with_code(0);
    };

    let growing = Log::start(folder.path(), 101, Placement::Engaged);
    Log::start(folder.path(), 102, Placement::Killed).end();
    Log::start(folder.path(), 103, Placement::Engaged).end();
    send();
    assert_eq!(counts(&http), Counts { logs: 3, engaged: 2, killed: 1, retired: 0 });
    assert_eq!(verdict(&http, &growing)["split"], "engaged");

    send();
    assert_eq!(counts(&http), Counts { logs: 3, engaged: 2, killed: 1, retired: 0 }, "the same again");

    forget(state.path());
    send();
    assert_eq!(counts(&http), Counts { logs: 3, engaged: 2, killed: 1, retired: 0 }, "again, from the first byte");

    Log::start(folder.path(), 104, Placement::Killed).end();
    send();
    assert_eq!(counts(&http), Counts { logs: 4, engaged: 2, killed: 2, retired: 0 }, "one more log");

    growing.take_back();
    growing.end();
    send();
    assert_eq!(counts(&http), Counts { logs: 4, engaged: 1, killed: 2, retired: 1 }, "a log grew");
    let verdict = verdict(&http, &growing);
    assert_eq!((&verdict["split"], &verdict["retired"]), (&"off".into(), &true.into()));
    assert_eq!(verdict["reasons"], serde_json::json!(["dp_refused_scanout"]));

    // A new connection, a new process: nothing of this was only in memory.
    server.kill();
    let server = Server::start(database);
    let http = server.http(&database.token("reader"));
    assert_eq!(counts(&http), Counts { logs: 4, engaged: 1, killed: 2, retired: 1 }, "after a restart");
}

#[test]
fn a_server_that_refuses_or_is_gone_loses_nothing() {
    let database = Database::sqlite();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = tempfile::tempdir().expect("a temporary folder");
    Log::start(folder.path(), 101, Placement::Engaged).end();

    let server = Server::start(&database);
    let refused = upload(folder.path(), &server.url, "no-such-token", state.path());
    assert!(!refused.with_code(4).stderr.is_empty(), "the agent says why");
    let reader = database.token("reader");
    upload(folder.path(), &server.url, &reader, state.path()).with_code(4);
    let url = server.url.clone();
    server.kill();
    let token = database.token("agent");
    upload(folder.path(), &url, &token, state.path()).with_code(4);

    let server = Server::start(&database);
    let http = server.http(&reader);
    assert_eq!(http.get("/api/v1/summary").json()["total"]["logs"], 0);
    upload(folder.path(), &server.url, &token, state.path()).with_code(0);
    assert_eq!(http.get("/api/v1/summary").json()["total"]["logs"], 1);
}

/// Takes away what the agent remembers of the logs, not its id: it has to send everything again.
fn forget(state: &Path) {
    let mut files = ["logs.journal", "logs.snapshot"].map(|name| state.join(name)).to_vec();
    files.retain(|file| file.exists());
    assert!(!files.is_empty(), "the agent has run");
    for file in files {
        std::fs::remove_file(file).expect("the folder is ours");
    }
    std::fs::remove_dir_all(state.join("queue")).expect("the agent has run");
}

#[derive(PartialEq, Eq, Debug)]
struct Counts {
    logs: u64,
    engaged: u64,
    killed: u64,
    retired: u64,
}

fn counts(http: &Http) -> Counts {
    let total = http.get("/api/v1/summary").json()["total"].clone();
    let rows = http.all_items("/api/v1/logs?limit=2").len() as u64;
    let number = |value: &serde_json::Value| value.as_u64().expect("a count");
    assert_eq!(rows, number(&total["logs"]), "the rows behind the number");
    assert_eq!(number(&total["machines"]), 1);
    Counts {
        logs: number(&total["logs"]),
        engaged: number(&total["split"]["engaged"]),
        killed: number(&total["killed"]),
        retired: number(&total["retired"]),
    }
}

fn verdict(http: &Http, log: &Log) -> serde_json::Value {
    let name = log.name();
    let mut rows = http.all_items("/api/v1/logs").into_iter().filter(|row| row["file"] == name.as_str());
    let row = rows.next().expect("the log has a row");
    assert!(rows.next().is_none(), "the log has one row");
    row["verdict"].clone()
}
