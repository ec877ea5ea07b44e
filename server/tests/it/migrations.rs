//! A database that an older version filled is brought up to date and loses nothing.

use std::borrow::Cow;

use resolver::Examiner;
use server::store::Store;
use sqlx::migrate::Migrator;
use sqlx::{Connection, Executor};
use wire::{LogFacts, ScanReport};

use crate::sample::{Sample, batch, machine};
use crate::world::{World, connect, on_each_place};

/// The schema up to a version.
fn up_to(version: i64) -> Migrator {
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
