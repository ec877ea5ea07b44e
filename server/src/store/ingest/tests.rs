use tempfile::TempDir;
use wire::{Flaw, FlawKind, Observation, Segment};

use super::*;
use crate::store::{Place, Store, losses};
use crate::told::Told;

const MACHINE: &str = "00000000000000000000000000000001";

fn flaw(offset: u64) -> Observation {
    Observation::Flaw(Flaw { offset, line: offset + 1, kind: FlawKind::Truncated, marker: None, hint: None })
}

/// A piece of the one log.
fn piece_of(place: u64, start: u64, end: u64, observations: Vec<Observation>) -> Piece {
    let segment = Segment { log: MACHINE.to_owned(), start, end, observations, ..Segment::default() };
    Piece::new(place, segment).expect("memory suffices")
}

/// A piece of the one log with a record at its start.
fn piece(place: u64, start: u64, end: u64) -> Piece {
    piece_of(place, start, end, vec![flaw(start)])
}

async fn store() -> (Store, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&Place::File(folder.path().join("test.sqlite"))).await.expect("it opens");
    store.migrate().await.expect("the schema fits");
    (store, folder)
}

/// Stores pieces and answers how many statements that took, and how many observations were folded.
async fn cost(store: &Store, pieces: &[Piece]) -> (u64, i64) {
    let mut write = store.write().await.expect("a write begins");
    losses::hear(write.connection(), MACHINE, "now", &Told::default()).await.expect("a machine");
    let refused = put(&mut write, MACHINE, "now", pieces).await.expect("the database takes it");
    assert_eq!(refused, []);
    let cost = (write.statements, write.folded);
    write.commit().await.expect("there is room");
    cost
}

async fn number(store: &Store, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(&store.pool).await.expect("a number")
}

/// The report of the one log.
async fn report(store: &Store) -> String {
    sqlx::query_scalar("select report from logs").fetch_one(&store.pool).await.expect("a report")
}

#[tokio::test]
async fn many_pieces_of_one_log_cost_as_many_statements_as_few() {
    let (store, _folder) = store().await;
    let disjoint = |count: u64| (0..count).map(|place| piece(place, place * 20, place * 20 + 10)).collect::<Vec<_>>();
    let few = cost(&store, &disjoint(1)).await.0;
    // Five of them keep what a new log tells of its PC.
    assert!(few <= 17, "{few}");
    // Rows go in by the hundred.
    for pieces in [disjoint(400), disjoint(400), disjoint(800)] {
        let many = cost(&store, &pieces).await.0;
        assert!(many <= few + 12, "{many} after {few}");
    }
    // Each of them takes the place of two.
    let wide: Vec<_> = (0..400).map(|place| piece(place, place * 40, place * 40 + 30)).collect();
    let many = cost(&store, &wide).await.0;
    assert!(many <= few + 12, "{many} after {few}");
    assert_eq!(number(&store, "select count(*) from log_ranges").await, 400);
    assert_eq!(number(&store, "select events from logs").await, 400);
}

/// As an agent sends a log that grows: each range begins with the last record of the one before.
fn grown(step: u64) -> Piece {
    let (start, end) = (step * 10, step * 10 + 15);
    piece_of(0, start, end, vec![flaw(start), flaw(start + 10)])
}

#[tokio::test]
async fn a_log_that_grows_is_not_folded_again_and_again() {
    let (store, folder) = store().await;
    let steps = 300;
    let mut cost_of_all = 0;
    for step in 0..steps {
        cost_of_all += cost(&store, &[grown(step)]).await.1;
    }
    let events = number(&store, "select events from logs").await;
    assert_eq!((events, cost_of_all), (301, 600), "what came, and no more");

    // Another server on the same database knows nothing of it, and then this one's knowledge is old.
    let other = Store::open(&Place::File(folder.path().join("test.sqlite"))).await.expect("it opens");
    assert_eq!(cost(&other, &[grown(steps)]).await.1, 302);
    assert_eq!(cost(&store, &[grown(steps + 1)]).await.1, 303);
    assert_eq!(cost(&store, &[grown(steps + 2)]).await.1, 2);
    let report = report(&store).await;
    assert!(report.contains("Seen 304 times"), "{report}");
    assert_eq!(cost(&store, &[piece(0, 5, 7)]).await.1, 0, "it is inside another");
    assert_eq!(cost(&store, &[grown(steps + 2)]).await.1, 304, "the last two records again");
}

#[tokio::test]
async fn what_was_not_committed_is_not_remembered() {
    let (store, _folder) = store().await;
    cost(&store, &[grown(0)]).await;
    let mut write = store.write().await.expect("a write begins");
    losses::hear(write.connection(), MACHINE, "now", &Told::default()).await.expect("a machine");
    put(&mut write, MACHINE, "now", &[grown(1), grown(2)]).await.expect("the database takes it");
    drop(write);
    cost(&store, &[grown(1)]).await;
    assert_eq!(number(&store, "select events from logs").await, 3);
    assert!(report(&store).await.contains("Seen 3 times"));
}

#[tokio::test]
async fn a_log_that_was_deleted_is_another_one_when_it_comes_back() {
    let (store, _folder) = store().await;
    cost(&store, &[grown(0)]).await;
    store.delete_machine(MACHINE, &crate::audit::Actor::command_line()).await.expect("it is deleted");
    cost(&store, &[grown(1)]).await;
    assert_eq!(number(&store, "select events from logs").await, 2);
    assert!(report(&store).await.contains("Seen 2 times"));
}
