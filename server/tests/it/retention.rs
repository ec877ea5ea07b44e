//! What is old goes: the right logs, with every count, and what stays stays right.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use server::args::{Keep, Kept};
use server::audit::Actor;
use server::retention::{Gone, apply};
use server::store::Place;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::sample::{Sample, batch, log_id, machine};
use crate::summary::fleet;
use crate::world::{World, connect, on_each_database};

fn keep(days: &[(Kept, u32)]) -> Keep {
    Keep { keep_days: days.to_vec(), keep_gib: None }
}

/// Makes a log of [`Sample`]'s look as if nothing had come of it for so many days.
async fn age(world: &World, number: u32, name: &str, days: i64) {
    let then = Timestamp::now() - (days * 24).hours();
    let id = server::store::log_id(&machine(number), &log_id(name));
    let sql =
        format!("update logs set last_received = '{}' where id = '{id}'", then.strftime("%Y-%m-%dT%H:%M:%S.%3fZ"));
    let mut connection = connect(&world.place).await;
    let changed = connection.execute(AssertSqlSafe(sql)).await.expect("the table exists");
    assert_eq!(changed.rows_affected(), 1, "{name} is there");
    connection.close().await.expect("it closes");
}

async fn prune(world: &World, rules: &Keep) -> Vec<(Kept, i64, i64)> {
    let store = &world.app.store;
    let foretold: Vec<Gone> = apply(store, rules, true, &Actor::command_line()).await.expect("the database answers");
    let gone: Vec<Gone> = apply(store, rules, false, &Actor::command_line()).await.expect("the database answers");
    let counts = |all: &[Gone]| all.iter().map(|gone| (gone.kind, gone.rows, gone.logs)).collect::<Vec<_>>();
    assert_eq!(counts(&foretold), counts(&gone), "what a dry run says is what goes");
    counts(&gone)
}

/// Everything made anew differs in nothing, and so many verdicts had to be taken as they stand.
async fn verify(world: &World, pruned: u64) {
    let done = world.app.store.verify(|_| (), &mut |_| ()).await.expect("the database answers");
    assert_eq!((done.differences, done.pruned), (0, pruned));
    assert_eq!(world.app.store.logs_to_judge(false).await.expect("the database answers"), 0);
}

/// The answers of `summary` by some dimensions, each also from the rows alone by a filter that no roll-up answers.
async fn summary(world: &World) -> Vec<Value> {
    let mut all = Vec::new();
    for question in ["", "group_by=day", "group_by=reason", "group_by=gpu_pair", "group_by=machine"] {
        all.push(world.json(&format!("/api/v1/summary?{question}")).await);
    }
    all
}

#[test]
fn events_go_and_the_verdict_stays() {
    on_each_database(async |world| {
        fleet(&world).await;
        let before = summary(&world).await;
        age(&world, 1, "a.log", 91).await;
        age(&world, 2, "a.log", 89).await;
        // Machine 1's log has its version beside its placement.
        assert_eq!(prune(&world, &keep(&[(Kept::Events, 90)])).await, [(Kept::Events, 2, 1)]);
        assert_eq!(prune(&world, &keep(&[(Kept::Events, 90)])).await, [(Kept::Events, 0, 0)], "they went once");
        assert_eq!(summary(&world).await, before);
        let log = |number| {
            let id = server::store::log_id(&machine(number), &log_id("a.log"));
            async move { format!("/api/v1/logs/{id}") }
        };
        let pruned = world.json(&log(1).await).await;
        assert_eq!((&pruned["verdict"]["killed"], &pruned["evidence"]), (&json!(true), &json!([])));
        assert_eq!(world.json(&log(2).await).await["evidence"].as_array().map(Vec::len), Some(1));

        // More of it would be judged without what went.
        let mut more = Sample::default().segment();
        (more.start, more.end) = (200, 300);
        more.observations.clear();
        let body = serde_json::to_vec(&batch(1, vec![more])).expect("plain data");
        let answer = world.post(None, body).await.json();
        assert!(answer["refused"][0]["reason"].as_str().expect("a reason").contains("retention"), "{answer}");
        assert_eq!(summary(&world).await, before);
        verify(&world, 1).await;
        let (audit, _) = world.app.store.audit(None, 10).await.expect("the database answers");
        let noted = audit.iter().find(|row| row.deed == "retained").expect("it was noted");
        assert_eq!((noted.who.as_str(), noted.outcome.as_str()), ("command line", "2 events of 1 logs"));
        world.app.store.rejudge("", true).await.expect("the database answers");
        assert_eq!(summary(&world).await, before);
    });
}

#[test]
fn reports_and_refused_pieces_go_by_their_age() {
    on_each_database(async |world| {
        crate::reports::good(&world, &[("a.log", &crate::reports::log("RTX"))]).await;
        let mut half = batch(1, vec![Sample::default().segment()]);
        half.segments[0].end = 0;
        world.post(None, serde_json::to_vec(&half).expect("plain data")).await;
        let rules = keep(&[(Kept::Reports, 30), (Kept::DeadLetters, 7)]);
        assert_eq!(prune(&world, &rules).await, [(Kept::Reports, 0, 0), (Kept::DeadLetters, 0, 0)], "all is new");
        let mut connection = connect(&world.place).await;
        for sql in [
            "update reports set created = '2026-01-01T00:00:00Z'",
            "update dead_letters set received = '2026-01-01T00:00:00Z'",
        ] {
            assert_eq!(connection.execute(AssertSqlSafe(sql)).await.expect("the table exists").rows_affected(), 1);
        }
        connection.close().await.expect("it closes");
        assert_eq!(prune(&world, &rules).await, [(Kept::Reports, 1, 0), (Kept::DeadLetters, 1, 0)]);
        let (audit, _) = world.app.store.audit(None, 10).await.expect("the database answers");
        assert_eq!(audit.iter().filter(|row| row.deed == "retained" && row.outcome == "1 of them").count(), 2);
    });
}

#[test]
fn logs_go_with_their_counts() {
    on_each_database(async |world| {
        fleet(&world).await;
        let kept = Sample { name: "kept.log", ..Sample::default() };
        world.upload(&batch(9, vec![kept.segment()])).await;
        let before = summary(&world).await;
        let extra =
            Sample { name: "old.log", started: Some("2026-09-01T12:00:00"), exe: "Old.exe", ..Sample::default() };
        let mut told = batch(1, vec![extra.segment()]);
        told.losses = vec![crate::told::loss(Some("old.log"), "truncated", 3, 2)];
        world.upload(&told).await;
        world.upload(&batch(8, vec![extra.segment()])).await;
        age(&world, 1, "old.log", 731).await;
        age(&world, 8, "old.log", 800).await;
        assert_eq!(
            prune(&world, &keep(&[(Kept::Logs, 730), (Kept::Events, 1000)])).await,
            [(Kept::Logs, 2, 2), (Kept::Events, 0, 0)]
        );
        assert_eq!(summary(&world).await, before, "as if they had never come");
        let machine = world.json(&format!("/api/v1/machines/{}", machine(1))).await;
        assert_eq!(machine["losses"], json!({}));
        verify(&world, 0).await;
        // The machine is still known, and its log may come again.
        world.upload(&batch(8, vec![extra.segment()])).await;
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 9);
    });
}

#[test]
fn the_oldest_events_go_when_there_are_too_many() {
    on_each_database(async |world| {
        fleet(&world).await;
        age(&world, 1, "a.log", 10).await;
        age(&world, 1, "b.log", 9).await;
        let store = &world.app.store;
        assert_eq!(store.events_before(1 << 30).await.expect("the database answers"), None);
        let rules = Keep { keep_days: Vec::new(), keep_gib: Some(0) };
        // Six logs have events, seven events in all.
        assert_eq!(prune(&world, &rules).await, [(Kept::Events, 7, 6)]);
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 7);
        assert_eq!(store.events_before(0).await.expect("the database answers"), None);
    });
}

/// The files of the database hold nothing of what was deleted, in no corner.
#[test]
fn a_deleted_machine_is_in_no_file() {
    on_each_database(async |world| {
        let Place::File(path) = world.place.clone() else { return };
        let folder = path.parent().expect("a folder").to_owned();
        let logs = |number: u32| {
            let logs = (0..40).map(move |day| {
                let mut segment = Sample { exe: "Secret.exe", ..Sample::default() }.segment();
                segment.log = format!("{number:016x}{day:016x}");
                segment.file = format!("secret-{number}-{day}.log");
                segment.facts.process.as_mut().expect("the sample has one").exe = format!("Secret{number}.exe");
                segment
            });
            logs.collect::<Vec<_>>()
        };
        for number in 1..=3 {
            world.upload(&batch(number, logs(number))).await;
        }
        // Rows that grow leave their earlier selves behind.
        let mut grown = logs(2);
        for segment in &mut grown {
            segment.end = 400;
        }
        world.upload(&batch(2, grown)).await;
        // Its pseudonym stays in the audit log, as the proof that it was deleted.
        let id = server::store::log_id(&machine(2), &format!("{:016x}{:016x}", 2, 7));
        let words = [id, "secret-2-".to_owned(), "Secret2.exe".to_owned()];
        assert!(words.iter().all(|word| !found(&folder, word).is_empty()), "the test looks in the right place");
        let admin = crate::enrolment::token(&world, server::auth::Scope::Admin).await;
        let uri = format!("/api/v1/machines/{}", machine(2));
        let gone = crate::world::request("DELETE", &uri, Some(&admin), axum::body::Body::empty());
        assert_eq!(world.send(gone).await.status.as_u16(), 200);
        for word in &words {
            assert_eq!(found(&folder, word), Vec::<String>::new(), "{word}");
        }
        assert!(!found(&folder, &machine(3)).is_empty());
    });
}

/// The files in which a word stands.
fn found(folder: &std::path::Path, word: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    files
        .filter(|file| {
            let bytes = std::fs::read(file).expect("it can be read");
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        })
        .map(|file| file.display().to_string())
        .collect()
}

#[test]
fn a_file_gives_its_room_back() {
    on_each_database(async |world| {
        let Place::File(path) = world.place.clone() else { return };
        let size = || std::fs::metadata(&path).expect("the file is there").len();
        let segments = (0..400_u32).map(|number| {
            let mut segment = Sample::default().segment();
            segment.log = machine(number);
            segment.file = format!("{}-{number}.log", "x".repeat(2_000));
            segment
        });
        world.app.store.give_back().await.expect("the database answers");
        let empty = size();
        world.upload(&batch(1, segments.collect())).await;
        world.app.store.give_back().await.expect("the database answers");
        let full = size();
        assert!(full > empty + 1_000_000, "{empty} to {full}");
        world.app.store.delete_machine(&machine(1), &Actor::command_line()).await.expect("the database answers");
        assert!(world.app.store.give_back().await.expect("the database answers"), "it can");
        assert!(size() < empty + 100_000, "{} of {full}", size());
        world.app.store.rebuild().await.expect("there is room");
    });
}
