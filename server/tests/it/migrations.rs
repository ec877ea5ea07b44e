//! A database that an older version filled is brought up to date and loses nothing.

use std::borrow::Cow;

use resolver::Examiner;
use server::store::Store;
use sqlx::migrate::Migrator;
use sqlx::{Connection, Executor};
use wire::{FlawKind, Kind, LogFacts, Observation, ScanReport, Segment, Value};

use crate::sample::{Sample, batch, event, flaw, log_id, machine};
use crate::world::{World, connect, on_each_place};

/// The schema up to a version.
pub fn up_to(version: i64) -> Migrator {
    let all = sqlx::migrate!("../migrations");
    let migrations = all.iter().filter(|migration| migration.version <= version).cloned().collect::<Vec<_>>();
    assert_eq!(migrations.last().map(|migration| migration.version), Some(version));
    Migrator { migrations: Cow::Owned(migrations), ..all }
}

#[test]
fn the_first_schema_with_data_becomes_the_newest() {
    on_each_place(async |place| {
        let mut old = connect(&place).await;
        up_to(1).run(&mut old).await.expect("the first schema");
        // What the first version wrote for a machine with one log, and a token.
        let facts = LogFacts::default();
        let judgement = Examiner::new().finish(&facts).judgement;
        let report = ScanReport::new("a.log".to_owned(), None, facts.end, facts.counts, judgement);
        let report = serde_json::to_string(&report).expect("plain data").replace('\'', "''");
        let facts = serde_json::to_string(&facts).expect("plain data");
        let id = server::store::log_id(&machine(1), &machine(7));
        for statement in [
            format!("insert into machines (id, first_seen) values ('{}', '2026-09-14T12:00:00.000Z')", machine(1)),
            format!(
                "insert into logs (id, machine, log, file, received, end_offset, facts, report)
                 values ('{id}', '{}', '{}', 'a.log', '2026-09-14T12:00:00.000Z', 200, '{facts}', '{report}')",
                machine(1),
                machine(7)
            ),
            format!("insert into log_ranges (log, start_offset, end_offset) values ('{id}', 0, 200)"),
            "insert into tokens (id, name, scope, hash, created) values ('abcd', 'lab', 'agent', 'h', 't')".to_owned(),
            "insert into tokens (id, name, scope, hash, created) values ('bcde', 'lab', 'agent', 'i', 't')".to_owned(),
        ] {
            old.execute(sqlx::AssertSqlSafe(statement)).await.expect("the first schema takes it");
        }
        old.close().await.expect("it closes");

        let world = World::open(place).await;
        assert!(Store::schema_version() >= 2);
        let seen = world.json(&format!("/api/v1/machines/{}", machine(1))).await;
        assert_eq!(seen["first_seen"], "2026-09-14T12:00:00.000Z");
        for field in ["last_contact", "agent", "heartbeat", "heartbeat_at"] {
            assert!(seen[field].is_null(), "{field} was not known: {seen}");
        }
        let log = world.json(&format!("/api/v1/logs/{id}")).await;
        assert!(log["clock"].is_null() && log["unfinished"] == false, "{log}");
        assert_eq!(world.app.store.tokens().await.expect("the database answers").len(), 4, "two of them the test's");
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let seen = world.json(&format!("/api/v1/machines/{}", machine(1))).await;
        assert_eq!((&seen["logs"], &seen["agent"]), (&2.into(), &"test".into()));
        world.app.store.close().await;
    });
}

/// What the third version held of a log: a row for every record, of ranges that overlap, and one that brought none.
#[test]
fn rows_of_single_records_become_bodies_and_can_be_added_to() {
    on_each_place(async |place| {
        let mut old = connect(&place).await;
        up_to(3).run(&mut old).await.expect("the third schema");
        let names = [("cause", Value::Text("it's \\ \"quoted\"\n\u{1f600}".to_owned()))];
        let placement = Sample { split: 1, reasons: &[], ..Sample::default() }.placement();
        let all = [
            Observation::Event(event(10, 3, Kind::Window, "w", &names)),
            Observation::Event(placement),
            flaw(100, 12, FlawKind::Spliced),
            Observation::Event(event(180, 20, Kind::Window, "w", &[])),
            Observation::Event(event(195, 21, Kind::Window, "w", &[])),
        ];
        let facts = serde_json::to_string(&LogFacts::default()).expect("plain data");
        let id = server::store::log_id(&machine(1), &log_id("a.log"));
        old.execute(sqlx::AssertSqlSafe(format!(
            "insert into machines (id, first_seen) values ('{}', '2026-09-14T12:00:00.000Z')",
            machine(1)
        )))
        .await
        .expect("a machine");
        sqlx::query(
            "insert into logs (id, machine, log, file, received, end_offset, facts, report)
             values ($1, $2, $3, 'a.log', '2026-09-14T12:00:00.000Z', 300, $4, '')",
        )
        .bind(&id)
        .bind(machine(1))
        .bind(log_id("a.log"))
        .bind(facts)
        .execute(&mut old)
        .await
        .expect("a log");
        for (start, end) in [(0, 190), (180, 200), (200, 300)] {
            sqlx::query("insert into log_ranges (log, start_offset, end_offset) values ($1, $2, $3)")
                .bind(&id)
                .bind(start)
                .bind(end)
                .execute(&mut old)
                .await
                .expect("a range");
        }
        let mut before = (0, 0);
        for observation in &all {
            let offset = i64::try_from(observation.offset()).expect("a small number");
            before = (offset, if before.0 == offset { before.1 + 1 } else { 0 });
            sqlx::query(
                "insert into observations (log, record_offset, ordinal, line, kind, body) values ($1, $2, $3, 1, 'k', $4)",
            )
            .bind(&id)
            .bind(before.0)
            .bind(before.1)
            .bind(serde_json::to_string(observation).expect("plain data"))
            .execute(&mut old)
            .await
            .expect("a record");
        }
        old.close().await.expect("it closes");

        let world = World::open(place).await;
        let stored = async || {
            let rows = world.events().await;
            rows.iter().map(|row| serde_json::from_str(&row.body).expect("ours")).collect::<Vec<Observation>>()
        };
        assert_eq!(stored().await, all);
        let mut connection = connect(&world.place).await;
        let counts: Vec<i64> = sqlx::query_scalar("select observations from log_ranges order by start_offset")
            .fetch_all(&mut connection)
            .await
            .expect("the ranges are there");
        assert_eq!(counts, [3, 2, 0]);
        let events: i64 =
            sqlx::query_scalar("select events from logs").fetch_one(&mut connection).await.expect("the log is there");
        assert_eq!(events, 5);

        // As an agent goes on: the last record again, and a new one behind it.
        let retired = event(250, 30, Kind::SplitRetired, "r", &[("cause", Value::Text("test".to_owned()))]);
        let observations = vec![all[4].clone(), Observation::Event(retired.clone())];
        let more = Segment { start: 195, end: 400, observations, ..Sample::default().segment() };
        world.upload(&batch(1, vec![more])).await;
        assert_eq!(stored().await, [&all[..], &[Observation::Event(retired)]].concat());
        let log = &world.json("/api/v1/logs").await["items"][0];
        assert_eq!((&log["verdict"]["retired"], &log["verdict"]["line"]), (&true.into(), &30.into()), "{log}");
        assert_eq!(log["sessions"][0]["line"], 12, "from before the migration: {log}");
        world.app.store.close().await;
    });
}
