//! The queue against a list in memory.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{Tear, files, put, tear};
use crate::{Finding, Options, PushError, Queue};

const CAP_BYTES: u64 = 1500;
const HEADER_BYTES: u64 = 28;

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    Sync,
    Peek { most_bytes: usize, most_entries: usize },
    Acknowledge(u16),
    AcknowledgeEverything,
    DropOldest(u64),
    Clear,
    Reopen,
    Crash(Vec<Tear>, PositionCrash),
}

/// Where in the replacement of the position the crash came.
#[derive(Clone, Debug)]
enum PositionCrash {
    Outside,
    Writing(Tear),
    BetweenRenames,
}

fn step() -> impl Strategy<Value = Step> {
    let position = prop_oneof![
        Just(PositionCrash::Outside),
        tear().prop_map(PositionCrash::Writing),
        Just(PositionCrash::BetweenRenames),
    ];
    prop_oneof![
        12 => (0..120_usize).prop_map(Step::Push),
        3 => Just(Step::Sync),
        3 => (0..400_usize, 0..8_usize).prop_map(|(most_bytes, most_entries)| Step::Peek { most_bytes, most_entries }),
        3 => any::<u16>().prop_map(Step::Acknowledge),
        1 => Just(Step::AcknowledgeEverything),
        1 => (0..CAP_BYTES + 100).prop_map(Step::DropOldest),
        1 => Just(Step::Clear),
        1 => Just(Step::Reopen),
        3 => (vec(tear(), 8), position).prop_map(|(tears, position)| Step::Crash(tears, position)),
    ]
}

#[derive(Clone, PartialEq, Debug)]
struct Item {
    sequence: u64,
    bytes: Vec<u8>,
    // A sync succeeded since it was pushed.
    safe: bool,
}

struct Pair {
    folder: TempDir,
    queue: Option<Queue>,
    model: VecDeque<Item>,
    pushed: u32,
    // Lengths of the segment files at the last sync: what a crash cannot take.
    safe: BTreeMap<String, usize>,
}

fn options(folder: &Path) -> Options {
    Options { segment_bytes: 200, ..Options::new(folder, CAP_BYTES) }
}

impl Pair {
    fn new() -> Self {
        let folder = super::folder();
        let mut pair = Self { folder, queue: None, model: VecDeque::new(), pushed: 0, safe: BTreeMap::new() };
        assert_eq!(pair.reopen(), []);
        pair
    }

    fn queue(&mut self) -> &mut Queue {
        self.queue.as_mut().expect("it is open between steps")
    }

    fn reopen(&mut self) -> Vec<Finding> {
        self.queue = None;
        let (queue, recovery) = Queue::open(options(self.folder.path())).expect("any state can be opened");
        self.queue = Some(queue);
        self.remember_safe();
        recovery.findings
    }

    fn remember_safe(&mut self) {
        self.safe = files(self.folder.path()).into_iter().map(|(name, bytes)| (name, bytes.len())).collect();
    }

    fn all(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.queue().peek(usize::MAX, usize::MAX).expect("the files are there")
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Push(length) => self.push(length),
            Step::Sync => {
                self.queue().sync().expect("the disk has space");
                self.model.iter_mut().for_each(|item| item.safe = true);
                self.remember_safe();
                assert_eq!(self.all().len(), self.model.len());
            }
            Step::Peek { most_bytes, most_entries } => self.peek(most_bytes, most_entries),
            Step::Acknowledge(which) => {
                let all = self.all();
                let Some((through, _)) = all.get(all.len() * usize::from(which) / usize::from(u16::MAX)) else {
                    return;
                };
                self.queue().acknowledge(*through).expect("the disk has space");
                self.model.retain(|item| item.sequence > *through);
            }
            Step::AcknowledgeEverything => {
                let through = self.all().last().map_or(0, |(sequence, _)| *sequence);
                self.queue().acknowledge(u64::MAX).expect("the disk has space");
                self.model.retain(|item| item.sequence > through);
            }
            Step::DropOldest(until_free_bytes) => self.drop_oldest(until_free_bytes),
            Step::Clear => {
                self.queue().clear().expect("the disk has space");
                self.model.clear();
                assert!(files(self.folder.path()).keys().all(|name| name.starts_with("position")));
            }
            Step::Reopen => {
                assert_eq!(self.reopen(), []);
                self.model.iter_mut().for_each(|item| item.safe = true);
            }
            Step::Crash(tears, position) => self.crash(&tears, &position),
        }
        let bytes = self.model.iter().map(|item| item.bytes.len() as u64 + HEADER_BYTES).sum::<u64>();
        let length = self.model.len() as u64;
        assert_eq!((self.queue().bytes(), self.queue().len()), (bytes, length));
        assert_eq!(self.queue().oldest().is_some(), length > 0);
        assert!(self.queue().take_found().is_clean());
        let seen = Queue::read_only(self.folder.path()).expect("the folder is there");
        let seen: Vec<_> =
            seen.map(|entry| entry.expect("the files are there")).map(|it| (it.sequence, it.bytes)).collect();
        assert_eq!(seen, self.model.iter().map(|item| (item.sequence, item.bytes.clone())).collect::<Vec<_>>());
    }

    fn push(&mut self, length: usize) {
        self.pushed += 1;
        // No two entries are alike, and the length of some is that of a torn one.
        let bytes: Vec<u8> = self.pushed.to_le_bytes().iter().copied().cycle().take(length).collect();
        let full = self.queue().bytes() + length as u64 + HEADER_BYTES > CAP_BYTES;
        match self.queue().push(&bytes) {
            Ok(sequence) => {
                assert!(!full && self.model.back().is_none_or(|last| last.sequence < sequence));
                self.model.push_back(Item { sequence, bytes, safe: false });
            }
            Err(PushError::Full { cap_bytes }) => assert!(full && cap_bytes == CAP_BYTES),
            Err(error) => panic!("{error}"),
        }
    }

    fn peek(&mut self, most_bytes: usize, most_entries: usize) {
        let seen = self.queue().peek(most_bytes, most_entries).expect("the files are there");
        // A full segment is synced by itself, so more may be safe than the model knows; never less.
        let (mut bytes, mut fitting) = (0, 0);
        for (index, item) in self.model.iter().enumerate().take(most_entries) {
            bytes += item.bytes.len();
            if index > 0 && bytes > most_bytes {
                break;
            }
            fitting += 1;
        }
        let safe = self.model.iter().filter(|item| item.safe).count();
        assert!((fitting.min(safe)..=fitting).contains(&seen.len()), "{} of {safe} and {fitting}", seen.len());
        assert!(self.model.iter().zip(&seen).all(|(item, seen)| (item.sequence, &item.bytes) == (seen.0, &seen.1)));
    }

    fn drop_oldest(&mut self, until_free_bytes: u64) {
        let mut excess = self.queue().bytes().saturating_sub(CAP_BYTES.saturating_sub(until_free_bytes));
        for (sequence, bytes) in self.queue().drop_oldest(until_free_bytes).expect("the disk has space") {
            assert!(excess > 0, "more was dropped than had to be");
            excess = excess.saturating_sub(bytes.len() as u64 + HEADER_BYTES);
            let item = self.model.pop_front().expect("only what is there can be dropped");
            assert_eq!((item.sequence, item.bytes), (sequence, bytes));
        }
        assert_eq!(excess, 0, "less was dropped than had to be");
    }

    fn crash(&mut self, tears: &[Tear], position: &PositionCrash) {
        self.queue = None;
        let folder = self.folder.path();
        let segments: Vec<_> = files(folder).into_keys().filter(|name| name.starts_with("q-")).collect();
        for (name, tear) in segments.iter().zip(tears.iter().cycle()) {
            tear.apply(&folder.join(name), self.safe.get(name).copied().unwrap_or(0));
        }
        let current = folder.join("position");
        match position {
            PositionCrash::Outside => {}
            PositionCrash::Writing(tear) => {
                fs::copy(&current, folder.join("position.new")).expect("the folder is writable");
                tear.apply(&folder.join("position.new"), 0);
            }
            PositionCrash::BetweenRenames => {
                fs::copy(&current, folder.join("position.new")).expect("the folder is writable");
                fs::rename(&current, folder.join("position.bak")).expect("the folder is writable");
            }
        }
        let before = files(folder);
        let findings = self.reopen();
        let seen = self.all();
        for finding in &findings {
            if let Finding::MissingEntries { first, last } = finding {
                let gone = self.model.iter().filter(|item| (first..=last).contains(&&item.sequence));
                assert!(gone.map(|item| item.safe).all(|safe| !safe), "{finding} of {:?} in {before:?}", self.model);
            }
        }
        let is_seen = |item: &Item| seen.iter().any(|(sequence, _)| *sequence == item.sequence);
        self.model.retain(|item| item.safe || is_seen(item));
        self.model.iter_mut().for_each(|item| item.safe = true);
        let expected: Vec<_> = self.model.iter().map(|item| (item.sequence, item.bytes.clone())).collect();
        assert_eq!(seen, expected, "{findings:?}");
        // Opening put everything in order, and a crash in the middle of that finds the same.
        let after = files(self.folder.path());
        put(self.folder.path(), &before);
        self.reopen();
        assert_eq!(files(self.folder.path()), after);
        assert_eq!(self.reopen(), []);
    }
}

proptest! {
    #[test]
    fn what_was_synced_and_not_acknowledged_is_there_once_and_in_order(steps in vec(step(), 1..50)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.run(step);
        }
    }
}
