//! Rows to CSV and Parquet, a batch at a time: memory holds one batch, not the table. And counts: from such files, and over
//! columns of a whole fleet ([`Counts`]).
//!
//! This crate alone knows polars; its callers see plain cells and numbers. It knows no database and no log.

mod cell;
mod counts;
mod output;
mod sheet;
mod totals;

use std::path::Path;

use polars::io::parquet::write::BatchedWriter as ParquetBatches;
use polars::prelude::{DataFrame, ParquetWriter, Schema};

pub use cell::{Cell, Column, Kind};
pub use counts::{Count, Counts};
use output::{Memory, Output, Writer};
use sheet::Sheet;
pub use totals::{ReasonTotal, Totals, totals};

/// File formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Text with a header line. What a terminal would obey or a spreadsheet run is made harmless, see [`wire::cell`].
    Csv,
    /// Columnar, typed, compressed; cells as they are.
    Parquet,
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system said no.
    #[error("failed to use the file")]
    Io(#[from] std::io::Error),
    /// A cell does not fit its column, or polars failed.
    #[error("failed to write rows: {0}")]
    Rows(String),
}

/// A file that takes batches of rows.
pub struct Exporter {
    rows: Rows,
    output: Output,
}

/// The same for somebody who takes the bytes as they come, such as the caller of a URL.
pub struct Stream {
    rows: Rows,
    memory: Memory,
}

/// Rows in a format, on their way to a writer.
struct Rows {
    columns: Vec<Column>,
    sink: Sink,
}

enum Sink {
    Csv(Box<Sheet>),
    Parquet(Box<ParquetBatches<Writer>>),
}

impl Exporter {
    /// Begins a file that takes its name in [`Exporter::finish`]; whatever has that name keeps it until then.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path, format: Format, columns: impl Into<Vec<Column>>) -> Result<Self, Error> {
        let output = Output::create(path)?;
        Ok(Self { rows: Rows::begin(output.writer(), format, columns.into())?, output })
    }

    /// Appends rows; each has a cell for every column.
    ///
    /// # Errors
    /// When a cell does not fit its column, or the file cannot grow.
    pub fn write(&mut self, batch: &[Vec<Cell>]) -> Result<(), Error> {
        self.rows.write(batch)
    }

    /// Completes the file and gives it its name; without this it is gone.
    ///
    /// # Errors
    /// When the file cannot grow.
    pub fn finish(self) -> Result<(), Error> {
        self.rows.finish()?;
        Ok(self.output.finish()?)
    }
}

impl Stream {
    /// Begins.
    ///
    /// # Errors
    /// When polars fails.
    pub fn begin(format: Format, columns: impl Into<Vec<Column>>) -> Result<Self, Error> {
        let memory = Memory::default();
        Ok(Self { rows: Rows::begin(memory.writer(), format, columns.into())?, memory })
    }

    /// Appends rows, and answers the bytes that have come together.
    ///
    /// # Errors
    /// When a cell does not fit its column.
    pub fn write(&mut self, batch: &[Vec<Cell>]) -> Result<Vec<u8>, Error> {
        self.rows.write(batch)?;
        Ok(self.memory.take())
    }

    /// The last bytes.
    ///
    /// # Errors
    /// When polars fails.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        self.rows.finish()?;
        Ok(self.memory.take())
    }
}

impl Rows {
    fn begin(writer: Writer, format: Format, columns: Vec<Column>) -> Result<Self, Error> {
        let sink = match format {
            Format::Csv => Sink::Csv(Box::new(Sheet::begin(writer, &columns)?)),
            Format::Parquet => {
                let schema = columns.iter().map(Column::field).collect::<Schema>();
                Sink::Parquet(Box::new(ParquetWriter::new(writer).batched(&schema).map_err(failed)?))
            }
        };
        Ok(Self { columns, sink })
    }

    fn write(&mut self, batch: &[Vec<Cell>]) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Csv(sheet) => sheet.write(&self.columns, batch),
            Sink::Parquet(writer) => {
                let series = self.columns.iter().enumerate().map(|(index, column)| column.gather(batch, index));
                let series = series.collect::<Result<Vec<_>, _>>().map_err(Error::Rows)?;
                let frame = DataFrame::new(batch.len(), series).map_err(failed)?;
                writer.write_batch(&frame).map_err(failed)
            }
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self.sink {
            Sink::Csv(sheet) => sheet.finish(),
            Sink::Parquet(writer) => writer.finish().map(drop).map_err(failed),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn failed(error: polars::prelude::PolarsError) -> Error {
    Error::Rows(error.to_string())
}

#[cfg(test)]
mod tests;
