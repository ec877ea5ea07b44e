//! Any damage to any file: never a panic, nothing invented, nothing lost that can be reached, told once.

use std::collections::BTreeMap;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::{files, garble};
use crate::{Finding, Map, Options, Queue};

#[derive(Clone, Debug)]
enum Damage {
    Garble { from: Index, length: usize, seed: u8 },
    Nuls { from: Index, length: usize },
    Cut(Index),
    Insert { at: Index, bytes: Vec<u8> },
    Swap { from: Index, length: usize },
    Remove,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), 1..60_usize, any::<u8>()).prop_map(|(from, length, seed)| Damage::Garble {
            from,
            length,
            seed
        }),
        (any::<Index>(), 1..4096_usize).prop_map(|(from, length)| Damage::Nuls { from, length }),
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), vec(any::<u8>(), 1..50)).prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        (any::<Index>(), 1..100_usize).prop_map(|(from, length)| Damage::Swap { from, length }),
        Just(Damage::Remove),
    ]
}

impl Damage {
    /// The file afterwards, if there is one.
    fn apply(&self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let end = |from: usize, length: usize| bytes.len().min(from + length);
        let at = |index: &Index| index.index(bytes.len() + 1);
        match self {
            Self::Garble { from, length, seed } => {
                let range = at(from)..end(at(from), *length);
                garble(&mut bytes[range], *seed);
            }
            Self::Nuls { from, length } => {
                let range = at(from)..end(at(from), *length);
                bytes[range].fill(0);
            }
            Self::Cut(from) => {
                let from = at(from);
                bytes.truncate(from);
            }
            Self::Insert { at: index, bytes: new } => {
                let at = at(index);
                bytes.splice(at..at, new.iter().copied());
            }
            // Old bytes once more at the end, as when a disk writes a block to the wrong place.
            Self::Swap { from, length } => {
                let range = at(from)..end(at(from), *length);
                bytes.extend_from_within(range);
            }
            Self::Remove => return None,
        }
        Some(bytes)
    }
}

fn entry(sequence: u64) -> Vec<u8> {
    format!("entry {sequence} ").repeat(1 + (sequence % 4) as usize).into_bytes()
}

proptest! {
    #[test]
    fn a_damaged_queue_gives_every_entry_that_can_be_reached(
        pushed in 1..30_u64,
        acknowledged in 0..30_u64,
        damages in vec((any::<Index>(), damage()), 1..4),
    ) {
        let folder = super::folder();
        let folder = folder.path();
        let open = || {
            let options = Options { segment_bytes: 200, ..Options::new(folder, 10_000) };
            Queue::open(options).expect("any state can be opened")
        };
        let (mut queue, _) = open();
        for sequence in 1..=pushed {
            prop_assert_eq!(queue.push(&entry(sequence)).expect("there is space"), sequence);
        }
        queue.sync().expect("the disk has space");
        queue.acknowledge(acknowledged.min(pushed)).expect("the disk has space");
        drop(queue);

        let before = files(folder);
        for (which, damage) in &damages {
            let now = files(folder);
            let Some((name, bytes)) = now.into_iter().nth(which.index(before.len())) else { continue };
            match damage.apply(bytes) {
                Some(bytes) => fs::write(folder.join(name), bytes).expect("the folder is writable"),
                None => fs::remove_file(folder.join(name)).expect("the folder is writable"),
            }
        }
        let damaged = files(folder);
        // Entries that still stand somewhere, byte for byte, and before the later ones of their file.
        let place = |bytes: &[u8], sequence: u64| bytes.windows(entry(sequence).len() + 28).position(|window| {
            window[12..20] == sequence.to_le_bytes() && window[28..] == entry(sequence)
                && before.values().any(|before| before.windows(window.len()).any(|old| old == window))
        });
        let stands = |sequence: &u64| damaged.iter().filter(|(name, _)| name.starts_with("q-")).any(|(_, bytes)| {
            place(bytes, *sequence).is_some_and(|at| {
                (sequence + 1..=pushed).filter_map(|later| place(bytes, later)).all(|later| later > at)
            })
        });
        let reachable: Vec<u64> = (acknowledged + 1..=pushed).filter(stands).collect();

        let (mut queue, recovery) = open();
        let seen = queue.peek(usize::MAX, usize::MAX).expect("the files are there");
        let numbers: Vec<u64> = seen.iter().map(|(sequence, _)| *sequence).collect();
        prop_assert!(numbers.is_sorted_by(|left, right| left < right));
        for (sequence, bytes) in &seen {
            prop_assert!((1..=pushed).contains(sequence));
            prop_assert_eq!(bytes, &entry(*sequence));
        }
        for sequence in &reachable {
            prop_assert!(numbers.contains(sequence), "{} is not among {:?}; {}", sequence, numbers, recovery);
        }
        // While the position is there, each gap is told.
        if before.get("position") == damaged.get("position") {
            prop_assert!(numbers.iter().all(|sequence| *sequence > acknowledged));
            let gaps = (acknowledged + 1..numbers.last().copied().unwrap_or(0)).filter(|it| !numbers.contains(it));
            prop_assert_eq!(recovery.missing_entries(), gaps.count() as u64, "{}", recovery);
        }
        let last = queue.push(b"goes on").expect("there is space");
        queue.sync().expect("the disk has space");
        drop(queue);
        let (mut queue, recovery) = open();
        prop_assert_eq!(recovery.findings, Vec::<Finding>::new());
        let mut expected = seen;
        expected.push((last, b"goes on".to_vec()));
        prop_assert_eq!(queue.peek(usize::MAX, usize::MAX).expect("the files are there"), expected);
    }

    #[test]
    fn a_damaged_map_gives_only_what_was_set_and_one_broken_snapshot_costs_nothing(
        commits in vec((0..6_u8, any::<Option<u32>>(), 0..4_u8), 1..30),
        damages in vec((any::<Index>(), damage()), 1..4),
    ) {
        let folder = super::folder();
        let folder = folder.path();
        let open = || Map::<u32>::open(folder, "m", "test/1").expect("any state can be opened");
        let values = |map: &Map<u32>| map.iter().map(|(key, value)| (key.to_owned(), *value)).collect::<BTreeMap<_, _>>();
        let (mut map, _) = open();
        for (key, value, compact) in &commits {
            match value {
                Some(value) => map.set(key.to_string(), *value),
                None => drop(map.remove(&key.to_string())),
            }
            if *compact == 0 { map.compact() } else { map.commit() }.expect("the disk has space");
        }
        let committed = values(&map);
        drop(map);

        let before = files(folder);
        for (which, damage) in &damages {
            let now = files(folder);
            let Some((name, bytes)) = now.into_iter().nth(which.index(before.len().max(1))) else { continue };
            match damage.apply(bytes) {
                Some(bytes) => fs::write(folder.join(name), bytes).expect("the folder is writable"),
                None => fs::remove_file(folder.join(name)).expect("the folder is writable"),
            }
        }
        let damaged = files(folder);
        let (map, recovery) = open();
        let seen = values(&map);
        for (key, value) in &seen {
            prop_assert!(commits.iter().any(|(k, v, _)| (&k.to_string(), v) == (key, &Some(*value))), "{}", recovery);
        }
        let same = |name: &str| before.get(name) == damaged.get(name);
        if same("m.journal") && (same("m.snapshot") || (same("m.snapshot.bak") && same("m.journal.bak"))) {
            prop_assert_eq!(&seen, &committed, "{}", recovery);
        }
        drop(map);
        let (map, recovery) = open();
        prop_assert_eq!(recovery.findings, Vec::<Finding>::new());
        prop_assert_eq!(values(&map), seen);
    }
}
