//! `export`: a table to a file, a few thousand rows at a time.

use std::path::Path;

use analytics::{Cell, Column, Exporter};
use anyhow::Context;

use crate::args::{Format, Table};
use crate::exit::Usage;
use crate::store::{EventRow, LogRow, Place, Store};

/// Rows in memory at a time; in Parquet, also rows in a group.
const ROWS: u32 = 10_000;

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
        Table::Logs => LOG_COLUMNS,
        Table::Events => EVENT_COLUMNS,
    };
    let mut exporter = Exporter::create(file, format, columns)
        .with_context(|| format!("failed to write {}: check folder and rights", file.display()))?;
    let mut logs_after = String::new();
    let mut events_after = (String::new(), 0, 0);
    let mut total = 0;
    loop {
        let rows: Vec<Vec<Cell>> = match table {
            Table::Logs => {
                let rows = store.log_rows(&logs_after, ROWS).await?;
                if let Some(last) = rows.last() {
                    logs_after.clone_from(&last.id);
                }
                rows.into_iter().map(log_cells).collect()
            }
            Table::Events => {
                let rows = store.event_rows(&events_after, ROWS).await?;
                if let Some(last) = rows.last() {
                    events_after = (last.log.clone(), last.record_offset, last.ordinal);
                }
                rows.into_iter().map(event_cells).collect()
            }
        };
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

/// The output must not take the place of the database or of a file that belongs to it, by whatever name.
fn refuse_own(place: &Place, file: &Path) -> anyhow::Result<()> {
    let Place::File(database) = place else { return Ok(()) };
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut own = database.clone().into_os_string();
        own.push(suffix);
        let own = Path::new(&own);
        // Links of both kinds lead to the same file. One that is not there now would be found by its name later.
        if same_file::is_same_file(own, file).unwrap_or(false) || same_name(own, file) {
            let why = format!("failed to export: {} belongs to the database, name another file", file.display());
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

const LOG_COLUMNS: &[Column] = &[
    Column::text("id"),
    Column::text("machine"),
    Column::text("file"),
    Column::text("received"),
    Column::text("day"),
    Column::text("exe"),
    Column::text("runtime"),
    Column::text("path"),
    Column::text("split"),
    Column::text("crossing"),
    Column::flag("interop_crossing"),
    Column::flag("killed"),
    Column::flag("retired"),
    Column::text("basis"),
    Column::text("reasons"),
    Column::text("render"),
    Column::text("scanout"),
    Column::int("bytes"),
    Column::int("missing_bytes"),
];

fn log_cells(row: LogRow) -> Vec<Cell> {
    vec![
        row.id.into(),
        row.machine.into(),
        row.file.into(),
        row.received.into(),
        row.day.into(),
        row.exe.into(),
        row.runtime.into(),
        row.path.into(),
        row.split.into(),
        row.crossing.into(),
        row.interop_crossing.into(),
        row.killed.into(),
        row.retired.into(),
        row.basis.into(),
        row.reasons.into(),
        row.render.into(),
        row.scanout.into(),
        row.bytes.into(),
        row.missing_bytes.into(),
    ]
}

const EVENT_COLUMNS: &[Column] = &[
    Column::text("log"),
    Column::text("machine"),
    Column::int("record_offset"),
    Column::int("ordinal"),
    Column::int("line"),
    Column::text("kind"),
    Column::text("shape"),
    Column::json("body"),
];

fn event_cells(row: EventRow) -> Vec<Cell> {
    vec![
        row.log.into(),
        row.machine.into(),
        row.record_offset.into(),
        row.ordinal.into(),
        row.line.into(),
        row.kind.into(),
        row.shape.into(),
        row.body.into(),
    ]
}
