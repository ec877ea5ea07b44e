//! Which values do the files hold, whatever state they are in?
//!
//! All lines of all files that can be read, in the order in which they were written: by generation, a snapshot before
//! its journal. A snapshot with all its lines makes everything older superfluous.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::journal::{Header, Names};
use crate::recovery::{Finding, Recovery};
use crate::{disk, line};

/// What was found.
pub(super) struct Loaded<V> {
    pub values: BTreeMap<String, V>,
    /// The newest generation that any line has.
    pub generation: u64,
    pub snapshot_bytes: u64,
    /// How far the journal is good.
    pub journal_bytes: u64,
    /// Is the current snapshot whole?
    pub snapshot_whole: bool,
    /// Is there nothing that a new snapshot would put right?
    pub in_order: bool,
    /// Is there half a snapshot?
    pub leftover: bool,
    pub recovery: Recovery,
}

/// Reads the files, newest first: a writer that compacts meanwhile moves them from the newest to the oldest.
pub(super) fn load<V: DeserializeOwned>(folder: &Path, names: &Names, schema: &str) -> io::Result<Loaded<V>> {
    let read = |name: &str| Source::<V>::read(folder, name, schema);
    let journal = read(&names.journal)?;
    let snapshot = read(&names.snapshot)?;
    let journal_backup = read(&format!("{}.bak", names.journal))?;
    let snapshot_backup = read(&format!("{}.bak", names.snapshot))?;
    let leftover = disk::next_of(folder, &names.snapshot).exists();

    let mut recovery = Recovery::default();
    journal.tell(&mut recovery);
    // A first journal has no snapshot yet, and there are no copies either.
    let first =
        journal.generation == 0 && [&snapshot, &journal_backup, &snapshot_backup].iter().all(|it| it.is_empty());
    if first && !journal.is_empty() && journal.good == 0 {
        recovery.note(Finding::StartedAfresh { file: journal.name.clone() });
    } else if !first && !snapshot.whole {
        tell_fallback(&snapshot, &snapshot_backup, &journal_backup, &mut recovery);
    }
    let base = [&snapshot, &snapshot_backup].into_iter().find(|it| it.whole).map_or(0, |it| it.generation);
    let (snapshot_bytes, journal_bytes, snapshot_whole) = (snapshot.length, journal.good, snapshot.whole);
    let in_order = (snapshot_whole || first) && journal.is_sound();
    let sources = [snapshot_backup, snapshot, journal_backup, journal];
    let generation = sources.iter().map(|source| source.generation).max().unwrap_or(0);
    let mut lines: Vec<Line<V>> = sources.into_iter().flat_map(|source| source.lines).collect();
    lines.retain(|line| line.generation >= base);
    // Stable: lines of one generation stay in the order of the files above.
    lines.sort_by_key(|line| line.generation);
    let mut values = BTreeMap::new();
    for Line { key, value, .. } in lines {
        match value {
            Some(value) => values.insert(key, value),
            None => values.remove(&key),
        };
    }
    Ok(Loaded { values, generation, snapshot_bytes, journal_bytes, snapshot_whole, in_order, leftover, recovery })
}

fn tell_fallback<V>(
    snapshot: &Source<V>,
    snapshot_backup: &Source<V>,
    journal_backup: &Source<V>,
    recovery: &mut Recovery,
) {
    let file = snapshot.name.clone();
    if snapshot.is_empty() {
        recovery.note(Finding::MissingFile { file: file.clone() });
    } else if snapshot.lines.is_empty() {
        recovery.note(Finding::Unreadable { file: file.clone(), nul_filled: snapshot.nul_filled });
    } else {
        recovery.note(Finding::Damaged { file: file.clone(), bytes: snapshot.damaged + snapshot.torn });
    }
    for backup in [snapshot_backup, journal_backup] {
        backup.tell(recovery);
        if !backup.lines.is_empty() {
            recovery.note(Finding::CopyUsed { copy: backup.name.clone(), instead_of: file.clone() });
        }
    }
    // Before the first snapshot ever there was no copy of it, and the journal's copy goes back to the beginning.
    if snapshot.lines.is_empty() && snapshot_backup.lines.is_empty() && journal_backup.lines.is_empty() {
        recovery.note(Finding::StartedAfresh { file });
    }
}

/// A value as of some moment, or none any more.
struct Line<V> {
    generation: u64,
    key: String,
    value: Option<V>,
}

/// The lines of one file.
struct Source<V> {
    name: String,
    // Those with the right checksum, without the header.
    lines: Vec<Line<V>>,
    // A snapshot with all its lines.
    whole: bool,
    // The newest generation in it.
    generation: u64,
    length: u64,
    // The end of the last good line.
    good: u64,
    damaged: u64,
    // Bytes behind the last good line.
    torn: u64,
    nul_filled: bool,
}

impl<V: DeserializeOwned> Source<V> {
    fn read(folder: &Path, name: &str, schema: &str) -> io::Result<Self> {
        let bytes = disk::read(&folder.join(name), u64::MAX)?.unwrap_or_default();
        let mut source = Self {
            name: name.to_owned(),
            lines: Vec::new(),
            whole: false,
            generation: 0,
            length: bytes.len() as u64,
            good: 0,
            damaged: 0,
            torn: 0,
            nul_filled: !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0),
        };
        let (mut at, mut entries) = (0, None);
        for raw in bytes.split_inclusive(|byte| *byte == b'\n') {
            at += raw.len() as u64;
            let Some(json) = raw.strip_suffix(b"\n").and_then(line::json) else {
                source.torn += raw.len() as u64;
                continue;
            };
            // What was bad so far is followed by something good.
            source.damaged += std::mem::take(&mut source.torn);
            source.good = at;
            if json.first() == Some(&b'{') {
                let header: Header = parsed(name, schema, json)?;
                if let Some(foreign) = header.foreign(schema) {
                    return Err(other_version(name, &format!("it has the format {foreign}, not {schema}")));
                }
                source.generation = source.generation.max(header.generation);
                entries = header.entries;
            } else {
                let line = Line::parse(name, schema, json)?;
                source.generation = source.generation.max(line.generation);
                source.lines.push(line);
            }
        }
        source.whole = entries == Some(source.lines.len() as u64) && source.damaged + source.torn == 0;
        Ok(source)
    }
}

impl<V> Source<V> {
    fn is_empty(&self) -> bool {
        // An empty file tells as little as none.
        self.length == 0
    }

    fn is_sound(&self) -> bool {
        self.damaged + self.torn == 0
    }

    fn tell(&self, recovery: &mut Recovery) {
        let file = || self.name.clone();
        if self.nul_filled {
            recovery.note(Finding::Unreadable { file: file(), nul_filled: true });
            return;
        }
        if self.damaged > 0 {
            recovery.note(Finding::Damaged { file: file(), bytes: self.damaged });
        }
        if self.torn > 0 {
            recovery.note(Finding::TornTail { file: file(), bytes: self.torn });
        }
    }
}

impl<V: DeserializeOwned> Line<V> {
    /// Reads `[generation, key, value]` or `[generation, key]`.
    fn parse(name: &str, schema: &str, json: &[u8]) -> io::Result<Self> {
        let parts: Vec<&RawValue> = parsed(name, schema, json)?;
        let part = |index: usize| parts.get(index).map_or("null", |part| part.get()).as_bytes();
        let value = if parts.len() > 2 { Some(parsed(name, schema, part(2))?) } else { None };
        Ok(Self { generation: parsed(name, schema, part(0))?, key: parsed(name, schema, part(1))?, value })
    }
}

/// Reads JSON whose checksum is right, so that it is as some program wrote it.
fn parsed<'a, T: Deserialize<'a>>(name: &str, schema: &str, json: &'a [u8]) -> io::Result<T> {
    serde_json::from_slice(json).map_err(|error| other_version(name, &format!("its values are not {schema}: {error}")))
}

fn other_version(name: &str, why: &str) -> io::Error {
    let message = format!("failed to read {name}: {why}; run the version that wrote it, or move the file away");
    io::Error::new(io::ErrorKind::InvalidData, message)
}
