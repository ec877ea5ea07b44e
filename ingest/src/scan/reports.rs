//! Keeps finished reports until all are there, because they come out sorted: as JSON in a temporary file, which stays in
//! memory while it is small. A fleet's worth of logs costs a few bytes of memory each.

use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;
use wire::ScanReport;

/// Until here reports stay in memory.
const MEMORY_BYTES: usize = 8 << 20;

/// Reports, handed out by start time, then name; those without a start time last (contract section 3).
pub struct Reports {
    spool: SpooledTempFile,
    end: u64,
    entries: Vec<Entry>,
}

/// One report; the order of the fields is the order of the output.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    without_start: bool,
    started: String,
    name: String,
    at: u64,
    len: usize,
}

impl Default for Reports {
    fn default() -> Self {
        Self { spool: SpooledTempFile::new(MEMORY_BYTES), end: 0, entries: Vec::new() }
    }
}

impl Reports {
    /// Keeps a report.
    pub fn add(&mut self, report: &ScanReport) -> io::Result<()> {
        let json = serde_json::to_vec(report)?;
        let started = report.process.as_ref().and_then(|process| process.started.clone());
        self.spool.seek(SeekFrom::Start(self.end))?;
        self.spool.write_all(&json)?;
        self.entries.push(Entry {
            without_start: started.is_none(),
            started: started.unwrap_or_default(),
            name: report.file.clone(),
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

    /// Hands out each report as JSON without a newline, in order.
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

    /// Hands out each report, in order.
    pub fn each(&mut self, mut each: impl FnMut(&ScanReport) -> io::Result<()>) -> io::Result<()> {
        self.each_json(|json| each(&serde_json::from_slice(json)?))
    }
}

#[cfg(test)]
mod tests {
    use resolver::Judge;
    use wire::{LogFacts, Process};

    use super::*;

    fn report(name: &str, started: Option<&str>) -> ScanReport {
        let facts = LogFacts {
            process: Some(Process { exe: "A.exe".into(), pid: 1, started: started.map(str::to_owned) }),
            ..LogFacts::default()
        };
        let judgement = Judge::new().finish(&facts);
        ScanReport::new(name.to_owned(), facts.process, facts.end, facts.counts, judgement)
    }

    #[test]
    fn by_start_then_name_and_those_without_a_start_last() {
        let mut reports = Reports::default();
        for (name, started) in [
            ("a", None),
            ("z", Some("2026-01-01T00:00:00")),
            ("c", Some("2026-02-01T00:00:00")),
            ("b", Some("2026-02-01T00:00:00")),
        ] {
            reports.add(&report(name, started)).expect("memory takes it");
        }
        let mut names = Vec::new();
        reports
            .each(|report| {
                names.push(report.file.clone());
                Ok(())
            })
            .expect("it was just written");
        assert_eq!(names, ["z", "b", "c", "a"]);
    }
}
