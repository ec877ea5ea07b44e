//! The table on a terminal: one row a log, as wide as the terminal and no wider.
//!
//! A cell that does not fit ends in `…`; nothing wraps, so a row is a line. The columns that tell least give way first.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Row, Table, TableStyle, Width};
use triage::{escape, row};
use wire::{Outcome, ScanReport};

use crate::scan::Sorted;
use crate::show::outcome::color;

/// Never part of a cell, because control characters are spelled out: so long texts are cut, not broken at blanks.
const NO_DELIMITER: char = '\u{1}';

/// Blanks between two columns.
const GAP: u16 = 2;

/// Columns that may be cut, the last to be hidden first: log, reasons, findings, adapters.
const FLEXIBLE: [usize; 4] = [1, 4, 6, 5];

/// A flexible column below this width, gap included, tells nothing.
const NARROWEST: u16 = 15;

/// Writes the table and the summary sentence. Without a width nothing is cut.
pub(super) fn write(reports: &mut Sorted, unreadable: u64, width: Option<u16>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new())
        .force_no_tty()
        .enforce_styling()
        .set_delimiter(NO_DELIMITER)
        .set_content_arrangement(ContentArrangement::Dynamic);
    let mut heading = Row::from(row::COLUMNS.map(|title| Cell::new(title).add_attribute(Attribute::Bold)));
    heading.max_height(1);
    table.set_header(heading);
    let mut tally = row::Tally::default();
    reports.each(|report: &ScanReport| {
        tally.add(report);
        let mut cells = row::cells(report).map(|cell| Cell::new_owned(escape::terminal(&cell).into_owned()));
        let color = color(Outcome::of(&report.verdict));
        cells[row::VERDICT] = std::mem::replace(&mut cells[row::VERDICT], Cell::new("")).fg(color);
        let mut cells = Row::from(cells);
        cells.max_height(1);
        table.add_row(cells);
        Ok(())
    })?;
    if !reports.is_empty() {
        for column in table.column_iter_mut() {
            column.set_padding((0, GAP));
        }
        if let Some(width) = width {
            fit(&mut table, width);
        }
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    writeln!(out, "{}", tally.sentence(unreadable))
}

/// Start, path and verdict keep their width; the flexible columns share what is left, and those that would get too
/// little to be read are hidden.
fn fit(table: &mut Table, width: u16) {
    table.set_width(width);
    let needed: Vec<u16> = table.column_max_content_widths().iter().map(|content| content + GAP).collect();
    let fixed: u16 = (0..needed.len()).filter(|column| !FLEXIBLE.contains(column)).map(|column| needed[column]).sum();
    let mut left = width.saturating_sub(fixed);
    let mut shown = FLEXIBLE.to_vec();
    while shown.len() > 1 && left / (shown.len() as u16) < NARROWEST {
        if let Some(column) = shown.pop().and_then(|column| table.column_mut(column)) {
            column.set_constraint(ColumnConstraint::Hidden);
        }
    }
    // The ones that need least first, so that what they leave over goes to the others.
    shown.sort_by_key(|column| needed[*column]);
    for (index, column) in shown.iter().enumerate() {
        let share = needed[*column].min(left / (shown.len() - index) as u16);
        left -= share;
        if let Some(column) = table.column_mut(*column) {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(share)));
        }
    }
}
