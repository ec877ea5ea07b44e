//! A table as CSV or Parquet: in a file of the command line, or as the answer to a URL, a few thousand rows at a time.
//!
//! `tables` lists what can be exported, `cells` what stands in the columns; everything of one machine is in `machine`.

mod cells;
pub(crate) mod http;
mod machine;
mod tables;

use std::io;
use std::path::Path;

use analytics::{Cell, Column, Exporter};
use anyhow::Context;
use axum::body::Bytes;
use tokio::sync::mpsc::Sender;

use crate::args::Format;
use crate::exit::Usage;
use crate::store::{self, EventCursor, LossCursor, Place, Schema, Store, Table};
pub use machine::save as export_machine;
pub use tables::names;
use tables::{Export, Rows};

/// Rows in memory at a time; in Parquet, also rows in a group.
const ROWS: u32 = 5_000;

/// Where the bytes of an export go, as they come together; whoever takes them may have gone away.
pub(crate) type Pieces = Sender<io::Result<Bytes>>;

/// A table that is being read, page by page.
pub(crate) struct Pages {
    rows: Rows,
    columns: Vec<Column>,
    /// Of a plain table: what is shown of it.
    plain: Option<Table>,
    /// Where the next rows begin. Each table has its own key; only one of them moves.
    id: String,
    event: EventCursor,
    loss: LossCursor,
    key: Option<Vec<store::Cell>>,
}

/// Writes the whole table and answers the number of rows.
///
/// # Errors
/// When there is no such table, the database or the file fails, or the file is the database; what stood there stays then.
pub async fn run(store: &Store, table: &str, format: Format, file: &Path) -> anyhow::Result<u64> {
    refuse_own(store.place(), file)?;
    let known = tables::find(table);
    let known = known.ok_or_else(|| Usage(format!("failed to export: there is no table {table}")))?;
    let mut pages = Pages::begin(known).await?;
    let mut exporter = Exporter::create(file, format.into(), pages.columns.clone())
        .with_context(|| format!("failed to write {}: check folder and rights", file.display()))?;
    let mut total = 0;
    loop {
        let rows = pages.next(store).await?;
        if rows.is_empty() {
            break;
        }
        total += rows.len() as u64;
        // Compression is work for a thread of its own.
        exporter = tokio::task::spawn_blocking(move || exporter.write(&rows).map(|()| exporter))
            .await?
            .with_context(|| format!("failed to write {}", file.display()))?;
    }
    exporter.finish().with_context(|| format!("failed to complete {}", file.display()))?;
    Ok(total)
}

impl Pages {
    /// In front of the first row.
    async fn begin(export: &Export) -> sqlx::Result<Self> {
        let (columns, plain) = match export.rows {
            Rows::Logs => (cells::LOG_COLUMNS.to_vec(), None),
            Rows::Events => (cells::EVENT_COLUMNS.to_vec(), None),
            Rows::Machines => (cells::MACHINE_COLUMNS.to_vec(), None),
            Rows::Losses => (cells::LOSS_COLUMNS.to_vec(), None),
            Rows::Plain { without } => {
                let table = Schema::newest().await?.table(export.name).ok_or(sqlx::Error::RowNotFound)?;
                let (columns, shown) = cells::plain_columns(table, without);
                (columns, Some(shown))
            }
        };
        let (id, event, loss) = (String::new(), EventCursor::default(), LossCursor::default());
        Ok(Self { rows: export.rows, columns, plain, id, event, loss, key: None })
    }

    /// The next rows, and none behind the last.
    async fn next(&mut self, store: &Store) -> sqlx::Result<Vec<Vec<Cell>>> {
        Ok(match (self.rows, &self.plain) {
            (Rows::Logs, _) => {
                let rows = store.log_rows(&self.id, ROWS).await?;
                if let Some(last) = rows.last() {
                    self.id.clone_from(&last.id);
                }
                rows.into_iter().map(cells::log_cells).collect()
            }
            (Rows::Events, _) => {
                let rows = store.event_rows(&self.event, ROWS).await?;
                if let Some(last) = rows.last() {
                    self.event = (last.log.clone(), last.record_offset, last.ordinal);
                }
                rows.into_iter().map(cells::event_cells).collect()
            }
            (Rows::Machines, _) => {
                let rows = store.machine_rows(&self.id, ROWS).await?;
                if let Some(last) = rows.last() {
                    self.id.clone_from(&last.id);
                }
                rows.into_iter().map(cells::machine_cells).collect()
            }
            (Rows::Losses, _) => {
                let rows = store.loss_rows(&self.loss, ROWS).await?;
                if let Some(last) = rows.last() {
                    self.loss = (last.machine.clone(), last.log.clone(), last.reason.clone());
                }
                rows.into_iter().map(cells::loss_cells).collect()
            }
            (Rows::Plain { .. }, None) => Vec::new(),
            (Rows::Plain { .. }, Some(table)) => {
                let rows = store.plain_rows(table, None, self.key.as_deref(), ROWS).await?;
                self.key = rows.last().map(|last| table.key_of(last));
                rows.into_iter().map(|row| row.into_iter().map(cells::plain_cell).collect()).collect()
            }
        })
    }
}

impl From<Format> for analytics::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => Self::Csv,
            Format::Parquet => Self::Parquet,
        }
    }
}

/// The output must not take the place of the database or of a file that belongs to it, by whatever name.
pub(crate) fn refuse_own(place: &Place, file: &Path) -> anyhow::Result<()> {
    let Place::File(database) = place else { return Ok(()) };
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut own = database.clone().into_os_string();
        own.push(suffix);
        let own = Path::new(&own);
        // Links of both kinds lead to the same file. One that is not there now would be found by its name later.
        if same_file::is_same_file(own, file).unwrap_or(false) || same_name(own, file) {
            let why = format!("failed to write: {} belongs to the database, name another file", file.display());
            return Err(Usage(why).into());
        }
    }
    Ok(())
}

fn same_name(one: &Path, other: &Path) -> bool {
    let full = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
    };
    full(one).is_some_and(|one| full(other) == Some(one))
}
