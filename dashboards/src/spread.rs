//! Groups of logs with their outcomes: as rows of a table, as stacks of a picture, and which of them is the worst.

use std::cmp::Reverse;

use crate::chart::{self, Chart, Layer, Size};
use crate::grid::{Cell, Grid};
use crate::query::NOT_TOLD;
use crate::share::{Share, thousands, wilson_95};
use crate::table::behind;
use crate::{Outcome, Query, Tally, words};

/// Rows of a heat map, nodes of a flow picture, builds: beyond that a picture is no picture any more.
pub(crate) const MOST_MARKS: usize = 12;
/// Rows of the table below a picture; `/explore` has more.
const MOST_ROWS: usize = 40;
/// A group of fewer logs is called the worst only where no group has as many.
const FEW_LOGS: u64 = 5;

/// One group with its logs by outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    /// The contract's word, or a name from a log; `None` when the logs do not tell.
    pub key: Option<String>,
    /// What people call it, where that is not the key.
    pub label: Option<String>,
    /// All of it.
    pub tally: Tally,
    /// Logs in the order of [`Outcome::ALL`].
    pub outcomes: [u64; 6],
}

impl Spread {
    /// What the page calls it.
    pub(crate) fn name(&self, dimension: &str) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        words::word(dimension, self.key()).label
    }

    /// As a filter takes it.
    pub(crate) fn key(&self) -> &str {
        self.key.as_deref().unwrap_or(NOT_TOLD)
    }

    /// Logs with this outcome.
    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        Outcome::ALL.iter().position(|one| *one == outcome).map_or(0, |place| self.outcomes[place])
    }

    /// Logs in which something could be better: frames cross needlessly, whatever the reason.
    pub fn bad(&self) -> u64 {
        [Outcome::Crossing, Outcome::Killed, Outcome::TakenBack].into_iter().map(|outcome| self.of(outcome)).sum()
    }

    /// The share of these.
    pub(crate) fn bad_share(&self) -> Share {
        Share { count: self.bad(), total: self.tally.logs }
    }
}

/// The group whose share of bad logs is the largest, whatever chance did: by the lower end of its interval.
pub(crate) fn worst<'s>(groups: &[&'s Spread]) -> Option<&'s Spread> {
    let surely = |own: &Spread| wilson_95(own.bad(), own.tally.logs).map_or(0.0, |(low, _)| low);
    let bad = groups.iter().copied().filter(|own| own.bad() > 0);
    bad.max_by(|a, b| (a.tally.logs >= FEW_LOGS).cmp(&(b.tally.logs >= FEW_LOGS)).then(surely(a).total_cmp(&surely(b))))
}

/// Groups with logs, in the order in which a table has them: days and builds as they follow each other, else most logs first.
pub(crate) fn in_order<'s>(dimension: &str, groups: &'s [Spread]) -> Vec<&'s Spread> {
    let mut all: Vec<_> = groups.iter().filter(|own| own.tally.logs > 0).collect();
    match dimension {
        "day" => all.sort_by(|a, b| a.key.cmp(&b.key)),
        _ => all.sort_by(|a, b| b.tally.logs.cmp(&a.tally.logs).then_with(|| a.key.cmp(&b.key))),
    }
    all
}

/// Bars, each a stack of outcomes; `None` without logs.
pub(crate) fn stack(
    name: &'static str,
    dimension: &'static str,
    noun: &str,
    groups: &[Spread],
    query: &Query,
) -> Option<Chart> {
    let all = in_order(dimension, groups);
    let title = worst(&all).map_or_else(
        || format!("No {noun} crosses needlessly"),
        |own| {
            let (name, share) = (chart::short(&own.name(dimension)), own.bad_share());
            format!("Worst {noun}: {name}, {share} logs ({})", share.percent())
        },
    );
    let mut drawn = all.clone();
    if dimension != "day" {
        drawn.truncate(MOST_MARKS);
    }
    if dimension == "runtime" {
        drawn.sort_by_cached_key(|own| version(own.key()));
    }
    let axis: Vec<_> = drawn.iter().map(|own| own.name(dimension)).collect();
    (!drawn.is_empty()).then(|| Chart {
        name,
        title,
        note: format!("The worst is the one with most logs that cross needlessly, as far as that is no chance; of fewer than {FEW_LOGS} logs only where no {noun} has more."),
        size: Size::Middle,
        option: chart::stacked(&axis, &layers(dimension, &drawn, query), "logs"),
        table: table(&format!("Logs by {noun} and outcome"), noun, dimension, &all, query),
    })
}

/// The outcomes that occur, each with a number for each group.
pub(crate) fn layers(dimension: &str, groups: &[&Spread], query: &Query) -> Vec<Layer> {
    let mark = |own: &Spread, outcome: Outcome| {
        (own.of(outcome), behind(&query.with(dimension, own.key()).with("outcome", outcome.as_str())))
    };
    let layers = Outcome::ALL
        .into_iter()
        .map(|outcome| Layer { outcome, marks: groups.iter().map(|own| mark(own, outcome)).collect() });
    layers.filter(|layer| layer.marks.iter().any(|(count, _)| *count > 0)).collect()
}

/// The same as rows.
pub(crate) fn table(caption: &str, heading: &str, dimension: &str, groups: &[&Spread], query: &Query) -> Grid {
    let mut grid = Grid::new(caption, &columns(&[heading]).iter().map(String::as_str).collect::<Vec<_>>());
    for own in groups.iter().take(if dimension == "day" { groups.len() } else { MOST_ROWS }) {
        let query = query.with(dimension, own.key());
        let mut row = vec![Cell::link(own.name(dimension), behind(&query))];
        row.extend(cells(own, &query));
        grid.rows.push(row);
    }
    grid
}

/// The headings of a table of groups behind those of their keys.
pub(crate) fn columns(keys: &[&str]) -> Vec<String> {
    let mut columns: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
    columns.extend(["#Logs", "#Machines"].map(str::to_owned));
    columns.extend(Outcome::ALL.map(|outcome| format!("#{}", outcome.label())));
    columns.extend(["#Needless", "#95 % interval"].map(str::to_owned));
    columns
}

/// The cells below them; `query` lets the group's logs through.
pub(crate) fn cells(own: &Spread, query: &Query) -> Vec<Cell> {
    let mut cells =
        vec![Cell::link(thousands(own.tally.logs), behind(query)), Cell::from(thousands(own.tally.machines))];
    cells.extend(Outcome::ALL.map(|outcome| match own.of(outcome) {
        0 => Cell::from("0"),
        count => Cell::link(thousands(count), behind(&query.with("outcome", outcome.as_str()))),
    }));
    let share = own.bad_share();
    cells.extend([Cell::from(share.percent()), Cell::from(share.interval())]);
    cells
}

/// Sorts builds: numbers as numbers, and commits since a release behind it and before the next one.
pub fn version(text: &str) -> [Vec<(u64, String)>; 2] {
    let numbers = |text: &str| {
        let parts = text.split(['.', '-']).filter(|part| !part.is_empty());
        parts.map(|part| part.parse().map_or((u64::MAX, part.to_owned()), |number| (number, String::new()))).collect()
    };
    let (release, since) = text.trim_start_matches('v').split_once('-').unwrap_or((text.trim_start_matches('v'), ""));
    [numbers(release), numbers(since)]
}

/// Orders groups by what is to be repaired first.
pub(crate) fn urgency(own: &Spread) -> Reverse<(u64, u64)> {
    Reverse((own.bad(), own.tally.machines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(key: &str, crossing: u64, engaged: u64) -> Spread {
        let tally = Tally { logs: crossing + engaged, machines: 1 };
        Spread { key: Some(key.to_owned()), tally, outcomes: [engaged, 0, crossing, 0, 0, 0], ..Spread::default() }
    }

    #[test]
    fn one_bad_log_of_one_is_not_the_worst_group() {
        let (few, many, good) = (group("few", 1, 0), group("many", 40, 60), group("good", 0, 9));
        assert_eq!(worst(&[&few, &many, &good]), Some(&many));
        assert_eq!(worst(&[&few, &good]), Some(&few), "unless no other is bad");
        assert_eq!(worst(&[&good]), None);
    }

    #[test]
    fn builds_follow_each_other_by_number() {
        let mut builds = ["2.13.0", "2.9.1", "v2.13.0-4-gabc", "not a version", "2.13.1"];
        builds.sort_by_cached_key(|build| version(build));
        assert_eq!(builds, ["2.9.1", "2.13.0", "v2.13.0-4-gabc", "2.13.1", "not a version"]);
    }
}
