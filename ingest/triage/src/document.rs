//! A page of words for people, laid out once and printed as text for a terminal or as markdown for an issue.
//!
//! What stands in a document is raw: each printer escapes it for the place where it goes, so no caller can forget.

mod markdown;
mod text;

pub use markdown::write as markdown;
pub use text::write as text;

/// A page, from top to bottom.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document(pub Vec<Block>);

/// A part of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Block {
    /// The name of the page.
    Title(String),
    /// The name of a part.
    Heading(&'static str),
    /// The sentence that a reader in a hurry needs, with the mark in front of it.
    Verdict(String),
    /// Words.
    Paragraph(String),
    /// One thing a line.
    Bullets(Vec<String>),
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// Rows under headings.
    Table(Table),
    /// Lines that must stay as they are: a picture, or what the runtime printed.
    Verbatim(Vec<String>),
}

/// Rows of cells; every row is as long as the headings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// From top to bottom.
    pub rows: Vec<Vec<String>>,
}

impl Document {
    /// Adds a part below the others. Lists without anything in them are left out.
    pub fn push(&mut self, block: Block) {
        let empty = match &block {
            Block::Bullets(items) => items.is_empty(),
            Block::Facts(facts) => facts.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Verbatim(lines) => lines.is_empty(),
            _ => false,
        };
        if !empty {
            self.0.push(block);
        }
    }

    /// Adds a part with its heading; neither when there is nothing in it.
    pub fn section(&mut self, heading: &'static str, blocks: impl IntoIterator<Item = Block>) {
        let before = self.0.len();
        self.0.push(Block::Heading(heading));
        blocks.into_iter().for_each(|block| self.push(block));
        if self.0.len() == before + 1 {
            self.0.pop();
        }
    }
}
