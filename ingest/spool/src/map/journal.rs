//! How do lines stand in a map's files, and how do they get there?
//!
//! The first line is a [`Header`], each other one `[generation, key, value]`, or `[generation, key]` for a removal.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{disk, line};

const FORMAT: &str = "weavewatch.map/1";

/// The names of a map's two files. Their copies have `.bak` behind them.
#[derive(Debug)]
pub(super) struct Names {
    pub snapshot: String,
    pub journal: String,
}

impl Names {
    pub(super) fn of(name: &str) -> Self {
        Self { snapshot: format!("{name}.snapshot"), journal: format!("{name}.journal") }
    }
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    /// How the file is written.
    pub format: String,
    /// What its values are.
    pub schema: String,
    pub generation: u64,
    /// In a snapshot, how many lines follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
}

impl Header {
    pub(super) fn of_journal(schema: &str, generation: u64) -> Self {
        Self { format: FORMAT.to_owned(), schema: schema.to_owned(), generation, entries: None }
    }

    pub(super) fn of_snapshot(schema: &str, generation: u64, entries: u64) -> Self {
        Self { entries: Some(entries), ..Self::of_journal(schema, generation) }
    }

    pub(super) fn append(&self, to: &mut Vec<u8>) -> io::Result<()> {
        line::append(to, self)
    }

    /// The format that stands here and is not ours, if so.
    pub(super) fn foreign(&self, schema: &str) -> Option<&str> {
        if self.format != FORMAT {
            Some(&self.format)
        } else if self.schema != schema {
            Some(&self.schema)
        } else {
            None
        }
    }
}

/// Adds the line of one value, or of its removal.
pub(super) fn append<V: Serialize>(to: &mut Vec<u8>, generation: u64, key: &str, value: Option<&V>) -> io::Result<()> {
    match value {
        Some(value) => line::append(to, &(generation, key, value)),
        None => line::append(to, &(generation, key)),
    }
}

/// The journal's file. It is opened for each write, so that no handle keeps anybody from renaming it.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    // What is good of it and on disk.
    bytes: u64,
}

impl Journal {
    /// The file whose first `bytes` are in order.
    pub(super) fn at(path: PathBuf, bytes: u64) -> Self {
        Self { path, bytes }
    }

    /// How long it is, as far as it is in order.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Did somebody take away what had been written?
    pub(super) fn is_shorter_than_written(&self) -> io::Result<bool> {
        match fs::metadata(&self.path) {
            Ok(metadata) => Ok(metadata.len() < self.bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.bytes > 0),
            Err(error) => Err(error),
        }
    }

    /// Adds lines and makes them safe, or leaves the file as it was.
    pub(super) fn append(&mut self, folder: &Path, lines: &[u8]) -> io::Result<()> {
        let mut file = File::options().create(true).truncate(false).write(true).open(&self.path)?;
        let written = self
            .write(&mut file, lines)
            .and_then(|()| if self.bytes == 0 { disk::sync_folder(folder) } else { Ok(()) });
        if let Err(error) = written {
            // When this fails too, the next write does it first.
            let _ = file.set_len(self.bytes);
            return Err(error);
        }
        self.bytes += lines.len() as u64;
        Ok(())
    }

    /// Makes the file a copy, or removes it when nothing in it is good. The next write starts a new one.
    pub(super) fn move_to(&mut self, path: &Path) -> io::Result<()> {
        if self.bytes > 0 {
            disk::rename_if_there(&self.path, path)?;
        } else {
            disk::remove(&self.path)?;
        }
        self.bytes = 0;
        Ok(())
    }

    fn write(&self, file: &mut File, lines: &[u8]) -> io::Result<()> {
        if file.metadata()?.len() > self.bytes {
            file.set_len(self.bytes)?;
        }
        file.seek(SeekFrom::Start(self.bytes))?;
        file.write_all(lines)?;
        file.sync_data()
    }
}
