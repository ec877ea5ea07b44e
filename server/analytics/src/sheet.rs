//! Rows as CSV: a header, a line a row, nothing that a terminal would obey or a spreadsheet run.

use std::borrow::Cow;

use crate::output::Writer;
use crate::{Cell, Column, Error, Kind};

/// A table of text in the making.
pub(crate) struct Sheet(csv::Writer<Writer>);

impl Sheet {
    /// Begins with the names of the columns.
    pub(crate) fn begin(writer: Writer, columns: &[Column]) -> Result<Self, Error> {
        let mut sheet = csv::Writer::from_writer(writer);
        sheet.write_record(columns.iter().map(Column::name)).map_err(failed)?;
        Ok(Self(sheet))
    }

    /// Appends rows.
    pub(crate) fn write(&mut self, columns: &[Column], batch: &[Vec<Cell>]) -> Result<(), Error> {
        for row in batch {
            for (column, cell) in columns.iter().zip(row) {
                self.0.write_field(text(column, cell)?.as_bytes()).map_err(failed)?;
            }
            // Ends the line, and complains of a row that is not as long as the header.
            self.0.write_record(None::<&[u8]>).map_err(failed)?;
        }
        Ok(self.0.flush()?)
    }

    /// Everything is on its way.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        Ok(self.0.flush()?)
    }
}

fn text<'a>(column: &Column, cell: &'a Cell) -> Result<Cow<'a, str>, Error> {
    Ok(match (cell, column.kind()) {
        (Cell::Null, _) | (Cell::Text(None), Kind::Text | Kind::Json) => Cow::Borrowed(""),
        (Cell::Text(Some(text)), Kind::Json) => wire::cell::json(text),
        (Cell::Text(Some(text)), Kind::Text) => wire::cell::csv(text),
        (Cell::Int(number), Kind::Int) => Cow::Owned(number.to_string()),
        (Cell::Flag(flag), Kind::Flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
        _ => return Err(Error::Rows(format!("the cell of column {} is of another kind", column.name()))),
    })
}

fn failed(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::Io(error),
        other => Error::Rows(format!("{other:?}")),
    }
}
