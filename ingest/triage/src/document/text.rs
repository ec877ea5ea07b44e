//! A document on a terminal: headings in capitals, words wrapped, columns lined up, nothing wider than the terminal where
//! that can be helped.

use std::io::{self, Write};

use super::{Block, Document, Table};
use crate::escape;

/// Width where nobody tells one: in a pipe or a file. Longer sentences are hard to read on a wide terminal as well, and
/// these fit beside the line numbers of a log.
const WIDTH: usize = 100;
/// Tables gain from more, up to here.
const TABLE_WIDTH: usize = 120;
/// Narrower terminals wrap by themselves.
const NARROWEST: usize = 60;
/// No column gets less, however many there are.
const NARROWEST_COLUMN: usize = 8;
/// Blanks between two columns.
const GAP: usize = 2;

/// Writes the page; `width` is that of the terminal. Verbatim lines are never wrapped.
pub fn write(document: &Document, width: Option<u16>, out: &mut dyn Write) -> io::Result<()> {
    let told = width.map_or(WIDTH, |width| usize::from(width).max(NARROWEST));
    let prose = told.min(WIDTH);
    for (index, block) in document.0.iter().enumerate() {
        let after_heading = index.checked_sub(1).is_some_and(|before| matches!(document.0[before], Block::Heading(_)));
        if index > 0 && !after_heading {
            writeln!(out)?;
        }
        match block {
            Block::Title(title) => {
                let lines = wrap(&escape::terminal(title), prose);
                let longest = lines.iter().map(|line| long(line)).max().unwrap_or_default();
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
                writeln!(out, "{}", "=".repeat(longest.min(prose)))?;
            }
            Block::Heading(heading) => writeln!(out, "{}", heading.to_uppercase())?,
            Block::Verdict(text) | Block::Paragraph(text) => wrapped(out, prose, "", "", text)?,
            Block::Bullets(items) => {
                for item in items {
                    wrapped(out, prose, "- ", "  ", item)?;
                }
            }
            Block::Facts(facts) => {
                let names = facts.iter().map(|(name, _)| long(&escape::terminal(name)));
                let indent = names.max().unwrap_or_default() + GAP;
                for (name, value) in facts {
                    let name = escape::terminal(name);
                    let gap = " ".repeat(indent - long(&name));
                    wrapped(out, prose, &format!("{name}{gap}"), &" ".repeat(indent), value)?;
                }
            }
            Block::Table(table) => columns(out, table, told.min(TABLE_WIDTH))?,
            Block::Verbatim(lines) => {
                for line in lines {
                    writeln!(out, "  {}", escape::terminal(line).trim_end())?;
                }
            }
        }
    }
    Ok(())
}

/// Characters, which are cells of the terminal for nearly every name that hardware has.
fn long(text: &str) -> usize {
    text.chars().count()
}

/// Breaks at blanks only, so that a long name stays whole and can be copied.
fn wrapped(out: &mut dyn Write, width: usize, first: &str, next: &str, text: &str) -> io::Result<()> {
    let text = escape::terminal(text);
    let room = width.saturating_sub(long(next)).max(30);
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
        let long = long(word);
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

/// A cell's lines. A word that is longer than its column would run into the next one, so it is broken: behind a sign that
/// joins its parts, if there is one, else anywhere.
fn wrap_cell(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrap(text, width) {
        let mut rest = line.as_str();
        while long(rest) > width {
            let end = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
            let joint = rest[..end].rfind([' ', ',', ';', '/', '\\', '_', '-', '=', ':']).map_or(end, |at| at + 1);
            lines.push(rest[..joint].to_owned());
            rest = &rest[joint..];
        }
        lines.push(rest.to_owned());
    }
    lines
}

/// Every column is as wide as its widest cell, while there is room. Where there is not, the widest give way first, down to
/// one width that they share: so two columns to compare are equally wide.
fn columns(out: &mut dyn Write, table: &Table, width: usize) -> io::Result<()> {
    let escaped = |row: &Vec<String>| row.iter().map(|cell| escape::terminal(cell).into_owned()).collect();
    let heading: Vec<String> = table.columns.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(table.rows.iter().map(escaped)).collect();
    let widest = |column: usize| rows.iter().map(|row| long(&row[column])).max().unwrap_or_default();
    let needed: Vec<usize> = (0..table.columns.len()).map(widest).collect();
    let widths = share(&needed, width.saturating_sub(GAP * needed.len().saturating_sub(1)));
    for row in &rows {
        let cells: Vec<Vec<String>> = row.iter().zip(&widths).map(|(cell, width)| wrap_cell(cell, *width)).collect();
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(at).map_or("", String::as_str);
                line.push_str(part);
                line.extend(std::iter::repeat_n(' ', (width + GAP).saturating_sub(long(part))));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// Shares `room` among columns that need so much: who needs less than an equal share leaves the rest to the others.
fn share(needed: &[usize], room: usize) -> Vec<usize> {
    let mut widths = vec![0; needed.len()];
    let mut by_need: Vec<usize> = (0..needed.len()).collect();
    by_need.sort_by_key(|column| needed[*column]);
    let mut left = room;
    for (at, column) in by_need.iter().enumerate() {
        let equal = (left / (needed.len() - at)).max(NARROWEST_COLUMN);
        if needed[*column] > equal {
            by_need[at..].iter().for_each(|wide| widths[*wide] = equal);
            break;
        }
        widths[*column] = needed[*column];
        left = left.saturating_sub(needed[*column]);
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(block: Block, width: Option<u16>) -> String {
        let mut out = Vec::new();
        write(&Document(vec![block]), width, &mut out).expect("memory takes it");
        String::from_utf8(out).expect("text is UTF-8")
    }

    fn check(block: Block, expected: &str) {
        assert_eq!(written(block, None), expected);
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

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn long_values_keep_their_gap_and_the_line_its_width() {
        let reasons = "dp_refused_scanout,layers_unsupported,presenter_ineligible,weave_on_ingest,killed_by_env";
        let names = ["Adapter ".repeat(12), "x".repeat(150), reasons.to_owned()];
        for (width, most) in [(Some(80), 80), (Some(120), 120), (Some(200), 120), (None, 100)] {
            for a in &names {
                for b in &names {
                    let rows = vec![row(&["Reasons", a, b]), row(&["Split", "engaged", "off"])];
                    let text = written(Block::Table(Table { columns: vec!["What", "A", "B"], rows }), width);
                    let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
                    assert!(lines.iter().all(|line| line.len() <= most), "{text}");
                    // Where B stands in the heading, no line has a character of A in front of it.
                    let at = lines[0].iter().rposition(|char| *char == 'B').expect("it is the last heading");
                    let free = |line: &Vec<char>| line.iter().skip(at - GAP).take(GAP).all(|char| *char == ' ');
                    assert!(lines.iter().all(free), "{text}");
                    let kept = |whole: &str| whole.chars().filter(|char| *char != ' ').count();
                    let expected = kept(a) + kept(b) + kept("What A B Reasons Split engaged off");
                    assert_eq!(kept(&text.replace('\n', "")), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn columns_share_what_is_there() {
        assert_eq!(share(&[4, 5, 6], 40), [4, 5, 6]);
        assert_eq!(share(&[13, 90, 70], 76), [13, 31, 31]);
        assert_eq!(share(&[13, 20, 70], 76), [13, 20, 43]);
        assert_eq!(share(&[50, 50, 50], 10), [8, 8, 8]);
        assert_eq!(share(&[], 10), [0; 0]);
    }

    #[test]
    fn words_break_where_their_parts_join() {
        assert_eq!(wrap_cell("aaa_bbb,ccc", 8), ["aaa_bbb,", "ccc"]);
        assert_eq!(wrap_cell("ab aaabbbccc", 4), ["ab", "aaab", "bbcc", "c"]);
        assert_eq!(wrap_cell("ünïcödé", 3), ["ünï", "cöd", "é"]);
    }
}
