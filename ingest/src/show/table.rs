//! The table on a terminal: one row a log, as wide as the terminal and no wider.
//!
//! A cell that does not fit ends in `…`; nothing wraps, so a row is a line. The columns that tell least give way first.

use std::io::{self, IsTerminal as _, Write};

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Row, Table, TableStyle, Width};

use crate::scan::Reports;
use crate::show::{Outcome, escape, row};

/// Never part of a cell, because control characters are spelled out: so long texts are cut, not broken at blanks.
const NO_DELIMITER: char = '\u{1}';

/// Prints on standard output, in colour where that is wanted.
pub(super) fn print(reports: &mut Reports, unreadable: u64) -> io::Result<()> {
    // Takes the colours out again for pipes, `NO_COLOR` and terminals without them.
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    let width = if io::stdout().is_terminal() { Table::new().width() } else { None };
    write(reports, unreadable, width, &mut out)?;
    out.flush()
}

/// Writes the table and the summary sentence. Without a width nothing is cut.
pub(super) fn write(
    reports: &mut Reports,
    unreadable: u64,
    width: Option<u16>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new())
        .force_no_tty()
        .enforce_styling()
        .set_delimiter(NO_DELIMITER)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(row::COLUMNS.map(|title| Cell::new(title).add_attribute(Attribute::Bold)));
    if let Some(width) = width {
        table.set_width(width);
    }
    let mut tally = row::Tally::default();
    reports.each(|report| {
        tally.add(report);
        let mut cells = row::cells(report).map(|cell| Cell::new_owned(escape::terminal(&cell).into_owned()));
        let color = Outcome::of(&report.verdict).color();
        cells[row::VERDICT] = std::mem::replace(&mut cells[row::VERDICT], Cell::new("")).fg(color);
        let mut cells = Row::from(cells);
        cells.max_height(1);
        table.add_row(cells);
        Ok(())
    })?;
    if !reports.is_empty() {
        for (column, widest) in table.column_iter_mut().zip([19, 34, 10, 12, 28, 60, 60]) {
            column.set_padding((0, 2));
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(widest)));
        }
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    writeln!(out, "{}", tally.sentence(unreadable))
}
