//! The names that filters offer while somebody types: a part of pages, which a page asks for when its filters are opened.

use std::collections::BTreeSet;

use askama::Template;

/// Names in a list; whoever has more types on.
const MOST_NAMES: usize = 200;
/// A longer one is no help to whoever types.
const MOST_LETTERS: usize = 300;

/// What logs name, by filter.
#[derive(Clone, PartialEq, Eq, Debug, Default, Template)]
#[template(path = "names.html")]
pub struct Names {
    /// Pairs of GPUs, most logs first; their two sides are offered too.
    pub gpu_pairs: Vec<String>,
    /// Versions of the runtime.
    pub runtimes: Vec<String>,
    /// Programs.
    pub programs: Vec<String>,
}

impl Names {
    /// The part. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    /// By the filter that they are for.
    fn lists(&self) -> [(&'static str, Vec<&str>); 5] {
        // A name that holds the arrow itself cannot be told apart.
        let pairs = || self.gpu_pairs.iter().filter_map(|pair| pair.split_once(" → "));
        [
            ("gpu_pair", few(self.gpu_pairs.iter().map(String::as_str))),
            ("render", few(pairs().map(|(render, _)| render))),
            ("scanout", few(pairs().map(|(_, scanout)| scanout))),
            ("runtime", few(self.runtimes.iter().map(String::as_str))),
            ("exe", few(self.programs.iter().map(String::as_str))),
        ]
    }
}

/// Each once, and not more than help.
fn few<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| name.chars().count() <= MOST_LETTERS && seen.insert(*name)).take(MOST_NAMES).collect()
}

/// Whether a filter is offered names.
pub(crate) fn has(filter: &str) -> bool {
    Names::default().lists().iter().any(|(name, _)| *name == filter)
}
