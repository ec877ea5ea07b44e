//! Whatever way a log comes in, the same rows come out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use wire::{FlawKind, Kind, Observation, Reason, Segment, Value};

use crate::sample::{Sample, batch, event, flaw, log_id, machine};
use crate::world::{World, on_each_database};

const LENGTH: u64 = 1_000;

/// What the whole log holds: some offsets have an event and a flaw.
fn observations() -> impl Strategy<Value = Vec<Observation>> {
    prop::collection::btree_map(0..LENGTH, 0_u8..8, 0..20).prop_map(|offsets| {
        let mut observations = Vec::new();
        for (line, (offset, choice)) in (1..).zip(offsets) {
            let split = |split: u64, reasons: &[&str]| {
                let reasons = reasons.iter().map(|token| Reason::new(token)).collect();
                [("reasons", Value::Reasons(reasons)), ("split", Value::Uint(split)), ("generation", Value::Uint(2))]
            };
            let on = Sample { split: 1, reasons: &[], ..Sample::default() }.placement();
            let off = Sample { split: 0, reasons: &["same_adapter"], ..Sample::default() }.placement();
            let made = match choice {
                0 => on,
                1 => off,
                2 => event(0, 0, Kind::PlacementChanged, "wp.changed", &split(0, &["authored_mask"])),
                3 => event(0, 0, Kind::SplitEngaged, "s.engaged", &[]),
                4 => event(0, 0, Kind::SplitRetired, "s.retired", &[]),
                5 => event(0, 0, Kind::Device, "d", &[]),
                _ => event(0, 0, Kind::Window, "w", &[]),
            };
            observations.push(Observation::Event(wire::Event { offset, line, ..made }));
            if choice % 3 == 0 {
                observations.push(flaw(offset, line, FlawKind::Spliced));
            }
        }
        observations
    })
}

/// Ranges that overlap, repeat, come in any order and together cover the log.
fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let cuts = prop::collection::btree_set(1..LENGTH, 0..6);
    let extra = prop::collection::vec((0..LENGTH, 0..=LENGTH), 0..6);
    (cuts, extra).prop_flat_map(|(cuts, extra)| {
        let ends: Vec<_> = cuts.into_iter().chain([LENGTH]).collect();
        let mut ranges = Vec::new();
        let mut start = 0;
        for end in ends {
            ranges.push((start, end));
            start = end;
        }
        ranges.extend(extra.into_iter().filter(|(start, end)| start <= end));
        let again: Vec<_> = ranges.iter().step_by(2).copied().collect();
        ranges.extend(again);
        Just(ranges).prop_shuffle()
    })
}

fn piece(all: &[Observation], (start, end): (u64, u64)) -> Segment {
    let mut segment = Sample::default().segment();
    (segment.start, segment.end) = (start, end);
    segment.observations = all.iter().filter(|one| (start..end).contains(&one.offset())).cloned().collect();
    // The totals of the log up to here.
    segment.facts.counts.bytes = end;
    segment.facts.counts.records = all.iter().filter(|one| one.offset() < end).count() as u64;
    segment
}

/// The rows of one machine's log, with its names blanked out.
fn rows_of(rows: &[String], number: u32) -> Vec<String> {
    let (machine, log) = (machine(number), log_id("a.log"));
    let id = server::store::log_id(&machine, &log);
    let own = rows.iter().filter(|row| row.starts_with(&id));
    own.map(|row| row.replace(&id, "LOG").replace(&machine, "MACHINE")).collect()
}

/// The same range as a reader sees it who knows no more than the log up to its end: every such reader words things in
/// another way, and misses other records.
fn reading(all: &[Observation], range: (u64, u64)) -> Segment {
    let mut segment = piece(all, range);
    segment.observations.retain(|one| !(one.offset() + range.1).is_multiple_of(5));
    for observation in &mut segment.observations {
        match observation {
            Observation::Event(event) => event.time = Some(format!("known up to {}", range.1)),
            Observation::Flaw(flaw) => flaw.line = range.1,
        }
    }
    segment
}

/// Uploads two lists of pieces for every case, each to a machine of its own, and compares what is stored. `together`
/// sends a list as one batch.
fn same_rows<T: std::fmt::Debug + Clone>(
    world: &World,
    cases: impl Strategy<Value = T>,
    pieces: impl Fn(&T) -> (Vec<Segment>, Vec<Segment>, bool),
) -> Result<(), TestError<T>> {
    let handle = tokio::runtime::Handle::current();
    let machines = AtomicU32::new(0);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    runner.run(&cases, |case| {
        let first = machines.fetch_add(2, Ordering::Relaxed);
        let (one, other, together) = pieces(&case);
        let rows = handle.block_on(async {
            world.upload(&batch(first, one)).await;
            let size = if together { other.len() } else { 1 };
            for pieces in other.chunks(size) {
                world.upload(&batch(first + 1, pieces.to_vec())).await;
            }
            world.rows().await
        });
        let expected = rows_of(&rows, first);
        prop_assert!(!expected.is_empty());
        prop_assert_eq!(expected, rows_of(&rows, first + 1));
        Ok(())
    })
}

#[test]
fn overlapping_ranges_in_any_order_are_the_whole_log() {
    on_each_database(async |world| {
        let law = move || {
            same_rows(&world, (observations(), ranges(), any::<bool>()), |(all, ranges, together)| {
                let pieces = ranges.iter().map(|range| piece(all, *range)).collect();
                (vec![piece(all, (0, LENGTH))], pieces, *together)
            })
        };
        tokio::task::spawn_blocking(law).await.expect("no panic").expect("the law holds");
    });
}

#[test]
fn readings_that_contradict_each_other_end_the_same_in_any_order() {
    on_each_database(async |world| {
        let orders = ranges().prop_flat_map(|ranges| (Just(ranges.clone()), Just(ranges).prop_shuffle()));
        let law = move || {
            same_rows(&world, (observations(), orders), |(all, (ranges, shuffled))| {
                let readings = |ranges: &[(u64, u64)]| ranges.iter().map(|range| reading(all, *range)).collect();
                (readings(ranges), readings(shuffled), false)
            })
        };
        tokio::task::spawn_blocking(law).await.expect("no panic").expect("the law holds");
    });
}

#[test]
fn pieces_that_come_at_the_same_time_lose_nothing() {
    on_each_database(async |world| {
        let world = Arc::new(world);
        let mut all = vec![Observation::Event(Sample { split: 1, reasons: &[], ..Sample::default() }.placement())];
        all.extend((0..90).map(|n| Observation::Event(event(101 + n * 10, 13 + n, Kind::Window, "w", &[]))));
        world.upload(&batch(1, vec![piece(&all, (0, LENGTH))])).await;
        // Each piece also brings a log that all of them touch, in another place of the batch.
        let other = Sample { name: "b.log", ..Sample::default() }.segment();
        let uploads: Vec<_> = (0..20)
            .map(|n| {
                let own = piece(&all, (n * 50, (n + 1) * 50));
                let segments = if n % 2 == 0 { vec![own, other.clone()] } else { vec![other.clone(), own] };
                let world = world.clone();
                tokio::spawn(async move { world.upload(&batch(2, segments)).await })
            })
            .collect();
        for upload in uploads {
            assert_eq!(upload.await.expect("no panic").accepted, 2);
        }
        let rows = world.rows().await;
        assert_eq!(rows_of(&rows, 1), rows_of(&rows, 2));
    });
}

/// As an agent sends a log that grows: every range begins with the last record of the one before, which it has seen anew.
fn growing(all: &[Observation], cuts: &std::collections::BTreeSet<u64>) -> Vec<Segment> {
    let mut start = 0;
    let ends = cuts.iter().copied().chain([LENGTH]);
    ends.map(|end| {
        let range = piece(all, (start, end));
        start = range.observations.last().map_or(end, Observation::offset);
        range
    })
    .collect()
}

#[test]
fn a_log_that_grows_is_judged_as_if_it_came_at_once() {
    on_each_database(async |world| {
        let cuts = prop::collection::btree_set(1..LENGTH, 0..12);
        let law = move || {
            same_rows(&world, (observations(), cuts), |(all, cuts)| {
                (vec![piece(all, (0, LENGTH))], growing(all, cuts), false)
            })
        };
        tokio::task::spawn_blocking(law).await.expect("no panic").expect("the law holds");
    });
}
