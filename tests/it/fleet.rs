//! The short form of `tests/fleet`: a simulated fleet goes through real agents into a real server, and the server counts what is
//! true of it: on both databases. So do the eight machines that were written by hand.

use std::path::Path;

use serde_json::Value;
use tests::agent::upload;
use tests::fleet::{self, Plan};
use tests::server::{Database, Server};

/// Enough that every kind of machine and most faults are among them.
const PLAN: Plan = Plan { machines: 24, days: 26, seed: 5, agents: 2 };

#[test]
fn the_counts_of_a_fleet_are_its_totals_on_sqlite() {
    short(&Database::sqlite());
}

#[test]
fn the_counts_of_a_fleet_are_its_totals_on_postgresql() {
    short(&Database::postgres());
}

fn short(database: &Database) {
    let outcome = fleet::run(database, &PLAN);
    assert!(outcome.logs > 200 && outcome.machines > 20, "{outcome}");
    println!("{outcome}");
}

#[test]
fn the_machines_that_were_written_by_hand_have_the_totals_beside_them() {
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/fleet");
    let database = Database::sqlite();
    let server = Server::start(&database);
    let token = database.token("agent");
    for machine in fleet::machines(&fleet) {
        let state = tempfile::tempdir().expect("a temporary folder");
        upload(&machine, &server.url, &token, state.path()).with_code(0);
    }
    let mut summary = server.http(&database.token("reader")).get("/api/v1/summary").json();
    // They follow from the counts.
    summary["total"].as_object_mut().and_then(|total| total.remove("shares")).expect("shares");
    let expected = std::fs::read_to_string(fleet.join("summary.json")).expect("the expectation is checked in");
    assert_eq!(summary["total"], serde_json::from_str::<Value>(&expected).expect("JSON"));
}
