//! A plain table: what stands under every picture as its numbers, and where nothing more than rows is needed.

/// Columns and rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Grid {
    /// What the table says, as its caption.
    pub caption: String,
    /// The headings.
    pub columns: Vec<Column>,
    /// As many cells in each as there are columns. The first names the row.
    pub rows: Vec<Vec<Cell>>,
}

/// One heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// What it says.
    pub label: String,
    /// Numbers stand to the right.
    pub numeric: bool,
}

/// One cell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cell {
    /// What it says; may be text from a log.
    pub text: String,
    /// Where it leads.
    pub href: Option<String>,
}

impl Grid {
    /// Without rows. A heading that starts with `#` is one of numbers.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let column = |text: &&str| match text.strip_prefix('#') {
            Some(label) => Column { label: label.to_owned(), numeric: true },
            None => Column { label: (*text).to_owned(), numeric: false },
        };
        Self { caption: caption.into(), columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Each cell with the heading above it.
    pub(crate) fn cells<'g>(&'g self, row: &'g [Cell]) -> impl Iterator<Item = (&'g Column, &'g Cell)> {
        self.columns.iter().zip(row)
    }
}

impl Cell {
    /// Text that leads somewhere.
    pub fn link(text: impl Into<String>, href: impl Into<String>) -> Self {
        Self { text: text.into(), href: Some(href.into()) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), href: None }
    }
}
