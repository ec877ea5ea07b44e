//! Named values on disk: all of them in memory, the changes in a journal, now and then everything in a snapshot.
//!
//! | file | what |
//! |---|---|
//! | `NAME.journal` | changes since the snapshot, one checked line each |
//! | `NAME.snapshot` | everything, as of its generation |
//! | `NAME.journal.bak`, `NAME.snapshot.bak` | the pair before; together with the journal they replace a broken snapshot |
//!
//! A line carries the generation of the snapshot that it changes, so it does no harm at which point of a compaction a
//! crash leaves the files. A commit is no transaction: after a crash in its middle each value is the old or the new one.

mod journal;
mod loading;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk;
use crate::recovery::{Finding, Recovery};
use journal::{Header, Journal, Names};

/// A journal that is shorter than this is not worth a snapshot.
const LEAST_COMPACTED_BYTES: u64 = 1 << 20;

/// The map. One process may have it open; a [`crate::Lock`] sees to that.
#[derive(Debug)]
pub struct Map<V> {
    folder: PathBuf,
    names: Names,
    schema: String,
    values: BTreeMap<String, V>,
    changed: BTreeSet<String>,
    generation: u64,
    snapshot_bytes: u64,
    journal: Journal,
    // A journal of this length is worth a snapshot.
    compact_at_bytes: u64,
}

impl<V: Serialize + DeserializeOwned> Map<V> {
    /// Opens the map in any state that a crash or damage left, puts its files in order and says what was found.
    /// `name` is the start of its files' names. `schema` names the format of the values, such as `"positions/1"`.
    ///
    /// # Errors
    /// When the folder cannot be read or made, or when the files hold another schema or values that are none of this
    /// type: a newer version wrote them, and going on would throw away what it knows.
    pub fn open(folder: &Path, name: &str, schema: &str) -> io::Result<(Self, Recovery)> {
        std::fs::create_dir_all(folder)?;
        let names = Names::of(name);
        let loaded = loading::load(folder, &names, schema)?;
        let mut recovery = loaded.recovery;
        let mut map = Self {
            folder: folder.to_owned(),
            schema: schema.to_owned(),
            values: loaded.values,
            changed: BTreeSet::new(),
            generation: loaded.generation,
            snapshot_bytes: loaded.snapshot_bytes,
            journal: Journal::at(folder.join(&names.journal), loaded.journal_bytes),
            compact_at_bytes: 0,
            names,
        };
        map.set_next_compaction();
        if loaded.leftover && disk::remove(&disk::next_of(folder, &map.names.snapshot)).is_ok() {
            recovery.note(Finding::LeftOver { file: format!("{}.new", map.names.snapshot) });
        }
        if !loaded.in_order {
            // Twice, so that the copy too is one that can be read.
            let repaired = map.write_snapshot(loaded.snapshot_whole).and_then(|()| map.write_snapshot(true));
            if let Err(error) = repaired {
                recovery.note(Finding::NotRepaired { file: map.names.snapshot.clone(), error: error.to_string() });
            }
        }
        Ok((map, recovery))
    }

    /// The values on disk, while another process may have the map open. What that one is just committing may be missing.
    ///
    /// # Errors
    /// As [`Map::open`].
    pub fn read_only(folder: &Path, name: &str, schema: &str) -> io::Result<BTreeMap<String, V>> {
        Ok(loading::load(folder, &Names::of(name), schema)?.values)
    }

    /// Sets a value in memory. [`Map::commit`] makes it safe.
    pub fn set(&mut self, key: impl Into<String>, value: V) {
        let key = key.into();
        self.changed.insert(key.clone());
        self.values.insert(key, value);
    }

    /// Removes a value in memory. [`Map::commit`] makes that safe.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let value = self.values.remove(key)?;
        self.changed.insert(key.to_owned());
        Some(value)
    }

    /// Makes every change since the last commit safe. Costs one sync of a file when there is one, else nothing.
    ///
    /// # Errors
    /// When the disk refuses, or a value cannot be written as JSON. The changes stay pending; call it again later.
    pub fn commit(&mut self) -> io::Result<()> {
        if self.changed.is_empty() {
            return Ok(());
        }
        if self.journal.is_shorter_than_written()? {
            // Somebody cut or removed the journal. What it held is still in memory.
            return self.write_snapshot(true);
        }
        let mut lines = Vec::new();
        if self.journal.bytes() == 0 {
            Header::of_journal(&self.schema, self.generation).append(&mut lines)?;
        }
        for key in &self.changed {
            journal::append(&mut lines, self.generation, key, self.values.get(key))?;
        }
        self.journal.append(&self.folder, &lines)?;
        self.changed.clear();
        if self.journal.bytes() > self.compact_at_bytes && self.write_snapshot(true).is_err() {
            // The changes are safe in the journal. It may grow on for a while before the next try.
            self.compact_at_bytes = self.journal.bytes() + LEAST_COMPACTED_BYTES;
        }
        Ok(())
    }

    /// Commits and writes everything into a new snapshot, as [`Map::commit`] does by itself when the journal is long.
    pub fn compact(&mut self) -> io::Result<()> {
        self.commit()?;
        self.write_snapshot(true)
    }

    fn write_snapshot(&mut self, keep_previous: bool) -> io::Result<()> {
        let generation = self.generation + 1;
        let mut lines = Vec::new();
        Header::of_snapshot(&self.schema, generation, self.values.len() as u64).append(&mut lines)?;
        for (key, value) in &self.values {
            journal::append(&mut lines, generation, key, Some(value))?;
        }
        disk::replace(&self.folder, &self.names.snapshot, &lines, keep_previous)?;
        // From here on the old journal's lines no longer count, wherever they stand.
        self.generation = generation;
        self.snapshot_bytes = lines.len() as u64;
        self.changed.clear();
        let moved = self.journal.move_to(&disk::backup_of(&self.folder, &self.names.journal));
        self.set_next_compaction();
        moved?;
        disk::sync_folder(&self.folder)
    }

    fn set_next_compaction(&mut self) {
        self.compact_at_bytes = self.snapshot_bytes.max(LEAST_COMPACTED_BYTES);
    }
}

impl<V> Map<V> {
    /// A value, committed or not.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.values.get(key)
    }

    /// All values, committed or not, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Are there no values?
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many keys changed since the last commit.
    pub fn pending(&self) -> usize {
        self.changed.len()
    }
}
