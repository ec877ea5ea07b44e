//! What a rule finds now: shares with their sizes, from the counts of `summary`. The roll-ups answer; how many machines are
//! affected is asked only where the share is above the limit.

use std::collections::BTreeMap;

use dashboards::share::{Share, wilson_95};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};

use super::file::Compare;
use super::rules::{Rule, Watch};
use crate::store::{Dimension, Filter, Store, Totals};

/// What a rule found of one subject.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// A build, for example; `None`: all logs of the rule together.
    pub subject: Option<String>,
    /// What people call it, where that is something else.
    pub label: Option<String>,
    /// Logs that are counted.
    pub counted: i64,
    /// Of so many.
    pub logs: i64,
    /// Machines with logs that are counted, where that was asked.
    pub machines: Option<i64>,
    /// What it means.
    pub judgement: Judgement,
}

/// What a finding means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// Above the limit.
    Above,
    /// Not above it.
    Below,
    /// Above it, on too few machines.
    FewMachines,
    /// Too few logs to tell.
    FewLogs,
}

impl Finding {
    /// The share with its interval, for people.
    pub fn share(&self) -> Share {
        let number = |count: i64| u64::try_from(count).unwrap_or_default();
        Share { count: number(self.counted), total: number(self.logs) }
    }
}

/// First and last day of a rule's logs. Clocks of other zones may be a day ahead; what claims to come from later than that
/// comes from a clock that is wrong.
pub fn window(rule: &Rule, now: Timestamp) -> [Date; 2] {
    let today = jiff::tz::Offset::UTC.to_datetime(now).date();
    [today.saturating_sub((i64::from(rule.days) - 1).days()), today.saturating_add(1.day())]
}

/// Everything that the rule watches, largest first.
///
/// # Errors
/// When the database fails.
pub async fn findings(store: &Store, rule: &Rule, now: Timestamp) -> sqlx::Result<Vec<Finding>> {
    let mut filter = rule.filter.clone();
    for (name, day) in ["from", "to"].into_iter().zip(window(rule, now)) {
        filter.take(name, &day.to_string()).map_err(odd)?;
    }
    let dimension = rule.watch.dimension();
    let mut seen = counts(store, &filter, dimension).await?;
    if rule.watch == Watch::NewestBuild {
        seen = newest(rule, seen);
    }
    let counted = rule.measure.within(filter.clone()).map_err(odd)?;
    // No count has a column for it.
    let asked = match seen.first().map(|(_, totals)| rule.measure.of(totals)) {
        Some(None) => Some(counts(store, &counted, dimension).await?.into_iter().collect::<BTreeMap<_, _>>()),
        _ => None,
    };
    let mut all = Vec::new();
    for (subject, totals) in seen {
        let own = || asked.as_ref().and_then(|asked| asked.get(&subject)).map_or(0, |totals| totals.logs);
        let count = rule.measure.of(&totals).unwrap_or_else(own);
        let mut finding = Finding {
            judgement: judge(rule, count, totals.logs),
            counted: count,
            logs: totals.logs,
            machines: None,
            label: None,
            subject,
        };
        if finding.judgement == Judgement::Above {
            let own = match (dimension, &finding.subject) {
                (Some(dimension), Some(value)) => counted.clone().only(dimension, value),
                _ => counted.clone(),
            };
            let machines = store.total(&own).await?.machines;
            finding.machines = Some(machines);
            if machines < rule.least_machines {
                finding.judgement = Judgement::FewMachines;
            }
        }
        all.push(finding);
    }
    if dimension == Some(Dimension::Cohort) {
        let ids: Vec<_> = all.iter().filter_map(|finding| finding.subject.clone()).collect();
        let labels = store.cohort_labels(&ids).await?;
        for finding in &mut all {
            finding.label = finding.subject.as_ref().and_then(|id| labels.get(id)).cloned();
        }
    }
    Ok(all)
}

/// By subject; logs that do not tell what they are of are nobody's.
async fn counts(
    store: &Store,
    filter: &Filter,
    dimension: Option<Dimension>,
) -> sqlx::Result<Vec<(Option<String>, Totals)>> {
    let Some(dimension) = dimension else { return Ok(vec![(None, store.total(filter).await?)]) };
    let groups = store.groups(filter, dimension).await?.into_iter();
    let told = groups.filter_map(|group| {
        let value = group.key.get(dimension.as_str())?.as_str()?.to_owned();
        Some((Some(value), group.totals))
    });
    Ok(told.collect())
}

/// The newest build that has enough: one log of a developer's build does not hide the one that everybody runs, and a name that
/// is no version is never the newest.
fn newest(rule: &Rule, mut seen: Vec<(Option<String>, Totals)>) -> Vec<(Option<String>, Totals)> {
    let is_version = |build: &str| build.trim_start_matches('v').starts_with(|char: char| char.is_ascii_digit());
    seen.retain(|(build, totals)| {
        totals.logs >= rule.least_logs
            && totals.machines >= rule.least_machines
            && build.as_deref().is_some_and(is_version)
    });
    let newest = seen.into_iter().max_by_key(|(build, _)| build.as_deref().map(dashboards::version));
    newest.into_iter().collect()
}

fn judge(rule: &Rule, counted: i64, logs: i64) -> Judgement {
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    let share = Share { count: number(counted), total: number(logs) };
    let value = match rule.compare {
        Compare::Share => share.fraction(),
        Compare::Interval => wilson_95(share.count, share.total).map_or(0.0, |(low, _)| low),
    };
    if logs < rule.least_logs {
        Judgement::FewLogs
    } else if value > rule.above {
        Judgement::Above
    } else {
        Judgement::Below
    }
}

fn odd(why: String) -> sqlx::Error {
    sqlx::Error::Configuration(why.into())
}
