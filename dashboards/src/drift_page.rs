//! The page at `/drift`: words in the logs that nobody knows, by build, and what can no longer be trusted because of them.

use askama::Template;

use crate::frame::Frame;
use crate::letters::{self, Letters};
use crate::query::NOT_TOLD;
use crate::selection::Selection;
use crate::share::{Share, counted};
use crate::{Tally, table};

/// What a filter takes for logs with any unknown word.
const ANY: &str = "any";

/// Unknown words.
#[derive(Clone, PartialEq, Eq, Debug, Default, Template)]
#[template(path = "drift.html")]
pub struct DriftPage {
    /// What stands around it.
    pub frame: Frame,
    /// Of which logs.
    pub selection: Selection,
    /// Those of them that have any.
    pub affected: Tally,
    /// Words, those of most logs first; each is there once.
    pub words: Vec<DriftWord>,
    /// Words by build that are not among them.
    pub left_out: u64,
}

/// A word that nobody knows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DriftWord {
    /// A reason token, and not the start of a record.
    pub is_token: bool,
    /// The token, or how the record starts.
    pub what: String,
    /// The builds that print it, by first log.
    pub builds: Vec<DriftBuild>,
    /// The known word that looks most like it.
    pub nearest: Option<NearWord>,
    /// Findings that say nothing any more where they are missing.
    pub doubts: Vec<&'static str>,
}

/// A build that prints it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DriftBuild {
    /// Its tag, else its version.
    pub build: Option<String>,
    /// Logs and machines that have it.
    pub tally: Tally,
    /// Records that have it.
    pub records: u64,
    /// Local days of the first and the last of those logs.
    pub seen: [Option<String>; 2],
    /// A log that has it, and the line of its first record there.
    pub example: (String, u64),
    /// What that record says, as far as it is kept.
    pub text: String,
}

/// A known word.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NearWord {
    /// A token, or the id of a shape.
    pub name: String,
    /// The token, or as much of the shape's format as is compared.
    pub text: String,
    /// What it means.
    pub meaning: String,
    /// Letters to change.
    pub distance: u64,
}

impl DriftPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        match (self.selection.whole.logs, self.words.len() as u64) {
            (0, _) => "No logs yet".to_owned(),
            (_, 0) => "Every word of these logs is known".to_owned(),
            (_, words) => format!("{} in {}", counted(words, "unknown word"), self.affected.logs()),
        }
    }

    fn logs(&self) -> Share {
        Share { count: self.affected.logs, total: self.selection.total.logs }
    }

    fn machines(&self) -> Share {
        Share { count: self.affected.machines, total: self.selection.total.machines }
    }

    fn affected_href(&self) -> String {
        table::behind(&self.selection.query.with("unknown", ANY))
    }

    fn affected_machines_href(&self) -> String {
        self.selection.query.with("unknown", ANY).filters_only().href("/machines")
    }

    /// The logs, and the machines, that have a word, of one build where it is given.
    fn hrefs(&self, word: &DriftWord, build: &DriftBuild) -> [String; 2] {
        let query = self.selection.query.with("unknown", &word.filter());
        let query = query.with("unknown_build", build.build.as_deref().unwrap_or(NOT_TOLD)).filters_only();
        [table::behind(&query), query.href("/machines")]
    }

    fn more(&self) -> String {
        counted(self.left_out, "further word")
    }

    fn json_href(&self) -> String {
        self.selection.query.filters_only().href("/api/v1/drift")
    }
}

impl DriftWord {
    /// As the filter takes it.
    fn filter(&self) -> String {
        format!("{}:{}", if self.is_token { "token" } else { "shape" }, self.what)
    }

    const fn kind(&self) -> &'static str {
        if self.is_token { "Reason token" } else { "Record that starts with" }
    }

    /// A known word with few other letters: rather a slip, or a new name for it.
    fn near_miss(&self) -> Option<&NearWord> {
        let few = (self.what.chars().count() as u64 / 4).max(1);
        self.nearest.as_ref().filter(|known| (1..=few).contains(&known.distance))
    }

    /// The record starts like a known one, and goes on in other words.
    fn known_start(&self) -> Option<&NearWord> {
        self.nearest.as_ref().filter(|known| !self.is_token && known.distance == 0)
    }

    fn letters(&self, known: &NearWord) -> Vec<Letters> {
        letters::compare(&known.text, &self.what)
    }
}

impl DriftBuild {
    fn records(&self) -> String {
        counted(self.records, "record")
    }
}
