//! The page at `/compare`: two builds, kinds of PC or periods side by side, what is larger than chance first.

use askama::Template;

use crate::chart;
use crate::explore::{DIMENSIONS, noun};
use crate::frame::Frame;
use crate::grid::{Cell, Grid};
use crate::query::NOT_TOLD;
use crate::selection::Selection;
use crate::share::{Share, counted};
use crate::spread::Spread;
use crate::table::behind;
use crate::{Query, visible, words};

/// Rows of a table.
const MOST_ROWS: usize = 60;

/// Of a pair of GPUs in a heading.
const PAIR_LETTERS: usize = 90;

/// Fewer logs than this tell no difference.
const FEW_LOGS: u64 = 10;

/// What can be compared, with the words for people.
pub const SIDES: [(&str, &str); 3] =
    [("runtime", "two builds"), ("cohort", "two kinds of PC"), ("period", "two periods")];

/// Two sets of logs.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "compare.html")]
pub struct ComparePage {
    /// What stands around it.
    pub frame: Frame,
    /// The logs that both are taken from.
    pub selection: Selection,
    /// What the sides are values of: one of [`SIDES`].
    pub by: &'static str,
    /// What they can be: value and label, in order.
    pub choices: Vec<(String, String)>,
    /// What was there before, or the worse known one.
    pub a: Side,
    /// What is looked at.
    pub b: Side,
    /// What the logs of both are counted by.
    pub group_by: &'static str,
    /// The groups on both sides.
    pub groups: Vec<Pair>,
    /// How often everything else occurs on both sides, largest difference first.
    pub measures: Vec<Measure>,
}

/// One set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Side {
    /// The value; empty when nothing is chosen.
    pub value: String,
    /// What people call it.
    pub label: String,
    /// Its logs.
    pub whole: Spread,
    /// The filters that let them through.
    pub query: Query,
}

/// A group on both sides, by the share of its logs in which frames cross needlessly.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    /// The group there.
    pub a: Spread,
    /// Here.
    pub b: Spread,
    /// Share here less share there, with its 95 % interval.
    pub change: Option<(f64, [f64; 2])>,
    /// Larger than chance, corrected for the number of groups.
    pub beyond_chance: bool,
}

/// One property of the logs on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct Measure {
    /// A dimension, `killed` or `retired`.
    pub name: &'static str,
    /// Its value.
    pub value: Option<String>,
    /// Logs that have it, and all.
    pub a: (u64, u64),
    /// Likewise.
    pub b: (u64, u64),
    /// As in [`Pair`].
    pub change: Option<(f64, [f64; 2])>,
    /// As in [`Pair`].
    pub beyond_chance: bool,
}

impl ComparePage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn is_ready(&self) -> bool {
        !self.a.value.is_empty() && !self.b.value.is_empty()
    }

    fn title(&self) -> String {
        if !self.is_ready() {
            return "Compare two builds, kinds of PC or periods".to_owned();
        }
        if let Some(trouble) = self.trouble() {
            return trouble;
        }
        let surely = self.groups.iter().filter(|pair| pair.beyond_chance);
        let rise = surely.clone().filter(|pair| pair.points() > 0.0).max_by(|x, y| x.points().total_cmp(&y.points()));
        let fall = surely.min_by(|x, y| x.points().total_cmp(&y.points()));
        let name = |pair: &Pair| match pair.name(self.group_by) {
            // Both halves have to be legible.
            gpus if self.group_by == "gpu_pair" => visible::plain(&chart::cut(&chart::gpu(&gpus), PAIR_LETTERS)),
            name => chart::short(&name),
        };
        match (rise, fall) {
            (Some(pair), _) => format!(
                "{} got worse with {}: {} of its logs cross needlessly, {} before",
                name(pair),
                self.b.label,
                pair.b.bad_share().percent(),
                pair.a.bad_share().percent()
            ),
            (None, Some(pair)) => format!(
                "{} got better with {}: {} of its logs cross needlessly, {} before",
                name(pair),
                self.b.label,
                pair.b.bad_share().percent(),
                pair.a.bad_share().percent()
            ),
            (None, None) => format!(
                "No {} differs by more than chance between {} and {}",
                noun(self.group_by),
                self.a.label,
                self.b.label
            ),
        }
    }

    /// Two sides that are one, or one without logs: there is nothing to compare.
    fn trouble(&self) -> Option<String> {
        if self.a.value == self.b.value {
            return Some(format!("Both sides are {}: choose another one on one of them", self.a.label));
        }
        let nobody = [&self.a, &self.b].into_iter().find(|side| side.whole.tally.logs == 0)?;
        Some(match self.by {
            "period" => format!("No log of these started in {}: choose other days", nobody.label),
            _ => format!("No log here is of {}: choose another one", nobody.label),
        })
    }

    fn options<'s>(&'s self, side: &'s Side) -> Vec<(&'s str, &'s str, bool)> {
        let known = self.choices.iter().map(|(value, label)| (value.as_str(), label.as_str(), *value == side.value));
        let mut options: Vec<_> = known.collect();
        if !side.value.is_empty() && options.iter().all(|(value, ..)| *value != side.value) {
            options.push((&side.value, &side.label, true));
        }
        options
    }

    fn is_by(&self, name: &str) -> bool {
        self.by == name
    }

    fn is_grouped_by(&self, name: &str) -> bool {
        self.group_by == name
    }

    fn groups_table(&self) -> Grid {
        let title = format!("Logs that cross needlessly, by {}: beyond chance first", noun(self.group_by));
        let mut grid = Grid::new(
            title,
            &[
                noun(self.group_by),
                &format!("#{}", self.a.label),
                &format!("#{}", self.b.label),
                "#Difference, points",
                "#95 % interval",
                "#Machines",
                "#Chance?",
            ],
        );
        let mut pairs: Vec<_> = self.groups.iter().collect();
        pairs.sort_by(|x, y| y.beyond_chance.cmp(&x.beyond_chance).then(y.points().abs().total_cmp(&x.points().abs())));
        for pair in pairs.into_iter().take(MOST_ROWS) {
            let key = pair.key();
            let cell = |side: &Side, own: &Spread| match own.tally.logs {
                0 => Cell::from("no logs"),
                _ => Cell::link(shown(own.bad_share()), behind(&side.query.with(self.group_by, key))),
            };
            grid.rows.push(vec![
                Cell::from(pair.name(self.group_by)),
                cell(&self.a, &pair.a),
                cell(&self.b, &pair.b),
                points(pair.change).into(),
                interval(pair.change).into(),
                format!("{} / {}", pair.a.tally.machines, pair.b.tally.machines).into(),
                verdict(pair.change, pair.beyond_chance).into(),
            ]);
        }
        grid
    }

    fn measures_table(&self) -> Grid {
        let mut grid = Grid::new(
            "Everything else that differs, beyond chance first",
            &[
                "What",
                &format!("#{}", self.a.label),
                &format!("#{}", self.b.label),
                "#Difference, points",
                "#95 % interval",
                "#Chance?",
            ],
        );
        for own in self.measures.iter().filter(|own| own.a.0 + own.b.0 > 0).take(MOST_ROWS) {
            let value = own.value.as_deref().unwrap_or(NOT_TOLD);
            let (name, value) = match own.name {
                "killed" | "retired" => (own.name.to_owned(), "true"),
                dimension => (format!("{}: {}", noun(dimension), words::word(dimension, value).label), value),
            };
            let cell = |side: &Side, (count, total): (u64, u64)| {
                Cell::link(shown(Share { count, total }), behind(&side.query.with(own.name, value)))
            };
            grid.rows.push(vec![
                name.into(),
                cell(&self.a, own.a),
                cell(&self.b, own.b),
                points(own.change).into(),
                interval(own.change).into(),
                verdict(own.change, own.beyond_chance).into(),
            ]);
        }
        grid
    }

    /// A side of few logs, of which no difference can be beyond chance.
    fn few(&self) -> Option<String> {
        let mut sides = [&self.a, &self.b].into_iter().filter(|_| self.trouble().is_none());
        let few = sides.find(|side| side.whole.tally.logs < FEW_LOGS)?;
        Some(format!("{} has {} only, too few to tell: choose another one above.", few.label, few.whole.tally.logs()))
    }

    fn side_said(side: &Side) -> String {
        format!("{}: {} of {}", side.label, counted(side.whole.tally.logs, "log"), side.whole.tally.machines())
    }
}

impl Pair {
    fn key(&self) -> &str {
        if self.a.tally.logs > 0 { self.a.key() } else { self.b.key() }
    }

    fn name(&self, dimension: &str) -> String {
        if self.a.tally.logs > 0 { self.a.name(dimension) } else { self.b.name(dimension) }
    }

    fn points(&self) -> f64 {
        self.change.map_or(0.0, |(change, _)| change)
    }
}

/// `12 of 30 (40.0 %, 24.6–57.7 %)`.
fn shown(share: Share) -> String {
    format!("{share} ({}, {})", share.percent(), share.interval())
}

fn points(change: Option<(f64, [f64; 2])>) -> String {
    change.map_or_else(|| "–".to_owned(), |(change, _)| format!("{:+.1}", change * 100.0))
}

fn interval(change: Option<(f64, [f64; 2])>) -> String {
    change.map_or_else(String::new, |(_, [low, high])| format!("{:+.1} to {:+.1}", low * 100.0, high * 100.0))
}

const fn verdict(change: Option<(f64, [f64; 2])>, beyond_chance: bool) -> &'static str {
    match change {
        None => "not comparable",
        Some(_) if beyond_chance => "beyond chance",
        Some(_) => "may be chance",
    }
}
