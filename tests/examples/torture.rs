//! The long form of the torture run; `tests/torture` builds what it needs and starts it.

use std::time::Duration;

use tests::random::Random;
use tests::server::Database;
use tests::torture::{self, Plan};

fn main() {
    let mut numbers = std::env::args().skip(1);
    let mut number = |default| numbers.next().map_or(default, |text| read(&text));
    let (kills, seconds) = (number(200), number(600));
    let seed = number(Random::fresh_seed());
    let plan = Plan { kills, duration: Duration::from_secs(seconds), seed };
    println!("{kills} kills in {seconds} s, seed {seed:#x}");
    std::thread::scope(|scope| {
        scope.spawn(|| println!("SQLite: {}", torture::run(&Database::sqlite(), &plan)));
        if std::env::var_os("WEAVEWATCH_TEST_POSTGRES").is_some() {
            let plan = Plan { seed: seed + 1, ..plan };
            scope.spawn(move || println!("PostgreSQL: {}", torture::run(&Database::postgres(), &plan)));
        } else {
            println!("WEAVEWATCH_TEST_POSTGRES names no PostgreSQL, so that only SQLite is run");
        }
    });
}

/// Decimal, or hexadecimal as seeds are printed.
fn read(text: &str) -> u64 {
    let number = text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    number.unwrap_or_else(|_| panic!("{text:?} is no number; usage: torture [KILLS [SECONDS [SEED]]]"))
}
