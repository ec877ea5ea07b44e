//! The page at `/explore`: logs counted by any one or two things, as a table, a picture and a file.

use askama::Template;

use crate::chart::Chart;
use crate::frame::Frame;
use crate::grid::{Cell, Grid};
use crate::query::NOT_TOLD;
use crate::selection::Selection;
use crate::share::{counted, thousands};
use crate::spread::{self, Spread};
use crate::table::behind;
use crate::words;

/// Rows of the table; the file has them all.
const MOST_ROWS: usize = 200;

/// What logs can be counted by, as the parameter `group_by` takes it, with the words for people.
pub const DIMENSIONS: [(&str, &str); 13] = [
    ("outcome", "outcome"),
    ("day", "day"),
    ("gpu_pair", "GPU pair"),
    ("cohort", "kind of PC"),
    ("reason", "reason"),
    ("runtime", "build"),
    ("path", "path"),
    ("exe", "program"),
    ("render", "adapter that renders"),
    ("scanout", "adapter of the panel"),
    ("machine", "machine"),
    ("split", "split"),
    ("crossing", "what crosses"),
];

/// Logs by something.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "explore.html")]
pub struct ExplorePage {
    /// What stands around it.
    pub frame: Frame,
    /// Which logs.
    pub selection: Selection,
    /// One or two of [`DIMENSIONS`].
    pub group_by: Vec<&'static str>,
    /// The groups, most logs first.
    pub groups: Vec<Combination>,
}

/// One group: a value for each dimension.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Combination {
    /// In the order of `group_by`; `None` where logs do not tell. The label stands in place of an id.
    pub keys: Vec<(Option<String>, Option<String>)>,
    /// How much is in it.
    pub spread: Spread,
}

/// The words of a dimension.
pub(crate) fn noun(dimension: &str) -> &'static str {
    DIMENSIONS.iter().find(|(name, _)| *name == dimension).map_or("", |(_, noun)| noun)
}

impl ExplorePage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        let nouns: Vec<_> = self.group_by.iter().map(|dimension| noun(dimension)).collect();
        format!("{} by {}", self.selection.total.logs(), nouns.join(" and "))
    }

    /// The first dimension as it is chosen, or the second.
    fn is_chosen(&self, place: usize, dimension: &str) -> bool {
        self.group_by.get(place) == Some(&dimension)
    }

    fn charts(&self) -> Option<Chart> {
        let [dimension] = self.group_by[..] else { return None };
        let groups: Vec<_> = self.groups.iter().map(Combination::one).collect();
        spread::stack("groups", dimension, noun(dimension), &groups, &self.selection.query.filters_only())
    }

    fn table(&self) -> Grid {
        let nouns: Vec<_> = self.group_by.iter().map(|dimension| noun(dimension)).collect();
        let columns = spread::columns(&nouns);
        let mut grid = Grid::new(self.title(), &columns.iter().map(String::as_str).collect::<Vec<_>>());
        for group in self.groups.iter().take(MOST_ROWS) {
            let mut query = self.selection.query.filters_only();
            let mut row = Vec::new();
            for (dimension, (key, label)) in self.group_by.iter().zip(&group.keys) {
                let key = key.as_deref().unwrap_or(NOT_TOLD);
                query = query.with(dimension, key);
                let name = label.clone().unwrap_or_else(|| words::word(dimension, key).label);
                row.push(Cell::from(name));
            }
            if let Some(first) = row.first_mut() {
                first.href = Some(behind(&query));
            }
            row.extend(spread::cells(&group.spread, &query));
            grid.rows.push(row);
        }
        grid
    }

    fn left_out(&self) -> Option<String> {
        let more = self.groups.len().saturating_sub(MOST_ROWS);
        (more > 0).then(|| {
            format!(
                "{} of {} are shown; the file has all.",
                thousands(MOST_ROWS as u64),
                counted(self.groups.len() as u64, "group")
            )
        })
    }

    /// The same numbers as a file.
    fn csv_href(&self) -> String {
        let query = self.selection.query.filters_only().href("/api/v1/summary");
        let mark = if query.contains('?') { '&' } else { '?' };
        let group_by: Vec<_> = self.group_by.iter().map(|dimension| format!("group_by={dimension}")).collect();
        format!("{query}{mark}{}&format=csv", group_by.join("&"))
    }
}

impl Combination {
    fn one(&self) -> Spread {
        let (key, label) = self.keys.first().cloned().unwrap_or_default();
        Spread { key, label, ..self.spread.clone() }
    }
}
