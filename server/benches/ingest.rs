//! How fast are events taken in durably, against a bulk insert of the same events as rows?
//!
//! Both ways by turns in one run, into empty databases with the same settings: batches of 1,000 events of one log through the
//! whole path (zstd, JSON, checks, verdict, counts, commit), and rows with the columns and indexes that a row for every event
//! would have, by prepared inserts in transactions (SQLite) or `copy` (PostgreSQL).
//!
//!     cargo bench -p server --bench ingest -- [EVENTS [ROUNDS]]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use server::app::State;
use server::auth::Scope;
use server::store::{Place, Store};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};
use tower::ServiceExt;
use wire::{
    BATCH_SCHEMA, Batch, Event, Fields, Kind, Level, LogFacts, Luid, Observation, Process, Reason, Segment, Value,
};

/// Events of a log, and of a batch.
const EVENTS_OF_A_LOG: u64 = 1_000;
const LOGS_OF_A_MACHINE: u64 = 20;
/// Agents that send at the same time.
const SENDERS: usize = 8;
/// Rows in one transaction, and in one prepared statement.
const ROWS_PER_TRANSACTION: usize = 10_000;
const ROWS_PER_INSERT: usize = 100;

const TABLE: &str = "create table rows_of_events (
    log text not null, record_offset bigint not null, ordinal bigint not null, line bigint not null,
    kind text not null, shape text, body text not null, primary key (log, record_offset, ordinal))";
const INDEX: &str = "create index rows_of_events_by_line on rows_of_events (log, line)";

/// How long something took, and how much room it takes.
#[derive(Clone, Copy)]
struct Cost {
    took: Duration,
    bytes: u64,
}

fn main() {
    // `cargo bench` adds a word of its own.
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let events = numbers.first().copied().unwrap_or(1_000_000);
    let rounds = numbers.get(1).copied().unwrap_or(3);
    let logs: Vec<Segment> = (0..events / EVENTS_OF_A_LOG).map(log).collect();
    let batches: Vec<Vec<u8>> = logs.iter().zip(0..).map(|(log, number)| packed(log, number)).collect();
    let events = logs.len() as u64 * EVENTS_OF_A_LOG;
    let plain: usize = logs.iter().map(|log| serde_json::to_vec(&log.observations).expect("plain data").len()).sum();
    println!("{events} events in {} logs, {} bytes of JSON an event", logs.len(), plain as u64 / events);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    runtime.block_on(async {
        sqlx::any::install_default_drivers();
        for round in 1..=rounds {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let rows = sqlite_rows(&folder.path().join("rows.sqlite"), &logs).await;
            let place = Place::File(folder.path().join("server.sqlite"));
            tell("SQLite", round, events, rows, ingest(place, &batches).await);
        }
        let Ok(url) = std::env::var("WEAVEWATCH_TEST_POSTGRES") else {
            return println!("WEAVEWATCH_TEST_POSTGRES names no PostgreSQL, so that only SQLite is measured");
        };
        for round in 1..=rounds {
            let database = format!("bench_{}_{round}", std::process::id());
            let (server, _) = url.rsplit_once('/').expect("the URL names a database");
            let own = format!("{server}/{database}");
            admin(&url, &format!("create database {database}")).await;
            let rows = postgres_rows(&own, &logs).await;
            admin(&own, "drop table rows_of_events").await;
            let ingested = ingest(Place::Postgres(own.clone()), &batches).await;
            admin(&url, &format!("drop database {database} with (force)")).await;
            tell("PostgreSQL", round, events, rows, ingested);
        }
    });
}

fn tell(database: &str, round: u64, events: u64, rows: Cost, ingested: Cost) {
    let rate = |cost: Cost| events as f64 / cost.took.as_secs_f64();
    println!(
        "{database}, round {round}: rows {:.0}/s ({} bytes an event), ingest {:.0}/s ({} bytes an event), ratio {:.2}",
        rate(rows),
        rows.bytes / events,
        rate(ingested),
        ingested.bytes / events,
        rate(ingested) / rate(rows)
    );
}

/// Posts all batches from several senders and waits for the last acknowledgement.
async fn ingest(place: Place, batches: &[Vec<u8>]) -> Cost {
    let store = Store::open(&place).await.expect("the database opens");
    store.migrate().await.expect("the schema fits");
    let token = store.create_token(Scope::Agent, "bench").await.expect("a token").secret;
    let app = Arc::new(State::new(store));
    let router = server::router(app.clone());
    let shares: Vec<Vec<Vec<u8>>> =
        (0..SENDERS).map(|sender| batches.iter().skip(sender).step_by(SENDERS).cloned().collect()).collect();
    let begin = Instant::now();
    let senders: Vec<_> =
        shares.into_iter().map(|share| tokio::spawn(send(router.clone(), token.clone(), share))).collect();
    for sender in senders {
        sender.await.expect("a sender says what is wrong");
    }
    let took = begin.elapsed();
    app.store.close().await;
    Cost { took, bytes: size(&place).await }
}

async fn send(router: Router, token: String, batches: Vec<Vec<u8>>) {
    for batch in batches {
        loop {
            let request = Request::post("/api/v1/ingest")
                .header("authorization", format!("Bearer {token}"))
                .header("content-encoding", "zstd")
                .body(Body::from(batch.clone()))
                .expect("a request");
            let status = router.clone().oneshot(request).await.expect("the router answers everything").status();
            match status.as_u16() {
                200 => break,
                // One token stands for a fleet here.
                429 => tokio::time::sleep(Duration::from_millis(2)).await,
                _ => panic!("{status}"),
            }
        }
    }
}

async fn sqlite_rows(file: &Path, logs: &[Segment]) -> Cost {
    let url = format!("sqlite://{}?mode=rwc", file.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("the database opens");
    for sql in ["pragma journal_mode = wal", "pragma synchronous = full", TABLE, INDEX] {
        connection.execute(sql).await.expect("a new database takes it");
    }
    let rows: Vec<Row> = logs.iter().flat_map(rows).collect();
    // Without names: for each name that the driver asks for, SQLite goes through all of them.
    let values = vec!["(?, ?, ?, ?, ?, ?, ?)"; ROWS_PER_INSERT];
    let sql = format!("insert into rows_of_events values {}", values.join(", "));
    let begin = Instant::now();
    for chunk in rows.chunks(ROWS_PER_TRANSACTION) {
        let mut transaction = connection.begin().await.expect("a transaction");
        for rows in chunk.chunks_exact(ROWS_PER_INSERT) {
            let query = rows.iter().fold(sqlx::query(AssertSqlSafe(sql.clone())), |query, row| {
                let query = query.bind(&row.log).bind(row.offset).bind(0_i64).bind(row.line);
                query.bind(&row.kind).bind(&row.shape).bind(&row.body)
            });
            query.execute(&mut *transaction).await.expect("rows");
        }
        transaction.commit().await.expect("there is room");
    }
    let took = begin.elapsed();
    connection.close().await.expect("it closes");
    Cost { took, bytes: size(&Place::File(file.to_owned())).await }
}

async fn postgres_rows(url: &str, logs: &[Segment]) -> Cost {
    let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
    for sql in [TABLE, INDEX] {
        connection.execute(sql).await.expect("a new database takes it");
    }
    let rows: Vec<Row> = logs.iter().flat_map(rows).collect();
    // As `copy` wants it, made before the time is taken.
    let chunks: Vec<String> = rows
        .chunks(ROWS_PER_TRANSACTION)
        .map(|rows| {
            rows.iter().fold(String::new(), |mut text, Row { log, offset, line, kind, shape, body }| {
                let body = body.replace('\\', "\\\\");
                writeln!(text, "{log}\t{offset}\t0\t{line}\t{kind}\t{shape}\t{body}").expect("memory suffices");
                text
            })
        })
        .collect();
    let begin = Instant::now();
    for chunk in chunks {
        let mut copy = connection.copy_in_raw("copy rows_of_events from stdin").await.expect("it copies");
        copy.send(chunk.as_bytes()).await.expect("rows");
        copy.finish().await.expect("there is room");
    }
    let took = begin.elapsed();
    connection.close().await.expect("it closes");
    Cost { took, bytes: size(&Place::Postgres(url.to_owned())).await }
}

async fn admin(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
    connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("the superuser may do that");
}

/// What the tables take on the disk, with their indexes.
async fn size(place: &Place) -> u64 {
    match place {
        Place::File(file) => {
            let mut log = file.clone().into_os_string();
            log.push("-wal");
            let bytes = |file: PathBuf| std::fs::metadata(file).map_or(0, |file| file.len());
            bytes(file.clone()) + bytes(log.into())
        }
        Place::Postgres(url) => {
            let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
            let sql = "select cast(sum(pg_total_relation_size(oid)) as bigint) from pg_class
                       where relkind = 'r' and relnamespace = 'public'::regnamespace";
            let bytes: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("a number");
            bytes.cast_unsigned()
        }
    }
}

struct Row {
    log: String,
    offset: i64,
    line: i64,
    kind: String,
    shape: String,
    body: String,
}

fn rows(log: &Segment) -> impl Iterator<Item = Row> {
    let signed = |number: u64| i64::try_from(number).expect("a small number");
    log.observations.iter().map(move |observation| {
        let Observation::Event(event) = observation else { panic!("a log of events") };
        Row {
            log: log.log.clone(),
            offset: signed(event.offset),
            line: signed(event.line),
            kind: serde_json::to_value(event.kind).expect("plain data").as_str().expect("a word").to_owned(),
            shape: event.shape.to_string(),
            body: serde_json::to_string(observation).expect("plain data"),
        }
    })
}

fn packed(log: &Segment, number: u64) -> Vec<u8> {
    let batch = Batch {
        schema: BATCH_SCHEMA.to_owned(),
        machine: format!("{:032x}", number / LOGS_OF_A_MACHINE),
        agent: "bench".to_owned(),
        segments: vec![log.clone()],
        ..Batch::default()
    };
    zstd::encode_all(serde_json::to_vec(&batch).expect("plain data").as_slice(), 3).expect("memory suffices")
}

/// A log of one session: its placement, then the counters that a build prints every few seconds.
fn log(number: u64) -> Segment {
    let started = Some(format!("2026-09-{:02}T12:00:00", number % 28 + 1));
    let process = Some(Process { exe: format!("Viewer{}.exe", number % 7), pid: number as u32, started });
    let mut facts = LogFacts { process, ..LogFacts::default() };
    (facts.counts.bytes, facts.counts.events) = (EVENTS_OF_A_LOG * 180, EVENTS_OF_A_LOG);
    Segment {
        log: format!("{:032x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        file: format!("DisplayXR_Viewer.exe.{number}_2026-09-14_12-00-00.log"),
        start: 0,
        end: EVENTS_OF_A_LOG * 180,
        facts,
        observations: (0..EVENTS_OF_A_LOG).map(|place| Observation::Event(event(number, place))).collect(),
        ..Segment::default()
    }
}

fn event(log: u64, place: u64) -> Event {
    // No two events are alike, as no two frames are.
    let mut noise = (log << 32 | place).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mut number = |below: u64| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 33) % below
    };
    let mut fields = Fields::new();
    let is_placement = place == 0;
    if is_placement {
        fields.push("render.name", Value::Text("NVIDIA GeForce RTX 4080 Laptop GPU".to_owned()));
        fields.push("render.luid", Value::Luid(Luid(0x15f3a)));
        fields.push("scanout.name", Value::Text("Intel(R) Iris(R) Xe Graphics".to_owned()));
        fields.push("scanout.luid", Value::Luid(Luid(0x13c07)));
        fields.push("reasons", Value::Reasons(vec![Reason::new("killed_by_env")]));
        fields.push("split", Value::Uint(0));
        fields.push("generation", Value::Uint(2));
    } else {
        for name in ["fps", "acquire_ms", "render_ms", "weave_ms", "present_ms", "latency_ms"] {
            fields.push(name, Value::Decimal(format!("{}.{}", number(90), number(10))));
        }
        fields.push("frame", Value::Uint(place * 180 + number(180)));
        fields.push("dropped", Value::Uint(number(3)));
    }
    Event {
        offset: place * 180,
        line: place + 5,
        time: Some(format!("2026-09-14 12:{:02}:{:02}.{:03}", place / 60 % 60, place % 60, number(1_000))),
        level: Level::Warn,
        function: Some("comp_d3d11_compositor_log_window".to_owned()),
        shape: if is_placement { "wp.g2.on_render" } else { "win.render" }.into(),
        kind: if is_placement { Kind::Placement } else { Kind::Window },
        hint: None,
        fields,
        spelling: Vec::new(),
    }
}
