//! The logs behind a number, newest start first, a page at a time; and one log by its id.

use std::fmt;
use std::str::FromStr;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use wire::{Clock, ScanReport};

use super::filter::Sql;
use super::summary::blocking;
use super::{Filter, Store, corrupt};
use crate::text;

/// The columns that [`StoredLog`] is made of.
pub(super) const COLUMNS: &str =
    "l.id, l.machine, l.received, l.report, l.started_s, l.missing_bytes, l.clock, l.unfinished, l.rules";

/// Starts that are named in one question.
const MOST_STARTS: usize = 1_000;

/// One log with its verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredLog {
    /// Public id.
    pub id: String,
    /// Pseudonym of the PC.
    pub machine: String,
    /// When its first piece arrived, RFC 3339.
    pub received: String,
    /// The newest verdict.
    pub report: ScanReport,
    /// Bytes of the log that have not arrived although later ones have.
    pub missing_bytes: i64,
    /// What its times mean.
    pub clock: Option<Clock>,
    /// The last line was never completed.
    pub unfinished: bool,
    /// The number of the rules that made the verdict; 0 for those before numbers.
    pub rules: i64,
    started_s: i64,
}

/// Where a page of logs begins: behind this log. Logs that arrive later do not move it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursor {
    pub(super) started_s: i64,
    pub(super) id: String,
}

impl Cursor {
    /// In front of every log.
    pub(super) const fn start() -> Self {
        Self { started_s: i64::MAX, id: String::new() }
    }
}

/// The flat columns of one log, for export.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names are those of the columns, which the migration explains")]
pub struct LogRow {
    pub id: String,
    pub machine: String,
    pub file: String,
    pub received: String,
    pub day: Option<String>,
    pub exe: Option<String>,
    pub runtime: Option<String>,
    pub path: String,
    pub split: String,
    pub crossing: String,
    pub interop_crossing: bool,
    pub killed: bool,
    pub retired: bool,
    pub basis: String,
    pub reasons: String,
    pub render: Option<String>,
    pub scanout: Option<String>,
    pub bytes: i64,
    pub missing_bytes: i64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.started_s, self.id)
    }
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "the value of cursor is not one that this server gave out".to_owned();
        let (started_s, id) = text.split_once('.').ok_or_else(wrong)?;
        let started_s = started_s.parse().map_err(|_| wrong())?;
        if !text::is_id(id) {
            return Err(wrong());
        }
        Ok(Self { started_s, id: id.to_owned() })
    }
}

impl Store {
    /// At most `limit` logs behind `after`, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn logs(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: u32,
    ) -> sqlx::Result<(Vec<StoredLog>, Option<Cursor>)> {
        let starts = if filter.is_indexed() { None } else { self.starts(filter, after, limit).await? };
        if starts.as_ref().is_some_and(Vec::is_empty) {
            return Ok((Vec::new(), None));
        }
        let mut sql = Sql::of(format!("select {COLUMNS} from logs l"));
        filter.push_where(&mut sql);
        if let Some(starts) = starts {
            let starts: Vec<_> = starts
                .into_iter()
                .map(|(machine, started_s)| format!("({}, {})", sql.bind(machine), sql.bind(started_s)))
                .collect();
            sql.and(&format!("(l.machine, l.started_s) in (values {})", starts.join(", ")));
        }
        if let Some(after) = after {
            let (started_s, id) = (sql.bind(after.started_s), sql.bind(after.id.clone()));
            sql.and(&format!("(l.started_s < {started_s} or (l.started_s = {started_s} and l.id < {id}))"));
        }
        // One more tells whether there is a next page.
        let limit_sql = sql.bind(i64::from(limit) + 1);
        sql.push(&format!(" order by l.started_s desc, l.id desc limit {limit_sql}"));
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let mut logs = rows.iter().map(stored_log).collect::<sqlx::Result<Vec<_>>>()?;
        let more = logs.len() > limit as usize;
        logs.truncate(limit as usize);
        let next = logs.last().filter(|_| more).map(|last| Cursor { started_s: last.started_s, id: last.id.clone() });
        Ok((logs, next))
    }

    /// Machine and start of the logs of a page, so that they are found by an index; `None` where they are not known or too many
    /// have the same start.
    async fn starts(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: u32,
    ) -> sqlx::Result<Option<Vec<(String, i64)>>> {
        let Some(picked) = self.counting().await?.picked(filter).await? else { return Ok(None) };
        let to = after.map(|after| after.started_s);
        blocking(move || {
            let newest = picked.newest(to, limit as usize + 1);
            let id = |machine: u32| picked.words().machines.values()[machine as usize].to_string();
            let starts = || newest.iter().map(|(machine, started_s)| (id(*machine), *started_s)).collect();
            (newest.len() <= MOST_STARTS).then(starts)
        })
        .await
    }

    /// One log.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn log(&self, id: &str) -> sqlx::Result<Option<StoredLog>> {
        sqlx::query(AssertSqlSafe(format!("select {COLUMNS} from logs l where l.id = $1")))
            .bind(id)
            .fetch_optional(&self.pool)
            .await?
            .as_ref()
            .map(stored_log)
            .transpose()
    }

    /// At most `limit` flat rows whose id comes behind `after`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn log_rows(&self, after: &str, limit: u32) -> sqlx::Result<Vec<LogRow>> {
        let rows = sqlx::query(
            "select id, machine, received, day, exe, runtime, interop_crossing, basis, end_offset, missing_bytes, report
             from logs where id > $1 order by id limit $2",
        )
        .bind(after)
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(log_row).collect()
    }
}

pub(super) fn stored_log(row: &AnyRow) -> sqlx::Result<StoredLog> {
    let clock: Option<String> = row.try_get("clock")?;
    Ok(StoredLog {
        id: row.try_get("id")?,
        machine: row.try_get("machine")?,
        received: row.try_get("received")?,
        report: serde_json::from_str(row.try_get("report")?).map_err(corrupt)?,
        missing_bytes: row.try_get("missing_bytes")?,
        clock: clock.map(|json| serde_json::from_str(&json)).transpose().map_err(corrupt)?,
        unfinished: row.try_get::<i64, _>("unfinished")? != 0,
        rules: row.try_get("rules")?,
        started_s: row.try_get("started_s")?,
    })
}

fn log_row(row: &AnyRow) -> sqlx::Result<LogRow> {
    let report: ScanReport = serde_json::from_str(row.try_get("report")?).map_err(corrupt)?;
    let verdict = report.verdict;
    let reasons: Vec<_> = verdict.reasons.iter().map(wire::Reason::as_str).collect();
    Ok(LogRow {
        id: row.try_get("id")?,
        machine: row.try_get("machine")?,
        file: report.file,
        received: row.try_get("received")?,
        day: row.try_get("day")?,
        exe: row.try_get("exe")?,
        runtime: row.try_get("runtime")?,
        path: report.path.as_str().to_owned(),
        split: verdict.split.as_str().to_owned(),
        crossing: verdict.crossing.as_str().to_owned(),
        interop_crossing: verdict.interop_crossing,
        killed: verdict.killed,
        retired: verdict.retired,
        basis: verdict.basis.as_str().to_owned(),
        reasons: reasons.join(","),
        render: verdict.render.map(|adapter| adapter.name),
        scanout: verdict.scanout.map(|adapter| adapter.name),
        bytes: row.try_get("end_offset")?,
        missing_bytes: row.try_get("missing_bytes")?,
    })
}
