//! Prints what a scan found out: for programs as JSON, for spreadsheets as CSV, for people as a table on a terminal or in
//! an issue.

mod count;
mod csv;
mod markdown;
mod outcome;
mod table;

use std::io::{self, IsTerminal as _, Write};

use triage::document::{self, Document};
use triage::escape;

use crate::cli::Format;
use crate::exit::Exit;
use crate::scan::Sorted;

/// Prints all reports on standard output. `unreadable` inputs stand in the summary for people.
///
/// A reader that goes away, such as `head`, is no error.
pub fn reports(format: Format, reports: &mut Sorted, unreadable: u64) -> io::Result<()> {
    if format == Format::Table {
        // Takes colours out again for pipes, for `NO_COLOR` and for terminals without them.
        let out = anstream::stdout().lock();
        return print(out, |out| table::write(reports, unreadable, terminal_width(), out));
    }
    print(io::stdout().lock(), |out| write(format, reports, unreadable, out))
}

/// Writes all reports as they stand in a file.
pub fn write(format: Format, reports: &mut Sorted, unreadable: u64, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => array(reports, out),
        Format::Csv => csv::write(reports, out),
        Format::Markdown => markdown::write(reports, unreadable, out),
        Format::Ndjson => lines(reports, out),
        Format::Table => table::write(reports, unreadable, None, out),
    }
}

/// Prints all marker counts in the same ways.
pub fn counts(format: Format, counts: &mut Sorted, unreadable: u64) -> io::Result<()> {
    print(io::stdout().lock(), |out| count::write(format, counts, unreadable, out))
}

/// Prints a page for people; `markdown` for an issue, else text as wide as the terminal.
pub fn document(document: &Document, markdown: bool) -> io::Result<()> {
    print(io::stdout().lock(), |out| {
        if markdown { document::markdown(document, out) } else { document::text(document, terminal_width(), out) }
    })
}

/// Prints text of our own.
pub fn text(text: &str) -> io::Result<()> {
    bytes(text.as_bytes())
}

/// Prints bytes as they are.
pub fn bytes(bytes: &[u8]) -> io::Result<()> {
    print(io::stdout().lock(), |out| out.write_all(bytes))
}

/// How a command ends whose last step was to print: a full disk behind standard output is said.
pub fn done(printed: io::Result<()>) -> Exit {
    match printed {
        Ok(()) => Exit::Done,
        Err(error) => {
            crate::problems::say(format_args!("failed to print: {error}"));
            Exit::Unreadable
        }
    }
}

/// Prints one value as JSON that people can read as well, also on a terminal.
pub fn json(value: &impl serde::Serialize) -> io::Result<()> {
    let document = serde_json::to_string_pretty(value)?;
    print(io::stdout().lock(), |out| {
        // Between the tokens stand line ends, which are to act, and inside of texts there are none.
        document.lines().try_for_each(|line| writeln!(out, "{}", escape::json(line)))
    })
}

fn print(out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// `None` in a pipe, where nothing needs to be cut.
fn terminal_width() -> Option<u16> {
    if io::stdout().is_terminal() { comfy_table::Table::new().width() } else { None }
}

fn lines(values: &mut Sorted, out: &mut dyn Write) -> io::Result<()> {
    values.each_json(|json| {
        out.write_all(json)?;
        out.write_all(b"\n")
    })
}

/// One array, an object a line, so that a line is still a log for `grep` and `diff`.
fn array(values: &mut Sorted, out: &mut dyn Write) -> io::Result<()> {
    let mut before: &[u8] = b"[\n";
    values.each_json(|json| {
        out.write_all(before)?;
        before = b",\n";
        out.write_all(json)
    })?;
    out.write_all(if values.is_empty() { b"[]\n" } else { b"\n]\n" })
}
