//! A report as people read it in one row, and many of them as one sentence. Texts are raw: whoever prints them escapes
//! them for the place where they go.

use wire::{Adapter, Outcome, ScanReport};

use crate::escape;
use crate::reading;

/// The columns, in order.
pub const COLUMNS: [&str; 7] = ["Start", "Log", "Path", "Verdict", "Reasons", "Render → scanout", "Findings"];

/// Where the verdict stands.
pub const VERDICT: usize = 3;

/// The cells of one report.
pub fn cells(report: &ScanReport) -> [String; 7] {
    let outcome = Outcome::of(&report.verdict);
    let started = report.process.as_ref().and_then(|process| process.started.as_deref());
    let log = match &report.process {
        Some(process) => format!("{} ({})", process.exe, process.pid),
        None => reading::base_name(&report.file).to_owned(),
    };
    [
        started.map_or_else(|| "–".to_owned(), |started| started.replacen('T', " ", 1)),
        log,
        report.path.as_str().to_owned(),
        format!("{} {}", outcome.mark(), word(outcome)),
        reasons(report),
        adapters(report.verdict.render.as_ref(), report.verdict.scanout.as_ref()),
        findings(report),
    ]
}

/// The word in tables, which are narrow.
pub fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::TakenBack => "taken back",
        other => other.as_str(),
    }
}

/// The verdict's tokens as the runtime prints them.
pub fn reasons(report: &ScanReport) -> String {
    let tokens: Vec<_> = report.verdict.reasons.iter().map(wire::Reason::as_str).collect();
    tokens.join(",")
}

fn adapters(render: Option<&Adapter>, scanout: Option<&Adapter>) -> String {
    let name = |adapter: Option<&Adapter>| adapter.map_or_else(|| "?".to_owned(), |adapter| adapter.name.clone());
    match (render, scanout) {
        (None, None) => "–".to_owned(),
        (Some(render), Some(scanout)) if render == scanout => format!("{} (both)", render.name),
        _ => format!("{} → {}", name(render), name(scanout)),
    }
}

fn findings(report: &ScanReport) -> String {
    let mut worst_first: Vec<_> = report.findings.iter().collect();
    worst_first.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut codes: Vec<(&str, usize)> = Vec::new();
    for finding in worst_first {
        match codes.iter_mut().find(|(code, _)| *code == finding.code) {
            Some((_, times)) => *times += 1,
            None => codes.push((&finding.code, 1)),
        }
    }
    let words: Vec<_> = codes
        .into_iter()
        .map(|(code, times)| if times == 1 { code.to_owned() } else { format!("{code} ×{times}") })
        .collect();
    words.join(", ")
}

/// The heading of a table to paste into an issue, with its rule; [`markdown`] makes the rows.
pub fn markdown_heading() -> String {
    format!("| {} |\n|{}", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len()))
}

/// One report as a row of that table.
pub fn markdown(report: &ScanReport) -> String {
    format!("| {} |", cells(report).map(|cell| escape::markdown(&cell)).join(" | "))
}

/// Counts outcomes for the closing sentence.
#[derive(Default)]
pub struct Tally([u64; Outcome::ALL.len()]);

impl Tally {
    /// Counts one report.
    pub fn add(&mut self, report: &ScanReport) {
        self.0[Outcome::of(&report.verdict) as usize] += 1;
    }

    /// `3 logs: 2 engaged, 1 killed; 1 input could not be read`.
    pub fn sentence(&self, unreadable: u64) -> String {
        let total: u64 = self.0.iter().sum();
        let by_outcome: Vec<_> = Outcome::ALL
            .into_iter()
            .zip(self.0)
            .filter(|(_, count)| *count > 0)
            .map(|(outcome, count)| format!("{count} {}", word(outcome)))
            .collect();
        let logs = if total == 1 { "log" } else { "logs" };
        let colon = if by_outcome.is_empty() { "" } else { ": " };
        let inputs = if unreadable == 1 { "input" } else { "inputs" };
        let unread = if unreadable == 0 { String::new() } else { format!("; {unreadable} {inputs} could not be read") };
        format!("{total} {logs}{colon}{}{unread}", by_outcome.join(", "))
    }
}
