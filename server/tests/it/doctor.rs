//! The doctor finds what is wrong, says so in the right line, and finds nothing where all is well.

use std::net::{SocketAddr, TcpListener};

use server::args::{CopyPlace, Database};
use server::auth::Scope;
use server::columnar::{Copy, run};
use server::doctor::{self, Report, State};
use server::store::Place;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::sample::{Sample, batch};
use crate::world::{World, connect, on_each_database};

/// An address that was free a moment ago.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}

async fn examine(place: &Place, listen: SocketAddr, reserve_mib: u32) -> Report {
    examine_with(place, listen, reserve_mib, None).await
}

/// With a columnar copy.
async fn examine_with(place: &Place, listen: SocketAddr, reserve_mib: u32, url: Option<&str>) -> Report {
    let (data, database_url) = match place {
        Place::File(file) => (Some(file.clone()), None),
        Place::Postgres(url) => (None, Some(url.clone())),
    };
    let columnar = CopyPlace { url: url.map(str::to_owned), closed_after_days: 2 };
    doctor::examine(listen, reserve_mib, &columnar, Database { data, database_url }).await
}

/// State and words of one check.
fn of<'a>(report: &'a Report, check: &str) -> (State, &'a str) {
    let found = report.checks.iter().find(|found| found.check == check);
    let found = found.unwrap_or_else(|| panic!("{check} is among {report:?}"));
    assert_eq!(found.advice.is_none(), found.state == State::Ok, "{found:?}");
    (found.state, &found.found)
}

async fn execute(world: &World, statements: &[&str]) {
    let mut connection = connect(&world.place).await;
    for statement in statements {
        connection.execute(AssertSqlSafe(*statement)).await.expect("the database takes it");
    }
    connection.close().await.expect("it closes");
}

#[test]
fn a_server_that_is_well_has_nothing_to_be_told() {
    on_each_database(async |world| {
        world.app.store.create_token(Scope::Admin, "owner").await.expect("a token");
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let report = examine(&world.place, free(), 0).await;
        let ill: Vec<_> = report.checks.iter().filter(|check| check.state != State::Ok).collect();
        // The PostgreSQL of the tests is told to be fast instead of safe, and the doctor notices.
        let expected =
            usize::from(matches!(world.place, Place::Postgres(_)) && of(&report, "durability").1.contains("fsync"));
        assert_eq!((ill.len(), report.failed, report.warnings), (expected, expected, 0), "{ill:?}");
        assert!(report.checks.len() >= 13, "{report:?}");
    });
}

#[test]
fn each_trouble_is_told_in_its_line() {
    on_each_database(async |world| {
        let place = world.place.clone();
        let listen = free();
        let tokens = of(&examine(&place, listen, 0).await, "tokens").0;
        assert_eq!(tokens, State::Warning, "there is no admin");
        execute(&world, &["update tokens set revoked = 'x'"]).await;
        let report = examine(&place, listen, 0).await;
        assert!(of(&report, "tokens").1.contains("nobody can upload"), "{report:?}");
        assert_eq!(of(&report, "clock"), (State::Ok, "nothing was received yet"));
        execute(&world, &["update tokens set revoked = null"]).await;

        if matches!(place, Place::File(_)) {
            assert_eq!(of(&examine(&place, listen, u32::MAX).await, "disk").0, State::Failed);
        }
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let taken = other.local_addr().expect("it is bound");
        // Whoever asks it is not left waiting.
        std::thread::spawn(move || other.incoming().for_each(drop));
        assert_eq!(of(&examine(&place, taken, 0).await, "address").0, State::Failed);
        let report = examine(&place, "192.0.2.1:1".parse().expect("an address"), 0).await;
        assert_eq!((of(&report, "address").0, of(&report, "encryption").0), (State::Failed, State::Warning));

        for (time, state) in [("2099-01-01T00:00:00.000Z", State::Failed), ("2020-01-01T00:00:00.000Z", State::Ok)] {
            world.upload(&batch(1, vec![Sample::default().segment()])).await;
            execute(&world, &[&format!("update machines set last_contact = '{time}'")]).await;
            assert_eq!(of(&examine(&place, listen, 0).await, "clock").0, state, "{time}");
        }
        let late = Sample { started: Some("2099-09-14T12:00:00"), ..Sample::default() };
        world.upload(&batch(1, vec![late.segment()])).await;
        assert_eq!(of(&examine(&place, listen, 0).await, "clock"), (State::Warning, "1 logs start in the future"));

        execute(&world, &["update logs set rules = 0"]).await;
        assert!(of(&examine(&place, listen, 0).await, "rules").1.contains("older rules"));
        execute(&world, &["update rollups set logs = logs + 1"]).await;
        assert_eq!(of(&examine(&place, listen, 0).await, "counts").0, State::Failed);

        execute(
            &world,
            &["update _sqlx_migrations set version = 9999 where version = (select max(version) from _sqlx_migrations)"],
        )
        .await;
        let report = examine(&place, listen, 0).await;
        assert_eq!(of(&report, "schema").0, State::Failed);
        execute(&world, &["delete from _sqlx_migrations where version = 9999"]).await;
        let report = examine(&place, listen, 0).await;
        assert_eq!(of(&report, "schema").0, State::Warning);
        assert!(report.checks.iter().all(|check| check.check != "write"), "what is about newer tables is not asked");
    });
}

#[test]
fn a_columnar_copy_is_looked_at_and_not_touched() {
    on_each_database(async |world| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("copy");
        let url = format!("file://{}", root.display());
        let look = async |url: &str| {
            let report = examine_with(&world.place, free(), 0, Some(url)).await;
            let (state, found) = of(&report, "columnar");
            (state, found.to_owned())
        };
        let sample = |day| Sample { started: Some(day), ..Sample::default() };
        world.upload(&batch(1, vec![sample("2026-09-14T12:00:00").segment()])).await;
        assert_eq!(look(&url).await, (State::Warning, format!("nothing was written to {url} yet")));
        assert!(!root.exists(), "looking makes nothing");

        let copy = Copy::open(&url).expect("a place");
        run(&world.app.store, &copy, 2, &mut |_, _| {}).await.expect("the copy is written");
        assert_eq!(look(&url).await, (State::Ok, "1 days, and none to write".to_owned()));
        // The same day has changed, and the next run will write it.
        world.upload(&batch(2, vec![sample("2026-09-14T12:00:00").segment()])).await;
        let (state, found) = look(&url).await;
        assert!(state == State::Ok && found.ends_with("; 1 days wait to be written"), "{found}");
        world.upload(&batch(2, vec![sample("2026-09-15T12:00:00").segment()])).await;
        let (state, found) = look(&url).await;
        assert!(state == State::Warning && found.ends_with("1 of them for more than a day"), "{found}");

        let manifest = root.join("manifest.json");
        let text = std::fs::read_to_string(&manifest).expect("there is one");
        let name = world.app.store.identity().await.expect("it has a name");
        for (text, expected) in [
            (text.replace(&name, "another"), "another database"),
            (text.replace("columnar/1", "columnar/2"), "has the schema"),
            (text[..text.len() / 2].to_owned(), "cannot be read"),
        ] {
            std::fs::write(&manifest, text).expect("there is room");
            let (state, found) = look(&url).await;
            assert!(state == State::Failed && found.contains(expected), "{found}");
        }
        assert_eq!(look("ftp://somewhere").await.0, State::Failed);
    });
}

#[test]
fn damage_and_missing_databases_are_found() {
    on_each_database(async |world| {
        let Place::File(file) = &world.place else {
            let gone = Place::Postgres("postgres://nobody@127.0.0.1:1/nothing".to_owned());
            let report = examine(&gone, free(), 0).await;
            assert_eq!(of(&report, "database").0, State::Failed);
            return;
        };
        for number in 1..50 {
            world.upload(&batch(number, vec![Sample::default().segment()])).await;
        }
        execute(&world, &["pragma foreign_keys = off", "delete from machines where id like '%1'"]).await;
        let report = examine(&world.place, free(), 0).await;
        assert!(of(&report, "integrity").1.contains("rows of logs"), "{report:?}");

        execute(&world, &["pragma wal_checkpoint(truncate)"]).await;
        world.app.store.close().await;
        let mut bytes = std::fs::read(file).expect("it exists");
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0x55);
        let broken = file.with_file_name("broken.sqlite");
        std::fs::write(&broken, bytes).expect("there is room");
        let report = examine(&Place::File(broken), free(), 0).await;
        assert!(report.failed > 0 && of(&report, "integrity").0 == State::Failed, "{report:?}");

        let missing = Place::File(file.with_file_name("missing.sqlite"));
        assert_eq!(of(&examine(&missing, free(), 0).await, "database").0, State::Failed);
        assert!(!file.with_file_name("missing.sqlite").exists(), "looking makes nothing");
        let foreign = file.with_file_name("foreign.sqlite");
        let mut other = connect(&Place::File(foreign.clone())).await;
        other.execute("create table customers (id text)").await.expect("it is taken");
        let report = examine(&Place::File(foreign), free(), 0).await;
        assert!(of(&report, "database").1.contains("another program"), "{report:?}");
    });
}
