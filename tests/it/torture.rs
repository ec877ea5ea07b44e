//! The short form of `tests/torture`: nothing is lost and nothing is doubled while agent and server are killed.

use std::time::Duration;

use tests::random::Random;
use tests::server::Database;
use tests::torture::{self, Plan};

const KILLS: u64 = 20;
const DURATION: Duration = Duration::from_secs(24);

#[test]
fn nothing_is_lost_or_doubled_under_sigkill_on_sqlite() {
    short(&Database::sqlite());
}

#[test]
fn nothing_is_lost_or_doubled_under_sigkill_on_postgresql() {
    short(&Database::postgres());
}

fn short(database: &Database) {
    let plan = Plan { kills: KILLS, duration: DURATION, seed: Random::fresh_seed() };
    let outcome = torture::run(database, &plan);
    assert_eq!(outcome.killed, [KILLS / 2; 2]);
    assert!(outcome.sums.events > 0 && outcome.sums.whole > 0, "something was at stake: {outcome}");
    println!("{outcome}");
}
