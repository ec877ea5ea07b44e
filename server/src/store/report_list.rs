//! Which reports are kept: newest first, a page at a time, by filter.

use std::fmt;
use std::str::FromStr;

use sqlx::AssertSqlSafe;

use super::Store;
use super::filter::Sql;
use super::reports::{COLUMNS, ReportRow, report_row};
use crate::reports::ReportFilter;
use crate::text;

/// Where a page of reports begins: behind this one, newest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportCursor {
    created: String,
    id: String,
}

impl fmt::Display for ReportCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.created, self.id)
    }
}

impl FromStr for ReportCursor {
    type Err = String;

    fn from_str(value: &str) -> Result<Self, String> {
        let wrong = || "the cursor is none of ours: take it from `next`".to_owned();
        let (created, id) = value.split_once('~').ok_or_else(wrong)?;
        if created.parse::<jiff::Timestamp>().is_err() || !text::is_url_id(id) {
            return Err(wrong());
        }
        Ok(Self { created: created.to_owned(), id: id.to_owned() })
    }
}

impl Store {
    /// At most `limit` reports behind `after`, newest first, and where the next page begins.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn reports(
        &self,
        filter: &ReportFilter,
        after: Option<&ReportCursor>,
        limit: u32,
    ) -> sqlx::Result<(Vec<ReportRow>, Option<ReportCursor>)> {
        let mut sql = Sql::of(format!("select {COLUMNS} from reports r"));
        for (clause, value) in
            [("r.created >=", &filter.from), ("r.created <", &filter.to), ("r.machine =", &filter.machine)]
        {
            if let Some(value) = value {
                let value = sql.bind(value.clone());
                sql.and(&format!("{clause} {value}"));
            }
        }
        if let Some(state) = filter.state {
            let state = sql.bind(state.as_str().to_owned());
            sql.and(&format!("r.state = {state}"));
        }
        if let Some(outcome) = filter.outcome {
            let outcome = sql.bind(outcome.as_str().to_owned());
            sql.and(&format!("exists (select 1 from report_logs g where g.report = r.id and g.outcome = {outcome})"));
        }
        if let Some(text) = &filter.text {
            let (plain, json) = (sql.bind(pattern(text)), sql.bind(pattern(&in_json(text))));
            let like = |column: &str, value: &str| format!("lower({column}) like {value} escape '!'");
            let own =
                [like("r.id", &plain), like("coalesce(r.assignee, '')", &plain), like("coalesce(r.build, '')", &plain)];
            let others =
                [("report_notes", "note", &plain), ("report_files", "name", &json), ("report_logs", "summary", &json)]
                    .map(|(table, column, value)| {
                        format!(
                            "exists (select 1 from {table} t where t.report = r.id and {})",
                            like(&format!("t.{column}"), value)
                        )
                    });
            sql.and(&format!("({} or {})", own.join(" or "), others.join(" or ")));
        }
        if let Some(after) = after {
            let (created, id) = (sql.bind(after.created.clone()), sql.bind(after.id.clone()));
            sql.and(&format!("(r.created < {created} or (r.created = {created} and r.id < {id}))"));
        }
        // One more tells whether there is a next page.
        let limit_sql = sql.bind(i64::from(limit) + 1);
        sql.push(&format!(" order by r.created desc, r.id desc limit {limit_sql}"));
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let mut reports = rows.iter().map(report_row).collect::<sqlx::Result<Vec<_>>>()?;
        let more = reports.len() > limit as usize;
        reports.truncate(limit as usize);
        let next = reports.last().filter(|_| more);
        let next = next.map(|last| ReportCursor { created: last.created.clone(), id: last.id.clone() });
        Ok((reports, next))
    }

    /// How many reports are kept.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn reports_kept(&self) -> sqlx::Result<i64> {
        sqlx::query_scalar("select count(*) from reports").fetch_one(&self.pool).await
    }
}

/// What holds this text anywhere. Both databases lower the letters of ASCII alike.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for char in text.chars().map(|char| char.to_ascii_lowercase()) {
        if matches!(char, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(char);
    }
    pattern.push('%');
    pattern
}

/// As JSON spells it between quotation marks.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
