use std::time::Duration;

use tempfile::TempDir;
use wire::{Flaw, FlawKind, Observation};

use super::*;
use crate::store::Place;

async fn store() -> (Store, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(&Place::File(folder.path().join("test.sqlite"))).await.expect("it opens");
    store.migrate().await.expect("the schema fits");
    (store, folder)
}

/// One log of one machine, with one record.
fn upload(machine: u64, file: &str) -> Upload {
    let flaw = Flaw { offset: 1, line: 2, kind: FlawKind::Truncated, marker: None, hint: None };
    let segment = Segment {
        log: format!("{machine:032x}"),
        file: file.to_owned(),
        end: 10,
        observations: vec![Observation::Flaw(flaw)],
        ..Segment::default()
    };
    Upload::pack(&format!("{machine:032x}"), "now", vec![(0, segment)], Told::default()).expect("memory suffices")
}

async fn files(store: &Store) -> Vec<String> {
    sqlx::query_scalar("select file from logs where events = 1 order by file")
        .fetch_all(&store.pool)
        .await
        .expect("the database answers")
}

#[tokio::test]
async fn what_waits_is_committed_together_and_a_failure_is_answered_alone() {
    let (store, _folder) = store().await;
    sqlx::query(
        "create trigger fail before insert on logs when new.file = 'bad.log'
         begin select raise(abort, 'on purpose'); end",
    )
    .execute(&store.pool)
    .await
    .expect("a trigger");
    // Nobody commits while this is open, so that all wait.
    let hold = store.write().await.expect("a write begins");
    let uploads = [upload(3, "c.log"), upload(2, "bad.log"), upload(1, "a.log"), upload(4, "d.log")];
    let together = futures::future::join_all(uploads.into_iter().map(|upload| store.ingest(upload)));
    let (results, ()) = tokio::join!(together, async {
        while store.queue.waiting.lock().expect("nobody panics").len() < 4 {
            tokio::task::yield_now().await;
        }
        drop(hold);
    });
    let stored: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(stored, [true, false, true, true]);
    assert_eq!(files(&store).await, ["a.log", "c.log", "d.log"]);
    assert!(store.queue.is_empty());
    let counted: i64 = sqlx::query_scalar("select logs from rollups where dimension = '' and day = 'all'")
        .fetch_one(&store.pool)
        .await
        .expect("a count");
    assert_eq!(counted, 3, "what was rolled back is not counted");
}

#[tokio::test]
async fn an_upload_that_nobody_waits_for_any_more_is_committed() {
    let (store, _folder) = store().await;
    let hold = store.write().await.expect("a write begins");
    let hung_up = tokio::time::timeout(Duration::from_millis(20), store.ingest(upload(1, "a.log"))).await;
    assert!(hung_up.is_err(), "nothing is acknowledged before it is committed");
    drop(hold);
    store.ingest(upload(2, "b.log")).await.expect("it is stored");
    assert_eq!(files(&store).await, ["a.log", "b.log"]);
}

#[tokio::test]
async fn a_group_is_bounded_and_stands_by_machine() {
    let queue = Queue::default();
    for machine in (0..GROUP as u64 + 5).rev() {
        let (answer, _) = oneshot::channel();
        queue.push(Waiting { upload: upload(machine, "a.log"), answer });
    }
    let machines = |group: Group| group.0.into_iter().map(|one| one.upload.machine).collect::<Vec<_>>();
    let first = machines(queue.take());
    assert!(first.len() == GROUP && first.is_sorted());
    assert_eq!(machines(queue.take()), (0..5).map(|machine| format!("{machine:032x}")).collect::<Vec<_>>());
    assert!(queue.take().0.is_empty());
}

#[tokio::test]
async fn a_database_that_is_away_is_told_to_all() {
    let (store, _folder) = store().await;
    store.close().await;
    let results = futures::future::join_all((0..3).map(|machine| store.ingest(upload(machine, "a.log")))).await;
    assert!(results.iter().all(|result| result.as_ref().is_err_and(is_away)), "{results:?}");
}
