//! The records of a log: those that decide or explain its verdict, and all of them for export.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Row};
use wire::{Kind, Observation, ScanReport};

use super::filter::Sql;
use super::{Store, corrupt};
use crate::text;

/// Kinds that bear on a verdict by themselves. The others (windows of counters, details, teardown) are evidence only
/// where the report cites their line.
const DECISIVE: &[Kind] = &[
    Kind::Placement,
    Kind::PlacementUnreadable,
    Kind::PlacementChanged,
    Kind::Device,
    Kind::Ingest,
    Kind::SplitNoop,
    Kind::SplitEngaged,
    Kind::BridgeEngaged,
    Kind::SplitDisabled,
    Kind::SplitRefused,
    Kind::DeviceFailed,
    Kind::SplitRetired,
    Kind::BridgeDegraded,
    Kind::GlAdvisory,
    Kind::GlInterop,
    Kind::GlCrossing,
    Kind::RenderChoice,
    Kind::OverrideFollowed,
    Kind::OverrideIgnored,
    Kind::ClientCrossing,
    Kind::Scanout,
    Kind::IngestForced,
    Kind::Presenter,
    Kind::ClientAdapter,
    Kind::ServiceMode,
    Kind::RuntimeVersion,
    Kind::PluginFallback,
    Kind::Compositor,
    Kind::DeviceRemoved,
    Kind::Failure,
    Kind::SuggestedGpuMissing,
];

/// Lines that one question asks for by number; a broken log has a finding on each of thousands of lines.
const CITED_LINES: usize = 500;

/// The evidence of one log, in file order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// What the parser saw.
    pub observations: Vec<Observation>,
    /// How many more there are behind the limit.
    pub left_out: u64,
}

/// One observation, flat, for export.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the columns, which the migration explains")]
pub struct EventRow {
    pub log: String,
    pub machine: String,
    pub record_offset: i64,
    pub ordinal: i64,
    pub line: i64,
    pub kind: String,
    pub shape: Option<String>,
    pub body: String,
}

/// Where a page of event rows begins: log, offset, ordinal.
pub type EventCursor = (String, i64, i64);

impl Store {
    /// The records that bear on the verdict of a log, at most `limit`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn evidence(&self, id: &str, report: &ScanReport, limit: u32) -> sqlx::Result<Evidence> {
        let mut sql = Sql::default();
        let log = sql.bind(id.to_owned());
        let kinds: Vec<_> = DECISIVE.iter().map(|kind| sql.bind(text::word(kind))).collect();
        let lines: Vec<_> = cited_lines(report).into_iter().map(|line| sql.bind(line)).collect();
        let cited = if lines.is_empty() { String::new() } else { format!(" or line in ({})", lines.join(", ")) };
        // The count runs over all rows before the limit cuts them.
        sql.text = format!(
            "select body, count(*) over () from observations where log = {log} and (kind in ({}){cited}) \
             order by record_offset, ordinal limit {}",
            kinds.join(", "),
            sql.bind(i64::from(limit))
        );
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let all: i64 = rows.first().map(|row| row.try_get(1)).transpose()?.unwrap_or(0);
        let observations: Vec<Observation> = rows
            .iter()
            .map(|row| serde_json::from_str(row.try_get(0)?).map_err(corrupt))
            .collect::<sqlx::Result<_>>()?;
        let left_out = u64::try_from(all).unwrap_or(0).saturating_sub(observations.len() as u64);
        Ok(Evidence { observations, left_out })
    }

    /// At most `limit` flat rows behind `after`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn event_rows(&self, after: &EventCursor, limit: u32) -> sqlx::Result<Vec<EventRow>> {
        sqlx::query(include_str!("event_rows.sql"))
            .bind(&after.0)
            .bind(after.1)
            .bind(after.2)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(|row| {
                Ok(EventRow {
                    log: row.try_get("log")?,
                    machine: row.try_get("machine")?,
                    record_offset: row.try_get("record_offset")?,
                    ordinal: row.try_get("ordinal")?,
                    line: row.try_get("line")?,
                    kind: row.try_get("kind")?,
                    shape: row.try_get("shape")?,
                    body: row.try_get("body")?,
                })
            })
            .collect()
    }
}

/// The lines that verdict, sessions and findings name.
fn cited_lines(report: &ScanReport) -> Vec<i64> {
    let sessions = report
        .sessions
        .iter()
        .flat_map(|session| [session.line].into_iter().chain(session.changed.iter().map(|changed| changed.line)));
    let findings = report.findings.iter().filter_map(|finding| finding.line);
    let lines: BTreeSet<_> = report.verdict.line.into_iter().chain(sessions).chain(findings).collect();
    lines.into_iter().filter_map(|line| i64::try_from(line).ok()).take(CITED_LINES).collect()
}
