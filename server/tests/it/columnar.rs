//! The columnar copy: it counts what the database counts, follows every change, and never shows half a day.

use std::collections::BTreeSet;

use axum::body::Body;
use serde_json::{Value, json};
use server::auth::Scope;
use server::columnar::{Checked, Copy, Done, Error, check, run};

use crate::enrolment::token;
use crate::sample::{Sample, batch, machine};
use crate::summary::fleet;
use crate::world::{World, on_each_database, request};

/// A URL such as `s3://bucket` where `AWS_*` in the environment lead.
const S3: &str = "WEAVEWATCH_TEST_S3";

/// The places that there are: a folder, and a new prefix of an object store.
fn places(folder: &tempfile::TempDir) -> Vec<String> {
    let mut places = vec![format!("file://{}", folder.path().join("copy").display())];
    match std::env::var(S3) {
        // The folder's name is another one in each test.
        Ok(url) => places.push(format!("{url}{}", folder.path().display())),
        Err(_) => eprintln!("wrote to a folder only: {S3} does not name an object store"),
    }
    places
}

async fn write(world: &World, copy: &Copy) -> Done {
    run(&world.app.store, copy, 2, &mut |_, _| {}).await.expect("the copy is written")
}

/// Checks the files against the database, and answers what they hold.
async fn agree(world: &World, copy: &Copy) -> Checked {
    let checked = check(copy).await.expect("the files are whole");
    let total = serde_json::to_value(&checked.total).expect("plain data");
    let answer = world.json("/api/v1/summary").await;
    for (name, value) in total.as_object().expect("an object") {
        assert_eq!(&answer["total"][name], value, "{name}");
    }
    checked
}

fn files(manifest: &Value, day: &Value) -> BTreeSet<String> {
    let days = manifest["days"].as_array().expect("a list").iter();
    let files = days.filter(|known| &known["day"] == day).flat_map(|day| day["files"].as_array().expect("a list"));
    files.map(|file| file["path"].as_str().expect("a path").to_owned()).collect()
}

fn manifest(folder: &tempfile::TempDir) -> Value {
    let json = std::fs::read(folder.path().join("copy/manifest.json")).expect("there is a manifest");
    serde_json::from_slice(&json).expect("JSON")
}

/// All files of a local copy by their names in the layout.
fn found(folder: &tempfile::TempDir) -> BTreeSet<String> {
    let root = folder.path().join("copy");
    let mut waiting = vec![root.clone()];
    let mut found = BTreeSet::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.strip_prefix(&root).expect("it lies below").display().to_string());
            }
        }
    }
    found
}

#[test]
fn it_counts_what_the_database_counts_after_every_change() {
    on_each_database(async |world| {
        fleet(&world).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        for place in places(&folder) {
            let copy = Copy::open(&place).expect("a place");
            let done = write(&world, &copy).await;
            assert_eq!((done.days, done.removed), (3, 0), "two days, and the logs without a date");
            let checked = agree(&world, &copy).await;
            assert_eq!((checked.days, checked.events, checked.files), (3, 7, 5), "a log has no events: {checked:?}");
            assert_eq!(write(&world, &copy).await, Done::default(), "nothing has changed");
        }
        // A verdict changes, a log comes late, and a machine goes.
        let grown =
            Sample { name: "c.log", started: Some("2026-09-15T00:00:00"), split: 1, reasons: &[], ..Sample::default() };
        let mut grown = grown.segment();
        grown.end = 300;
        let late = Sample { name: "late.log", started: Some("2026-09-15T01:00:00"), ..Sample::default() };
        world.upload(&batch(1, vec![grown])).await;
        world.upload(&batch(4, vec![late.segment()])).await;
        let admin = token(&world, Scope::Admin).await;
        let gone = request("DELETE", &format!("/api/v1/machines/{}", machine(3)), Some(&admin), Body::empty());
        assert_eq!(world.send(gone).await.status.as_u16(), 200);
        for place in places(&folder) {
            let copy = Copy::open(&place).expect("a place");
            let done = write(&world, &copy).await;
            assert_eq!((done.days, done.removed), (3, 5), "each day had a part in it");
            let checked = agree(&world, &copy).await;
            assert_eq!((checked.total.logs, checked.total.split.engaged), (6, 2));
        }
    });
}

#[test]
fn only_what_changed_is_written_again_and_nothing_else_is_left() {
    on_each_database(async |world| {
        fleet(&world).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = Copy::open(&places(&folder)[0]).expect("a place");
        write(&world, &copy).await;
        let before = manifest(&folder);
        let days: Vec<_> = before["days"].as_array().expect("a list").iter().map(|day| day["day"].clone()).collect();
        assert_eq!(days, [json!(null), json!("2026-09-14"), json!("2026-09-15")]);
        assert!(files(&before, &json!(null)).iter().all(|path| path.contains("/day=__HIVE_DEFAULT_PARTITION__/")));
        // As a run that died would leave them.
        for stray in ["logs/day=2026-09-14/part-000-dead.parquet", "events/day=2026-01-01/part-000-dead.parquet"] {
            let path = folder.path().join("copy").join(stray);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            std::fs::write(path, "half").expect("it can be written");
        }
        let late = Sample { name: "late.log", started: Some("2026-09-15T01:00:00"), ..Sample::default() };
        world.upload(&batch(1, vec![late.segment()])).await;
        assert_eq!(write(&world, &copy).await.days, 1);
        let after = manifest(&folder);
        assert_eq!(files(&after, &json!("2026-09-14")), files(&before, &json!("2026-09-14")));
        assert!(files(&after, &json!("2026-09-15")).is_disjoint(&files(&before, &json!("2026-09-15"))));
        let mut named: BTreeSet<_> = days.iter().flat_map(|day| files(&after, day)).collect();
        named.insert("manifest.json".to_owned());
        assert_eq!(found(&folder), named);
        agree(&world, &copy).await;
    });
}

#[test]
fn a_day_that_goes_on_waits_and_one_that_lost_its_logs_is_empty() {
    on_each_database(async |world| {
        let today = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
        let mut now = Sample::default().segment();
        let started = format!("{today}T00:00:01");
        now.facts.process.as_mut().expect("the sample has one").started = Some(started);
        world.upload(&batch(1, vec![now])).await;
        world.upload(&batch(2, vec![Sample::default().segment()])).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = Copy::open(&places(&folder)[0]).expect("a place");
        assert_eq!(write(&world, &copy).await.days, 1);
        assert_eq!(check(&copy).await.expect("whole").total.logs, 1);
        world
            .app
            .store
            .delete_machine(&machine(2), &server::audit::Actor::command_line())
            .await
            .expect("the database answers");
        assert_eq!(write(&world, &copy).await.removed, 2);
        let checked = check(&copy).await.expect("whole");
        assert_eq!((checked.days, checked.files, checked.total.logs), (0, 0, 0));
        assert_eq!(found(&folder), BTreeSet::from(["manifest.json".to_owned()]));
    });
}

#[test]
fn a_copy_of_another_database_is_left_alone_and_a_damaged_one_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = places(&folder).remove(0);
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let copy = Copy::open(&place).expect("a place");
        let manifest_path = folder.path().join("copy/manifest.json");
        if manifest_path.exists() {
            // PostgreSQL, after SQLite.
            let error = run(&world.app.store, &copy, 2, &mut |_, _| {}).await.expect_err("it is not ours");
            assert!(matches!(error, Error::Foreign(_)), "{error}");
            return;
        }
        write(&world, &copy).await;
        let name = found(&folder).into_iter().find(|name| name.starts_with("logs/")).expect("a file of logs");
        let path = folder.path().join("copy").join(name);
        let whole = std::fs::read(&path).expect("it is there");
        let mut damaged = whole.clone();
        damaged[10] ^= 1;
        std::fs::write(&path, damaged).expect("it can be written");
        assert!(matches!(check(&copy).await, Err(Error::Damaged(_))));
        std::fs::write(&path, whole).expect("it can be written");
        check(&copy).await.expect("it is whole again");
    });
}

#[test]
fn one_of_two_servers_writes_at_a_time() {
    on_each_database(async |world| {
        fleet(&world).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = Copy::open(&places(&folder)[0]).expect("a place");
        let store = &world.app.store;
        let (now, later) = ("2026-09-14T12:00:00.000Z", "2999-01-01T00:00:00.000Z");
        assert!(store.lease("columnar copy", "other", now, later).await.expect("the database answers"));
        assert!(matches!(run(store, &copy, 2, &mut |_, _| {}).await, Err(Error::Busy)));
        // It died, and its time is up.
        assert!(store.lease("columnar copy", "other", now, now).await.expect("the database answers"));
        assert_eq!(write(&world, &copy).await.days, 3);
    });
}

#[test]
fn a_place_that_cannot_be_is_wrong_usage() {
    for url in ["s3://", "s3:///x", "file://relative", "ftp://host/x", "copy", ""] {
        assert!(matches!(Copy::open(url), Err(Error::Place(_))), "{url}");
    }
}
