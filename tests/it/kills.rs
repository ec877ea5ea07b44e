//! The short form of `tests/kill`: what the server acknowledged is there once, however often it was killed.

use tests::kills;
use tests::server::Database;

const KILLS: u64 = 10;

#[test]
fn everything_acknowledged_is_there_once_under_sigkill_on_sqlite() {
    short(&Database::sqlite());
}

#[test]
fn everything_acknowledged_is_there_once_under_sigkill_on_postgresql() {
    short(&Database::postgres());
}

fn short(database: &Database) {
    let outcome = kills::run(database, KILLS);
    assert!(outcome.acknowledged > KILLS, "{outcome}");
    println!("{outcome}");
}
