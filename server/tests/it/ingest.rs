//! Uploading: once, again, in pieces, grown, damaged.

use axum::http::StatusCode;
use serde_json::json;
use wire::{Ack, Fields, FlawKind, Kind, Observation, Reason, Segment, Value};

use crate::sample::{Sample, batch, event, flaw, log_id, machine};
use crate::world::{World, on_each_database};

async fn log_count(world: &World) -> i64 {
    world.json("/api/v1/summary").await["total"]["logs"].as_i64().expect("a number")
}

#[test]
fn the_same_batch_twice_changes_nothing() {
    on_each_database(async |world| {
        let batch = batch(1, vec![Sample::default().segment()]);
        assert_eq!(world.upload(&batch).await.accepted, 1);
        let (rows, logs) = (world.rows().await, world.json("/api/v1/logs").await);
        assert_eq!(world.upload(&batch).await.accepted, 1);
        assert_eq!(world.rows().await, rows);
        assert_eq!(world.json("/api/v1/logs").await, logs, "not even the time of arrival");
    });
}

#[test]
fn a_log_that_grew_is_one_log_with_its_newest_verdict() {
    on_each_database(async |world| {
        let sample = Sample { split: 1, reasons: &[], ..Sample::default() };
        world.upload(&batch(1, vec![sample.segment()])).await;
        let log = &world.json("/api/v1/logs").await["items"][0];
        assert_eq!(log["verdict"]["split"], "engaged");

        let mut grown = sample.segment();
        (grown.start, grown.end) = (200, 300);
        grown.facts.counts.bytes = 300;
        let reasons = Value::Reasons(vec![Reason::new("dp_refused_scanout")]);
        let values = [("reasons", reasons), ("split", Value::Uint(0)), ("generation", Value::Uint(2))];
        grown.observations = vec![Observation::Event(event(250, 30, Kind::PlacementChanged, "wp.changed", &values))];
        world.upload(&batch(1, vec![grown])).await;

        assert_eq!(log_count(&world).await, 1);
        let grown = &world.json("/api/v1/logs").await["items"][0];
        assert_eq!(grown["id"], log["id"]);
        assert_eq!(grown["verdict"]["split"], "off");
        assert_eq!(grown["verdict"]["retired"], true);
        assert_eq!(grown["counts"]["bytes"], 300);
        let reasons = world.json("/api/v1/summary?group_by=reason").await;
        assert_eq!(reasons["groups"][0]["key"], json!({"reason": "dp_refused_scanout"}));
    });
}

#[test]
fn one_more_log_is_one_more() {
    on_each_database(async |world| {
        let first = Sample::default().segment();
        let second = Sample { name: "b.log", ..Sample::default() }.segment();
        world.upload(&batch(1, vec![first.clone()])).await;
        world.upload(&batch(1, vec![first.clone(), second.clone()])).await;
        assert_eq!(log_count(&world).await, 2);
        // The same log id on another machine is another log.
        world.upload(&batch(2, vec![first])).await;
        assert_eq!(log_count(&world).await, 3);
    });
}

#[test]
fn a_later_range_knows_an_offset_best_and_an_older_one_comes_too_late() {
    on_each_database(async |world| {
        let whole = Sample::default().segment();
        // The half that was read while the record was being written saw a cut one.
        let mut half = whole.clone();
        half.end = 150;
        half.facts.counts.truncated = 1;
        half.observations = vec![flaw(100, 12, FlawKind::Truncated)];
        world.upload(&batch(1, vec![whole.clone()])).await;
        let rows = world.rows().await;
        world.upload(&batch(1, vec![half.clone()])).await;
        assert_eq!(world.rows().await, rows, "the older reading is no news");

        world.upload(&batch(2, vec![half])).await;
        world.upload(&batch(2, vec![whole])).await;
        let logs = world.json("/api/v1/logs").await;
        assert_eq!(logs["items"][0]["verdict"], logs["items"][1]["verdict"]);
        assert_eq!(logs["items"][0]["findings"], logs["items"][1]["findings"], "the cut record is forgotten");
    });
}

#[test]
fn a_gap_is_told_and_closed() {
    on_each_database(async |world| {
        let whole = Sample::default().segment();
        let mut tail = whole.clone();
        tail.start = 90;
        world.upload(&batch(1, vec![tail])).await;
        let id = world.json("/api/v1/logs").await["items"][0]["id"].as_str().expect("an id").to_owned();
        let missing = async || world.json(&format!("/api/v1/logs/{id}")).await["missing_bytes"].clone();
        assert_eq!(missing().await, 90);
        let mut head = whole;
        (head.end, head.observations) = (90, Vec::new());
        world.upload(&batch(1, vec![head])).await;
        assert_eq!(missing().await, 0);
    });
}

#[test]
fn a_senseless_segment_is_refused_alone() {
    on_each_database(async |world| {
        let good = Sample::default().segment();
        let mut backwards = good.clone();
        (backwards.start, backwards.end) = (10, 5);
        let mut outside = good.clone();
        outside.start = 101;
        let mut nameless = good.clone();
        nameless.log = "../../etc/passwd".to_owned();
        let mut nul = good.clone();
        nul.file = "a\0.log".to_owned();
        let batch = batch(1, vec![backwards, good, outside, nameless, nul]);
        let answer = world.post(None, serde_json::to_vec(&batch).expect("plain data")).await;
        assert_eq!(answer.status, StatusCode::OK);
        let ack: Ack = serde_json::from_slice(&answer.body).expect("an ack");
        assert_eq!(ack.accepted, 1);
        let refused: Vec<_> = ack.refused.iter().map(|refusal| refusal.segment).collect();
        assert_eq!(refused, [0, 2, 3, 4]);
        assert!(ack.refused.iter().all(|refusal| !refusal.reason.is_empty()));
        assert_eq!(log_count(&world).await, 1);
    });
}

#[test]
fn a_log_of_too_many_gaps_takes_what_closes_them_only() {
    on_each_database(async |world| {
        let whole = Sample::default().segment();
        let piece = |place: u64| {
            let (start, end) = (1_000 + place * 10, 1_005 + place * 10);
            Segment { start, end, observations: Vec::new(), ..whole.clone() }
        };
        let mut segments: Vec<_> = (0..1_003).map(piece).collect();
        // Another log of the batch is not its victim.
        segments.push(Sample { name: "b.log", ..Sample::default() }.segment());
        let answer = world.post(None, serde_json::to_vec(&batch(1, segments)).expect("plain data")).await;
        let ack: Ack = serde_json::from_slice(&answer.body).expect("an ack");
        let refused: Vec<_> = ack.refused.iter().map(|refusal| refusal.segment).collect();
        assert_eq!((ack.accepted, refused), (1_001, vec![1_000, 1_001, 1_002]));
        assert!(ack.refused[0].reason.contains("gaps"), "{:?}", ack.refused);
        assert_eq!(log_count(&world).await, 2);

        let missing = async || {
            let id = server::store::log_id(&machine(1), &log_id("a.log"));
            world.json(&format!("/api/v1/logs/{id}")).await["missing_bytes"].clone()
        };
        assert_eq!(missing().await, 1_000 + 999 * 5);
        let all = Segment { start: 0, end: 20_000, ..whole.clone() };
        assert_eq!(world.upload(&batch(1, vec![all])).await.accepted, 1);
        assert_eq!(missing().await, 0);
        assert_eq!(world.upload(&batch(1, (0..1_003).map(piece).collect())).await.accepted, 1_003, "known already");
    });
}

#[test]
fn a_log_that_grows_for_long_is_taken_to_its_end() {
    on_each_database(async |world| {
        let whole = Sample::default().segment();
        // As a daemon sends them: each begins at the last record of the one before.
        let piece = |place: u64| {
            let (start, end) = (place * 10, place * 10 + 15);
            let window = event(start, place + 1, Kind::Window, "w", &[]);
            Segment { start, end, observations: vec![Observation::Event(window)], ..whole.clone() }
        };
        for pieces in [0..900, 900..1_700, 1_700..2_500] {
            let expected = pieces.end - pieces.start;
            assert_eq!(world.upload(&batch(1, pieces.map(piece).collect())).await.accepted, expected);
        }
        let id = server::store::log_id(&machine(1), &log_id("a.log"));
        assert_eq!(world.json(&format!("/api/v1/logs/{id}")).await["missing_bytes"], 0);
        assert_eq!(world.rows().await.len(), 1 + 2_500, "the log and its records");
    });
}

#[test]
fn a_machine_without_a_pseudonym_is_refused() {
    on_each_database(async |world| {
        let mut batch = batch(1, vec![Sample::default().segment()]);
        batch.machine = "DESKTOP-ANNA".to_owned();
        let answer = world.post(None, serde_json::to_vec(&batch).expect("plain data")).await;
        let ack: Ack = serde_json::from_slice(&answer.body).expect("an ack");
        assert_eq!((ack.accepted, ack.refused.len()), (0, 1));
        assert_eq!(log_count(&world).await, 0);
    });
}

#[test]
fn packed_batches_are_unpacked() {
    on_each_database(async |world| {
        let plain = serde_json::to_vec(&batch(1, vec![Sample::default().segment()])).expect("plain data");
        let zstd = zstd::encode_all(plain.as_slice(), 0).expect("memory suffices");
        let mut gzip = Vec::new();
        let mut encoder = flate2::read::GzEncoder::new(plain.as_slice(), flate2::Compression::default());
        std::io::Read::read_to_end(&mut encoder, &mut gzip).expect("memory suffices");
        for (encoding, body) in [("zstd", zstd), ("gzip", gzip), ("identity", plain)] {
            let answer = world.post(Some(encoding), body).await;
            assert_eq!(answer.status, StatusCode::OK, "{encoding}: {}", answer.text());
        }
        assert_eq!(log_count(&world).await, 1);
    });
}

#[test]
fn hostile_strings_are_stored_as_they_stand() {
    on_each_database(async |world| {
        let hostile = "'; drop table logs; -- <script>alert(1)</script>\u{1b}[31m\u{202e}\u{0}%00${}\n";
        let sample = Sample { render: hostile, exe: hostile, reasons: &["brand_new', '"], ..Sample::default() };
        world.upload(&batch(1, vec![sample.segment()])).await;
        let log = &world.json("/api/v1/logs").await["items"][0];
        assert_eq!(log["verdict"]["render"]["name"], hostile);
        assert_eq!(log["process"]["exe"], hostile);
        assert_eq!(log["verdict"]["reasons"], json!(["brand_new', '"]));
        // Columns hold the picture of a NUL, because PostgreSQL takes none.
        let groups = &world.json("/api/v1/summary?group_by=render&group_by=reason").await["groups"];
        assert_eq!(groups[0]["key"]["render"], hostile.replace('\0', "\u{2400}"));
        assert_eq!(groups[0]["key"]["reason"], "brand_new', '");
    });
}

#[test]
fn words_of_any_length_are_taken() {
    on_each_database(async |world| {
        // Text that does not compress, longer than an index entry may be.
        let endless: String =
            (0..20_000_u32).map(|n| char::from_u32(0x4e00 + n.wrapping_mul(7919) % 20_000).unwrap_or('x')).collect();
        let mut segment = Sample::default().segment();
        let Observation::Event(placement) = &mut segment.observations[0] else { panic!("the sample is an event") };
        let mut fields = Fields::new();
        for (name, value) in placement.fields.iter() {
            let value = match name {
                "render.name" => Value::Text(endless.clone()),
                "reasons" => Value::Reasons(vec![Reason::new(&endless)]),
                _ => value.clone(),
            };
            fields.push(name.to_owned(), value);
        }
        placement.fields = fields;
        world.upload(&batch(1, vec![segment])).await;
        let log = &world.json("/api/v1/logs").await["items"][0];
        assert_eq!(log["verdict"]["reasons"][0], endless.as_str());
        let groups = &world.json("/api/v1/summary?group_by=reason").await["groups"];
        let token = groups[0]["key"]["reason"].as_str().expect("a token");
        assert_eq!(token.chars().count(), 301);
        assert_eq!(world.get("/").await.status, StatusCode::OK);
    });
}

#[test]
fn a_log_carries_the_records_that_explain_it() {
    on_each_database(async |world| {
        let mut segment = Sample::default().segment();
        let window = |line| Observation::Event(event(line * 2, line, Kind::Window, "win.render", &[]));
        segment.observations.insert(0, window(3));
        segment.observations.insert(1, flaw(100, 12, FlawKind::Spliced));
        segment.observations.push(window(70));
        world.upload(&batch(1, vec![segment])).await;
        let id = server::store::log_id(&machine(1), &log_id("a.log"));
        let log = world.json(&format!("/api/v1/logs/{id}")).await;
        assert_eq!(log["id"], id.as_str());
        assert_eq!(log["machine"], machine(1));
        assert_eq!(log["schema"], "weavewatch.scan/1");
        assert_eq!(log["verdict"]["line"], 12);
        let evidence = log["evidence"].as_array().expect("a list");
        let placement = evidence.iter().find(|record| record["kind"] == "placement").expect("it decides");
        assert_eq!(placement["line"], 12);
        assert_eq!(placement["shape"], "wp.g2.on_render");
        assert_eq!(placement["time"], "2026-09-14 12:00:01.370");
        assert!(placement["meaning"].as_str().is_some_and(|meaning| meaning.len() > 20), "{placement}");
        assert!(evidence.iter().any(|record| record["kind"] == "spliced"), "a finding names its line");
        assert!(evidence.iter().all(|record| record["kind"] != "window"), "counters explain nothing");
    });
}

#[test]
fn a_long_log_is_folded_and_stored_whole() {
    on_each_database(async |world| {
        let mut segment = Sample { split: 1, reasons: &[], ..Sample::default() }.segment();
        segment.end = 100_000;
        let windows =
            (0..12_000_u64).map(|n| Observation::Event(event(1_000 + n * 5, 100 + n, Kind::Window, "w", &[])));
        segment.observations.extend(windows);
        let values = [("cause", Value::Text("test".to_owned()))];
        segment.observations.push(Observation::Event(event(90_000, 13_000, Kind::SplitRetired, "r", &values)));
        world.upload(&batch(1, vec![segment])).await;
        let log = &world.json("/api/v1/logs").await["items"][0];
        assert_eq!(log["verdict"]["retired"], true, "the last record of many is seen");
        let stored = world.rows().await.len();
        assert_eq!(stored, 1 + 12_002, "a log and its records; a split that was retired has no token");
    });
}
