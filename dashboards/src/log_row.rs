//! One log in a table: its verdict in words and the lines that prove it.

use wire::ScanReport;

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
