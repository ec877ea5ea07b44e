//! How long a what-if over the whole fleet takes, against the bare resolver over the same machines in memory, in one run.
//!
//! `cargo bench -p server --bench what_if [-- SESSIONS]`, a million unless told otherwise. `WEAVEWATCH_BENCH_POSTGRES` names a
//! PostgreSQL database that may be emptied; otherwise it is a SQLite file. Both sides replay every session as it is and under
//! the other policy, on all processors; the answers must be the same.

#[path = "fleet/situation.rs"]
mod situation;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use resolver::replay::replay;
use server::store::{Filter, Place, Store, content};
use server::what_if::{Question, ask};
use situation::situation;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use wire::{Crossing, Policy, Replay, Situation, Split};

const MACHINES: usize = 1_000;
const ROUNDS: usize = 3;
/// Rows in one insert; eight values each stay far below the limits of both databases.
const ROWS: usize = 500;

fn main() {
    let sessions = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    for (name, distinct) in [("situations of a fleet", 2_000), ("every situation different", sessions)] {
        runtime.block_on(variant(name, sessions, distinct.min(sessions)));
    }
}

async fn variant(name: &str, sessions: usize, distinct: usize) {
    let situations: Vec<_> = (0..distinct).map(situation).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = match std::env::var("WEAVEWATCH_BENCH_POSTGRES") {
        Ok(url) => Place::Postgres(url),
        Err(_) => Place::File(folder.path().join("fleet.sqlite")),
    };
    let store = Store::open(&place).await.expect("the database opens");
    store.migrate().await.expect("the schema fits");
    fill(&place, &situations, sessions).await;
    let question = Question {
        change: resolver::replay::Change { policy: Some(Policy::Adr039), ..Default::default() },
        ..Default::default()
    };

    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let better = replay_all(&situations, sessions);
        bare.push(start.elapsed());
        let start = Instant::now();
        let answer = ask(&store, &Filter::default(), &question).await.expect("the database answers");
        ours.push(start.elapsed());
        let effect = answer.effects.iter().find(|effect| effect.effect == "better").expect("all five are there");
        assert_eq!((answer.logs, answer.situations), (sessions as u64, distinct as u64));
        assert_eq!(effect.logs, better as u64, "both count the same");
    }
    let (bare, ours) = (median(&mut bare), median(&mut ours));
    println!(
        "{name}: {sessions} sessions, {distinct} situations: bare {bare:.2?}, what-if {ours:.2?}, ratio {:.2} (medians of {ROUNDS})",
        ours.as_secs_f64() / bare.as_secs_f64()
    );
    store.close().await;
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Every session twice, on all processors; answers how many get better.
fn replay_all(situations: &[Situation], sessions: usize) -> usize {
    let good = |answer: &Replay| answer.split == Split::Engaged || answer.crossing == Crossing::None;
    let parts = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let part = |part: usize| {
            let numbers = (part..sessions).step_by(parts);
            numbers
                .filter(|number| {
                    let Situation { machine, path, policy, .. } = &situations[number % situations.len()];
                    let before = std::hint::black_box(replay(machine, *path, *policy));
                    let after = std::hint::black_box(replay(machine, *path, Policy::Adr039));
                    !good(&before) && good(&after)
                })
                .count()
        };
        let threads: Vec<_> = (0..parts).map(|own| scope.spawn(move || part(own))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a replay is total")).sum()
    })
}

/// The rows as the server would have written them, as far as the question reads them.
async fn fill(place: &Place, situations: &[Situation], sessions: usize) {
    let url = match place {
        Place::File(path) => format!("sqlite://{}?mode=rwc", path.display()),
        Place::Postgres(url) => url.clone(),
    };
    let mut connection = AnyConnection::connect(&url).await.expect("the database opens");
    for table in ["logs", "situations", "cohorts", "machines"] {
        connection.execute(AssertSqlSafe(format!("delete from {table}"))).await.expect("it is there");
    }
    let contents: Vec<_> = situations.iter().map(|own| content(own).expect("plain data")).collect();
    assert_eq!(contents.iter().map(|(id, _)| id).collect::<HashSet<_>>().len(), situations.len(), "all are different");
    let rows = contents.iter().map(|(id, json)| format!("({id}, '{json}')"));
    insert(&mut connection, "situations (id, json)", rows).await;
    let rows = (0..MACHINES).map(|number| format!("('{number:032x}', '2026-01-01T00:00:00.000Z')"));
    insert(&mut connection, "machines (id, first_seen)", rows).await;
    insert(&mut connection, "cohorts (id, label)", (0..40).map(|number| format!("('{number:016x}', 'PC {number}')")))
        .await;
    let rows = (0..sessions).map(|number| {
        let (machine, situation) = (number % MACHINES, contents[number % contents.len()].0);
        let cohort = number % contents.len() % 40;
        format!("('{number:032x}', '{machine:032x}', '{number:032x}', 'a.log', 't', 0, 'engaged', '{cohort:016x}', {situation})")
    });
    insert(&mut connection, "logs (id, machine, log, file, received, end_offset, outcome, cohort, situation)", rows)
        .await;
    let statistics = "analyze";
    connection.execute(statistics).await.expect("both know it");
    connection.close().await.expect("it closes");
}

async fn insert(connection: &mut AnyConnection, into: &str, rows: impl Iterator<Item = String>) {
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let mut transaction = connection.begin().await.expect("a transaction begins");
        for _ in 0..100 {
            let values: Vec<_> = rows.by_ref().take(ROWS).collect();
            if values.is_empty() {
                break;
            }
            let sql = format!("insert into {into} values {}", values.join(", "));
            transaction.execute(AssertSqlSafe(sql)).await.expect("the rows fit");
        }
        transaction.commit().await.expect("it commits");
    }
}
