//! What stands in which column of the copy. A change here is a new number in `manifest.rs`, and a line in
//! `docs/columnar.md`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use analytics::{Cell, Column};
use jiff::civil::DateTime;
use wire::Observation;

use crate::store::{CopiedLog, EventRow, NO_START_S};
use crate::text;

/// `logs`: one row per log. The day is the folder's.
pub(super) const LOG_COLUMNS: &[Column] = &[
    Column::text("id"),
    Column::text("machine"),
    Column::text("file"),
    Column::instant("received"),
    Column::wall_clock("started"),
    Column::text("exe"),
    Column::int("pid"),
    Column::text("runtime"),
    Column::text("build"),
    Column::text("generation"),
    Column::text("path"),
    Column::text("split"),
    Column::text("crossing"),
    Column::flag("interop_crossing"),
    Column::list("reasons"),
    Column::flag("killed"),
    Column::flag("retired"),
    Column::text("basis"),
    Column::text("outcome"),
    Column::text("render"),
    Column::text("render_luid"),
    Column::text("scanout"),
    Column::text("scanout_luid"),
    Column::text("gpu_pair"),
    Column::int("line"),
    Column::int("sessions"),
    Column::list("findings"),
    Column::flag("footer"),
    Column::flag("unfinished"),
    Column::flag("events_pruned"),
    Column::int("bytes"),
    Column::int("missing_bytes"),
    Column::int("lines"),
    Column::int("records"),
    Column::int("events"),
    Column::int("ignored"),
    Column::int("unrecognised"),
    Column::int("continuations"),
    Column::int("truncated"),
    Column::int("spliced"),
    Column::int("empty_bodies"),
];

/// `events`: one row per observation.
pub(super) const EVENT_COLUMNS: &[Column] = &[
    Column::text("log"),
    Column::text("machine"),
    Column::int("record_offset"),
    Column::int("ordinal"),
    Column::int("line"),
    Column::text("kind"),
    Column::text("shape"),
    Column::wall_clock("time"),
    Column::text("level"),
    Column::text("function"),
    Column::text("hint"),
    Column::json("fields"),
    Column::text("marker"),
];

pub(super) fn log_cells(row: CopiedLog) -> Vec<Cell> {
    let report = row.log.report;
    let verdict = report.verdict;
    let counts = report.counts;
    // As in the table that `summary` counts: each token once.
    let reasons: BTreeSet<_> = verdict.reasons.iter().map(|reason| text::for_column(reason.as_str())).collect();
    let findings: BTreeSet<_> = report.findings.into_iter().map(|finding| finding.code).collect();
    let luid = |adapter: &Option<wire::Adapter>| adapter.as_ref().map(|adapter| adapter.luid.to_string());
    vec![
        row.log.id.into(),
        row.log.machine.into(),
        report.file.into(),
        instant(&row.log.received).into(),
        Some(row.started_s).filter(|start| *start > NO_START_S).map(|start| start.saturating_mul(1000)).into(),
        row.exe.into(),
        report.process.as_ref().map(|process| i64::from(process.pid)).into(),
        row.runtime.into(),
        report.runtime.build.into(),
        report.runtime.generation.as_ref().map(text::word).into(),
        report.path.as_str().to_owned().into(),
        verdict.split.as_str().to_owned().into(),
        verdict.crossing.as_str().to_owned().into(),
        verdict.interop_crossing.into(),
        reasons.into_iter().collect::<Vec<_>>().into(),
        verdict.killed.into(),
        verdict.retired.into(),
        verdict.basis.as_str().to_owned().into(),
        row.outcome.into(),
        row.render.into(),
        luid(&verdict.render).into(),
        row.scanout.into(),
        luid(&verdict.scanout).into(),
        row.gpu_pair.into(),
        verdict.line.map(whole).into(),
        whole(report.sessions.len() as u64).into(),
        findings.into_iter().collect::<Vec<_>>().into(),
        (report.end == wire::End::Footer).into(),
        row.log.unfinished.into(),
        row.events_pruned.into(),
        row.end_offset.into(),
        row.log.missing_bytes.into(),
        whole(counts.lines).into(),
        whole(counts.records).into(),
        whole(counts.events).into(),
        whole(counts.ignored).into(),
        whole(counts.unrecognised).into(),
        whole(counts.continuations).into(),
        whole(counts.truncated).into(),
        whole(counts.spliced).into(),
        whole(counts.empty_bodies).into(),
    ]
}

/// The body is read again, so that its parts get columns of their own.
pub(super) fn event_cells(row: EventRow) -> Result<Vec<Cell>, serde_json::Error> {
    let own = match serde_json::from_str(&row.body)? {
        Observation::Event(event) => [
            event.time.as_deref().and_then(wall_clock).into(),
            text::word(&event.level).into(),
            event.function.into(),
            event.hint.map(|hint| hint.path.as_str().to_owned()).into(),
            Some(serde_json::to_string(&event.fields)?).filter(|fields| fields != "{}").into(),
            Cell::Null,
        ],
        Observation::Flaw(flaw) => {
            let hint = flaw.hint.map(|hint| hint.path.as_str().to_owned());
            [Cell::Null, Cell::Null, Cell::Null, hint.into(), Cell::Null, flaw.marker.map(Cow::into_owned).into()]
        }
    };
    let mut cells = vec![
        row.log.into(),
        row.machine.into(),
        row.record_offset.into(),
        row.ordinal.into(),
        row.line.into(),
        row.kind.into(),
        row.shape.into(),
    ];
    cells.extend(own);
    Ok(cells)
}

/// Milliseconds since 1970.
fn instant(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// `2026-09-14 12:00:01.370` as milliseconds since 1970 by that clock.
fn wall_clock(text: &str) -> Option<i64> {
    let time = text.parse::<DateTime>().ok()?;
    i64::try_from(time.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_millis()).ok()
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_milliseconds() {
        assert_eq!(wall_clock("2026-09-14 12:00:01.370"), Some(1_789_387_201_370));
        assert_eq!(wall_clock("1969-12-31 23:59:59.250"), Some(-750));
        assert_eq!(wall_clock("yesterday"), None);
        assert_eq!(instant("2026-09-14T12:00:01.370Z"), Some(1_789_387_201_370));
    }
}
