//! Reports: what somebody brought, what was said of it, and the logs of agents that it is the same as.
//!
//! The files stay as they came, so that a newer version reads them again; what was said of them is replaced then. They come
//! into their rows behind the commit of the report (`behind`).

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use wire::ReportState;

use super::ingest::placeholders;
use super::{Contents, Storage, Store, Write, audit, corrupt};
use crate::audit::{Actor, Deed};
use crate::reports::{Analysis, File, Log, Refusal};

/// The columns that [`ReportRow`] is made of.
pub(super) const COLUMNS: &str = "r.id, r.created, r.analysed, r.rules, r.machine, r.bytes, r.stored_bytes, r.refused,
    r.state, r.build, r.assignee";
/// Logs in one `insert`: their documents are some kilobytes each.
const LOGS_PER_INSERT: usize = 50;
/// Names in one question.
const NAMES_PER_QUESTION: usize = 500;
/// What a row takes beside its documents, about.
const ROW_BYTES: usize = 200;

/// One report without its logs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRow {
    /// Public id, not to be guessed.
    pub id: String,
    /// When it came, RFC 3339.
    pub created: String,
    /// When it was read last, RFC 3339.
    pub analysed: String,
    /// By which version of the rules.
    pub rules: i64,
    /// The machine that a bundle's manifest names.
    pub machine: Option<String>,
    /// Size of its files as they came.
    pub bytes: i64,
    /// What is stored of it.
    pub stored_bytes: i64,
    /// What was left out.
    pub refused: Vec<Refusal>,
    /// How far people are with it.
    pub state: ReportState,
    /// The build in which it is fixed.
    pub build: Option<String>,
    /// Who looks after it.
    pub assignee: Option<String>,
}

/// One log of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportLog {
    /// Its place in the report.
    pub number: i64,
    /// The base name, when it is one that the runtime gives.
    pub file: Option<String>,
    /// The scan object.
    pub summary: String,
    /// The whole explanation as zstd; empty unless it was asked for.
    pub explained: Vec<u8>,
    /// The page as zstd; empty unless it was asked for.
    pub page: Vec<u8>,
}

/// A file of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportFile {
    /// As the sender calls it.
    pub name: String,
    /// Its size.
    pub bytes: i64,
    /// Where it is.
    pub storage: Storage,
}

/// A log that an agent sent.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct SameLog {
    /// Its id under `/api/v1/logs`.
    pub id: String,
    /// Its machine.
    pub machine: String,
}

/// How much there is to keep of a report's logs.
fn analysis_bytes(analysis: &Analysis) -> usize {
    let of_log = |log: &Log| {
        let observations = log.observations.as_ref().map_or(0, Vec::len);
        log.summary.len() + log.explained.len() + log.page.len() + observations + ROW_BYTES
    };
    analysis.logs.iter().map(of_log).sum()
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

impl Store {
    /// Keeps a report; when this returns, everything that is said of it is safe, and its files are about to be.
    ///
    /// # Errors
    /// When the database fails; nothing is stored then.
    pub async fn keep_report(
        &self,
        id: &str,
        now: &str,
        rules: i64,
        files: Vec<File>,
        analysis: &Analysis,
    ) -> sqlx::Result<()> {
        let held = self.behind.hold(id, files).await?;
        let bytes: usize = held.files.iter().map(File::bytes).sum();
        let mut write = self.write().await?;
        sqlx::query(
            "insert into reports (id, created, analysed, rules, machine, bytes, stored_bytes, refused)
             values ($1, $2, $2, $3, $4, $5, $6, $7)",
        )
        .bind(id)
        .bind(now)
        .bind(rules)
        .bind(analysis.machine.as_deref())
        .bind(signed(bytes))
        .bind(signed(held.files.len() * ROW_BYTES + analysis_bytes(analysis)))
        .bind(serde_json::to_string(&analysis.refused).map_err(corrupt)?)
        .execute(write.connection())
        .await?;
        for (number, file) in (0_i64..).zip(held.files.iter()) {
            sqlx::query("insert into report_files (report, number, name, bytes, body) values ($1, $2, $3, $4, $5)")
                .bind(id)
                .bind(number)
                // The name as JSON: PostgreSQL takes no NUL.
                .bind(serde_json::to_string(&file.name).map_err(corrupt)?)
                .bind(signed(file.bytes()))
                // Until it is packed.
                .bind([].as_slice())
                .execute(write.connection())
                .await?;
        }
        insert_logs(&mut write, id, &analysis.logs).await?;
        write.commit().await?;
        let store = self.clone();
        tokio::spawn(async move { store.store_behind(held).await });
        Ok(())
    }

    /// Puts the files into their rows, in the order of the report. False when the report is gone.
    ///
    /// # Errors
    /// When the database fails; nothing is changed then.
    pub(super) async fn fill_report(&self, id: &str, packed: &[Vec<u8>]) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        // Children before the parent, as a deletion takes them: so neither waits for the other in a circle.
        for (number, packed) in (0_i64..).zip(packed) {
            sqlx::query("update report_files set body = $3 where report = $1 and number = $2")
                .bind(id)
                .bind(number)
                .bind(packed.as_slice())
                .execute(write.connection())
                .await?;
        }
        let grown = packed.iter().map(Vec::len).sum();
        let known = sqlx::query("update reports set stored_bytes = stored_bytes + $2 where id = $1")
            .bind(id)
            .bind(signed(grown))
            .execute(write.connection())
            .await?;
        if known.rows_affected() == 0 {
            return Ok(false);
        }
        write.commit().await?;
        Ok(true)
    }

    /// Puts a newer analysis in the place of an older one. False when the report is gone, or newer rules have read it.
    ///
    /// # Errors
    /// When the database fails; nothing is changed then.
    pub async fn replace_report(&self, id: &str, now: &str, rules: i64, analysis: &Analysis) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        let replaced = sqlx::query(
            "update reports set analysed = $2, rules = $3, machine = $4, refused = $5,
                stored_bytes = $6 + cast(coalesce((select sum(length(body)) from report_files where report = $1), 0) as bigint)
             where id = $1 and rules <= $3",
        )
        .bind(id)
        .bind(now)
        .bind(rules)
        .bind(analysis.machine.as_deref())
        .bind(serde_json::to_string(&analysis.refused).map_err(corrupt)?)
        .bind(signed(analysis_bytes(analysis)))
        .execute(write.connection())
        .await?;
        if replaced.rows_affected() == 0 {
            return Ok(false);
        }
        sqlx::query("delete from report_logs where report = $1").bind(id).execute(write.connection()).await?;
        insert_logs(&mut write, id, &analysis.logs).await?;
        write.commit().await?;
        Ok(true)
    }

    /// One report.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report(&self, id: &str) -> sqlx::Result<Option<ReportRow>> {
        let sql = format!("select {COLUMNS} from reports r where r.id = $1");
        let row = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(report_row).transpose()
    }

    /// A report's files, in the order in which they came.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_files(&self, id: &str) -> sqlx::Result<Vec<ReportFile>> {
        let is_held = self.behind.files(id).is_some();
        let sql = "select name, bytes, cast(case when length(body) > 0 then 1 else 0 end as bigint)
                   from report_files where report = $1 order by number";
        let rows = sqlx::query(sql).bind(id).fetch_all(&self.pool).await?;
        let file = |row: &AnyRow| {
            let is_stored = row.try_get::<i64, _>(2)? == 1;
            Ok(ReportFile {
                name: serde_json::from_str(row.try_get(0)?).map_err(corrupt)?,
                bytes: row.try_get(1)?,
                storage: match (is_stored, is_held) {
                    (true, _) => Storage::Stored,
                    (false, true) => Storage::Pending,
                    (false, false) => Storage::Missing,
                },
            })
        };
        rows.iter().map(file).collect()
    }

    /// One of the files, by its place.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_file(&self, id: &str, number: i64) -> sqlx::Result<Option<Contents>> {
        let held = self.behind.files(id);
        let query = sqlx::query("select bytes, body from report_files where report = $1 and number = $2");
        let row = query.bind(id).bind(number).fetch_optional(&self.pool).await?;
        let own = held.as_deref().and_then(|files| files.get(usize::try_from(number).ok()?));
        row.map(|row| contents(&row, own)).transpose()
    }

    /// All files of a report with their names.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_contents(&self, id: &str) -> sqlx::Result<Vec<(String, Contents)>> {
        let held = self.behind.files(id);
        let sql = "select bytes, body, name from report_files where report = $1 order by number";
        let rows = sqlx::query(sql).bind(id).fetch_all(&self.pool).await?;
        let named = |(at, row): (usize, &AnyRow)| {
            let own = held.as_deref().and_then(|files| files.get(at));
            Ok((serde_json::from_str(row.try_get(2)?).map_err(corrupt)?, contents(row, own)?))
        };
        rows.iter().enumerate().map(named).collect()
    }

    /// What was seen in a log of a report; none where it is not kept.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_observations(&self, id: &str, number: i64) -> sqlx::Result<Option<Vec<u8>>> {
        let query = sqlx::query_scalar("select observations from report_logs where report = $1 and number = $2");
        let found: Option<Option<Vec<u8>>> = query.bind(id).bind(number).fetch_optional(&self.pool).await?;
        Ok(found.flatten())
    }

    /// At most `limit` logs of a report from this number on. `whole`: with their explanations and pages.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_logs(&self, id: &str, from: i64, limit: u32, whole: bool) -> sqlx::Result<Vec<ReportLog>> {
        let documents = if whole { ", explained, page" } else { "" };
        let sql = format!(
            "select number, file, summary{documents} from report_logs
             where report = $1 and number >= $2 order by number limit $3"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id).bind(from).bind(i64::from(limit));
        let rows = query.fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                Ok(ReportLog {
                    number: row.try_get("number")?,
                    file: row.try_get("file")?,
                    summary: row.try_get("summary")?,
                    explained: if whole { row.try_get("explained")? } else { Vec::new() },
                    page: if whole { row.try_get("page")? } else { Vec::new() },
                })
            })
            .collect()
    }

    /// How many logs a report has of each outcome.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn report_outcomes(&self, id: &str) -> sqlx::Result<Vec<(String, i64)>> {
        let sql = "select outcome, count(*) from report_logs where report = $1 group by outcome order by outcome";
        let rows = sqlx::query(sql).bind(id).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// For each of these names of logs, the logs of that name that agents sent; of one machine only, when it is known. The
    /// name holds program, process id and start, so it is the same log unless two PCs did all that in the same second.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn logs_named(&self, names: &[&str], machine: Option<&str>) -> sqlx::Result<Vec<(String, SameLog)>> {
        let mut found = Vec::new();
        for names in names.chunks(NAMES_PER_QUESTION) {
            let list: Vec<_> = (2..names.len() + 2).map(|number| format!("${number}")).collect();
            let sql = format!(
                "select file, id, machine from logs where file in ({}) and ($1 = '' or machine = $1) order by file, id",
                list.join(", ")
            );
            let query = sqlx::query(AssertSqlSafe(sql)).bind(machine.unwrap_or_default());
            let query = names.iter().fold(query, |query, name| query.bind(*name));
            for row in query.fetch_all(&self.pool).await? {
                found.push((row.try_get(0)?, SameLog { id: row.try_get(1)?, machine: row.try_get(2)? }));
            }
        }
        Ok(found)
    }

    /// Deletes a report with all that belongs to it; false when there was none.
    ///
    /// # Errors
    /// When the database fails; nothing is deleted then.
    pub async fn delete_report(&self, id: &str, by: &Actor) -> sqlx::Result<bool> {
        let mut write = self.write().await?;
        let known = delete(&mut write, id).await?;
        if known {
            audit::write(write.connection(), by, Deed::ReportDeleted, id, "done").await?;
        }
        write.commit().await?;
        Ok(known)
    }

    /// How many reports are from before this time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn reports_before(&self, before: &str) -> sqlx::Result<i64> {
        sqlx::query_scalar("select count(*) from reports where created < $1").bind(before).fetch_one(&self.pool).await
    }

    /// Deletes the oldest reports: those from before `before`, and as many more as are needed until what is left takes no
    /// more than `most_bytes`. Answers how many.
    ///
    /// # Errors
    /// When the database fails; what was deleted before that stays deleted.
    pub async fn prune_reports(&self, before: Option<&str>, most_bytes: Option<u64>) -> sqlx::Result<u64> {
        let sql = "select cast(coalesce(sum(stored_bytes), 0) as bigint) from reports";
        let mut left: i64 = sqlx::query(sql).fetch_one(&self.pool).await?.try_get(0)?;
        let most = most_bytes.map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let mut pruned = 0;
        loop {
            let sql = "select id, created, stored_bytes from reports order by created, id limit 1";
            let Some(oldest) = sqlx::query(sql).fetch_optional(&self.pool).await? else { return Ok(pruned) };
            let created: String = oldest.try_get("created")?;
            if before.is_none_or(|before| created.as_str() >= before) && left <= most {
                return Ok(pruned);
            }
            let mut write = self.write().await?;
            pruned += u64::from(delete(&mut write, oldest.try_get("id")?).await?);
            write.commit().await?;
            left -= oldest.try_get::<i64, _>("stored_bytes")?;
        }
    }

    /// At most `limit` reports, by id behind `after`, that older rules have read.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stale_reports(&self, rules: i64, after: &str, limit: u32) -> sqlx::Result<Vec<String>> {
        let rows = sqlx::query("select id from reports where rules < $1 and id > $2 order by id limit $3")
            .bind(rules)
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| row.try_get(0)).collect()
    }
}

/// The file of a row with its size and its body.
fn contents(row: &AnyRow, held: Option<&File>) -> sqlx::Result<Contents> {
    let body: Vec<u8> = row.try_get(1)?;
    Ok(match held {
        _ if !body.is_empty() => Contents::Packed(body, row.try_get(0)?),
        Some(file) => Contents::Plain(file.pieces.clone()),
        None => Contents::Missing,
    })
}

/// Children before the parent.
async fn delete(write: &mut Write<'_>, id: &str) -> sqlx::Result<bool> {
    for table in ["report_notes", "report_logs", "report_files"] {
        let statement = AssertSqlSafe(format!("delete from {table} where report = $1"));
        sqlx::query(statement).bind(id).execute(write.connection()).await?;
    }
    let known = sqlx::query("delete from reports where id = $1").bind(id).execute(write.connection()).await?;
    Ok(known.rows_affected() > 0)
}

async fn insert_logs(write: &mut Write<'_>, id: &str, logs: &[Log]) -> sqlx::Result<()> {
    let mut number = 0_i64;
    for chunk in logs.chunks(LOGS_PER_INSERT) {
        let sql = format!(
            "insert into report_logs (report, number, file, outcome, summary, explained, page, observations) values {}",
            placeholders(chunk.len(), 8)
        );
        // The text holds nothing but a count of placeholders.
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for log in chunk {
            query = query
                .bind(id)
                .bind(number)
                .bind(log.file.as_deref())
                .bind(log.outcome.as_str())
                .bind(log.summary.as_str())
                .bind(log.explained.as_slice())
                .bind(log.page.as_slice())
                .bind(log.observations.as_deref());
            number += 1;
        }
        query.execute(write.connection()).await?;
    }
    Ok(())
}

pub(super) fn report_row(row: &AnyRow) -> sqlx::Result<ReportRow> {
    Ok(ReportRow {
        id: row.try_get("id")?,
        created: row.try_get("created")?,
        analysed: row.try_get("analysed")?,
        rules: row.try_get("rules")?,
        machine: row.try_get("machine")?,
        bytes: row.try_get("bytes")?,
        stored_bytes: row.try_get("stored_bytes")?,
        refused: serde_json::from_str(row.try_get("refused")?).map_err(corrupt)?,
        // A word of a newer server is none that this one knows.
        state: ReportState::from_word(row.try_get("state")?).unwrap_or_default(),
        build: row.try_get("build")?,
        assignee: row.try_get("assignee")?,
    })
}
