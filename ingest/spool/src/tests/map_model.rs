//! The map against a map in memory.

use std::collections::BTreeMap;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{Tear, files, put, tear};
use crate::{Finding, Map};

type Value = (u32, String);

#[derive(Clone, Debug)]
enum Step {
    Set(u8, u32),
    Remove(u8),
    Commit,
    Compact,
    /// An orderly end and a kill are one: what is not committed is gone.
    Reopen,
    CrashInCommit(Tear),
    CrashInCompaction(Stage, Tear),
}

/// Where in a compaction the crash came.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Writing,
    BetweenRenames,
    BeforeTheJournalMoves,
}

fn step() -> impl Strategy<Value = Step> {
    let stage = prop::sample::select(vec![Stage::Writing, Stage::BetweenRenames, Stage::BeforeTheJournalMoves]);
    prop_oneof![
        12 => (0..6_u8, any::<u32>()).prop_map(|(key, value)| Step::Set(key, value)),
        4 => (0..6_u8).prop_map(Step::Remove),
        6 => Just(Step::Commit),
        2 => Just(Step::Compact),
        2 => Just(Step::Reopen),
        3 => tear().prop_map(Step::CrashInCommit),
        3 => (stage, tear()).prop_map(|(stage, tear)| Step::CrashInCompaction(stage, tear)),
    ]
}

struct Pair {
    folder: TempDir,
    map: Option<Map<Value>>,
    model: BTreeMap<String, Value>,
    committed: BTreeMap<String, Value>,
}

impl Pair {
    fn new() -> Self {
        let folder = super::folder();
        let mut pair = Self { folder, map: None, model: BTreeMap::new(), committed: BTreeMap::new() };
        assert_eq!(pair.reopen(), []);
        pair
    }

    fn map(&mut self) -> &mut Map<Value> {
        self.map.as_mut().expect("it is open between steps")
    }

    fn reopen(&mut self) -> Vec<Finding> {
        self.map = None;
        let (map, recovery) = Map::open(self.folder.path(), "m", "test/1").expect("any state can be opened");
        self.map = Some(map);
        recovery.findings
    }

    fn values(&mut self) -> BTreeMap<String, Value> {
        self.map().iter().map(|(key, value)| (key.to_owned(), value.clone())).collect()
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Set(key, number) => {
                // Line ends and controls in keys and values are no line ends in the file.
                let (key, value) = (format!("key\n{key}"), (number, format!("\0{number}\r\n")));
                self.model.insert(key.clone(), value.clone());
                self.map().set(key, value);
            }
            Step::Remove(key) => {
                let key = format!("key\n{key}");
                let removed = self.model.remove(&key);
                assert_eq!(self.map().remove(&key), removed);
            }
            Step::Commit => {
                self.map().commit().expect("the disk has space");
                self.committed = self.model.clone();
            }
            Step::Compact => {
                self.map().compact().expect("the disk has space");
                self.committed = self.model.clone();
            }
            Step::Reopen => {
                assert_eq!(self.reopen(), []);
                self.model = self.committed.clone();
            }
            Step::CrashInCommit(tear) => self.crash_in_commit(&tear),
            Step::CrashInCompaction(stage, tear) => self.crash_in_compaction(stage, &tear),
        }
        assert_eq!(self.values(), self.model);
        let on_disk = Map::<Value>::read_only(self.folder.path(), "m", "test/1").expect("the files are in order");
        assert_eq!(on_disk, self.committed);
    }

    fn crash_in_commit(&mut self, tear: &Tear) {
        let journal = self.folder.path().join("m.journal");
        let before = fs::read(&journal).map_or(0, |bytes| bytes.len());
        self.map().commit().expect("the disk has space");
        if journal.exists() {
            tear.apply(&journal, before);
        }
        self.reopen();
        let values = self.values();
        for key in self.committed.keys().chain(self.model.keys()).chain(values.keys()) {
            let value = values.get(key);
            assert!(value == self.committed.get(key) || value == self.model.get(key), "{key}: {value:?}");
        }
        assert_eq!(self.reopen(), []);
        self.committed = values.clone();
        self.model = values;
    }

    fn crash_in_compaction(&mut self, stage: Stage, tear: &Tear) {
        self.map().commit().expect("the disk has space");
        let mut crashed = files(self.folder.path());
        self.map().compact().expect("the disk has space");
        let snapshot = files(self.folder.path()).remove("m.snapshot").expect("it was just written");
        let previous = crashed.get("m.snapshot").cloned();
        if matches!(stage, Stage::BetweenRenames | Stage::BeforeTheJournalMoves)
            && let Some(previous) = previous
        {
            crashed.remove("m.snapshot");
            crashed.insert("m.snapshot.bak".to_owned(), previous);
        }
        let name = if matches!(stage, Stage::BeforeTheJournalMoves) { "m.snapshot" } else { "m.snapshot.new" };
        crashed.insert(name.to_owned(), snapshot);
        self.map = None;
        put(self.folder.path(), &crashed);
        if matches!(stage, Stage::Writing) {
            tear.apply(&self.folder.path().join(name), 0);
        }
        self.reopen();
        self.committed = self.model.clone();
        assert_eq!(self.values(), self.model);
        assert_eq!(self.reopen(), []);
    }
}

proptest! {
    #[test]
    fn what_was_committed_is_there(steps in vec(step(), 1..50)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.run(step);
        }
    }
}
