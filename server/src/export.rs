//! `export`: a table to a file, a few thousand rows at a time.

mod cells;

use std::path::Path;

use analytics::{Cell, Exporter};
use anyhow::Context;

use crate::args::{Format, Table};
use crate::exit::Usage;
use crate::store::{EventCursor, LossCursor, Place, Store};

/// Rows in memory at a time; in Parquet, also rows in a group.
const ROWS: u32 = 10_000;

/// Where the next rows of a table begin. Each table has its own key; only one of them moves.
#[derive(Default)]
struct After {
    id: String,
    event: EventCursor,
    loss: LossCursor,
}

/// Writes the whole table and answers the number of rows.
///
/// # Errors
/// When the database or the file fails, or the file is the database; what stood there stays then.
pub async fn run(store: &Store, table: Table, format: Format, file: &Path) -> anyhow::Result<u64> {
    let format = match format {
        Format::Csv => analytics::Format::Csv,
        Format::Parquet => analytics::Format::Parquet,
    };
    refuse_own(store.place(), file)?;
    let columns = match table {
        Table::Logs => cells::LOG_COLUMNS,
        Table::Events => cells::EVENT_COLUMNS,
        Table::Machines => cells::MACHINE_COLUMNS,
        Table::Losses => cells::LOSS_COLUMNS,
    };
    let mut exporter = Exporter::create(file, format, columns)
        .with_context(|| format!("failed to write {}: check folder and rights", file.display()))?;
    let mut after = After::default();
    let mut total = 0;
    loop {
        let rows = next(store, table, &mut after).await?;
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

/// The next rows, and none behind the last.
async fn next(store: &Store, table: Table, after: &mut After) -> anyhow::Result<Vec<Vec<Cell>>> {
    Ok(match table {
        Table::Logs => {
            let rows = store.log_rows(&after.id, ROWS).await?;
            if let Some(last) = rows.last() {
                after.id.clone_from(&last.id);
            }
            rows.into_iter().map(cells::log_cells).collect()
        }
        Table::Events => {
            let rows = store.event_rows(&after.event, ROWS).await?;
            if let Some(last) = rows.last() {
                after.event = (last.log.clone(), last.record_offset, last.ordinal);
            }
            rows.into_iter().map(cells::event_cells).collect()
        }
        Table::Machines => {
            let rows = store.machine_rows(&after.id, ROWS).await?;
            if let Some(last) = rows.last() {
                after.id.clone_from(&last.id);
            }
            rows.into_iter().map(cells::machine_cells).collect()
        }
        Table::Losses => {
            let rows = store.loss_rows(&after.loss, ROWS).await?;
            if let Some(last) = rows.last() {
                after.loss = (last.machine.clone(), last.log.clone(), last.reason.clone());
            }
            rows.into_iter().map(cells::loss_cells).collect()
        }
    })
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
