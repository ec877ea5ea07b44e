//! The columnar copy as another engine reads it: DuckDB gets the totals that the server answers, also behind a deletion.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};
use tests::agent::upload;
use tests::http::Http;
use tests::logs::{Log, Placement};
use tests::server::{Database, Server};

#[test]
fn duckdb_reads_what_sqlite_answers() {
    duckdb_reads_what_the_server_answers(&Database::sqlite());
}

#[test]
fn duckdb_reads_what_postgresql_answers() {
    duckdb_reads_what_the_server_answers(&Database::postgres());
}

fn duckdb_reads_what_the_server_answers(database: &Database) {
    let copy = tempfile::tempdir().expect("a temporary folder");
    let url = format!("file://{}", copy.path().display());
    let write = || database.command(&["columnar", "--once", "--columnar", &url]);
    let server = Server::start(database);
    let token = database.token("agent");
    let http = server.http(&database.token("reader"));
    let placements = [Placement::Engaged, Placement::Killed, Placement::Engaged, Placement::Killed, Placement::Killed];
    let states = [0, 1].map(|_| tempfile::tempdir().expect("a temporary folder"));
    for (machine, state) in (1..).zip(&states) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (number, placement) in (0..).zip(&placements[..machine + 2]) {
            Log::start(folder.path(), 100 * machine as u32 + number, *placement).end();
        }
        upload(folder.path(), &server.url, &token, state.path()).with_code(0);
    }

    write().with_code(0);
    agrees(&http, database, &url, copy.path(), 7);

    let machines = http.get("/api/v1/machines").json();
    let gone = machines["items"][0]["id"].as_str().expect("a machine").to_owned();
    assert!(duckdb(copy.path(), Some(&gone))["named"].as_u64().expect("a number") > 3, "logs and events name it");
    let left = 7 - machines["items"][0]["logs"].as_u64().expect("a number");
    let admin = database.token("admin");
    assert_eq!(server.http(&admin).delete(&format!("/api/v1/machines/{gone}")).status, 200);
    write().with_code(0);
    agrees(&http, database, &url, copy.path(), left);
    assert_eq!(duckdb(copy.path(), Some(&gone))["named"], 0);
}

/// DuckDB, polars and the database count the same.
fn agrees(http: &Http, database: &Database, url: &str, copy: &Path, logs: u64) {
    let total = &http.get("/api/v1/summary").json()["total"];
    assert_eq!(total["logs"], logs);
    let checked = database.command(&["columnar", "--check", "--columnar", url]);
    let checked: Value = serde_json::from_str(&checked.with_code(0).stdout).expect("JSON");
    let mut flat = Map::new();
    for (name, value) in checked["total"].as_object().expect("an object") {
        assert_eq!(value, &total[name], "polars and the database differ in {name}");
        match value {
            Value::Object(inner) => {
                flat.extend(inner.iter().map(|(word, count)| (format!("{name}_{word}"), count.clone())));
            }
            _ => drop(flat.insert(name.clone(), value.clone())),
        }
    }
    let read = duckdb(copy, None);
    assert_eq!(read["manifest"]["total"], Value::Object(flat), "DuckDB and polars differ");
    assert_eq!(read["manifest"]["events"], checked["events"]);
    assert_eq!(read["folders"], read["manifest"], "at rest the folders hold what the manifest names");
    for dimension in ["reason", "day"] {
        let groups = http.get(&format!("/api/v1/summary?group_by={dimension}")).json();
        let mut expected: Vec<_> = groups["groups"].as_array().expect("a list").iter().map(counts(dimension)).collect();
        let mut found = read["manifest"][format!("{dimension}s")].as_array().expect("a list").clone();
        expected.sort_by_key(Value::to_string);
        found.sort_by_key(Value::to_string);
        assert_eq!(found, expected, "by {dimension}");
    }
    let types = &read["manifest"]["types"];
    let expected = [
        ("reasons", "VARCHAR[]"),
        ("killed", "BOOLEAN"),
        ("bytes", "BIGINT"),
        ("started", "TIMESTAMP"),
        ("received", "TIMESTAMP WITH TIME ZONE"),
        ("day", "DATE"),
    ];
    for (column, kind) in expected {
        assert_eq!(types[column], kind, "{column}");
    }
}

/// A group as the script prints it.
fn counts(dimension: &str) -> impl Fn(&Value) -> Value {
    move |group| match dimension {
        "reason" => json!([group["key"]["reason"], group["logs"], group["machines"]]),
        _ => json!([group["key"][dimension], group["logs"]]),
    }
}

/// What `tests/columnar/totals.py` prints.
fn duckdb(copy: &Path, machine: Option<&str>) -> Value {
    let python = std::env::var_os("WEAVEWATCH_TEST_PYTHON").expect(
        "WEAVEWATCH_TEST_PYTHON names no Python that has DuckDB: start the tests with tests/run, which brings one",
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("columnar/totals.py");
    let output = Command::new(python).arg(script).arg(copy).args(machine).output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
