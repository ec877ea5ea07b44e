//! What the server has acknowledged is there after its sudden death.

use serde_json::Value as Json;
use tests::batches::piece;
use tests::http::Http;
use tests::server::{Database, Server};
use wire::Ack;

/// How many times the server dies.
const DEATHS: u32 = 20;

#[test]
fn everything_acknowledged_survives_sigkill() {
    let database = Database::sqlite();
    let agent = database.token("agent");
    let reader = database.token("reader");

    for death in 1..=DEATHS {
        let server = Server::start(&database);
        let batch = serde_json::to_value(piece(1, death, 0, false)).expect("a batch is JSON");
        let answer = server.http(&agent).post("/api/v1/ingest", &batch);
        server.kill();
        let ack: Ack = serde_json::from_value(answer.json()).expect("an acknowledgement");
        assert_eq!((ack.accepted, ack.refused.len()), (1, 0));

        let server = Server::start(&database);
        check(&server.http(&reader), death);
        // Dying with nothing under way must cost nothing either.
        server.kill();
    }
}

#[test]
fn programs_that_meet_an_empty_sqlite_file_at_the_same_time_all_do_their_work() {
    all_do_their_work(&Database::sqlite());
}

#[test]
fn programs_that_meet_an_empty_postgresql_database_at_the_same_time_all_do_their_work() {
    all_do_their_work(&Database::postgres());
}

/// A server that starts and an owner who makes tokens: each of them makes the schema when it is not there.
fn all_do_their_work(database: &Database) {
    let tokens: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..6).map(|_| scope.spawn(|| database.token("reader"))).collect();
        makers.into_iter().map(|maker| maker.join().expect("a token was made")).collect()
    });
    let server = Server::start(database);
    for token in tokens {
        assert_eq!(server.http(&token).get("/api/v1/summary").status, 200);
    }
}

/// After `acknowledged` batches: each log is there once, with the verdict of its one placement record.
fn check(http: &Http, acknowledged: u32) {
    let total = &http.get("/api/v1/summary").json()["total"];
    let counts = [&total["logs"], &total["split"]["off"], &total["killed"], &total["crossing"]["every_present"]];
    assert_eq!(counts, [&Json::from(acknowledged); 4], "after {acknowledged} batches");

    let mut names: Vec<String> = Vec::new();
    for log in http.all_items("/api/v1/logs?limit=7") {
        let id = log["id"].as_str().expect("a log has an id");
        let detail = http.get(&format!("/api/v1/logs/{id}")).json();
        assert_eq!(detail["verdict"]["reasons"], serde_json::json!(["killed_by_env"]));
        let evidence = detail["evidence"].as_array().expect("a list");
        assert_eq!(evidence.len(), 1, "the record itself: {detail}");
        names.push(log["file"].as_str().expect("a log has a name").to_owned());
    }
    names.sort_unstable();
    let mut expected: Vec<String> = (1..=acknowledged).map(name).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

fn name(number: u32) -> String {
    format!("DisplayXR_Viewer.exe.{number}_2026-09-14_12-00-00.log")
}
