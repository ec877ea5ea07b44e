//! A table to paste into an issue.

use std::io::{self, Write};

use triage::row;
use wire::ScanReport;

use crate::scan::Sorted;

/// Writes the table with its summary sentence below.
pub(super) fn write(reports: &mut Sorted, unreadable: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", row::markdown_heading())?;
    let mut tally = row::Tally::default();
    reports.each(|report: &ScanReport| {
        tally.add(report);
        writeln!(out, "{}", row::markdown(report))
    })?;
    writeln!(out, "\n{}", tally.sentence(unreadable))
}
