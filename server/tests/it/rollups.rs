//! Whatever happens to logs, the roll-ups say what the rows say.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use server::store::{Dimension, Filter};
use sqlx::Executor;
use wire::{Observation, Segment};

use crate::sample::{Sample, batch, machine};
use crate::world::{World, connect, on_each_database};

/// Something that happens to the database.
#[derive(Clone, Debug)]
enum Step {
    /// A piece of a log, maybe one that is there; later pieces decide what the log says.
    Upload {
        machine: u32,
        log: u8,
        piece: u8,
        sample: usize,
    },
    Delete {
        machine: u32,
    },
}

const NVIDIA: &str = "NVIDIA GeForce RTX 3080 Laptop GPU";
const INTEL: &str = "Intel(R) Iris(R) Xe Graphics";

/// Logs that differ in everything that is counted.
fn samples() -> Vec<Sample> {
    let off = Sample::default();
    vec![
        Sample { split: 1, reasons: &[], ..off },
        Sample { split: 1, reasons: &[], exe: "Game.exe", started: Some("2026-09-15T00:00:00"), ..off },
        Sample { reasons: &["presenter_ineligible", "weave_on_ingest"], started: Some("2026-10-01T23:59:59"), ..off },
        Sample { reasons: &["same_adapter"], render: INTEL, started: Some("2026-09-14T00:00:00"), ..off },
        Sample { reasons: &["killed_by_env", "=", ""], exe: "", started: None, ..off },
        Sample { reasons: &["same_adapter", "all"], exe: "=Game.exe", started: Some("-000001-01-01T00:00:00"), ..off },
        Sample { reasons: &[], shape: "wp.unknown", ..off },
        off,
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let upload = (0..4_u32, 0..4_u8, 0..3_u8, 0..samples().len());
    let upload = upload.prop_map(|(machine, log, piece, sample)| Step::Upload { machine, log, piece, sample });
    let delete = (0..4_u32).prop_map(|machine| Step::Delete { machine });
    prop::collection::vec(prop_oneof![9 => upload, 1 => delete], 1..14)
}

/// Filters, and what to group by.
fn question() -> impl Strategy<Value = (Vec<(&'static str, &'static str)>, Vec<Dimension>)> {
    let filter = prop::sample::select(vec![
        ("from", "2026-09-14"),
        ("from", "2026-09-15"),
        ("from", "2026-09-14T12:00:00Z"),
        ("to", "2026-09-14"),
        ("to", "2026-09-15T00:00:00Z"),
        ("to", "2026-10-01"),
        ("day", "2026-09-14"),
        ("day", "2026-10-01"),
        ("day", "null"),
        ("reason", "same_adapter"),
        ("reason", "killed_by_env"),
        ("reason", "="),
        ("reason", "null"),
        ("exe", "Game.exe"),
        ("exe", "MyViewer.exe"),
        ("exe", "null"),
        ("render", NVIDIA),
        ("render", INTEL),
        ("split", "off"),
        ("outcome", "killed"),
        ("killed", "true"),
        ("retired", "false"),
    ]);
    let group_by = prop::sample::subsequence(Dimension::ALL.to_vec(), 0..=2).prop_shuffle();
    (prop::collection::vec(filter, 0..3), group_by)
}

async fn take(world: &World, first: u32, step: &Step) {
    match *step {
        Step::Upload { machine: number, log, piece, sample } => {
            let start = u64::from(piece) * 200;
            let sample = &samples()[sample];
            let mut placement = sample.placement();
            (placement.offset, placement.line) = (start + 100, start);
            let segment = Segment {
                log: machine(u32::from(log)),
                start,
                end: start + 200,
                observations: vec![Observation::Event(placement)],
                ..sample.segment()
            };
            world.upload(&batch(first + number, vec![segment])).await;
        }
        Step::Delete { machine: number } => {
            world
                .app
                .store
                .delete_machine(&machine(first + number), &server::audit::Actor::command_line())
                .await
                .expect("the database answers");
        }
    }
}

/// All roll-ups, readable.
async fn rollups(world: &World) -> Vec<String> {
    let mut connection = connect(&world.place).await;
    let hex = match world.place {
        server::store::Place::File(_) => "hex(days)",
        server::store::Place::Postgres(_) => "upper(encode(days, 'hex'))",
    };
    let machines = format!(
        "select dimension || '|' || value || '|' || machine || '|' || block || '|' || bits || '|' || {hex} from rollup_machines"
    );
    let mut all = Vec::new();
    for sql in [
        "select dimension || '|' || day || '|' || value || '|' || logs || '|' || machines || '|' || split_engaged || '|'
            || split_off || '|' || split_unknown || '|' || crossing_none || '|' || crossing_atlas_per_frame || '|'
            || crossing_every_present || '|' || crossing_unknown || '|' || interop_crossing || '|' || killed || '|'
            || retired || '|' || corrected || '|' || outcome_engaged || '|' || outcome_local || '|' || outcome_crossing || '|'
            || outcome_killed || '|' || outcome_taken_back || '|' || outcome_unknown from rollups",
        &machines,
        "select day || '|' || cohort || '|' || logs || '|' || measured || '|' || told_logs || '|' || told_megabytes_low || '|'
            || told_megabytes_high || '|' || reference_logs || '|' || reference_megabytes_low || '|' || reference_megabytes_high
            from cost_days",
    ] {
        let rows: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql.to_owned())).fetch_all(&mut connection).await.expect("the tables exist");
        all.extend(rows);
    }
    all.sort_unstable();
    all
}

#[test]
fn roll_ups_and_rows_give_the_same_answers() {
    on_each_database(async |world| {
        let handle = tokio::runtime::Handle::current();
        let law = move || {
            let machines = AtomicU32::new(0);
            let mut runner = TestRunner::new(Config { cases: 20, failure_persistence: None, ..Config::default() });
            let cases = (steps(), prop::collection::vec(question(), 20));
            runner.run(&cases, |(steps, questions)| {
                // Some machines are those of the case before.
                let first = machines.fetch_add(2, Ordering::Relaxed);
                handle.block_on(async {
                    for step in &steps {
                        take(&world, first, step).await;
                    }
                    for (pairs, group_by) in &questions {
                        let mut filter = Filter::default();
                        for (name, value) in pairs {
                            prop_assert_eq!(filter.take(name, value), Ok(true));
                        }
                        let store = &world.app.store;
                        let answer = store.summary(&filter, group_by).await.expect("the database answers");
                        let rows = async |group_by: &[Dimension]| {
                            store.groups_of_rows(&filter, group_by).await.expect("the database answers")
                        };
                        prop_assert_eq!(&rows(&[]).await[0].totals, &answer.total, "{:?}", pairs);
                        // A server that may not hold the logs in memory says the same.
                        let without = store.clone().with_frames_within(0).summary(&filter, group_by).await;
                        prop_assert_eq!(&without.expect("the database answers"), &answer, "{:?} {:?}", pairs, group_by);
                        if !group_by.is_empty() {
                            prop_assert_eq!(rows(group_by).await, answer.groups, "{:?} {:?}", pairs, group_by);
                        }
                    }
                    let kept = rollups(&world).await;
                    world.app.store.rebuild_rollups().await.expect("the database answers");
                    prop_assert_eq!(kept, rollups(&world).await, "counted anew they are the same");
                    Ok(())
                })
            })
        };
        tokio::task::spawn_blocking(law).await.expect("no panic").expect("the law holds");
    });
}

#[test]
fn uploads_of_many_machines_at_the_same_time_are_all_counted() {
    on_each_database(async |world| {
        let world = std::sync::Arc::new(world);
        let uploads: Vec<_> = (0..24_u32)
            .map(|n| {
                let world = world.clone();
                tokio::spawn(async move {
                    for log in 0..3 {
                        let sample = (n as usize + usize::from(log)) % samples().len();
                        take(&world, 0, &Step::Upload { machine: n % 8, log, piece: (n / 8) as u8, sample }).await;
                    }
                    if n % 6 == 5 {
                        take(&world, 0, &Step::Delete { machine: n % 8 }).await;
                    }
                })
            })
            .collect();
        for upload in uploads {
            upload.await.expect("no panic");
        }
        let kept = rollups(&world).await;
        assert!(kept.len() > 100, "{}", kept.len());
        world.app.store.rebuild_rollups().await.expect("the database answers");
        assert_eq!(kept, rollups(&world).await);
    });
}

#[test]
fn a_database_without_roll_ups_gets_them_when_it_is_opened() {
    on_each_database(async |world| {
        crate::summary::fleet(&world).await;
        let kept = rollups(&world).await;
        let mut connection = connect(&world.place).await;
        for table in ["rollups", "rollup_machines"] {
            connection.execute(sqlx::AssertSqlSafe(format!("delete from {table}"))).await.expect("the table exists");
        }
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 0);
        world.app.store.migrate().await.expect("the schema fits");
        assert_eq!(kept, rollups(&world).await);
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 7);
    });
}

#[test]
fn the_longest_names_fit() {
    on_each_database(async |world| {
        // Four bytes a character, none of which compresses.
        let name = |seed: u32| -> &'static str {
            let chars = (0..400_u32).map(|n| char::from_u32(0x1_0000 + (n * 7919 + seed) % 0x8000).unwrap_or('x'));
            chars.collect::<String>().leak()
        };
        let sample = Sample { render: name(1), scanout: name(2), exe: name(3), reasons: &["a"], ..Sample::default() };
        world.upload(&batch(1, vec![sample.segment()])).await;
        let answer = world.json("/api/v1/summary?group_by=gpu_pair").await;
        assert_eq!(answer["groups"][0]["logs"], 1);
        world.app.store.rebuild_rollups().await.expect("the database answers");
    });
}
