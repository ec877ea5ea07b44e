//! Every version of the schema, with rows in it, is brought forward and answers as a database of today.
//!
//! `fixtures/schemas` has rows of every version. A new migration wants its own: write it with
//! `WEAVEWATCH_BLESS=1 cargo nextest run -p server -E 'test(every_schema)'`, look at it, and commit it. Rows of versions that
//! exist already stay as they are, because that is how they were written.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use server::audit::Actor;
use server::store::{Cell, Place, Schema};
use sqlx::{AssertSqlSafe, Connection, Executor};
use wire::Heartbeat;

use crate::migrations::up_to;
use crate::sample::{Sample, batch, machine};
use crate::summary::fleet;
use crate::told::loss;
use crate::world::{World, connect, on_each_place};

/// In front of bytes, which the databases spell in different ways.
const BYTES: &str = "/* bytes */ x'";

fn dump_of(version: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fixtures/schemas/{version:04}.sql"))
}

/// What every dump is of: three machines with seven logs, a heartbeat, losses, tokens.
async fn fill(world: &World) {
    fleet(world).await;
    let mut told = batch(1, vec![]);
    told.heartbeat = Some(Heartbeat { queue_bytes: 5, ..Heartbeat::default() });
    told.losses =
        vec![loss(Some("a.log"), "it's \"cut\"; \\ --", 3, 2), loss(None, "queue_full", 0, i64::MAX.unsigned_abs())];
    world.upload(&told).await;
    world.app.store.enroll(&machine(2), "its own", &Actor::command_line()).await.expect("a token");
}

/// The rows of a database of today in the words of a version, as far as it had them.
async fn dump(world: &World, version: i64) -> String {
    let (now, then) = (Schema::newest().await, Schema::of(version).await);
    let (now, then) = (now.expect("the migrations run"), then.expect("the migrations run"));
    let mut text = format!("-- Rows of schema {version}.\n");
    for old in &then.tables {
        let Some(table) = now.table(&old.name) else { continue };
        for row in world.app.store.plain_rows(table, None, None, 10_000).await.expect("it answers") {
            let cells = table.columns.iter().zip(&row).filter(|(column, _)| old.columns.contains(column));
            let (names, values): (Vec<_>, Vec<_>) = cells
                .map(|(column, cell)| {
                    let value = match cell {
                        Cell::Null => "null".to_owned(),
                        Cell::Int(number) => number.to_string(),
                        Cell::Text(text) => format!("'{}'", text.replace('\'', "''")),
                        Cell::Bytes(bytes) => {
                            let digits =
                                bytes.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
                            format!("{BYTES}{digits}'")
                        }
                    };
                    (column.name.as_str(), value)
                })
                .unzip();
            writeln!(text, "insert into {} ({}) values ({});", table.name, names.join(", "), values.join(", "))
                .expect("a string takes everything");
        }
    }
    text
}

/// What a reader is told of logs and machines, without the times of the test and what older versions did not keep.
async fn told(world: &World, version: i64) -> Value {
    let mut answers = Vec::new();
    for group in ["", "day", "path", "reason", "render", "scanout", "gpu_pair", "runtime", "exe", "machine"] {
        let query = if group.is_empty() { String::new() } else { format!("?group_by={group}") };
        answers.push(world.json(&format!("/api/v1/summary{query}")).await);
    }
    let logs = world.json("/api/v1/logs?limit=500").await;
    for log in logs["items"].as_array().expect("a list") {
        let id = log["id"].as_str().expect("an id");
        let whole = world.json(&format!("/api/v1/logs/{id}")).await;
        let fields = [
            "id",
            "machine",
            "file",
            "process",
            "runtime",
            "path",
            "end",
            "verdict",
            "sessions",
            "counts",
            "findings",
            "missing_bytes",
            "evidence",
        ];
        answers.push(fields.iter().map(|field| ((*field).to_owned(), whole[field].clone())).collect());
        if version >= 2 {
            answers.push(json!([whole["clock"], whole["unfinished"], whole["losses"]]));
        }
    }
    for machine in world.json("/api/v1/machines").await["items"].as_array().expect("a list") {
        answers.push(json!([machine["id"], machine["logs"]]));
        if version >= 2 {
            answers.push(json!([machine["agent"], machine["heartbeat"], machine["losses"]]));
        }
    }
    Value::Array(answers)
}

#[test]
fn every_schema_is_brought_forward_and_answers_as_if_it_were_of_today() {
    on_each_place(async |place| {
        let fresh_folder = tempfile::tempdir().expect("a temporary folder");
        let fresh = World::open(Place::File(fresh_folder.path().join("fresh.sqlite"))).await;
        fill(&fresh).await;
        let in_postgres = matches!(place, Place::Postgres(_));
        for migration in sqlx::migrate!("../migrations").iter() {
            let version = migration.version;
            let file = dump_of(version);
            if std::env::var_os("WEAVEWATCH_BLESS").is_some() && !file.exists() {
                std::fs::write(&file, dump(&fresh, version).await).expect("the folder is there");
            }
            let missing = |error| panic!("{}: {error}; the head of this file says how it is made", file.display());
            let mut rows = std::fs::read_to_string(&file).unwrap_or_else(missing);
            if in_postgres {
                rows = rows.replace(BYTES, "'\\x");
            }
            let old_folder = tempfile::tempdir().expect("a temporary folder");
            let old = if in_postgres { place.clone() } else { Place::File(old_folder.path().join("old.sqlite")) };
            let mut connection = connect(&old).await;
            if in_postgres {
                for statement in ["drop schema if exists public cascade", "create schema public"] {
                    connection.execute(statement).await.expect("the database is the test's own");
                }
            }
            up_to(version).run(&mut connection).await.expect("the old schema");
            sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut connection).await.expect("the old schema takes its rows");
            connection.close().await.expect("it closes");

            let world = World::open(old).await;
            assert_eq!(told(&world, version).await, told(&fresh, version).await, "schema {version}");
            // Two of the test's own each time.
            assert_eq!(world.app.store.tokens().await.expect("it answers").len(), 5, "schema {version}");
            world.upload(&batch(9, vec![Sample::default().segment()])).await;
            world.app.store.close().await;
        }
        fresh.app.store.close().await;
    });
}
