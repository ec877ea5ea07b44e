//! Refused segments are kept, a few of each machine; and a batch of a newer version gives what is understood of it.

use serde_json::{Value, json};
use server::audit::Actor;
use server::export;
use wire::{Batch, Segment};

use crate::sample::{Sample, batch, machine};
use crate::told::everything_of;
use crate::world::{World, on_each_database};

/// A segment that makes no sense.
fn backwards(number: u64) -> Segment {
    Segment { start: number + 10, end: number, ..Sample::default().segment() }
}

async fn letters(world: &World, query: &str) -> Vec<Value> {
    let page = world.json(&format!("/api/v1/dead-letters?limit=500{query}")).await;
    assert!(page["next"].is_null(), "one page is enough here");
    page["items"].as_array().expect("a list").clone()
}

async fn send(world: &World, batch: &Batch) -> Value {
    world.post(None, serde_json::to_vec(batch).expect("plain data")).await.json()
}

#[test]
fn a_refused_segment_is_kept_once_as_it_was_sent() {
    on_each_database(async |world| {
        let bad = backwards(7);
        let upload = batch(1, vec![Sample::default().segment(), bad.clone()]);
        for _ in 0..2 {
            assert_eq!(send(&world, &upload).await["accepted"], 1);
        }
        // A machine that has sent nothing else is known by it, so that it can be forgotten.
        assert_eq!(send(&world, &batch(2, vec![bad.clone()])).await["accepted"], 0);
        let all = letters(&world, "").await;
        assert_eq!(all.len(), 2);
        let own = letters(&world, &format!("&machine={}", machine(1))).await;
        assert_eq!((own.len(), &own[0]["machine"], &own[0]["place"]), (1, &json!(machine(1)), &json!(1)));
        assert!(own[0]["reason"].as_str().is_some_and(|reason| reason.contains("ends before")), "{own:?}");
        let sent: Segment = serde_json::from_str(own[0]["body"].as_str().expect("JSON")).expect("a segment");
        assert_eq!(sent, bad);

        let first = world.json("/api/v1/dead-letters?limit=1").await;
        let cursor = first["next"].as_str().expect("there is one more");
        let second = world.json(&format!("/api/v1/dead-letters?limit=1&cursor={cursor}")).await;
        assert_eq!([&first["items"][0], &second["items"][0]], [&all[0], &all[1]]);
        for wrong in ["machine=x", "cursor=x", "limit=0", "nonsense=1"] {
            world.get(&format!("/api/v1/dead-letters?{wrong}")).await.assert_problem(400);
        }

        let folder = tempfile::tempdir().expect("a temporary folder");
        let csv = folder.path().join("dead.csv");
        let rows = export(&world.app.store, "dead_letters", server::args::Format::Csv, &csv).await;
        assert_eq!(rows.expect("it is written"), 2);

        for number in [1, 2] {
            let deleted = world.app.store.delete_machine(&machine(number), &Actor::command_line()).await;
            assert!(deleted.expect("the database answers").is_some());
            assert_eq!(everything_of(&world, number).await, 0);
        }
        assert_eq!(letters(&world, "").await, Vec::<Value>::new());
    });
}

#[test]
fn of_many_the_newest_are_kept() {
    on_each_database(async |world| {
        send(&world, &batch(2, vec![backwards(1)])).await;
        for first in [0, 60] {
            let segments = (first..first + 80).map(backwards).collect();
            send(&world, &batch(1, segments)).await;
        }
        assert_eq!(letters(&world, &format!("&machine={}", machine(1))).await.len(), 100);
        assert_eq!(letters(&world, &format!("&machine={}", machine(2))).await.len(), 1, "another machine's stay");
        let long = "x".repeat(100_000);
        send(&world, &batch(3, vec![Segment { file: long, ..backwards(1) }])).await;
        let letter = &letters(&world, &format!("&machine={}", machine(3))).await[0];
        assert!(letter["size_bytes"].as_u64() > Some(100_000));
        assert_eq!(letter["body"].as_str().map(str::len), Some(16 << 10));
    });
}

#[test]
fn what_is_understood_of_a_newer_batch_is_taken() {
    on_each_database(async |world| {
        let mut newer = serde_json::to_value(batch(1, vec![Sample::default().segment()])).expect("plain data");
        newer["schema"] = json!("weavewatch.batch/7");
        newer["mood"] = json!({"unknown": [1, 2]});
        let mut other = newer["segments"][0].clone();
        other["observations"] = json!([{"picture": {"offset": 100}}]);
        let mut more = newer["segments"][0].clone();
        more["log"] = json!(machine(9));
        more["weather"] = json!("fine");
        newer["segments"].as_array_mut().expect("a list").extend([other, more]);
        newer["heartbeat"] = json!("well");
        let answer = world.post(None, newer.to_string()).await.json();
        assert_eq!((&answer["accepted"], &answer["refused"][0]["segment"]), (&json!(2), &json!(1)), "{answer}");
        let reason = answer["refused"][0]["reason"].as_str().expect("a text");
        assert!(reason.contains("of a newer version"), "{answer}");
        let left_out = answer["left_out"].as_array().expect("a list");
        assert!(left_out[0].as_str().is_some_and(|first| first.contains("batch/7")) && left_out.len() == 2, "{answer}");
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 2);
        assert_eq!(letters(&world, "").await.len(), 1);

        // The parts themselves may be of another shape.
        newer["segments"] = json!({"by_log": {}});
        newer["losses"] = json!(3);
        newer["agent"] = json!(["2", "0"]);
        let answer = world.post(None, newer.to_string()).await.json();
        assert_eq!(
            (&answer["accepted"], answer["left_out"].as_array().map(Vec::len)),
            (&json!(0), Some(2)),
            "{answer}"
        );
        for schema in ["weavewatch.batch/0", "weavewatch.batch/x", "weavewatch.batch", "another.batch/2", ""] {
            newer["schema"] = json!(schema);
            world.post(None, newer.to_string()).await.assert_problem(400);
        }
    });
}
