//! The page at `/reports/compare`: two logs side by side, what differs in the PC and the build first, then what followed.

use askama::Template;

use crate::Outcome;
use crate::frame::Frame;
use crate::share::counted;

/// Two logs, or the question which ones.
#[derive(Clone, PartialEq, Eq, Debug, Default, Template)]
#[template(path = "two_logs.html")]
pub struct TwoLogsPage {
    /// What stands around it.
    pub frame: Frame,
    /// What was typed for both sides.
    pub asked: [String; 2],
    /// Both sides; `None` while one is not named.
    pub sides: Option<Box<[LogsSide; 2]>>,
    /// The PC, the build and the settings, in the order in which the runtime looks at them.
    pub identity: Vec<LogsRow>,
    /// What followed from them.
    pub outcome: Vec<LogsRow>,
    /// Where the two part for the first time; a side is `None` when it has ended there.
    pub parting: Option<[Option<LoneRecord>; 2]>,
    /// Records that one side has and the other has not.
    pub alone: [Vec<LoneRecord>; 2],
    /// More of them.
    pub alone_left_out: [u64; 2],
    /// What a reader must keep in mind.
    pub notes: Vec<String>,
}

/// One of the two logs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogsSide {
    /// Its own page.
    pub href: String,
    /// Base name of its file.
    pub file: String,
    /// The machine, when it is known.
    pub machine: Option<String>,
    /// What became of it.
    pub outcome: Option<Outcome>,
    /// Local time of the machine.
    pub started: Option<String>,
    /// Its verdict in words.
    pub sentence: String,
}

/// One aspect of both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogsRow {
    /// What is compared.
    pub aspect: &'static str,
    /// What each tells of it.
    pub values: [Option<String>; 2],
}

/// A record that the other log does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoneRecord {
    /// Its line.
    pub line: u64,
    /// What it means.
    pub meaning: String,
    /// What it says.
    pub text: Option<String>,
}

/// A part of the table.
pub(crate) struct Part<'p> {
    pub(crate) title: &'static str,
    pub(crate) rows: &'p [LogsRow],
}

impl Part<'_> {
    pub(crate) fn is_same(&self) -> bool {
        self.rows.iter().all(|row| !row.differs())
    }
}

impl LogsRow {
    pub(crate) fn differs(&self) -> bool {
        self.values[0] != self.values[1]
    }
}

impl TwoLogsPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn parts(&self) -> [Part<'_>; 2] {
        [
            Part { title: "The PC, the build and its settings", rows: &self.identity },
            Part { title: "What followed", rows: &self.outcome },
        ]
    }

    /// The first difference, causes before consequences.
    fn first(&self) -> Option<&LogsRow> {
        self.identity.iter().chain(&self.outcome).find(|row| row.differs())
    }

    fn title(&self) -> String {
        if self.sides.is_none() {
            return "Compare two logs".to_owned();
        }
        let differing = self.identity.iter().chain(&self.outcome).filter(|row| row.differs()).count() as u64;
        if differing == 0 { "Nothing that is compared differs".to_owned() } else { counted(differing, "difference") }
    }

    /// Rows that both tell, and tell alike.
    fn same(&self) -> impl Iterator<Item = &LogsRow> {
        self.identity.iter().chain(&self.outcome).filter(|row| !row.differs() && row.values[0].is_some())
    }

    /// Each side with its records and how many more there are.
    fn lone(&self) -> impl Iterator<Item = (char, &[LoneRecord], Option<String>)> {
        let left_out = |more: u64| (more > 0).then(|| counted(more, "further record"));
        ['A', 'B']
            .into_iter()
            .zip(&self.alone)
            .zip(self.alone_left_out)
            .map(move |((name, records), more)| (name, records.as_slice(), left_out(more)))
    }
}
