//! Two servers on one PostgreSQL take the same uploads at once, and one of them dies in the middle: nothing is lost, nothing
//! counts twice.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tests::batches::piece;
use tests::http::Http;
use tests::server::{Database, Server};
use wire::Ack;

const MACHINES: u32 = 4;
const LOGS: u32 = 10;
const PIECES: u64 = 3;
/// Uploads that the server takes before it is killed: about a third of what it will be sent.
const BEFORE_DEATH: u32 = MACHINES * LOGS;

#[test]
fn two_servers_share_a_database_and_one_dies_under_load() {
    let database = Database::postgres();
    let token = database.token("agent");
    let (first, second) = (Server::start(&database), Server::start(&database));
    let (first_url, second_url) = (first.url.clone(), second.url.clone());
    let acknowledged_batches = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let mut senders = Vec::new();
        for machine in 1..=MACHINES {
            for (url, other) in [(&first_url, &second_url), (&second_url, &first_url)] {
                let (token, acknowledged_batches, first_url) = (&token, &acknowledged_batches, &first_url);
                senders.push(scope.spawn(move || {
                    let own = Http::new(url, Some(token));
                    let other = Http::new(other, Some(token));
                    for batch in uploads(machine) {
                        // The agent's own behaviour: what is not acknowledged is sent again, to whoever answers.
                        let by_own = acknowledged(&own, &batch);
                        if by_own && url == first_url {
                            acknowledged_batches.fetch_add(1, Ordering::Relaxed);
                        }
                        while !by_own && !acknowledged(&other, &batch) {}
                    }
                }));
            }
        }
        while acknowledged_batches.load(Ordering::Relaxed) < BEFORE_DEATH {
            assert!(senders.iter().any(|sender| !sender.is_finished()), "it takes uploads");
            std::thread::yield_now();
        }
        first.kill();
        for sender in senders {
            sender.join().expect("every upload is acknowledged in the end");
        }
    });
    assert!(acknowledged_batches.load(Ordering::Relaxed) < MACHINES * LOGS * PIECES as u32, "it died in the middle");

    let http = second.http(&database.token("reader"));
    let all = i64::from(MACHINES * LOGS);
    let total = &http.get("/api/v1/summary").json()["total"];
    assert_eq!((&total["logs"], &total["machines"]), (&json!(all), &json!(MACHINES)), "{total}");
    assert_eq!(total["split"], json!({"engaged": all / 2, "off": all / 2, "unknown": 0}));
    assert_eq!(total["killed"], all / 2);
    for log in http.all_items("/api/v1/logs?limit=7") {
        assert_eq!(log["missing_bytes"].as_i64().unwrap_or(0), 0);
        assert_eq!(log["counts"]["bytes"], 1800, "{log}");
    }
    // Every verdict and every count, made anew from the events.
    let verified = database.command(&["verify"]);
    assert!(verified.with_code(0).stdout.is_empty(), "{}", verified.stdout);
    // Every event, once: the copy is made from them.
    let copy = tempfile::tempdir().expect("a temporary folder");
    let url = format!("file://{}", copy.path().display());
    database.command(&["columnar", "--once", "--columnar", &url]).with_code(0);
    let checked = database.command(&["columnar", "--check", "--columnar", &url]);
    let checked: Value = serde_json::from_str(&checked.with_code(0).stdout).expect("JSON");
    assert_eq!(checked["events"], all * i64::try_from(PIECES).expect("few"));
}

/// What one machine sends, in this order: every log grows, and ends engaged or killed in turn.
fn uploads(machine: u32) -> Vec<Value> {
    let pieces = (0..PIECES).flat_map(|number| (1..=LOGS).map(move |log| (log, number)));
    let batches = pieces.map(|(log, number)| {
        let engaged = if number + 1 == PIECES { log % 2 == 0 } else { number % 2 == 0 };
        piece(machine, log, number, engaged)
    });
    batches.map(|batch| serde_json::to_value(batch).expect("a batch is JSON")).collect()
}

/// Whether a server took a batch; one that is dead, or busy, did not.
fn acknowledged(http: &Http, batch: &Value) -> bool {
    let Some(answer) = http.offer("/api/v1/ingest", batch) else { return false };
    if [429, 503].contains(&answer.status) {
        return false;
    }
    let ack: Ack = serde_json::from_value(answer.json()).expect("an acknowledgement");
    assert_eq!(ack.refused.len(), 0, "{}", answer.body);
    true
}
