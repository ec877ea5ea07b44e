//! The front door: looks at the folders, says which logs have something new, reads it.

mod config;
mod decide;
mod read;
mod settle;
mod state;
mod sweep;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use config::{Config, Look};

use crate::disk::Disk;
use crate::folders::Folder;
use crate::position::{LogKey, Position};
use crate::problem::{Problem, Problems};
use crate::tree::Tree;
use state::{FileState, Log, Rest, What};

/// Follows the logs of this machine.
pub struct Follower {
    config: Config,
    disk: Box<dyn Disk>,
    tree: Tree,
    /// By canonical path.
    files: HashMap<PathBuf, FileState>,
    logs: HashMap<LogKey, Log>,
    /// The contents of a process under a header, in the order in which they came.
    by_base: HashMap<String, Vec<LogKey>>,
    /// By the id of their file, the newest where an id was used again.
    by_id: HashMap<String, LogKey>,
    /// Logs whose file is gone, by the checksum of their header.
    homeless: HashMap<u32, Vec<LogKey>>,
    /// The newest start of each program, as told by names and headers.
    newest: HashMap<String, String>,
    problems: Problems,
    hints: BTreeSet<PathBuf>,
    /// Logs that lost their file in this look.
    orphans: Vec<LogKey>,
    /// Logs whose file was looked into in this look, and how long it was before.
    touched: Vec<(LogKey, u64)>,
    /// Files whose log turned out to be elsewhere.
    unsure: Vec<PathBuf>,
    /// Copies of the file of a log.
    copies: HashMap<LogKey, BTreeSet<PathBuf>>,
    /// Number of this look.
    turn: u64,
    now: SystemTime,
    next_full: SystemTime,
    /// The folders are others than at the last walk.
    new_folders: bool,
    /// Nothing is due; `None` when that is not known.
    rest: Option<Rest>,
}

impl fmt::Debug for Follower {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, logs) = (self.files.len(), self.logs.len());
        formatter.debug_struct("Follower").field("files", &files).field("logs", &logs).finish_non_exhaustive()
    }
}

impl Follower {
    /// Follows the folders of `config` on `disk`, going on where the saved positions say.
    pub fn new(config: Config, disk: impl Disk + 'static, known: impl IntoIterator<Item = Position>) -> Self {
        /// Longer than anything is quiet, and short enough to be added to a time.
        const AGES: Duration = Duration::from_hours(24 * 365 * 100);
        let config = Config { quiet: config.quiet.min(AGES), ..config };
        let mut follower = Self {
            tree: Tree::new(config.folders.clone(), config.leave_out.clone()),
            config,
            disk: Box::new(disk),
            files: HashMap::new(),
            logs: HashMap::new(),
            by_base: HashMap::new(),
            by_id: HashMap::new(),
            homeless: HashMap::new(),
            newest: HashMap::new(),
            problems: Problems::default(),
            hints: BTreeSet::new(),
            orphans: Vec::new(),
            touched: Vec::new(),
            unsure: Vec::new(),
            copies: HashMap::new(),
            turn: 0,
            now: SystemTime::UNIX_EPOCH,
            next_full: SystemTime::UNIX_EPOCH,
            new_folders: true,
            rest: None,
        };
        for position in known {
            follower.restore(position);
        }
        follower
    }

    /// Looks at these folders from the next look on.
    pub fn set_folders(&mut self, folders: Vec<Folder>) {
        self.tree.set_roots(folders);
        self.new_folders = true;
        self.next_full = SystemTime::UNIX_EPOCH;
    }

    /// Looks at a file or folder at the next look, whatever it costs: a watcher saw something there.
    pub fn hint(&mut self, path: &Path) {
        /// Behind this many, looking at everything is cheaper.
        const MANY: usize = 1000;
        if self.hints.len() < MANY {
            self.hints.insert(path.to_owned());
        } else {
            self.next_full = SystemTime::UNIX_EPOCH;
        }
    }

    /// Looks at the folders. Opens only files that changed, and keeps none open.
    ///
    /// Positions of ranges that were read before have to be committed before, or the ranges count as never read.
    pub fn look(&mut self, now: SystemTime) -> Look {
        let mut look = Look::default();
        self.turn += 1;
        if now < self.now {
            self.clock_was_set_back(now);
        }
        self.now = now;
        let news = self.sweep(&mut look);
        for path in news.gone {
            self.file_is_gone(&path);
        }
        for path in news.changed {
            self.examine(&path, &mut look);
        }
        self.settle(&mut look);
        look
    }

    /// The range before this position is safe: goes on behind it.
    pub fn commit(&mut self, log: &str, position: Position) {
        let Some(log) = self.logs.get_mut(log) else { return };
        // Where the file is, whether it is still there and how long it is may have been found out since.
        let now = std::mem::take(&mut log.position);
        let ended = if now.gone_s.is_some() { now.ended } else { position.ended };
        let (file, path, id, seen) = (now.file, now.path, now.id, now.seen.max(position.seen));
        let (header, early, gone_s) = (now.header, now.early, now.gone_s);
        log.position = Position { file, path, id, header, early, seen, ended, gone_s, ..position };
        log.tried = None;
        self.rest = None;
    }

    /// How far a log got, as committed.
    pub fn position(&self, log: &str) -> Option<&Position> {
        self.logs.get(log).map(|log| &log.position)
    }

    /// What cannot be read at the moment, told before or not. A look tells each once.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.all()
    }

    /// All logs that are remembered.
    pub fn positions(&self) -> impl Iterator<Item = (&LogKey, &Position)> {
        self.logs.iter().map(|(key, log)| (key, &log.position))
    }

    /// Pauses that were to end at a time are not prolonged by another time.
    fn clock_was_set_back(&mut self, now: SystemTime) {
        self.next_full = SystemTime::UNIX_EPOCH;
        self.rest = None;
        for file in self.files.values_mut() {
            file.changed_at = file.changed_at.min(now);
            file.ask_at = now;
            if let What::Failed { again_at, .. } = &mut file.what {
                *again_at = now;
            }
        }
        for log in self.logs.values_mut() {
            log.failed = None;
        }
    }
}

/// Since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Takes a log out of the list of a key, and the list out of the map when it was the last.
fn remove<K: Hash + Eq>(lists: &mut HashMap<K, Vec<LogKey>>, of: &K, key: &LogKey) {
    if let Some(keys) = lists.get_mut(of) {
        keys.retain(|other| other != key);
        if keys.is_empty() {
            lists.remove(of);
        }
    }
}
