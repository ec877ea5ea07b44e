//! Cells, columns, and how they become series.

use polars::prelude::{Column as Series, DataType, Field, NamedFrom, PlSmallStr, Series as Values};

/// One value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Nothing, in a column of any kind.
    Null,
    /// Text, or nothing.
    Text(Option<String>),
    /// A whole number.
    Int(i64),
    /// Yes or no.
    Flag(bool),
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// [`Cell::Text`].
    Text,
    /// [`Cell::Text`] that is a JSON document.
    Json,
    /// [`Cell::Int`].
    Int,
    /// [`Cell::Flag`].
    Flag,
}

/// A column's name and kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    name: &'static str,
    kind: Kind,
}

impl Column {
    /// A column of text.
    pub const fn text(name: &'static str) -> Self {
        Self { name, kind: Kind::Text }
    }

    /// A column of JSON documents.
    pub const fn json(name: &'static str) -> Self {
        Self { name, kind: Kind::Json }
    }

    /// A column of whole numbers.
    pub const fn int(name: &'static str) -> Self {
        Self { name, kind: Kind::Int }
    }

    /// A column of yes and no.
    pub const fn flag(name: &'static str) -> Self {
        Self { name, kind: Kind::Flag }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn field(&self) -> Field {
        let data_type = match self.kind {
            Kind::Text | Kind::Json => DataType::String,
            Kind::Int => DataType::Int64,
            Kind::Flag => DataType::Boolean,
        };
        Field::new(PlSmallStr::from_static(self.name), data_type)
    }

    /// The column's values from all rows.
    pub(crate) fn gather(&self, rows: &[Vec<Cell>], index: usize) -> Result<Series, String> {
        let name = PlSmallStr::from_static(self.name);
        let cells = rows.iter().map(|row| row.get(index));
        let wrong = || format!("the cell of column {} is missing or of another kind", self.name);
        let values = match self.kind {
            Kind::Text | Kind::Json => {
                let text = cells.map(|cell| match cell {
                    Some(Cell::Text(text)) => Ok(text.as_deref()),
                    Some(Cell::Null) => Ok(None),
                    _ => Err(wrong()),
                });
                Values::new(name, text.collect::<Result<Vec<_>, _>>()?)
            }
            Kind::Int => {
                let numbers = cells.map(|cell| match cell {
                    Some(Cell::Int(number)) => Ok(Some(*number)),
                    Some(Cell::Null) => Ok(None),
                    _ => Err(wrong()),
                });
                Values::new(name, numbers.collect::<Result<Vec<_>, _>>()?)
            }
            Kind::Flag => {
                let flags = cells.map(|cell| match cell {
                    Some(Cell::Flag(flag)) => Ok(Some(*flag)),
                    Some(Cell::Null) => Ok(None),
                    _ => Err(wrong()),
                });
                Values::new(name, flags.collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(values.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
