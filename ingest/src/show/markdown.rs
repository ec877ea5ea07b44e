//! A table to paste into an issue.

use std::io::{self, Write};

use wire::ScanReport;

use crate::scan::Sorted;
use crate::show::{escape, row};

/// Writes the table with its summary sentence below.
pub(super) fn write(reports: &mut Sorted, unreadable: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {} |", row::COLUMNS.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(row::COLUMNS.len()))?;
    let mut tally = row::Tally::default();
    reports.each(|report: &ScanReport| {
        tally.add(report);
        writeln!(out, "| {} |", row::cells(report).map(|cell| escape::markdown(&cell)).join(" | "))
    })?;
    writeln!(out, "\n{}", tally.sentence(unreadable))
}
