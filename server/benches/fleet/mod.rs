//! A fleet in a database, made in bulk, for the benchmarks: machines, logs with documents of the usual size, reasons, packed
//! records, kinds of PC, and the situations and topologies that logs share; then its roll-ups.

#![allow(dead_code, reason = "not every benchmark that takes this module asks for all of it")]

mod situation;

use std::time::Instant;

use server::store::{Place, Store, content};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use wire::{FlawKind, Observation};

pub use situation::situation;

/// A fleet: ten logs of a machine a day.
pub const LOGS: u64 = 1_000_000;
pub const MACHINES: u64 = 1_000;
const DAYS: u64 = 100;
/// Distinct situations, and kinds of PC.
const SITUATIONS: u64 = 2_000;
const COHORTS: u64 = 40;
/// Rows in one statement.
const ROWS: u64 = 500;
/// Statements in one transaction.
const STATEMENTS: u64 = 20;

/// What is stored of the records of each log.
pub struct Records {
    pub count: u64,
    packed: Vec<u8>,
    plain_bytes: usize,
}

/// Fills an empty database with so many logs, and counts them.
pub async fn filled(name: &str, place: &Place, logs: u64, records: &Records) {
    let store = Store::open(place).await.expect("it opens");
    store.migrate().await.expect("the schema fits");
    let start = Instant::now();
    let mut connection = connect(place).await;
    if matches!(place, Place::File(_)) {
        // Ids are random, so with a small cache every page of the indexes is written again and again.
        execute(&mut connection, "pragma cache_size = -1000000").await;
        execute(&mut connection, "pragma synchronous = off").await;
    }
    fill(&mut connection, logs, records).await;
    println!("{name}: {logs} logs, filled in {:.0} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let counts = store.rebuild_rollups().await.expect("it answers");
    println!("{name}: {counts} roll-ups counted in {:.0} s", start.elapsed().as_secs_f64());
    settle(&mut connection, place).await;
    connection.close().await.expect("it closes");
    store.close().await;
}

/// Machines, logs with documents of the usual size, reasons and packed records, made in bulk.
async fn fill(connection: &mut AnyConnection, logs: u64, records: &Records) {
    let Records { count, packed, plain_bytes } = records;
    let documents = documents();
    let situations: Vec<_> =
        (0..SITUATIONS as usize).map(|number| content(&situation(number)).expect("plain data")).collect();
    execute(connection, "begin").await;
    for first in (0..MACHINES).step_by(ROWS as usize) {
        let rows = (first..MACHINES.min(first + ROWS))
            .map(|machine| format!("('{machine:032x}', '2026-01-01T00:00:00.000Z')"));
        insert(connection, "machines (id, first_seen)", rows).await;
    }
    for chunk in situations.chunks(ROWS as usize) {
        let rows = chunk.iter().map(|(id, json)| format!("({id}, '{json}')"));
        insert(connection, "situations (id, json)", rows).await;
    }
    for first in (0..MACHINES).step_by(ROWS as usize) {
        let rows = (first..MACHINES.min(first + ROWS)).map(|machine| {
            let json = serde_json::to_string(&situation(machine as usize).machine).expect("plain data");
            format!("({machine}, '{json}')")
        });
        insert(connection, "topologies (id, json)", rows).await;
    }
    insert(connection, "cohorts (id, label)", (0..COHORTS).map(|own| format!("('{own:016x}', 'PC {own}')"))).await;
    execute(connection, "commit").await;
    for first in (0..logs).step_by(ROWS as usize) {
        let numbers = first..logs.min(first + ROWS);
        // One transaction for all would write the pages of the indexes again and again into the log of SQLite.
        if first.is_multiple_of(ROWS * STATEMENTS) {
            execute(connection, "begin").await;
        }
        let columns = "logs (id, machine, log, file, received, end_offset, facts, report, started_s, day, exe, runtime, path, \
                       split, crossing, interop_crossing, killed, retired, basis, outcome, render, scanout, gpu_pair, events, rules, \
                       cohort, topology, situation)";
        insert(
            connection,
            columns,
            numbers.clone().map(|number| log(number, &documents, *count, situations[(number % SITUATIONS) as usize].0)),
        )
        .await;
        let reasons = numbers.clone().filter_map(|number| Some(format!("('{}', '{}')", id(number), reason(number)?)));
        insert(connection, "log_reasons (log, token)", reasons).await;
        // A token that nobody knows, in one log of a thousand.
        let strange = numbers.clone().filter(|number| number.is_multiple_of(1_000));
        let strange = strange.map(|number| {
            format!(
                "('{}', 'token', 'new_token_{}', '2.{}.0', 1, 7, 'reason=new_token')",
                id(number),
                number % 7,
                10 + number % 3
            )
        });
        insert(connection, "log_drift (log, kind, what, build, records, line, example)", strange).await;
        let ranges: Vec<_> = numbers
            .clone()
            .map(|number| format!("('{}', 0, 200000, {count}, {plain_bytes}, $1)", id(number)))
            .collect();
        let sql = format!(
            "insert into log_ranges (log, start_offset, end_offset, observations, plain_bytes, body) values {}",
            ranges.join(", ")
        );
        let insert = sqlx::query(AssertSqlSafe(sql)).persistent(false).bind(packed);
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

/// Gives the logs other records.
pub async fn replace_records(connection: &mut AnyConnection, records: &Records) {
    let Records { count, packed, plain_bytes } = records;
    let sql = format!("update log_ranges set observations = {count}, plain_bytes = {plain_bytes}, body = $1");
    sqlx::query(AssertSqlSafe(sql)).bind(packed).execute(&mut *connection).await.expect("it is taken");
    execute(connection, &format!("update logs set events = {count}")).await;
}

/// What PostgreSQL does by itself sooner or later, and SQLite when its log is full.
pub async fn settle(connection: &mut AnyConnection, place: &Place) {
    match place {
        Place::File(_) => execute(connection, "pragma wal_checkpoint(truncate)").await,
        Place::Postgres(_) => execute(connection, "vacuum analyze").await,
    }
}

fn log(number: u64, (facts, report): &(String, String), count: u64, situation: i64) -> String {
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
        "('{id}', '{machine:032x}', '{number:032x}', 'DisplayXR_App.exe.{number}.log', '2026-04-10T00:00:00.000Z', 200000, '{facts}', \
         '{report}', {started_s}, '{date}', 'App{}.exe', '2.{}.0', '{}', '{split}', '{crossing}', 0, {killed}, {}, '{}', \
         '{outcome}', '{render}', '{scanout}', '{render} → {scanout}', {count}, {rules}, '{cohort:016x}', \
         {machine}, {situation})",
        number % 7,
        10 + day / 20,
        ["d3d11", "d3d12", "vulkan", "opengl", "service"][(mixed(number) % 5) as usize],
        u64::from(number.is_multiple_of(50)),
        if number.is_multiple_of(40) { "corrected" } else { "stated" },
        id = id(number),
        rules = resolver::RULES,
        cohort = machine % COHORTS,
    )
}

/// Two logs of five have one.
fn reason(number: u64) -> Option<&'static str> {
    let all = ["killed_by_env", "same_adapter", "dp_refused_scanout", "no_hwnd", "presenter_ineligible", "unknown"];
    all.get((mixed(number / 3) % 15) as usize).copied()
}

/// The id of a log.
pub fn id(number: u64) -> String {
    format!("{:016x}{number:016x}", mixed(number))
}

/// Spreads numbers.
fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

/// A log from the fixtures, read.
fn fixture() -> (Vec<Observation>, wire::LogFacts, wire::ScanReport) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/logs/ok");
    let files = std::fs::read_dir(folder).expect("the fixtures").filter_map(|entry| Some(entry.ok()?.path()));
    let file = files.filter(|path| path.extension().is_some_and(|end| end == "log")).min().expect("a log");
    let mut examiner = resolver::Examiner::new();
    let mut reader = parser::LogReader::new();
    let mut all = Vec::new();
    reader.feed(&std::fs::read(file).expect("it can be read"), &mut |observation| all.push(observation));
    let facts = reader.finish(&mut |observation| all.push(observation));
    for observation in &all {
        examiner.push(observation);
    }
    let judgement = examiner.finish(&facts).judgement;
    let report = facts.clone();
    let report = wire::ScanReport::new("a.log".to_owned(), report.process, report.end, report.counts, judgement);
    (all, facts, report)
}

/// What is known of it, and its report, as they are stored.
fn documents() -> (String, String) {
    let (_, facts, report) = fixture();
    let [facts, report] = [serde_json::to_string(&facts), serde_json::to_string(&report)];
    let quoted = |json: serde_json::Result<String>| json.expect("plain data").replace('\'', "''");
    (quoted(facts), quoted(report))
}

impl Records {
    /// So many of the smallest kind.
    pub fn flaws(count: u64) -> Self {
        let flaw = |number| wire::Flaw {
            offset: mixed(number) % 200_000,
            line: mixed(number) % 2_000,
            kind: FlawKind::Spliced,
            marker: None,
            hint: None,
        };
        Self::of(&(0..count).map(|number| Observation::Flaw(flaw(number))).collect::<Vec<_>>())
    }

    /// Those of the log that all reports are of.
    pub fn of_the_report() -> Self {
        Self::of(&fixture().0)
    }

    fn of(observations: &[Observation]) -> Self {
        let mut plain = Vec::new();
        for observation in observations {
            serde_json::to_writer(&mut plain, observation).expect("plain data");
            plain.push(b'\n');
        }
        let packed = zstd::bulk::compress(&plain, 3).expect("there is memory");
        Self { count: observations.len() as u64, packed, plain_bytes: plain.len() }
    }
}

pub async fn connect(place: &Place) -> AnyConnection {
    let url = match place {
        Place::File(path) => format!("sqlite://{}?mode=rwc", path.display()),
        Place::Postgres(url) => url.clone(),
    };
    AnyConnection::connect(&url).await.expect("it opens")
}

pub async fn execute(connection: &mut AnyConnection, sql: &str) {
    connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("it is taken");
}
