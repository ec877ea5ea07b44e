//! The long form of the fleet run; `tests/fleet` builds what it needs and starts it.

use tests::fleet::{self, Plan};
use tests::server::Database;

fn main() {
    let mut numbers = std::env::args().skip(1);
    let mut number = |default| numbers.next().map_or(default, |text| read(&text));
    // 5,060 machines have a good 100,000 logs.
    let (machines, seed, agents) = (number(5060), number(918), number(3));
    let plan = Plan { machines, days: 30, seed, agents: usize::try_from(agents).unwrap_or(1) };
    println!("SQLite: {}", fleet::run(&Database::sqlite(), &plan));
    if std::env::var_os("WEAVEWATCH_TEST_POSTGRES").is_some() {
        println!("PostgreSQL: {}", fleet::run(&Database::postgres(), &plan));
    } else {
        println!("WEAVEWATCH_TEST_POSTGRES names no PostgreSQL, so that only SQLite is run");
    }
}

fn read(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number; usage: fleet [MACHINES [SEED [AGENTS]]]"))
}
