//! A simulated fleet goes through real agents into a real server, and the server counts what is true of it: on both
//! databases.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use tests::agent::upload;
use tests::http::Http;
use tests::program::run;
use tests::server::{Database, Server};

/// Enough that every kind of machine and most faults are among them.
const MACHINES: &str = "24";
const DAYS: &str = "26";

#[test]
fn the_counts_of_a_fleet_are_its_totals_on_sqlite() {
    the_counts_of_a_fleet_are_its_totals(&Database::sqlite());
}

#[test]
fn the_counts_of_a_fleet_are_its_totals_on_postgresql() {
    the_counts_of_a_fleet_are_its_totals(&Database::postgres());
}

fn the_counts_of_a_fleet_are_its_totals(database: &Database) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fleet = folder.path().join("fleet");
    let words = ["simulate", "--machines", MACHINES, "--days", DAYS, "--seed", "5", "--out"];
    let arguments = words.into_iter().map(OsString::from).chain([fleet.clone().into_os_string()]);
    run("weavewatch", arguments).with_code(0);
    let totals: Value = serde_json::from_str(&text(&fleet.join("totals.json"))).expect("totals are JSON");
    assert!(totals["total"]["logs"].as_u64().is_some_and(|logs| logs > 200), "{}", totals["total"]);

    let server = Server::start(database);
    let token = database.token("agent");
    for machine in machines(&fleet) {
        // Each machine has an agent of its own, with a memory of its own.
        let state = tempfile::tempdir().expect("a temporary folder");
        upload(&machine, &server.url, &token, state.path()).with_code(0);
    }

    let http = server.http(&database.token("reader"));
    assert_eq!(counts(&http.get("/api/v1/summary").json()["total"]), totals["total"]);
    for dimension in ["path", "runtime", "reason"] {
        let expected = totals[dimension].as_object().expect("totals by key");
        let groups = groups(&http, dimension);
        assert_eq!(groups.len(), expected.len(), "{dimension}");
        for (key, count) in groups {
            assert_eq!(Some(&count), expected.get(&key), "{dimension} {key}");
        }
    }
}

/// Groups whose key is told.
fn groups(http: &Http, dimension: &str) -> Vec<(String, Value)> {
    let answer = http.get(&format!("/api/v1/summary?group_by={dimension}")).json();
    let groups = answer["groups"].as_array().expect("a list of groups");
    let told = groups.iter().filter_map(|group| Some((group["key"][dimension].as_str()?.to_owned(), counts(group))));
    told.collect()
}

/// The counts without what follows from them.
fn counts(group: &Value) -> Value {
    let mut counts = group.clone();
    if let Some(fields) = counts.as_object_mut() {
        fields.retain(|name, _| name != "shares" && name != "key");
    }
    counts
}

fn machines(fleet: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(fleet).expect("the fleet was made").map(|entry| entry.expect("readable").path());
    entries.filter(|path| path.is_dir()).collect()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the fleet was made")
}
