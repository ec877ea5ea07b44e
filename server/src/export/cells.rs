//! What stands in which column of an exported table.

use analytics::{Cell, Column};

use crate::store::{self, EventRow, Kind, LogRow, LossRow, MachineRow, Table};

pub(super) const LOG_COLUMNS: &[Column] = &[
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

pub(super) fn log_cells(row: LogRow) -> Vec<Cell> {
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

pub(super) const EVENT_COLUMNS: &[Column] = &[
    Column::text("log"),
    Column::text("machine"),
    Column::int("record_offset"),
    Column::int("ordinal"),
    Column::int("line"),
    Column::text("kind"),
    Column::text("shape"),
    Column::json("body"),
];

pub(super) fn event_cells(row: EventRow) -> Vec<Cell> {
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

pub(super) const MACHINE_COLUMNS: &[Column] = &[
    Column::text("id"),
    Column::text("first_seen"),
    Column::text("last_contact"),
    Column::text("agent"),
    Column::int("logs"),
    Column::text("heartbeat_at"),
    Column::json("heartbeat"),
];

pub(super) fn machine_cells(row: MachineRow) -> Vec<Cell> {
    vec![
        row.id.into(),
        row.first_seen.into(),
        row.last_contact.into(),
        row.agent.into(),
        row.logs.into(),
        row.heartbeat_at.into(),
        row.heartbeat.into(),
    ]
}

pub(super) const LOSS_COLUMNS: &[Column] = &[
    Column::text("machine"),
    Column::text("log"),
    Column::text("file"),
    Column::text("reason"),
    Column::int("bytes"),
    Column::int("events"),
];

pub(super) fn loss_cells(row: LossRow) -> Vec<Cell> {
    vec![
        row.machine.into(),
        // Not every loss is about a log.
        Some(row.log).filter(|log| !log.is_empty()).into(),
        row.file.into(),
        row.reason.into(),
        row.bytes.into(),
        row.events.into(),
    ]
}

/// The columns of a table as it is stored, and the table with these only. Some are shown to nobody; bytes mean something to
/// this program only.
pub(super) fn plain_columns(table: &'static Table, without: &[&str]) -> (Vec<Column>, Table) {
    let is_shown = |column: &store::Column| column.kind != Kind::Bytes && !without.contains(&column.name.as_str());
    let shown = table.columns.iter().filter(|column| is_shown(column));
    let columns = shown.map(|column| match column.kind {
        Kind::Int => Column::int(&column.name),
        Kind::Text | Kind::Bytes => Column::text(&column.name),
    });
    let columns = columns.collect();
    let mut table = table.clone();
    table.columns.retain(is_shown);
    (columns, table)
}

pub(super) fn plain_cell(cell: store::Cell) -> Cell {
    match cell {
        store::Cell::Text(text) => text.into(),
        store::Cell::Int(number) => number.into(),
        store::Cell::Null | store::Cell::Bytes(_) => Cell::Null,
    }
}
