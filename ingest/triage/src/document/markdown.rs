//! A document as markdown, to paste into an issue.

use std::io::{self, Write};

use super::{Block, Document, Table};
use crate::escape;

/// Writes the page.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for (index, block) in document.0.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        match block {
            Block::Title(title) => writeln!(out, "## {}", escape::markdown(title))?,
            Block::Heading(heading) => writeln!(out, "### {heading}")?,
            Block::Verdict(text) => writeln!(out, "**{}**", escape::markdown(text))?,
            Block::Paragraph(text) => writeln!(out, "{}", escape::markdown(text))?,
            Block::Bullets(items) => {
                for item in items {
                    writeln!(out, "- {}", escape::markdown(item))?;
                }
            }
            Block::Facts(facts) => {
                for (name, value) in facts {
                    writeln!(out, "- {}: {}", escape::markdown(name), escape::markdown(value))?;
                }
            }
            Block::Table(table) => rows(out, table)?,
            Block::Verbatim(lines) => verbatim(out, lines)?,
        }
    }
    Ok(())
}

fn rows(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    writeln!(out, "| {} |", table.columns.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(table.columns.len()))?;
    for row in &table.rows {
        let cells: Vec<_> = row.iter().map(|cell| escape::markdown(cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// The fence is longer than any run of back-ticks inside, so a line cannot end it.
fn verbatim(out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
    let lines: Vec<_> = lines.iter().map(|line| escape::terminal(line)).collect();
    let longest = lines.iter().flat_map(|line| line.split(|char| char != '`')).map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    writeln!(out, "{fence}text")?;
    for line in &lines {
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        let mut document = Document::default();
        document.push(Block::Paragraph("a <img> @team".to_owned()));
        document.push(Block::Verbatim(vec!["```".to_owned(), "x".to_owned()]));
        document.push(Block::Bullets(Vec::new()));
        let mut out = Vec::new();
        write(&document, &mut out).expect("memory takes it");
        let text = String::from_utf8(out).expect("text is UTF-8");
        assert_eq!(text, "a &#60;img&#62; &#64;team\n\n````text\n```\nx\n````\n");
    }
}
