//! The long form of the kill run; `tests/kill` builds what it needs and starts it.

use tests::kills;
use tests::server::Database;

fn main() {
    let kills = std::env::args()
        .nth(1)
        .map_or(100, |text| text.parse().unwrap_or_else(|_| panic!("{text:?} is no number; usage: kill [KILLS]")));
    println!("SQLite: {}", kills::run(&Database::sqlite(), kills));
    if std::env::var_os("WEAVEWATCH_TEST_POSTGRES").is_some() {
        println!("PostgreSQL: {}", kills::run(&Database::postgres(), kills));
    } else {
        println!("WEAVEWATCH_TEST_POSTGRES names no PostgreSQL, so that only SQLite is run");
    }
}
