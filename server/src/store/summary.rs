//! How many logs and machines: in all, and by any combination of dimensions (contract section 4).

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::any::AnyRow;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row, Transaction};
use utoipa::ToSchema;

use super::columns::NUMBERS;
use super::filter::Sql;
use super::frame::{Frame, Picked};
use super::frames::Frames;
use super::plan::Plan;
use super::rollups::ALL_DAYS;
use super::{Dimension, Filter, Store, cohorts, rollups};

/// The counts behind `GET /api/v1/summary`.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Largest first. A log with two reasons is in two groups of `reason`; one without has the key null there.
    pub groups: Vec<Group>,
    /// Each log once.
    pub total: Totals,
    /// What people call the cohorts among the keys, by id.
    pub cohorts: BTreeMap<String, String>,
}

/// One group.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct Group {
    /// A value for each dimension; null where the logs do not tell.
    #[schema(value_type = HashMap<String, Option<String>>)]
    pub key: Map<String, Value>,
    /// How much is in it.
    #[serde(flatten)]
    pub totals: Totals,
}

/// Counts of logs, but for `machines`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
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
    /// By outcome, in the order of [`wire::Outcome::ALL`]: for the pages. Programs group by `outcome`.
    #[serde(skip)]
    pub outcomes: [i64; 6],
}

/// Logs by split.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
pub struct SplitCounts {
    /// Ran on the panel's adapter.
    pub engaged: i64,
    /// Ran on the render adapter.
    pub off: i64,
    /// Cannot be told.
    pub unknown: i64,
}

/// Logs by crossing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
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

/// What the columnar copy counts to.
impl From<analytics::Totals> for Totals {
    fn from(counted: analytics::Totals) -> Self {
        Self {
            logs: counted.logs,
            machines: counted.machines,
            split: SplitCounts {
                engaged: counted.split_engaged,
                off: counted.split_off,
                unknown: counted.split_unknown,
            },
            crossing: CrossingCounts {
                none: counted.crossing_none,
                atlas_per_frame: counted.crossing_atlas_per_frame,
                every_present: counted.crossing_every_present,
                unknown: counted.crossing_unknown,
            },
            interop_crossing: counted.interop_crossing,
            killed: counted.killed,
            retired: counted.retired,
            corrected: counted.corrected,
            outcomes: counted.outcomes,
        }
    }
}

impl Store {
    /// Begins to count: all answers are of one moment, so that the numbers of a page fit each other.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn counting(&self) -> sqlx::Result<Counting> {
        Ok(Counting {
            read: self.read().await?,
            answers: Vec::new(),
            newest: OnceCell::new(),
            frames: self.frames.clone(),
            picked: Vec::new(),
        })
    }

    /// [`Counting::summary`] alone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn summary(&self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<Summary> {
        self.counting().await?.summary(filter, group_by).await
    }

    /// The groups, or without a dimension the total, from the rows alone in one statement: what the roll-ups are held
    /// against.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn groups_of_rows(&self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<Vec<Group>> {
        counts_of_rows(&mut *self.pool.acquire().await?, filter, group_by).await
    }

    /// [`Counting::total`] alone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn total(&self, filter: &Filter) -> sqlx::Result<Totals> {
        self.counting().await?.total(filter).await
    }

    /// [`Counting::groups`] alone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn groups(&self, filter: &Filter, dimension: Dimension) -> sqlx::Result<Vec<Group>> {
        self.counting().await?.groups(filter, dimension).await
    }
}

/// Questions about one moment, each of which is asked of the database once.
pub struct Counting {
    read: Transaction<'static, Any>,
    /// A page asks a few dozen questions at most.
    answers: Vec<(Filter, Vec<Dimension>, Vec<Group>)>,
    newest: OnceCell<Option<Date>>,
    frames: Arc<Frames>,
    /// The logs in columns that filters of before let through, the last one last.
    picked: Vec<(Filter, Arc<Picked>)>,
}

/// Filters whose logs are kept while a page is counted: two sides that are compared, and what both have.
const MOST_PICKED: usize = 3;

impl Counting {
    /// Counts the logs that the filter lets through, from the roll-ups where they can tell.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn summary(&mut self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<Summary> {
        let groups = if group_by.is_empty() { Vec::new() } else { self.counts(filter, group_by).await? };
        let total = self.total(filter).await?;
        Ok(Summary { cohorts: self.cohorts_among(&groups).await?, groups, total })
    }

    /// All logs that the filter lets through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn total(&mut self, filter: &Filter) -> sqlx::Result<Totals> {
        Ok(self.counts(filter, &[]).await?.pop().map(|group| group.totals).unwrap_or_default())
    }

    /// Logs and distinct machines per value of one dimension.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn groups(&mut self, filter: &Filter, dimension: Dimension) -> sqlx::Result<Vec<Group>> {
        self.counts(filter, &[dimension]).await
    }

    /// What people call the cohorts among the keys, by id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cohorts_among(&mut self, groups: &[Group]) -> sqlx::Result<BTreeMap<String, String>> {
        let name = Dimension::Cohort.as_str();
        let ids: BTreeSet<_> =
            groups.iter().filter_map(|group| group.key.get(name)?.as_str().map(str::to_owned)).collect();
        cohorts::labels(&mut self.read, &Vec::from_iter(ids)).await
    }

    /// The last local day on which a log started.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn newest_day(&mut self) -> sqlx::Result<Option<Date>> {
        if let Some(known) = self.newest.get() {
            return Ok(*known);
        }
        // A year of five digits, which hostile logs have, sorts among those of four.
        let sql = "select max(day) from rollups where dimension = '' and day < $1 and length(day) = 10";
        let day: Option<String> = sqlx::query_scalar(sql).bind(ALL_DAYS).fetch_one(&mut *self.read).await?;
        Ok(*self.newest.get_or_init(|| day.and_then(|day| day.parse().ok())))
    }

    async fn counts(&mut self, filter: &Filter, group_by: &[Dimension]) -> sqlx::Result<Vec<Group>> {
        if let Some((.., known)) = self.answers.iter().find(|(own, by, _)| own == filter && by == group_by) {
            return Ok(known.clone());
        }
        let groups = match Plan::of(filter, group_by) {
            Some(plan) => counts_of_plan(&mut self.read, &plan, group_by).await?,
            None => match self.picked(filter).await? {
                Some(picked) => {
                    let group_by = group_by.to_vec();
                    blocking(move || in_order(picked.counts(&group_by))).await?
                }
                None => counts_of_rows(&mut self.read, filter, group_by).await?,
            },
        };
        self.answers.push((filter.clone(), group_by.to_vec(), groups.clone()));
        Ok(groups)
    }

    /// The logs in columns that a filter lets through; `None` where only the database can tell.
    pub(super) async fn picked(&mut self, filter: &Filter) -> sqlx::Result<Option<Arc<Picked>>> {
        if let Some((_, known)) = self.picked.iter().find(|(own, _)| own == filter) {
            return Ok(Some(known.clone()));
        }
        if !Frame::tells(filter) {
            return Ok(None);
        }
        let Some(frame) = self.frames.of(&mut self.read).await? else { return Ok(None) };
        let own = filter.clone();
        let picked = Arc::new(blocking(move || frame.picked(&own)).await?);
        if self.picked.len() == MOST_PICKED {
            self.picked.remove(0);
        }
        self.picked.push((filter.clone(), picked.clone()));
        Ok(Some(picked))
    }
}

/// A million logs take some milliseconds, for which others would wait.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> sqlx::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| sqlx::Error::WorkerCrashed)
}

async fn counts_of_plan(
    connection: &mut AnyConnection,
    plan: &Plan,
    group_by: &[Dimension],
) -> sqlx::Result<Vec<Group>> {
    let counts = plan.counts(connection).await?;
    let groups = counts.into_iter().map(|counts| {
        let key = |dimension: &Dimension| {
            let value = if *dimension == Dimension::Day { &counts.day } else { &counts.value };
            (dimension.as_str().to_owned(), value.clone().map_or(Value::Null, Value::String))
        };
        Group { key: group_by.iter().map(key).collect(), totals: Totals::from(counts.sums) }
    });
    Ok(in_order(groups.collect()))
}

async fn counts_of_rows(
    connection: &mut AnyConnection,
    filter: &Filter,
    group_by: &[Dimension],
) -> sqlx::Result<Vec<Group>> {
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
    let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(connection).await?;
    Ok(in_order(rows.iter().map(|row| group(row, group_by)).collect::<sqlx::Result<_>>()?))
}

/// Largest first. Sorted here, because databases do not agree on the order of text.
fn in_order(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by_cached_key(|group| {
        let words: Vec<_> = group.key.values().map(|value| value.as_str().map(str::to_owned)).collect();
        (Reverse(group.totals.logs), words)
    });
    groups
}

impl From<rollups::Sums> for Totals {
    fn from(sums: rollups::Sums) -> Self {
        let [
            logs,
            engaged,
            off,
            split_unknown,
            none,
            atlas_per_frame,
            every_present,
            crossing_unknown,
            interop_crossing,
            killed,
            retired,
            corrected,
            outcomes @ ..,
            machines,
        ] = sums;
        Self {
            logs,
            machines,
            split: SplitCounts { engaged, off, unknown: split_unknown },
            crossing: CrossingCounts { none, atlas_per_frame, every_present, unknown: crossing_unknown },
            interop_crossing,
            killed,
            retired,
            corrected,
            outcomes,
        }
    }
}

fn group(row: &AnyRow, group_by: &[Dimension]) -> sqlx::Result<Group> {
    let mut key = Map::new();
    for (index, dimension) in group_by.iter().enumerate() {
        let value: Option<String> = row.try_get(format!("key_{index}").as_str())?;
        key.insert(dimension.as_str().to_owned(), value.map_or(Value::Null, Value::String));
    }
    let mut sums = rollups::Sums::default();
    for (sum, name) in sums.iter_mut().zip(NUMBERS.iter().chain(&["machines"])) {
        *sum = row.try_get(*name)?;
    }
    Ok(Group { key, totals: sums.into() })
}
