//! Keeps what was found out about each log until all are there, because it comes out sorted: as JSON in a temporary file,
//! which stays in memory while it is small. A fleet's worth of logs costs a few bytes of memory each.

use std::io::{self, Read, Seek, SeekFrom, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::SpooledTempFile;

use triage::escape;

/// Until here it stays in memory.
const MEMORY_BYTES: usize = 8 << 20;

/// One value a log, handed out by start time, then name; those without a start time last (contract section 3).
pub struct Sorted {
    spool: SpooledTempFile,
    end: u64,
    entries: Vec<Entry>,
}

/// One value; the order of the fields is the order of the output.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    without_start: bool,
    started: String,
    name: String,
    at: u64,
    len: usize,
}

impl Default for Sorted {
    fn default() -> Self {
        Self { spool: SpooledTempFile::new(MEMORY_BYTES), end: 0, entries: Vec::new() }
    }
}

impl Sorted {
    /// Keeps what was found out about the log of this name.
    pub fn add(&mut self, started: Option<String>, name: &str, value: &impl Serialize) -> io::Result<()> {
        let json = serde_json::to_string(value)?;
        // It may be printed as it stands, on a terminal too.
        let json = escape::json(&json);
        self.spool.seek(SeekFrom::Start(self.end))?;
        self.spool.write_all(json.as_bytes())?;
        self.entries.push(Entry {
            without_start: started.is_none(),
            started: started.unwrap_or_default(),
            name: name.to_owned(),
            at: self.end,
            len: json.len(),
        });
        self.end += json.len() as u64;
        Ok(())
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when nothing was kept.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Hands out each value as JSON without a newline, in order.
    pub fn each_json(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.entries.sort_unstable();
        let mut json = Vec::new();
        for entry in &self.entries {
            json.resize(entry.len, 0);
            self.spool.seek(SeekFrom::Start(entry.at))?;
            self.spool.read_exact(&mut json)?;
            each(&json)?;
        }
        Ok(())
    }

    /// Hands out each value, in order.
    pub fn each<T: DeserializeOwned>(&mut self, mut each: impl FnMut(&T) -> io::Result<()>) -> io::Result<()> {
        self.each_json(|json| each(&serde_json::from_slice(json)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_start_then_name_and_those_without_a_start_last() {
        let mut sorted = Sorted::default();
        for (name, started) in [
            ("a", None),
            ("z", Some("2026-01-01T00:00:00")),
            ("c", Some("2026-02-01T00:00:00")),
            ("b", Some("2026-02-01T00:00:00")),
        ] {
            sorted.add(started.map(str::to_owned), name, &name).expect("memory takes it");
        }
        let mut names = Vec::new();
        sorted
            .each(|name: &String| {
                names.push(name.clone());
                Ok(())
            })
            .expect("it was just written");
        assert_eq!(names, ["z", "b", "c", "a"]);
    }

    #[test]
    fn more_than_memory_should_hold_comes_back_from_disk() {
        let mut sorted = Sorted::default();
        let long = "x".repeat(MEMORY_BYTES / 4);
        for name in ["c", "a", "b", "e", "d"] {
            sorted.add(None, name, &format!("{name}{long}")).expect("the temporary folder is writable");
        }
        assert!(sorted.spool.is_rolled());
        let mut names = String::new();
        sorted
            .each(|value: &String| {
                assert_eq!(value.len(), long.len() + 1);
                names.push_str(&value[..1]);
                Ok(())
            })
            .expect("it was just written");
        assert_eq!(names, "abcde");
    }
}
