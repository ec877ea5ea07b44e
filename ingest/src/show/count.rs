//! Prints marker counts: `N path` for people, objects for programs.

use std::io::{self, Write};

use triage::escape;

use crate::cli::Format;
use crate::scan::{MarkerCount, Sorted};
use crate::show::{array, lines};

/// Writes the counts and, for people, their sum.
pub(super) fn write(format: Format, counts: &mut Sorted, unreadable: u64, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => array(counts, out),
        Format::Ndjson => lines(counts, out),
        Format::Csv => {
            let mut rows = csv::Writer::from_writer(out);
            rows.write_record(["file", "markers"])?;
            counts.each(|count: &MarkerCount| {
                Ok(rows.write_record([escape::csv(&count.file).as_ref(), &count.markers.to_string()])?)
            })?;
            rows.flush()
        }
        Format::Markdown => {
            writeln!(out, "| Marker records | File |\n| ---: | --- |")?;
            counts
                .each(|count: &MarkerCount| writeln!(out, "| {} | {} |", count.markers, escape::markdown(&count.file)))
        }
        Format::Table => {
            let mut sum = 0;
            counts.each(|count: &MarkerCount| {
                sum += count.markers;
                writeln!(out, "{:>8} {}", count.markers, escape::terminal(&count.file))
            })?;
            let unreadable = if unreadable == 0 { String::new() } else { format!("; {unreadable} not read") };
            writeln!(out, "{sum:>8} in {} logs{unreadable}", counts.len())
        }
    }
}
