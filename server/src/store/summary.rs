//! How many logs and machines: in all, and by any combination of dimensions (contract section 4).

use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::filter::Sql;
use super::{Dimension, Filter, Store};

/// The answer of `GET /api/v1/summary`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Largest first. A log with two reasons is in two groups of `reason`; one without has the key null there.
    pub groups: Vec<Group>,
    /// Each log once.
    pub total: Totals,
}

/// One group.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Group {
    /// A value for each dimension; null where the logs do not tell.
    pub key: Map<String, Value>,
    /// How much is in it.
    #[serde(flatten)]
    pub totals: Totals,
}

/// Counts of logs, but for `machines`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    /// Logs.
    pub logs: i64,
    /// Distinct machines among them.
    pub machines: i64,
    /// By split.
    pub split: SplitCounts,
    /// By crossing.
    pub crossing: CrossingCounts,
    /// With an OpenGL or client crossing.
    pub interop_crossing: i64,
    /// Switched off by a setting.
    pub killed: i64,
    /// Taken back.
    pub retired: i64,
    /// Where other records overruled the placement line.
    pub corrected: i64,
}

/// Logs by split.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SplitCounts {
    /// Ran on the panel's adapter.
    pub engaged: i64,
    /// Ran on the render adapter.
    pub off: i64,
    /// Cannot be told.
    pub unknown: i64,
}

/// Logs by crossing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CrossingCounts {
    /// One adapter.
    pub none: i64,
    /// Once per rendered frame.
    pub atlas_per_frame: i64,
    /// Every present.
    pub every_present: i64,
    /// Cannot be told.
    pub unknown: i64,
}

impl Store {
    /// Counts the logs that the filter lets through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn summary(&self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<Summary> {
        let total = self.counts(filter, &[]).await?.pop().map(|group| group.totals).unwrap_or_default();
        let groups = if group_by.is_empty() { Vec::new() } else { self.counts(filter, group_by).await? };
        Ok(Summary { groups, total })
    }

    /// Logs and distinct machines per value of one dimension.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn groups(&self, filter: &Filter, dimension: Dimension) -> sqlx::Result<Vec<Group>> {
        self.counts(filter, &[dimension]).await
    }

    async fn counts(&self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<Vec<Group>> {
        let mut sql = Sql::default();
        sql.push(include_str!("summary.sql").trim_end());
        for (index, dimension) in group_by.iter().enumerate() {
            sql.push(&format!(",\n    {} as key_{index}", dimension.column()));
        }
        sql.push("\nfrom logs l");
        if group_by.contains(&Dimension::Reason) {
            sql.push(" left join log_reasons r on r.log = l.id");
        }
        filter.push_where(&mut sql);
        if !group_by.is_empty() {
            let columns: Vec<_> = group_by.iter().map(|dimension| dimension.column()).collect();
            sql.push(&format!(" group by {}", columns.join(", ")));
        }
        // Column names and placeholders only: see `filter.rs`.
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&self.pool).await?;
        let mut groups = rows.iter().map(|row| group(row, group_by)).collect::<sqlx::Result<Vec<_>>>()?;
        // Sorted here, because databases do not agree on the order of text.
        groups.sort_by_cached_key(|group| {
            let words: Vec<_> = group.key.values().map(|value| value.as_str().map(str::to_owned)).collect();
            (std::cmp::Reverse(group.totals.logs), words)
        });
        Ok(groups)
    }
}

fn group(row: &AnyRow, group_by: &[Dimension]) -> sqlx::Result<Group> {
    let mut key = Map::new();
    for (index, dimension) in group_by.iter().enumerate() {
        let value: Option<String> = row.try_get(format!("key_{index}").as_str())?;
        key.insert(dimension.as_str().to_owned(), value.map_or(Value::Null, Value::String));
    }
    let totals = Totals {
        logs: row.try_get("logs")?,
        machines: row.try_get("machines")?,
        split: SplitCounts {
            engaged: row.try_get("split_engaged")?,
            off: row.try_get("split_off")?,
            unknown: row.try_get("split_unknown")?,
        },
        crossing: CrossingCounts {
            none: row.try_get("crossing_none")?,
            atlas_per_frame: row.try_get("crossing_atlas_per_frame")?,
            every_present: row.try_get("crossing_every_present")?,
            unknown: row.try_get("crossing_unknown")?,
        },
        interop_crossing: row.try_get("interop_crossing")?,
        killed: row.try_get("killed")?,
        retired: row.try_get("retired")?,
        corrected: row.try_get("corrected")?,
    };
    Ok(Group { key, totals })
}
