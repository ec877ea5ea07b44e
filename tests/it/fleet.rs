//! The short form of `tests/fleet`: a simulated fleet goes through real agents into a real server, and the server counts what is
//! true of it: on both databases.

use tests::fleet::{self, Plan};
use tests::server::Database;

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
