//! What cannot be read, said once and not at every look.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file or folder that cannot be read at the moment. It is tried again without being told again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// A fragment such as `failed to open it: Permission denied`.
    pub why: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for Problem {}

/// What was said, by path.
#[derive(Debug, Default)]
pub struct Problems {
    said: HashMap<PathBuf, String>,
}

impl Problems {
    /// The problem, when it is news.
    pub fn note(&mut self, path: &Path, why: String) -> Option<Problem> {
        if self.said.get(path) == Some(&why) {
            return None;
        }
        self.said.insert(path.to_owned(), why.clone());
        Some(Problem { path: path.to_owned(), why })
    }

    /// All that cannot be read as far as is known, by path.
    pub fn all(&self) -> Vec<Problem> {
        let problems = self.said.iter().map(|(path, why)| Problem { path: path.clone(), why: why.clone() });
        let mut problems: Vec<Problem> = problems.collect();
        problems.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        problems
    }

    /// It works again, or is gone: the next problem there is news.
    pub fn solved(&mut self, path: &Path) {
        if !self.said.is_empty() {
            self.said.remove(path);
        }
    }
}
