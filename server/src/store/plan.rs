//! Which questions the roll-ups answer, and how: those of at most one dimension beside the day, over whole days.
//!
//! [`Plan::of`] decides, pure; [`Plan::totals`] reads. Every other question is answered from the rows (`summary.rs`), and a
//! test asks both ways. Numbers of logs add up over days and values; distinct machines do not, so where several rows make
//! one group they are counted among the days of each machine, a bit a day (`days.rs`).

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::columns::{NUMBERS, read, spelled};
use super::filter::Sql;
use super::rollups::{self, ALL_DAYS};
use super::{Dimension, Filter, days};

/// The last day that a calendar of ours knows; every other spelling of a day sorts before the first or behind this one.
const LAST_DAY: &str = "9999-12-31";

/// How the roll-ups answer a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The one that is grouped or filtered by; none: all logs.
    dimension: Option<Dimension>,
    /// Only these values of it; none: all.
    values: Vec<Option<String>>,
    by_dimension: bool,
    by_day: bool,
    span: Span,
}

/// Which days.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Span {
    /// All, and logs that do not tell.
    All,
    /// From the first to the last, both included; logs that do not tell are none of them.
    Between { first: Option<Date>, last: Option<Date> },
    /// These.
    Each(Vec<Option<Date>>),
}

/// The numbers of one group.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Empty when not grouped by the dimension.
    pub value: Option<String>,
    /// Empty when not grouped by day.
    pub day: Option<String>,
    /// As `rollups` has them.
    pub sums: rollups::Sums,
}

impl Plan {
    /// `None` when only the rows can tell.
    pub fn of(filter: &Filter, group_by: &[Dimension]) -> Option<Self> {
        if filter.is_of_rows() {
            return None;
        }
        let filtered = filter.values.iter().map(|(dimension, _)| *dimension);
        let named: BTreeSet<_> =
            filtered.chain(group_by.iter().copied()).filter(|one| *one != Dimension::Day).collect();
        let dimension = named.first().copied();
        if named.len() > 1 {
            return None;
        }
        let mut values = dimension.map(|dimension| values(filter, dimension)).unwrap_or_default();
        values.sort_unstable();
        values.dedup();
        let plan = Self {
            by_dimension: dimension.is_some_and(|dimension| group_by.contains(&dimension)),
            by_day: group_by.contains(&Dimension::Day),
            span: Span::of(filter)?,
            dimension,
            values,
        };
        // A filter picks logs, and a log with one of two reasons may have the other one too.
        let reasons_overlap = plan.dimension == Some(Dimension::Reason)
            && (plan.values.len() > 1 || plan.by_dimension && !plan.values.is_empty());
        // The machines of each day: nobody asks for them often enough.
        let unions_by_day = plan.by_day && !plan.by_dimension && plan.values.len() > 1;
        (!reasons_overlap && !unions_by_day).then_some(plan)
    }

    /// Answers. Without a group there is one answer, else none for groups without logs.
    pub async fn counts(&self, connection: &mut AnyConnection) -> sqlx::Result<Vec<Counts>> {
        let mut sql = Sql::default();
        let mut keys = Vec::new();
        for (column, is_key) in [("value", self.by_dimension), ("day", self.by_day)] {
            if is_key {
                keys.push(column);
            }
        }
        let sums = NUMBERS.iter().chain(&["machines"]);
        let columns: Vec<_> = sums.map(|name| format!("coalesce(cast(sum({name}) as bigint), 0) as {name}")).collect();
        sql.push(&format!("select {} from rollups", [&keys[..], &[&columns.join(", ")]].concat().join(", ")));
        self.push_key(&mut sql);
        self.push_days(&mut sql);
        if !keys.is_empty() {
            sql.push(&format!(" group by {}", keys.join(", ")));
        }
        // Column names and placeholders only.
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(&mut *connection).await?;
        let mut all = rows.iter().map(|row| self.read(row)).collect::<sqlx::Result<Vec<_>>>()?;
        if !self.is_one_row_a_group() {
            let machines = self.machines(connection).await?;
            for counts in &mut all {
                let own = if self.by_dimension { &counts.value } else { &None };
                counts.sums[NUMBERS.len()] = machines.get(own).copied().unwrap_or_default();
            }
        }
        Ok(all)
    }

    fn read(&self, row: &AnyRow) -> sqlx::Result<Counts> {
        let mut counts = Counts::default();
        if self.by_dimension {
            counts.value = read(row.try_get("value")?);
        }
        if self.by_day {
            counts.day = Some(row.try_get("day")?).filter(|day: &String| !day.is_empty());
        }
        for (sum, name) in counts.sums.iter_mut().zip(NUMBERS.iter().chain(&["machines"])) {
            *sum = row.try_get(*name)?;
        }
        Ok(counts)
    }

    /// Then its number of machines is the group's.
    fn is_one_row_a_group(&self) -> bool {
        let one_value = self.by_dimension || self.dimension.is_none() || self.values.len() == 1;
        let one_day = match &self.span {
            Span::All => true,
            Span::Between { first, last } => first.is_some() && first == last,
            Span::Each(days) => days.len() == 1,
        };
        one_value && (self.by_day || one_day)
    }

    /// Distinct machines of each value, or of all values together.
    async fn machines(&self, connection: &mut AnyConnection) -> sqlx::Result<BTreeMap<Option<String>, i64>> {
        let mut sql = Sql::default();
        // `count(distinct machine)` would have PostgreSQL sort all rows.
        let (value, keys, group) = if self.by_dimension {
            ("value", "value, machine", " group by value")
        } else {
            ("cast('' as text) as value", "machine", "")
        };
        sql.push(&format!(
            "select {value}, cast(count(*) as bigint) as machines from (select distinct {keys} from rollup_machines"
        ));
        self.push_key(&mut sql);
        self.push_blocks(&mut sql);
        sql.push(&format!(") as found{group}"));
        // Column names and placeholders only.
        let rows = sqlx::query_with(AssertSqlSafe(sql.text), sql.arguments).fetch_all(connection).await?;
        rows.iter().map(|row| Ok((read(row.try_get("value")?), row.try_get("machines")?))).collect()
    }

    /// The rows that have a day of the span.
    fn push_blocks(&self, sql: &mut Sql) {
        let (blocks, masks) = match &self.span {
            Span::All => return,
            Span::Between { first, last } => {
                let days::Range { first, last } = days::range(*first, *last);
                let (low, high) = (sql.bind(first.0), sql.bind(last.0));
                let masks = if first.0 == last.0 { vec![(first.0, first.1 & last.1)] } else { vec![first, last] };
                (format!("block between {low} and {high}"), masks)
            }
            Span::Each(days) => {
                let masks: Vec<_> = days::masks(days).into_iter().collect();
                let list: Vec<_> = masks.iter().map(|(block, _)| sql.bind(*block)).collect();
                // No day at all is a question, too.
                (format!("block in ({})", if list.is_empty() { "null".to_owned() } else { list.join(", ") }), masks)
            }
        };
        sql.push(&format!(" and {blocks}"));
        if !masks.is_empty() {
            let cases: Vec<_> = masks
                .iter()
                .map(|(block, bits)| format!("when {} then {}", sql.bind(*block), sql.bind(*bits)))
                .collect();
            let all = sql.bind(-1_i64);
            sql.push(&format!(" and (bits & case block {} else {all} end) <> 0", cases.join(" ")));
        }
    }

    fn push_key(&self, sql: &mut Sql) {
        let dimension = sql.bind(self.dimension.map_or("", Dimension::as_str));
        sql.push(&format!(" where dimension = {dimension}"));
        if !self.values.is_empty() {
            let values: Vec<_> = self.values.iter().map(|value| sql.bind(spelled(value.as_deref()))).collect();
            sql.push(&format!(" and value in ({})", values.join(", ")));
        }
    }

    fn push_days(&self, sql: &mut Sql) {
        match &self.span {
            Span::All if self.by_day => {
                let all = sql.bind(ALL_DAYS);
                sql.push(&format!(" and day <> {all}"));
            }
            Span::All => {
                let all = sql.bind(ALL_DAYS);
                sql.push(&format!(" and day = {all}"));
            }
            Span::Between { first, last } => {
                // Logs that do not tell their day have the empty one, which sorts before every date.
                let first = sql.bind(first.map_or_else(|| "-".to_owned(), |day| day.to_string()));
                let last = sql.bind(last.map_or_else(|| LAST_DAY.to_owned(), |day| day.to_string()));
                sql.push(&format!(" and day >= {first} and day <= {last}"));
            }
            Span::Each(days) => {
                let days: Vec<_> = days.iter().map(|day| sql.bind(rollups::spelled(*day))).collect();
                // No day at all is a question, too.
                let list = if days.is_empty() { "null".to_owned() } else { days.join(", ") };
                sql.push(&format!(" and day in ({list})"));
            }
        }
    }
}

fn values(filter: &Filter, dimension: Dimension) -> Vec<Option<String>> {
    filter.values.iter().find(|(own, _)| *own == dimension).map(|(_, values)| values.clone()).unwrap_or_default()
}

impl Span {
    /// `None` when the days cannot be told by their text.
    fn of(filter: &Filter) -> Option<Self> {
        let [first, last] = filter.whole_days()?;
        let is_bounded = first.is_some() || last.is_some();
        let listed = values(filter, Dimension::Day);
        if listed.is_empty() {
            return Some(if is_bounded { Self::Between { first, last } } else { Self::All });
        }
        let mut days = Vec::new();
        for day in listed {
            let day = day.map(|day| day.parse::<Date>()).transpose().ok()?;
            let fits = |day: Date| first.is_none_or(|first| first <= day) && last.is_none_or(|last| day <= last);
            if !days.contains(&day) && day.map_or(!is_bounded, fits) {
                days.push(day);
            }
        }
        Some(Self::Each(days))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(query: &str, group_by: &[Dimension]) -> Option<Plan> {
        let mut filter = Filter::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            assert_eq!(filter.take(name, value), Ok(true), "{name}={value}");
        }
        Plan::of(&filter, group_by)
    }

    #[test]
    fn what_a_dashboard_asks_is_answered_from_roll_ups() {
        use Dimension::{Day, GpuPair, Path, Reason};
        for (query, group_by) in [
            ("", &[][..]),
            ("", &[Day]),
            ("", &[Reason]),
            ("", &[Day, Reason]),
            ("", &[Path, Day]),
            ("from=2026-09-01&to=2026-09-30", &[Path]),
            ("from=2026-09-01T00:00:00Z&to=2026-10-01T00:00:00Z", &[GpuPair]),
            ("day=2026-09-01&day=null", &[Path]),
            ("path=d3d11&path=d3d12", &[Path]),
            ("path=d3d11", &[]),
            ("path=d3d11", &[Day]),
            ("path=d3d11&path=d3d12", &[]),
            ("reason=killed_by_env", &[Day]),
        ] {
            assert!(plan(query, group_by).is_some(), "{query} {group_by:?}");
        }
    }

    #[test]
    fn what_needs_the_rows_is_left_to_them() {
        use Dimension::{Day, Path, Reason, Render};
        for (query, group_by) in [
            ("", &[Path, Render][..]),
            ("path=d3d11", &[Render]),
            ("path=d3d11&exe=a.exe", &[]),
            ("killed=true", &[]),
            ("retired=false", &[Path]),
            ("reason=a&reason=b", &[]),
            ("reason=a", &[Reason]),
            ("path=d3d11&path=d3d12", &[Day]),
            ("from=2026-09-01T12:00:00Z", &[]),
            ("to=2026-09-01T00:00:01Z", &[]),
            ("from=-000001-01-01", &[]),
        ] {
            assert_eq!(plan(query, group_by), None, "{query} {group_by:?}");
        }
    }
}
