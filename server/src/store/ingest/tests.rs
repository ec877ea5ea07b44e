use wire::{Flaw, FlawKind, Observation};

use super::*;
use crate::store::Place;

const MACHINE: &str = "00000000000000000000000000000001";

/// A piece of the one log with a record at its start.
fn piece(place: u64, start: u64, end: u64) -> (u64, Segment) {
    let flaw = Flaw { offset: start, line: place + 1, kind: FlawKind::Truncated, marker: None, hint: None };
    let observations = vec![Observation::Flaw(flaw)];
    (place, Segment { log: MACHINE.to_owned(), start, end, observations, ..Segment::default() })
}

/// Stores pieces and answers how many statements that took.
async fn statements(store: &Store, segments: Vec<(u64, Segment)>) -> u64 {
    let pack = |(place, segment)| Piece::new(place, segment).expect("memory suffices");
    let pieces: Vec<_> = segments.into_iter().map(pack).collect();
    let mut write = store.write().await.expect("a write begins");
    losses::hear(write.connection(), MACHINE, "now", &Told::default()).await.expect("a machine");
    let refused = put(&mut write, MACHINE, "now", &pieces).await.expect("the database takes it");
    assert_eq!(refused, []);
    let statements = write.statements;
    write.commit().await.expect("there is room");
    statements
}

#[tokio::test]
async fn many_pieces_of_one_log_cost_as_many_statements_as_few() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&Place::File(folder.path().join("test.sqlite"))).await.expect("it opens");
    store.migrate().await.expect("the schema fits");

    let disjoint = |count: u64| (0..count).map(|place| piece(place, place * 20, place * 20 + 10)).collect::<Vec<_>>();
    let few = statements(&store, disjoint(1)).await;
    assert!(few <= 12, "{few}");
    // Rows go in by the hundred.
    for pieces in [disjoint(400), disjoint(400), disjoint(800)] {
        let many = statements(&store, pieces).await;
        assert!(many <= few + 12, "{many} after {few}");
    }
    // Each of them takes the place of two.
    let wide = (0..400).map(|place| piece(place, place * 40, place * 40 + 30)).collect();
    let many = statements(&store, wide).await;
    assert!(many <= few + 12, "{many} after {few}");
    let count =
        async |sql: &'static str| -> i64 { sqlx::query_scalar(sql).fetch_one(&store.pool).await.expect("a count") };
    assert_eq!(count("select count(*) from log_ranges").await, 400);
    assert_eq!(count("select events from logs").await, 400);
}
