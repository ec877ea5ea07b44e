//! Rows to CSV and Parquet files, a batch at a time: memory holds one batch, not the table.
//!
//! This crate alone knows polars; its callers see plain cells. It knows no database and no log.

mod cell;
mod output;

use std::path::Path;

use polars::io::csv::write::BatchedWriter as CsvBatches;
use polars::io::parquet::write::BatchedWriter as ParquetBatches;
use polars::prelude::{CsvWriter, DataFrame, ParquetWriter, Schema, SerWriter};

pub use cell::{Cell, Column, Kind};
use output::{Output, Writer};

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
    columns: &'static [Column],
    sink: Sink,
    output: Output,
}

enum Sink {
    Csv(CsvBatches<Writer>),
    Parquet(Box<ParquetBatches<Writer>>),
}

impl Exporter {
    /// Begins a file that takes its name in [`Exporter::finish`]; whatever has that name keeps it until then.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path, format: Format, columns: &'static [Column]) -> Result<Self, Error> {
        let output = Output::create(path)?;
        let schema = columns.iter().map(Column::field).collect::<Schema>();
        let sink = match format {
            Format::Csv => Sink::Csv(CsvWriter::new(output.writer()).batched(&schema).map_err(failed)?),
            Format::Parquet => {
                Sink::Parquet(Box::new(ParquetWriter::new(output.writer()).batched(&schema).map_err(failed)?))
            }
        };
        Ok(Self { columns, sink, output })
    }

    /// Appends rows; each has a cell for every column.
    ///
    /// # Errors
    /// When a cell does not fit its column, or the file cannot grow.
    pub fn write(&mut self, batch: &[Vec<Cell>]) -> Result<(), Error> {
        let escape = matches!(self.sink, Sink::Csv(_));
        let series = self.columns.iter().enumerate().map(|(index, column)| column.gather(batch, index, escape));
        let series = series.collect::<Result<Vec<_>, _>>().map_err(Error::Rows)?;
        let frame = DataFrame::new(batch.len(), series).map_err(failed)?;
        match &mut self.sink {
            Sink::Csv(writer) => writer.write_batch(&frame).map_err(failed),
            Sink::Parquet(writer) => writer.write_batch(&frame).map_err(failed),
        }
    }

    /// Completes the file and gives it its name; without this it is gone.
    ///
    /// # Errors
    /// When the file cannot grow.
    pub fn finish(self) -> Result<(), Error> {
        match self.sink {
            Sink::Csv(mut writer) => writer.finish().map_err(failed)?,
            Sink::Parquet(writer) => drop(writer.finish().map_err(failed)?),
        }
        Ok(self.output.finish()?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn failed(error: polars::prelude::PolarsError) -> Error {
    Error::Rows(error.to_string())
}

#[cfg(test)]
mod tests;
