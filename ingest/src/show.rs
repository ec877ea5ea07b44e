//! Prints reports: for programs as JSON, for spreadsheets as CSV, for people as a table on a terminal or in an issue.

mod csv;
pub mod escape;
mod markdown;
mod outcome;
mod row;
mod table;

use std::io::{self, Write};

use crate::cli::Format;
use crate::scan::Reports;

pub use outcome::Outcome;

/// Prints all reports on standard output. `unreadable` inputs stand in the summary for people.
///
/// A reader that goes away, such as `head`, is no error.
pub fn print(format: Format, reports: &mut Reports, unreadable: u64) -> io::Result<()> {
    let printed = match format {
        Format::Table => table::print(reports, unreadable),
        _ => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            write(format, reports, unreadable, &mut out).and_then(|()| out.flush())
        }
    };
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn write(format: Format, reports: &mut Reports, unreadable: u64, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => array(reports, out),
        Format::Ndjson => reports.each_json(|json| {
            out.write_all(json)?;
            out.write_all(b"\n")
        }),
        Format::Csv => csv::write(reports, out),
        Format::Markdown => markdown::write(reports, unreadable, out),
        Format::Table => table::write(reports, unreadable, None, out),
    }
}

/// One array, an object a line, so that a line is still a log for `grep` and `diff`.
fn array(reports: &mut Reports, out: &mut dyn Write) -> io::Result<()> {
    let mut before: &[u8] = b"[\n";
    reports.each_json(|json| {
        out.write_all(before)?;
        before = b",\n";
        out.write_all(json)
    })?;
    out.write_all(if reports.is_empty() { b"[]\n" } else { b"\n]\n" })
}
