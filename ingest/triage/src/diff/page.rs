//! Two logs side by side: both verdicts, what differs first, all that differs, and what is the same.

use super::rows::{Alone, Record, Row};
use crate::document::{Block, Document, Table};
use crate::explain::Dossier;
use crate::explain::verdict;
use crate::reading;

/// Records that only one log has; more are counted.
const ALONE_MAX: usize = 12;

/// The whole page.
pub fn page(a: &Dossier, b: &Dossier, rows: &[Row], alone: &Alone) -> Document {
    let name = |own: &Dossier| reading::base_name(&own.report.file).to_owned();
    let mut page = Document::default();
    page.push(Block::Title(format!("A {} against B {}", name(a), name(b))));
    let first = rows.iter().find(|row| !row.is_same());
    page.push(Block::Verdict(match first {
        Some(row) => {
            let (a, b) = (none(row.a.as_ref()), none(row.b.as_ref()));
            format!("First difference, {}: {a} in A; {b} in B.", row.aspect)
        }
        None => "Nothing of what is compared differs.".to_owned(),
    }));
    page.push(Block::Facts(vec![("A".to_owned(), verdict::sentence(a)), ("B".to_owned(), verdict::sentence(b))]));
    page.section("What differs, causes before consequences", [table(rows.iter().filter(|row| !row.is_same()))]);
    if alone.a.is_empty() && alone.b.is_empty() {
        page.section(
            "Records",
            [Block::Paragraph("Both logs hold the same records, save numbers and times.".to_owned())],
        );
    }
    page.section("Records that only A has", [Block::Bullets(records(&alone.a))]);
    page.section("Records that only B has", [Block::Bullets(records(&alone.b))]);
    page.section("What is the same", [same(rows)]);
    let mut notes = vec!["LUIDs are valid within one boot, so adapters are compared by role and name.".to_owned()];
    for (side, dossier) in [("A", a), ("B", b)] {
        notes.extend(dossier.notes.iter().map(|note| format!("{side}: {note}")));
        if let Some(error) = &dossier.error {
            notes.push(format!("{side}: reading broke off ({error}); what stands before is compared."));
        }
    }
    page.section("Keep in mind", [Block::Bullets(notes)]);
    page
}

fn table<'a>(rows: impl Iterator<Item = &'a Row>) -> Block {
    let rows = rows.map(|row| vec![row.aspect.to_owned(), told(row.a.as_ref()), told(row.b.as_ref())]).collect();
    Block::Table(Table { columns: vec!["What", "A", "B"], rows })
}

fn same(rows: &[Row]) -> Block {
    let told = |row: &&Row| row.is_same() && row.a.is_some();
    let facts = rows.iter().filter(told).map(|row| (row.aspect.to_owned(), row.a.clone().unwrap_or_default()));
    Block::Facts(facts.collect())
}

fn told(value: Option<&String>) -> String {
    value.cloned().unwrap_or_else(|| "–".to_owned())
}

/// Inside a sentence.
fn none(value: Option<&String>) -> String {
    value.cloned().unwrap_or_else(|| "nothing".to_owned())
}

fn records(records: &[Record]) -> Vec<String> {
    let mut told: Vec<_> = records.iter().take(ALONE_MAX).map(record).collect();
    if let Some(more @ 1..) = records.len().checked_sub(ALONE_MAX) {
        told.push(format!("and {more} more; `--format json` has them all"));
    }
    told
}

fn record(own: &Record) -> String {
    let text = own.text.as_ref().map(|text| format!(" «{text}»")).unwrap_or_default();
    format!("Line {}: {}{text}", own.line, own.meaning)
}
