//! One row a log for spreadsheets: everything of a scan object that fits into cells.

use std::io::{self, Write};

use triage::{escape, row};
use wire::{Adapter, ScanReport};

use crate::scan::Sorted;

const COLUMNS: [&str; 37] = [
    "file",
    "exe",
    "pid",
    "started",
    "runtime_version",
    "runtime_build",
    "generation",
    "path",
    "end",
    "split",
    "crossing",
    "interop_crossing",
    "reasons",
    "killed",
    "retired",
    "basis",
    "render_name",
    "render_luid",
    "scanout_name",
    "scanout_luid",
    "line",
    "sessions",
    "bytes",
    "lines",
    "records",
    "events",
    "ignored",
    "continuations",
    "truncated",
    "spliced",
    "empty_bodies",
    "unrecognised",
    "findings_error",
    "findings_warning",
    "findings_info",
    "findings",
    "schema",
];

/// Writes a heading and the rows. Unknown values are empty cells.
pub(super) fn write(reports: &mut Sorted, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(COLUMNS)?;
    reports.each(|report: &ScanReport| {
        rows.write_record(cells(report).iter().map(|cell| escape::csv(cell).into_owned()))?;
        Ok(())
    })?;
    rows.flush()
}

fn cells(report: &ScanReport) -> [String; COLUMNS.len()] {
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    let name = |adapter: &Option<Adapter>| text(adapter.as_ref().map(|adapter| adapter.name.as_str()));
    let luid = |adapter: &Option<Adapter>| adapter.as_ref().map(|adapter| adapter.luid.to_string()).unwrap_or_default();
    let severity =
        |word: &str| report.findings.iter().filter(|finding| finding.severity.as_str() == word).count().to_string();
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| match finding.line {
            Some(line) => format!("{}:{line}", finding.code),
            None => finding.code.clone(),
        })
        .collect();
    let (process, runtime, verdict, counts) = (&report.process, &report.runtime, &report.verdict, &report.counts);
    [
        report.file.clone(),
        text(process.as_ref().map(|process| process.exe.as_str())),
        process.as_ref().map(|process| process.pid.to_string()).unwrap_or_default(),
        text(process.as_ref().and_then(|process| process.started.as_deref())),
        text(runtime.version.as_deref()),
        text(runtime.build.as_deref()),
        text(runtime.generation.map(wire::Generation::as_str)),
        report.path.as_str().to_owned(),
        match report.end {
            wire::End::Footer => "footer",
            wire::End::Missing => "missing",
        }
        .to_owned(),
        verdict.split.as_str().to_owned(),
        verdict.crossing.as_str().to_owned(),
        verdict.interop_crossing.to_string(),
        row::reasons(report),
        verdict.killed.to_string(),
        verdict.retired.to_string(),
        verdict.basis.as_str().to_owned(),
        name(&verdict.render),
        luid(&verdict.render),
        name(&verdict.scanout),
        luid(&verdict.scanout),
        verdict.line.map(|line| line.to_string()).unwrap_or_default(),
        report.sessions.len().to_string(),
        counts.bytes.to_string(),
        counts.lines.to_string(),
        counts.records.to_string(),
        counts.events.to_string(),
        counts.ignored.to_string(),
        counts.continuations.to_string(),
        counts.truncated.to_string(),
        counts.spliced.to_string(),
        counts.empty_bodies.to_string(),
        counts.unrecognised.to_string(),
        severity("error"),
        severity("warning"),
        severity("info"),
        findings.join(" "),
        report.schema.clone(),
    ]
}
