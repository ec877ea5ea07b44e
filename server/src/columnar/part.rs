//! One day of one table on its way into the copy: rows to Parquet on the local disk, file by file to the store. Memory
//! holds the rows of one row group.

use std::path::Path;

use analytics::{Cell, Column, Exporter, Format};

use super::manifest::File;
use super::{Copy, Error};

/// Rows of a row group: enough for columns to compress well and for scans to skip, a few ten MiB of cells.
const ROWS_PER_GROUP: usize = 20_000;
/// Rows of a file, so that a big day can be read by several workers.
const ROWS_PER_FILE: u64 = 2_000_000;

/// Files in the making.
pub(super) struct Parts<'a> {
    copy: &'a Copy,
    table: &'static str,
    columns: &'static [Column],
    /// Where its files lie, such as `logs/day=2026-09-14`.
    folder: String,
    /// In the files' names: those of another run are never the same.
    run: &'a str,
    /// For files that are not sent yet.
    temporary: &'a Path,
    rows: Vec<Vec<Cell>>,
    open: Option<(Exporter, u64)>,
    done: Vec<File>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(
        copy: &'a Copy,
        table: &'static str,
        columns: &'static [Column],
        day: &str,
        run: &'a str,
        temporary: &'a Path,
    ) -> Self {
        // Hive's word for a partition whose value is null.
        let day = if day.is_empty() { "__HIVE_DEFAULT_PARTITION__" } else { day };
        let folder = format!("{table}/day={day}");
        Self { copy, table, columns, folder, run, temporary, rows: Vec::new(), open: None, done: Vec::new() }
    }

    pub(super) async fn push(&mut self, row: Vec<Cell>) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() >= ROWS_PER_GROUP { self.write_group().await } else { Ok(()) }
    }

    /// All files of the day. There are none when there were no rows.
    pub(super) async fn finish(mut self) -> Result<Vec<File>, Error> {
        self.write_group().await?;
        self.send().await?;
        Ok(self.done)
    }

    async fn write_group(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        let (path, columns, open) = (self.temporary.join(self.table), self.columns, self.open.take());
        // Compression is work for a thread of its own.
        let written = tokio::task::spawn_blocking(move || {
            let (mut file, before) = match open {
                Some(open) => open,
                None => (Exporter::create(&path, Format::Parquet, columns)?, 0),
            };
            file.write(&rows)?;
            Ok::<_, analytics::Error>((file, before + rows.len() as u64))
        });
        let open = written.await.map_err(std::io::Error::other)??;
        let full = open.1 >= ROWS_PER_FILE;
        self.open = Some(open);
        if full { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<(), Error> {
        let Some((file, rows)) = self.open.take() else { return Ok(()) };
        tokio::task::spawn_blocking(move || file.finish()).await.map_err(std::io::Error::other)??;
        let path = format!("{}/part-{:03}-{}.parquet", self.folder, self.done.len(), self.run);
        let (bytes, sha256) = self.copy.send(&self.temporary.join(self.table), &path).await?;
        self.done.push(File { table: self.table.to_owned(), path, rows, bytes, sha256 });
        Ok(())
    }
}
