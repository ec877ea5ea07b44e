//! How much faster `summary` answers from the roll-ups than one SQL statement does from the rows, and whether it minds how
//! many events are behind the logs.
//!
//! `cargo bench -p server --bench summary -- [LOGS] [sqlite|postgres]`, on SQLite, and on PostgreSQL when
//! `WEAVEWATCH_TEST_POSTGRES` holds the URL of a superuser, or on one of them. Both ways, and both databases, are asked by turns, so that what else the machine does slows all.

mod fleet;

use std::time::{Duration, Instant};

use fleet::{LOGS, Records, connect, execute, filled, replace_records, settle};
use server::store::{Dimension, Filter, Place, Store};
use sqlx::{AnyConnection, Connection};

/// Records of a log at first; ten times as many later.
const EVENTS: u64 = 10;
/// How often each question is asked from the rows, and how often in turn from the roll-ups.
const ROUNDS: usize = 3;
const TURNS: usize = 30;

/// What it is called, the filters, and the dimensions that it groups by.
type Question = (&'static str, &'static [(&'static str, &'static str)], &'static [Dimension]);

const QUESTIONS: [Question; 5] = [
    ("total", &[], &[]),
    ("by day", &[], &[Dimension::Day]),
    ("by reason", &[], &[Dimension::Reason]),
    ("by gpu_pair", &[], &[Dimension::GpuPair]),
    ("last 30 days by path", &[("from", "2026-03-12"), ("to", "2026-04-10")], &[Dimension::Path]),
];

fn main() {
    let logs = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(LOGS);
    sqlx::any::install_default_drivers();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let only = |name: &str| std::env::args().any(|argument| argument == name);
    runtime.block_on(async {
        if !only("postgres") {
            sqlite(logs).await;
        }
        if !only("sqlite") {
            postgres(logs).await;
        }
    });
}

async fn sqlite(logs: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let places = ["few", "many"].map(|name| folder.path().join(name));
    let [few, many] = places.clone().map(Place::File);
    filled("SQLite", &few, logs, &Records::flaws(EVENTS)).await;
    std::fs::copy(&places[0], &places[1]).expect("there is room");
    compare("SQLite", &few, &many).await;
}

async fn postgres(logs: u64) {
    let Ok(superuser) = std::env::var("WEAVEWATCH_TEST_POSTGRES") else {
        return println!("no PostgreSQL: WEAVEWATCH_TEST_POSTGRES names none");
    };
    let (server, _) = superuser.rsplit_once('/').expect("the URL names a database");
    let names = ["few", "many"].map(|name| format!("weavewatch_bench_{}_{name}", std::process::id()));
    let [few, many] = names.clone().map(|name| Place::Postgres(format!("{server}/{name}")));
    let mut admin = AnyConnection::connect(&superuser).await.expect("PostgreSQL answers");
    execute(&mut admin, &format!("create database {}", names[0])).await;
    filled("PostgreSQL", &few, logs, &Records::flaws(EVENTS)).await;
    execute(&mut admin, &format!("create database {} template {}", names[1], names[0])).await;
    compare("PostgreSQL", &few, &many).await;
    for name in names {
        execute(&mut admin, &format!("drop database {name}")).await;
    }
}

/// Two copies of one database; one gets ten times the events.
async fn compare(name: &str, few: &Place, many: &Place) {
    let mut connection = connect(many).await;
    replace_records(&mut connection, &Records::flaws(EVENTS * 10)).await;
    settle(&mut connection, many).await;
    let stores = [Store::open(few).await.expect("it opens"), Store::open(many).await.expect("it opens")];
    for question in QUESTIONS {
        measure(&stores, name, question).await;
    }
    for store in stores {
        store.close().await;
    }
}

/// Asks one question of both, from the rows and from the roll-ups, all by turns.
async fn measure(stores: &[Store; 2], name: &str, (question, pairs, group_by): Question) {
    let mut filter = Filter::default();
    for (name, value) in pairs {
        assert_eq!(filter.take(name, value), Ok(true));
    }
    let (mut rows, mut kept) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        let mut expected = Vec::new();
        for (store, rows) in stores.iter().zip(&mut rows) {
            let start = Instant::now();
            expected = store.groups_of_rows(&filter, group_by).await.expect("it answers");
            rows.push(start.elapsed());
        }
        for _ in 0..TURNS {
            for (store, kept) in stores.iter().zip(&mut kept) {
                let start = Instant::now();
                let answer = store.summary(&filter, group_by).await.expect("it answers");
                kept.push(start.elapsed());
                if group_by.is_empty() {
                    assert_eq!(answer.total, expected[0].totals);
                } else {
                    assert_eq!(answer.groups, expected);
                }
            }
        }
    }
    let ([rows, rows_many], [few, many]) = (rows.map(median), kept.map(median));
    println!(
        "{name}: {question}: rows {:.1} ms, roll-ups {:.2} ms, 1/{:.0}; with ten times the events rows {:.1} ms, \
         roll-ups {:.2} ms, 1/{:.0}, {:.2} times as long",
        rows * 1e3,
        few * 1e3,
        rows / few,
        rows_many * 1e3,
        many * 1e3,
        rows_many / many,
        many / few
    );
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}
