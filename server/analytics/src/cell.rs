//! Cells, columns, and how they become series.

use polars::prelude::{
    Column as Series, DataType, Field, IntoSeries, ListBuilderTrait, ListStringChunkedBuilder, NamedFrom, PlSmallStr,
    Series as Values, TimeUnit, TimeZone,
};

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
    /// Texts in their order.
    List(Vec<String>),
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
    /// [`Cell::List`]; in Parquet only.
    List,
    /// [`Cell::Int`]: milliseconds since 1970 in UTC; in Parquet only.
    Instant,
    /// The same by the clock on the wall, of no zone.
    WallClock,
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

    /// A column of lists of texts.
    pub const fn list(name: &'static str) -> Self {
        Self { name, kind: Kind::List }
    }

    /// A column of points in time, in milliseconds since 1970.
    pub const fn instant(name: &'static str) -> Self {
        Self { name, kind: Kind::Instant }
    }

    /// A column of times as a clock on some wall showed them, in milliseconds since 1970 on that wall.
    pub const fn wall_clock(name: &'static str) -> Self {
        Self { name, kind: Kind::WallClock }
    }

    pub(crate) fn field(&self) -> Field {
        Field::new(PlSmallStr::from_static(self.name), self.data_type())
    }

    fn data_type(&self) -> DataType {
        match self.kind {
            Kind::Text | Kind::Json => DataType::String,
            Kind::Int => DataType::Int64,
            Kind::Flag => DataType::Boolean,
            Kind::List => DataType::List(Box::new(DataType::String)),
            Kind::Instant => DataType::Datetime(TimeUnit::Milliseconds, Some(TimeZone::UTC)),
            Kind::WallClock => DataType::Datetime(TimeUnit::Milliseconds, None),
        }
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
            Kind::Int | Kind::Instant | Kind::WallClock => {
                let numbers = cells.map(|cell| match cell {
                    Some(Cell::Int(number)) => Ok(Some(*number)),
                    Some(Cell::Null) => Ok(None),
                    _ => Err(wrong()),
                });
                let numbers = Values::new(name, numbers.collect::<Result<Vec<_>, _>>()?);
                numbers.cast(&self.data_type()).map_err(|error| error.to_string())?
            }
            Kind::Flag => {
                let flags = cells.map(|cell| match cell {
                    Some(Cell::Flag(flag)) => Ok(Some(*flag)),
                    Some(Cell::Null) => Ok(None),
                    _ => Err(wrong()),
                });
                Values::new(name, flags.collect::<Result<Vec<_>, _>>()?)
            }
            Kind::List => {
                let mut lists = ListStringChunkedBuilder::new(name, rows.len(), rows.len());
                for cell in cells {
                    match cell {
                        Some(Cell::List(texts)) => lists.append_values_iter(texts.iter().map(String::as_str)),
                        Some(Cell::Null) => lists.append_null(),
                        _ => return Err(wrong()),
                    }
                }
                lists.finish().into_series()
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

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Int)
    }
}

impl From<Vec<String>> for Cell {
    fn from(texts: Vec<String>) -> Self {
        Self::List(texts)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
