//! What agents say of themselves and of their losses: stored, shown, never counted twice.

use serde_json::{Value, json};
use server::store::Upload;
use sqlx::AssertSqlSafe;
use wire::{Clock, Heartbeat, Loss};

use crate::sample::{Sample, batch, log_id, machine};
use crate::world::{World, connect, on_each_database};

/// A loss of a log of [`Sample`]'s, or of none.
pub fn loss(name: Option<&str>, reason: &str, bytes: u64, events: u64) -> Loss {
    let (log, file) = (name.map(log_id), name.map(str::to_owned));
    Loss { log, file, reason: reason.to_owned(), bytes, events }
}

/// Rows that belong to a machine, in all tables but that of the tokens.
pub async fn everything_of(world: &World, number: u32) -> i64 {
    let mut connection = connect(&world.place).await;
    let mut rows = 0;
    let logs = format!("(select id from logs where machine = '{}')", machine(number));
    let own = format!("'{}'", machine(number));
    let reports = format!("(select id from reports where machine = {own})");
    // No log is left over without a machine, and no row without a log.
    for (table, whose) in [
        ("machines", format!("id = {own}")),
        ("logs", format!("machine = {own}")),
        ("losses", format!("machine = {own}")),
        ("dead_letters", format!("machine = {own}")),
        ("rollup_machines", format!("machine = {own}")),
        ("rollups", format!("dimension = 'machine' and value = '=' || {own}")),
        ("verdict_history", format!("log in {logs} or log not in (select id from logs)")),
        ("reports", format!("machine = {own}")),
        ("report_files", format!("report in {reports} or report not in (select id from reports)")),
        ("report_logs", format!("report in {reports} or report not in (select id from reports)")),
        ("report_notes", format!("report in {reports} or report not in (select id from reports)")),
        ("log_drift", format!("log in {logs} or log not in (select id from logs)")),
        ("log_costs", format!("log in {logs} or log not in (select id from logs)")),
        ("log_reasons", format!("log in {logs} or log not in (select id from logs)")),
        ("log_ranges", format!("log in {logs} or log not in (select id from logs)")),
        ("topologies", "id not in (select topology from logs where topology is not null)".to_owned()),
        ("cohorts", "id not in (select cohort from logs where cohort is not null)".to_owned()),
        ("situations", "id not in (select situation from logs where situation is not null)".to_owned()),
    ] {
        let sql = AssertSqlSafe(format!("select count(*) from {table} where {whose}"));
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("the tables exist");
        rows += count;
    }
    rows
}

fn heartbeat(queue_bytes: u64) -> Heartbeat {
    Heartbeat {
        logs_followed: 3,
        queue_bytes,
        dropped: [("queue_full".to_owned(), 7)].into(),
        slowed: Some("the processor share is used up".to_owned()),
        config: [("cpu_percent".to_owned(), "5".to_owned())].into(),
        ..Heartbeat::default()
    }
}

async fn one(world: &World, number: u32) -> Value {
    world.json(&format!("/api/v1/machines/{}", machine(number))).await
}

async fn log(world: &World, number: u32, name: &str) -> Value {
    let id = server::store::log_id(&machine(number), &log_id(name));
    world.json(&format!("/api/v1/logs/{id}")).await
}

#[test]
fn a_heartbeat_alone_is_stored_and_the_newest_is_shown() {
    on_each_database(async |world| {
        let mut first = batch(1, vec![]);
        first.heartbeat = Some(heartbeat(10));
        assert_eq!(world.upload(&first).await.accepted, 0);
        let seen = one(&world, 1).await;
        assert_eq!(seen["heartbeat"], serde_json::to_value(heartbeat(10)).expect("plain data"));
        assert_eq!((&seen["agent"], &seen["logs"]), (&json!("test"), &json!(0)));
        assert_eq!(seen["log_ids"], json!([]));
        for field in ["first_seen", "last_contact", "heartbeat_at"] {
            assert!(seen[field].as_str().is_some_and(|time| time.ends_with('Z')), "{field}: {seen}");
        }

        let mut second = batch(1, vec![Sample::default().segment()]);
        second.agent = "0.2.0".to_owned();
        world.upload(&second).await;
        let newer = one(&world, 1).await;
        assert_eq!((&newer["agent"], &newer["logs"]), (&json!("0.2.0"), &json!(1)));
        assert_eq!(newer["first_seen"], seen["first_seen"]);
        assert_eq!((&newer["heartbeat"], &newer["heartbeat_at"]), (&seen["heartbeat"], &seen["heartbeat_at"]));
        assert!(newer["last_contact"].as_str() >= seen["last_contact"].as_str());

        first.heartbeat = Some(heartbeat(20));
        world.upload(&first).await;
        assert_eq!(one(&world, 1).await["heartbeat"]["queue_bytes"], 20);
    });
}

#[test]
fn an_older_batch_that_comes_late_changes_no_words() {
    on_each_database(async |world| {
        let told = |agent: &str, queue_bytes| {
            let heartbeat = serde_json::value::to_raw_value(&heartbeat(queue_bytes)).expect("plain data");
            server::Told::read(agent, Some(&heartbeat), &[], 0).0
        };
        let store = &world.app.store;
        let hear = async |received: &str, told| {
            let upload = Upload::pack(&machine(1), received, vec![], told).expect("memory suffices");
            store.ingest(upload).await.expect("stored")
        };
        hear("2026-09-14T12:00:02.000Z", told("new", 2)).await;
        hear("2026-09-14T12:00:01.000Z", told("old", 1)).await;
        let seen = one(&world, 1).await;
        assert_eq!((&seen["agent"], &seen["heartbeat"]["queue_bytes"]), (&json!("new"), &json!(2)));
        assert_eq!(seen["last_contact"], "2026-09-14T12:00:02.000Z");
        assert_eq!(seen["heartbeat_at"], "2026-09-14T12:00:02.000Z");
    });
}

#[test]
fn losses_are_totals_so_telling_them_again_changes_nothing() {
    on_each_database(async |world| {
        let log_of = async || log(&world, 1, "a.log").await["losses"].clone();
        let mut told = batch(1, vec![]);
        told.losses = vec![
            loss(Some("a.log"), "truncated", 100, 4),
            loss(None, "queue_full", 0, 9),
            loss(Some("b.log"), "truncated", 1, 1),
        ];
        world.upload(&told).await;
        let expected = json!({"queue_full": {"bytes": 0, "events": 9}, "truncated": {"bytes": 101, "events": 5}});
        assert_eq!(one(&world, 1).await["losses"], expected);
        world.upload(&told).await;
        assert_eq!(one(&world, 1).await["losses"], expected, "told twice");

        // The log itself may come later than its loss.
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        assert_eq!(log_of().await, json!({"truncated": {"bytes": 100, "events": 4}}));
        let mut later = batch(1, vec![]);
        later.losses = vec![loss(Some("a.log"), "truncated", 150, 6), loss(Some("a.log"), "truncated", 120, 5)];
        world.upload(&later).await;
        world.upload(&told).await;
        assert_eq!(
            log_of().await,
            json!({"truncated": {"bytes": 150, "events": 6}}),
            "the larger number is the later one"
        );
        let other = async |number| one(&world, number).await["losses"].clone();
        assert_eq!(other(1).await["truncated"], json!({"bytes": 151, "events": 7}));
        world.upload(&batch(2, vec![Sample::default().segment()])).await;
        assert_eq!(other(2).await, json!({}), "another machine lost nothing");
        assert_eq!(log(&world, 2, "a.log").await["losses"], json!({}));
    });
}

#[test]
fn a_loss_that_makes_no_sense_is_told_and_spoils_nothing() {
    on_each_database(async |world| {
        let mut told = batch(1, vec![Sample::default().segment()]);
        told.losses = vec![loss(None, "", 1, 1), loss(None, "queue_full", 1, 1), loss(None, "huge", u64::MAX, 1)];
        told.losses[0].log = Some("../../etc/passwd".to_owned());
        let mut body = serde_json::to_value(&told).expect("plain data");
        body["heartbeat"] = json!({"queue_bytes": "many"});
        let answer = world.post(None, body.to_string()).await.json();
        assert_eq!(answer["accepted"], 1);
        let left_out = answer["left_out"].as_array().expect("a list");
        let about = |word: &str| left_out.iter().any(|reason| reason.as_str().is_some_and(|text| text.contains(word)));
        assert_eq!(left_out.len(), 3, "{answer}");
        assert!(about("heartbeat") && about("loss 0") && about("loss 2"), "{answer}");
        let seen = one(&world, 1).await;
        assert_eq!((&seen["heartbeat"], &seen["logs"]), (&json!(null), &json!(1)));
        assert_eq!(seen["losses"], json!({"queue_full": {"bytes": 1, "events": 1}}));

        told.machine = "DESKTOP-ANNA".to_owned();
        let answer = world.post(None, serde_json::to_vec(&told).expect("plain data")).await.json();
        assert_eq!((&answer["accepted"], answer["refused"].as_array().map(Vec::len)), (&json!(0), Some(1)));
        assert!(answer["left_out"].to_string().contains("hex"), "{answer}");
    });
}

#[test]
fn hostile_words_and_numbers_are_shown_as_text_and_end_no_answer() {
    on_each_database(async |world| {
        let hostile = "'; drop table losses; -- <script>alert(1)</script>\u{1b}[31m\u{202e}\u{0}%00${}\n";
        let mut told = batch(1, vec![]);
        told.agent = hostile.to_owned();
        told.heartbeat = Some(Heartbeat {
            slowed: Some(hostile.to_owned()),
            lag_s: u64::MAX,
            config: [(hostile.to_owned(), hostile.to_owned())].into(),
            ..Heartbeat::default()
        });
        let largest = i64::MAX.unsigned_abs();
        told.losses = (0..200).map(|n| loss(Some(&format!("{n}")), hostile, largest, largest)).collect();
        told.losses.extend((0..200).map(|n| loss(None, &format!("reason {n}"), n, n)));
        told.losses.push(loss(None, &"显".repeat(5_000), 1, 1_000));
        let clock = Clock { zone: Some("显".repeat(5_000)), offset_s: i32::MIN, repeated: true };
        let segment = wire::Segment { clock: Some(clock), ..Sample::default().segment() };
        told.segments = vec![segment];
        world.upload(&told).await;

        let picture = hostile.replace('\0', "\u{2400}");
        let seen = one(&world, 1).await;
        assert_eq!((&seen["agent"], &seen["heartbeat"]["slowed"]), (&json!(picture), &json!(picture)));
        assert_eq!(
            (&seen["heartbeat"]["config"][&picture], &seen["heartbeat"]["lag_s"]),
            (&json!(picture), &json!(u64::MAX))
        );
        let losses = seen["losses"].as_object().expect("an object");
        assert_eq!((losses.len(), &seen["losses_left_out"]), (50, &json!(152)));
        assert!(losses[&picture]["bytes"].as_u64() > Some(largest), "more than a bigint holds");
        assert!(losses.keys().all(|reason| reason.chars().count() <= 301));
        let zone = log(&world, 1, "a.log").await["clock"]["zone"].as_str().map(|zone| zone.chars().count());
        assert_eq!(zone, Some(301));
        assert_eq!(world.get("/").await.status.as_u16(), 200);
    });
}

#[test]
fn the_range_that_ends_last_knows_the_clock_and_the_end_of_the_log_best() {
    on_each_database(async |world| {
        let berlin = |repeated| Clock { zone: Some("Europe/Berlin".to_owned()), offset_s: 7_200, repeated };
        let whole = wire::Segment { clock: Some(berlin(true)), unfinished: true, ..Sample::default().segment() };
        let mut half = wire::Segment { clock: Some(berlin(false)), unfinished: false, ..whole.clone() };
        (half.end, half.observations) = (90, vec![]);
        for (number, segments) in [(1, [&half, &whole]), (2, [&whole, &half])] {
            for segment in segments {
                world.upload(&batch(number, vec![segment.clone()])).await;
            }
            let log = log(&world, number, "a.log").await;
            assert_eq!(log["clock"], json!({"zone": "Europe/Berlin", "offset_s": 7_200, "repeated": true}));
            assert_eq!(log["unfinished"], true);
        }
        world.upload(&batch(3, vec![Sample::default().segment()])).await;
        let log = log(&world, 3, "a.log").await;
        assert_eq!((&log["clock"], &log["unfinished"], &log["losses"]), (&json!(null), &json!(false), &json!({})));
    });
}
