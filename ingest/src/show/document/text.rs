//! A document on a terminal: headings in capitals, words wrapped, columns lined up.

use std::io::{self, Write};

use super::{Block, Document, Table};
use crate::show::escape;

/// Longer lines are hard to read, and this one fits beside the line numbers of a log.
const WIDTH: usize = 100;
/// A column before the last one wraps beyond this.
const COLUMN_WIDTH: usize = 42;
/// Blanks between two columns.
const GAP: usize = 2;

/// Writes the page. Verbatim lines are never wrapped.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for (index, block) in document.0.iter().enumerate() {
        let after_heading = index.checked_sub(1).is_some_and(|before| matches!(document.0[before], Block::Heading(_)));
        if index > 0 && !after_heading {
            writeln!(out)?;
        }
        match block {
            Block::Title(title) => {
                let title = escape::terminal(title);
                writeln!(out, "{title}\n{}", "=".repeat(title.chars().count().min(WIDTH)))?;
            }
            Block::Heading(heading) => writeln!(out, "{}", heading.to_uppercase())?,
            Block::Verdict(text) | Block::Paragraph(text) => wrapped(out, "", "", text)?,
            Block::Bullets(items) => {
                for item in items {
                    wrapped(out, "- ", "  ", item)?;
                }
            }
            Block::Facts(facts) => {
                let width = facts.iter().map(|(name, _)| escape::terminal(name).chars().count()).max().unwrap_or(0) + 2;
                for (name, value) in facts {
                    let name = escape::terminal(name);
                    let gap = " ".repeat(width - name.chars().count());
                    wrapped(out, &format!("{name}{gap}"), &" ".repeat(width), value)?;
                }
            }
            Block::Table(table) => columns(out, table)?,
            Block::Verbatim(lines) => {
                for line in lines {
                    writeln!(out, "  {}", escape::terminal(line).trim_end())?;
                }
            }
        }
    }
    Ok(())
}

/// Breaks at blanks only, so that a long name stays whole and can be copied.
fn wrapped(out: &mut dyn Write, first: &str, next: &str, text: &str) -> io::Result<()> {
    let text = escape::terminal(text);
    let room = WIDTH.saturating_sub(next.chars().count()).max(30);
    let mut indent = first;
    for line in wrap(&text, room) {
        writeln!(out, "{}", format!("{indent}{line}").trim_end())?;
        indent = next;
    }
    Ok(())
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let long = word.chars().count();
        if used > 0 && used + 1 + long > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
        }
        used += long;
    }
    lines
}

/// Every column is as wide as its widest cell, up to a limit at which its cells wrap; the last takes the room that is left.
fn columns(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    let escaped = |row: &Vec<String>| row.iter().map(|cell| escape::terminal(cell).into_owned()).collect();
    let heading: Vec<String> = table.columns.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(table.rows.iter().map(escaped)).collect();
    let last = table.columns.len().saturating_sub(1);
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let mut widths: Vec<usize> = (0..last).map(|column| widest(column).min(COLUMN_WIDTH)).collect();
    widths.push(WIDTH.saturating_sub(widths.iter().map(|width| width + GAP).sum()).max(30));
    for row in &rows {
        let cells: Vec<Vec<String>> = row.iter().zip(&widths).map(|(cell, width)| wrap(cell, *width)).collect();
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(at).map_or("", String::as_str);
                line.push_str(part);
                line.extend(std::iter::repeat_n(' ', (width + GAP).saturating_sub(part.chars().count())));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(block: Block, expected: &str) {
        let mut out = Vec::new();
        write(&Document(vec![block]), &mut out).expect("memory takes it");
        assert_eq!(String::from_utf8(out).expect("text is UTF-8"), expected);
    }

    #[test]
    fn columns_line_up_and_nothing_acts() {
        let rows = vec![vec!["1".to_owned(), "a\u{1b}b".to_owned()], vec!["22".to_owned(), "c".to_owned()]];
        check(Block::Table(Table { columns: vec!["N", "What"], rows }), "N   What\n1   a\\u{1b}b\n22  c\n");
        check(Block::Facts(vec![("a".into(), "1".into()), ("bcd".into(), "2".into())]), "a    1\nbcd  2\n");
    }

    #[test]
    fn words_wrap_and_long_ones_stay_whole() {
        let long = "x".repeat(120);
        check(Block::Paragraph(format!("one {long} two")), &format!("one\n{long}\ntwo\n"));
        check(Block::Bullets(vec!["a".to_owned()]), "- a\n");
    }
}
