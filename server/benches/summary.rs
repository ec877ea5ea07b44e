//! How much faster `summary` answers from the roll-ups than one SQL statement does from the rows, and whether it minds how
//! many events are behind the logs.
//!
//! `cargo bench -p server --bench summary -- [LOGS] [sqlite|postgres]`, on SQLite, and on PostgreSQL when
//! `WEAVEWATCH_TEST_POSTGRES` holds the URL of a superuser, or on one of them. Both ways, and both databases, are asked by turns, so that what else the machine does slows all.

use std::time::{Duration, Instant};

use server::store::{Dimension, Filter, Place, Store};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use wire::{FlawKind, Observation};

/// A fleet: ten logs of a machine a day.
const LOGS: u64 = 1_000_000;
const MACHINES: u64 = 1_000;
const DAYS: u64 = 100;
/// Records of a log at first; ten times as many later.
const EVENTS: u64 = 10;
/// Rows in one statement.
const ROWS: u64 = 500;
/// Statements in one transaction.
const STATEMENTS: u64 = 20;
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
    filled("SQLite", &few, logs).await;
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
    filled("PostgreSQL", &few, logs).await;
    execute(&mut admin, &format!("create database {} template {}", names[1], names[0])).await;
    compare("PostgreSQL", &few, &many).await;
    for name in names {
        execute(&mut admin, &format!("drop database {name}")).await;
    }
}

/// Makes a database with so many logs, and counts them.
async fn filled(name: &str, place: &Place, logs: u64) {
    let store = Store::open(place).await.expect("it opens");
    store.migrate().await.expect("the schema fits");
    let start = Instant::now();
    let mut connection = connect(place).await;
    fill(&mut connection, logs).await;
    println!("{name}: {logs} logs, filled in {:.0} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let counts = store.rebuild_rollups().await.expect("it answers");
    println!("{name}: {counts} roll-ups counted in {:.0} s", start.elapsed().as_secs_f64());
    settle(&mut connection, place).await;
    connection.close().await.expect("it closes");
    store.close().await;
}

/// Two copies of one database; one gets ten times the events.
async fn compare(name: &str, few: &Place, many: &Place) {
    let mut connection = connect(many).await;
    more_events(&mut connection).await;
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

/// Machines, logs with documents of the usual size, reasons and packed records, made in bulk.
async fn fill(connection: &mut AnyConnection, logs: u64) {
    let (body, plain_bytes) = body(EVENTS);
    let report = report();
    execute(connection, "begin").await;
    for first in (0..MACHINES).step_by(ROWS as usize) {
        let rows = (first..MACHINES.min(first + ROWS))
            .map(|machine| format!("('{machine:032x}', '2026-01-01T00:00:00.000Z')"));
        insert(connection, "machines (id, first_seen)", rows).await;
    }
    execute(connection, "commit").await;
    for first in (0..logs).step_by(ROWS as usize) {
        let numbers = first..logs.min(first + ROWS);
        // One transaction for all would write the pages of the indexes again and again into the log of SQLite.
        if first.is_multiple_of(ROWS * STATEMENTS) {
            execute(connection, "begin").await;
        }
        let columns = "logs (id, machine, log, file, received, end_offset, facts, report, started_s, day, exe, runtime, path, \
                       split, crossing, interop_crossing, killed, retired, basis, outcome, render, scanout, gpu_pair, events, rules)";
        insert(connection, columns, numbers.clone().map(|number| log(number, &report))).await;
        let reasons = numbers.clone().filter_map(|number| Some(format!("('{}', '{}')", id(number), reason(number)?)));
        insert(connection, "log_reasons (log, token)", reasons).await;
        let ranges: Vec<_> = numbers
            .clone()
            .map(|number| format!("('{}', 0, 200000, {EVENTS}, {plain_bytes}, $1)", id(number)))
            .collect();
        let sql = format!(
            "insert into log_ranges (log, start_offset, end_offset, observations, plain_bytes, body) values {}",
            ranges.join(", ")
        );
        let insert = sqlx::query(AssertSqlSafe(sql)).persistent(false).bind(&body);
        insert.execute(&mut *connection).await.expect("it is taken");
        if (first + ROWS).is_multiple_of(ROWS * STATEMENTS) || numbers.end == logs {
            execute(connection, "commit").await;
        }
    }
}

async fn insert(connection: &mut AnyConnection, columns: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        execute(connection, &format!("insert into {columns} values {}", rows.join(", "))).await;
    }
}

/// The same logs with ten times the records behind them.
async fn more_events(connection: &mut AnyConnection) {
    let (body, plain_bytes) = body(EVENTS * 10);
    let sql = format!("update log_ranges set observations = {}, plain_bytes = {plain_bytes}, body = $1", EVENTS * 10);
    sqlx::query(AssertSqlSafe(sql)).bind(&body).execute(&mut *connection).await.expect("it is taken");
    execute(connection, &format!("update logs set events = {}", EVENTS * 10)).await;
}

/// What PostgreSQL does by itself sooner or later, and SQLite when its log is full.
async fn settle(connection: &mut AnyConnection, place: &Place) {
    match place {
        Place::File(_) => execute(connection, "pragma wal_checkpoint(truncate)").await,
        Place::Postgres(_) => execute(connection, "vacuum analyze").await,
    }
}

fn log(number: u64, report: &str) -> String {
    let machine = number % MACHINES;
    let day = (number / MACHINES) % DAYS;
    let date = jiff::civil::date(2026, 1, 1).checked_add(jiff::Span::new().days(day.cast_signed())).expect("a day");
    let started_s = 1_767_225_600 + day * 86_400 + number % 86_400;
    let (split, crossing, killed, outcome) = match (reason(number), number % 20) {
        (Some("killed_by_env"), _) => ("off", "every_present", 1, "killed"),
        (Some("same_adapter"), _) => ("off", "none", 0, "local"),
        (Some(_), _) => ("off", "every_present", 0, "crossing"),
        (None, 19) => ("unknown", "unknown", 0, "unknown"),
        (None, _) => ("engaged", "atlas_per_frame", 0, "engaged"),
    };
    let render = format!("NVIDIA GeForce RTX {}080 Laptop GPU", 2 + machine % 5);
    let scanout = if machine.is_multiple_of(3) { "AMD Radeon(TM) Graphics" } else { "Intel(R) Iris(R) Xe Graphics" };
    format!(
        "('{id}', '{machine:032x}', '{number:032x}', 'DisplayXR_App.exe.{number}.log', '2026-04-10T00:00:00.000Z', 200000, '{{}}', \
         '{report}', {started_s}, '{date}', 'App{}.exe', '2.{}.0', '{}', '{split}', '{crossing}', 0, {killed}, {}, '{}', \
         '{outcome}', '{render}', '{scanout}', '{render} → {scanout}', {EVENTS}, {rules})",
        number % 7,
        10 + day / 20,
        ["d3d11", "d3d12", "vulkan", "opengl", "service"][(mixed(number) % 5) as usize],
        u64::from(number.is_multiple_of(50)),
        if number.is_multiple_of(40) { "corrected" } else { "stated" },
        id = id(number),
        rules = resolver::RULES,
    )
}

/// Two logs of five have one.
fn reason(number: u64) -> Option<&'static str> {
    let all = ["killed_by_env", "same_adapter", "dp_refused_scanout", "no_hwnd", "presenter_ineligible", "unknown"];
    all.get((mixed(number / 3) % 15) as usize).copied()
}

fn id(number: u64) -> String {
    format!("{:016x}{number:016x}", mixed(number))
}

/// Spreads numbers.
fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

/// The report of a log from the fixtures.
fn report() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/logs/ok");
    let files = std::fs::read_dir(folder).expect("the fixtures").filter_map(|entry| Some(entry.ok()?.path()));
    let file = files.filter(|path| path.extension().is_some_and(|end| end == "log")).min().expect("a log");
    let mut examiner = resolver::Examiner::new();
    let mut reader = parser::LogReader::new();
    reader.feed(&std::fs::read(file).expect("it can be read"), &mut |observation| examiner.push(&observation));
    let facts = reader.finish(&mut |observation| examiner.push(&observation));
    let judgement = examiner.finish(&facts).judgement;
    let report = wire::ScanReport::new("a.log".to_owned(), facts.process, facts.end, facts.counts, judgement);
    serde_json::to_string(&report).expect("plain data").replace('\'', "''")
}

/// Packed records, and what they are as JSON.
fn body(events: u64) -> (Vec<u8>, usize) {
    let mut plain = Vec::new();
    for number in 0..events {
        let flaw = wire::Flaw {
            offset: mixed(number) % 200_000,
            line: mixed(number) % 2_000,
            kind: FlawKind::Spliced,
            marker: None,
            hint: None,
        };
        serde_json::to_writer(&mut plain, &Observation::Flaw(flaw)).expect("plain data");
        plain.push(b'\n');
    }
    (zstd::bulk::compress(&plain, 3).expect("there is memory"), plain.len())
}

async fn connect(place: &Place) -> AnyConnection {
    let url = match place {
        Place::File(path) => format!("sqlite://{}?mode=rwc", path.display()),
        Place::Postgres(url) => url.clone(),
    };
    AnyConnection::connect(&url).await.expect("it opens")
}

async fn execute(connection: &mut AnyConnection, sql: &str) {
    connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("it is taken");
}
