//! Tables as files: every row, and no formulas.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use axum::body::Body;
use server::args::Format;
use server::audit::Actor;
use server::auth::Scope;
use server::store::Schema;
use wire::Heartbeat;

use crate::sample::{Sample, batch, machine};
use crate::summary::fleet;
use crate::told::loss;
use crate::world::{World, on_each_database, request};

#[test]
fn logs_and_events_are_written_whole() {
    on_each_database(async |world| {
        fleet(&world).await;
        let formula = Sample { name: "=1+1.log", exe: "@SUM(A1)", ..Sample::default() };
        let mut told = batch(4, vec![formula.segment()]);
        told.agent = "@SUM(A1)".to_owned();
        told.heartbeat = Some(Heartbeat { queue_bytes: 5, ..Heartbeat::default() });
        told.losses = vec![loss(Some("=1+1.log"), "+truncated", 3, 2), loss(None, "queue_full", 0, 1)];
        world.upload(&told).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (table, rows) in
            [("logs", 8), ("events", 8), ("machines", 4), ("losses", 2), ("log_reasons", 7), ("tokens", 2)]
        {
            let csv = folder.path().join(format!("{table}.csv"));
            assert_eq!(server::export(&world.app.store, table, Format::Csv, &csv).await.expect("it is written"), rows);
            let text = std::fs::read_to_string(&csv).expect("UTF-8");
            assert_eq!(text.lines().count() as u64, rows + 1, "{text}");
            let parquet = folder.path().join(format!("{table}.parquet"));
            let written = server::export(&world.app.store, table, Format::Parquet, &parquet).await;
            assert_eq!(written.expect("it is written"), rows);
            assert!(std::fs::read(&parquet).expect("it exists").starts_with(b"PAR1"));
        }
        let logs = std::fs::read_to_string(folder.path().join("logs.csv")).expect("UTF-8");
        assert!(logs.contains(",'=1+1.log,") && logs.contains(",'@SUM(A1),"), "{logs}");
        assert!(logs.contains(",\"presenter_ineligible,weave_on_ingest\","), "{logs}");
        let machines = std::fs::read_to_string(folder.path().join("machines.csv")).expect("UTF-8");
        assert!(machines.contains(",'@SUM(A1),1,") && machines.contains(r#"""queue_bytes"":5"#), "{machines}");
        let losses = std::fs::read_to_string(folder.path().join("losses.csv")).expect("UTF-8");
        assert!(losses.contains(",'=1+1.log,'+truncated,3,2") && losses.contains(",,,queue_full,0,1"), "{losses}");
    });
}

#[test]
fn a_url_gives_what_the_file_has() {
    on_each_database(async |world| {
        fleet(&world).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("table");
        for table in ["logs", "events", "machines", "losses", "log_reasons", "log_ranges"] {
            for (format, word) in [(Format::Csv, "csv"), (Format::Parquet, "parquet")] {
                server::export(&world.app.store, table, format, &file).await.expect("it is written");
                let answer = world.get(&format!("/api/v1/export/{table}?format={word}")).await;
                assert_eq!(answer.status, 200, "{table}: {}", answer.text());
                assert_eq!(answer.body, std::fs::read(&file).expect("it exists"), "{table} as {word}");
                assert_eq!(answer.header("content-disposition"), format!("attachment; filename=\"{table}.{word}\""));
            }
        }
        world.get("/api/v1/export/nothing").await.assert_problem(404);
        world.get("/api/v1/export/logs?format=xlsx").await.assert_problem(400);
        world.get("/api/v1/export/logs?table=x").await.assert_problem(400);
    });
}

#[test]
fn tokens_are_for_admins_and_never_with_their_hashes() {
    on_each_database(async |world| {
        world.get("/api/v1/export/tokens").await.assert_problem(403);
        let admin = world.app.store.create_token(Scope::Admin, "owner").await.expect("a token").secret;
        let answer = world.send(request("GET", "/api/v1/export/tokens", Some(&admin), Body::empty())).await;
        let text = answer.text();
        let header = text.lines().next().unwrap_or_default();
        assert!(header.starts_with("id,name,scope,") && !header.contains("hash"), "{header}");
        assert_eq!(text.lines().count(), 4, "{text}");
    });
}

#[test]
fn pages_of_a_table_are_all_of_its_rows_in_order() {
    on_each_database(async |world| {
        fleet(&world).await;
        let store = &world.app.store;
        for table in &Schema::newest().await.expect("the migrations run").tables {
            let all = store.plain_rows(table, None, None, 1_000).await.expect("it answers");
            let mut paged = Vec::new();
            let mut key = None;
            loop {
                let page = store.plain_rows(table, None, key.as_deref(), 2).await.expect("it answers");
                let Some(last) = page.last() else { break };
                key = Some(table.key_of(last));
                paged.extend(page);
            }
            assert_eq!(paged, all, "{}", table.name);
        }
    });
}

/// The members of a `.zip`.
fn members(bytes: Vec<u8>) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a .zip");
    let mut members = BTreeMap::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).expect("it is there");
        let mut text = String::new();
        let name = member.name().expect("UTF-8").into_owned();
        member.read_to_string(&mut text).expect("UTF-8");
        members.insert(name, text);
    }
    members
}

/// Rows of a machine by table, as the store has them.
async fn rows_of(world: &World, number: u32) -> BTreeMap<String, usize> {
    let schema = Schema::newest().await.expect("the migrations run");
    let mut rows = BTreeMap::new();
    for table in &schema.tables {
        let Some(condition) = schema.of_machine(table) else { continue };
        let own = world.app.store.plain_rows(table, Some((&condition, &machine(number))), None, 1_000).await;
        rows.insert(format!("tables/{}.ndjson", table.name), own.expect("it answers").len());
    }
    rows
}

#[test]
fn everything_of_one_machine_is_in_its_archive_and_nothing_of_another() {
    on_each_database(async |world| {
        fleet(&world).await;
        let mut told = batch(1, vec![]);
        told.heartbeat = Some(Heartbeat { queue_bytes: 5, ..Heartbeat::default() });
        told.losses = vec![loss(Some("a.log"), "truncated", 3, 2)];
        world.upload(&told).await;
        world.app.store.enroll(&machine(1), "its own", &Actor::command_line()).await.expect("a token");
        let answer = world.get(&format!("/api/v1/machines/{}/export", machine(1))).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/zip"));
        let found = members(answer.body);
        assert_eq!(found["logs.ndjson"].lines().count(), 3);
        assert!(found["events.ndjson"].lines().count() >= 3 && found["events.ndjson"].contains("placement"));
        assert!(found["machine.json"].contains("\"queue_bytes\":5") && found["README.txt"].contains(&machine(1)));
        for (name, rows) in rows_of(&world, 1).await {
            assert_eq!(found[&name].lines().count(), rows, "{name}");
        }
        assert!(
            found["tables/losses.ndjson"].contains("truncated") && found["tables/tokens.ndjson"].contains("its own")
        );
        for (name, text) in &found {
            assert!(!text.contains(&machine(2)) && !text.contains(&machine(3)), "{name}: {text}");
            for line in text.lines().filter(|_| name.ends_with("json")) {
                serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON");
            }
        }
        world.get(&format!("/api/v1/machines/{}/export", machine(99))).await.assert_problem(404);

        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("machine.zip");
        server::export_machine(&world.app.store, &machine(1), &file).await.expect("it is written");
        let saved = members(std::fs::read(&file).expect("it exists"));
        let without_time = |mut members: BTreeMap<String, String>| members.remove("README.txt").map(|_| members);
        assert_eq!(without_time(saved), without_time(found));
        assert!(server::export_machine(&world.app.store, &machine(1), &file).await.is_err(), "it exists");
        assert!(server::export_machine(&world.app.store, &machine(99), &folder.path().join("no")).await.is_err());
    });
}
