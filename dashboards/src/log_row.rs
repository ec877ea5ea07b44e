//! One log in a table: its verdict in words and the lines that prove it.

use wire::{Adapter, End, ScanReport};

use crate::sentence::{self, Part};
use crate::share::counted;
use crate::{Outcome, query, words};

/// A log of the table, as the store knows it.
#[derive(Clone, PartialEq, Debug)]
pub struct LogRow {
    /// The id of `GET /api/v1/logs/{id}`.
    pub id: String,
    /// Pseudonymous id of the PC.
    pub machine: String,
    /// The newest report of the log. Names, findings and words for the page are read from it.
    pub report: ScanReport,
    /// The records that bear on the verdict, in file order. The one at `report.verdict.line` is marked as the deciding one.
    pub evidence: Vec<EvidenceRow>,
    /// How many further lines the store holds but the caller left out to keep the page small; 0 when `evidence` is complete.
    pub evidence_left_out: u64,
}

/// One line of evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvidenceRow {
    /// 1-based line number in the log.
    pub line: u64,
    /// Local time as the log printed it, `2026-09-14 12:00:01.370`; absent in captures of stderr.
    pub time: Option<String>,
    /// What a record of this shape means, in plain words (the vocabulary's sentence).
    pub meaning: String,
    /// The record as the runtime printed it, made again from the event's values; `None` when that is not possible.
    pub text: Option<String>,
}

/// What the templates ask of a log.
impl LogRow {
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of(&self.report.verdict)
    }

    pub(crate) fn sentence(&self) -> Vec<Part> {
        sentence::verdict(&self.report.verdict, self.report.path)
    }

    /// The program and its process id; the file's name when neither header nor name gives it.
    pub(crate) fn program(&self) -> &str {
        self.report.process.as_ref().map_or(&self.report.file, |process| &process.exe)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.report.process.as_ref().map(|process| process.pid)
    }

    /// Local time of the machine, with a blank instead of the `T`.
    pub(crate) fn started(&self) -> String {
        let started = self.report.process.as_ref().and_then(|process| process.started.as_deref());
        started.map_or_else(|| "not known".to_owned(), |time| time.replacen('T', " ", 1))
    }

    /// Version and generation, as far as they are known.
    pub(crate) fn runtime(&self) -> String {
        let runtime = &self.report.runtime;
        let version = runtime.version.as_deref().or(runtime.build.as_deref());
        let generation = runtime.generation.map(wire::Generation::as_str);
        let known: Vec<&str> = [version, generation].into_iter().flatten().collect();
        if known.is_empty() { "not known".to_owned() } else { known.join(" · ") }
    }

    pub(crate) fn path(&self) -> &'static str {
        words::path(self.report.path)
    }

    pub(crate) fn crossing(&self) -> String {
        words::word("crossing", self.report.verdict.crossing.as_str()).label
    }

    pub(crate) fn split(&self) -> String {
        words::word("split", self.report.verdict.split.as_str()).label
    }

    pub(crate) fn basis(&self) -> &'static str {
        words::basis(self.report.verdict.basis)
    }

    pub(crate) fn end(&self) -> &'static str {
        match self.report.end {
            End::Footer => "with its footer",
            End::Missing => "without a footer: the process crashed, was killed, or still ran",
        }
    }

    /// The first eight characters; the whole id stands in the details.
    pub(crate) fn short_machine(&self) -> String {
        self.machine.chars().take(8).collect()
    }

    /// The page of the log.
    pub(crate) fn href(&self) -> String {
        let mut href = "/logs/".to_owned();
        query::encode(&self.id, &mut href);
        href
    }

    pub(crate) fn machine_href(&self) -> String {
        let mut href = "/machines/".to_owned();
        query::encode(&self.machine, &mut href);
        href
    }

    pub(crate) fn adapters(&self) -> [(&'static str, Option<&Adapter>); 2] {
        let verdict = &self.report.verdict;
        [("Renders on", verdict.render.as_ref()), ("Panel driven by", verdict.scanout.as_ref())]
    }

    pub(crate) fn decides(&self, row: &EvidenceRow) -> bool {
        self.report.verdict.line == Some(row.line)
    }

    pub(crate) fn lines(&self) -> String {
        counted(self.report.counts.lines, "line")
    }

    pub(crate) fn left_out(&self) -> String {
        counted(self.evidence_left_out, "further line")
    }

    /// `6 lines of evidence · 2 findings`.
    pub(crate) fn inside(&self) -> String {
        let lines = self.evidence.len() as u64 + self.evidence_left_out;
        let findings = self.report.findings.len() as u64;
        format!("{} of evidence, {}", counted(lines, "line"), counted(findings, "finding"))
    }
}
