//! Keeps what was found out about each log until all are there, because it comes out sorted: as JSON in a temporary file,
//! which stays in memory while it is small. A fleet's worth of logs costs no memory beyond that.

use std::io::{self, Read, Seek, SeekFrom, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::SpooledTempFile;

use triage::escape;

use super::runs::{self, Runs};

/// Until here it stays in memory.
const MEMORY_BYTES: usize = 8 << 20;

/// One value a log, handed out by start time, then name; those without a start time last (contract section 3).
pub struct Sorted {
    spool: SpooledTempFile,
    end: u64,
    entries: Runs<Entry>,
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

impl runs::Entry for Entry {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&[u8::from(self.without_start)])?;
        runs::write_text(out, &self.started)?;
        runs::write_text(out, &self.name)?;
        runs::write_number(out, self.at)?;
        runs::write_number(out, self.len as u64)
    }

    fn read(input: &mut dyn Read) -> io::Result<Option<Self>> {
        let mut without_start = [0];
        if input.read(&mut without_start)? == 0 {
            return Ok(None);
        }
        Ok(Some(Self {
            without_start: without_start != [0],
            started: runs::read_text(input)?,
            name: runs::read_text(input)?,
            at: runs::read_number(input)?,
            len: usize::try_from(runs::read_number(input)?).map_err(io::Error::other)?,
        }))
    }
}

impl Default for Sorted {
    fn default() -> Self {
        Self { spool: SpooledTempFile::new(MEMORY_BYTES), end: 0, entries: Runs::default() }
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
        })?;
        self.end += json.len() as u64;
        Ok(())
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when nothing was kept.
    pub const fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }

    /// Hands out each value as JSON without a newline, in order.
    pub fn each_json(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut json = Vec::new();
        let spool = &mut self.spool;
        self.entries.each(&mut |entry| {
            json.resize(entry.len, 0);
            spool.seek(SeekFrom::Start(entry.at))?;
            spool.read_exact(&mut json)?;
            each(&json)
        })
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
