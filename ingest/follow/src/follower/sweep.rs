//! What changed on the disk since the last look, by as few questions as that takes.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{FileState, Follower, LONGEST_PAUSE, Look, SHORTEST_PAUSE, What};
use crate::disk::{EntryKind, Stat};
use crate::position::Ended;
use crate::tree::{Found, spelled};

/// What a file tells when it is asked.
enum Answer {
    Same,
    Changed,
    Gone,
}

impl Follower {
    /// Files to look into, and files that are no longer there, each by path.
    pub(super) fn sweep(&mut self, look: &mut Look) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let hints = std::mem::take(&mut self.hints);
        let mut changed = Vec::new();
        let mut gone = Vec::new();
        let mut asked: Vec<PathBuf> = Vec::new();
        let mut full = self.now >= self.next_full;
        for hint in hints {
            let path = spelled(&*self.disk, &hint);
            if self.files.contains_key(&path) {
                asked.push(path);
            } else if self.tree.is_folder(&path) || self.tree.admits(&path) {
                // A file that is new, or a folder that is new, moved or gone.
                full = true;
            }
        }
        if full {
            self.next_full = self.now.checked_add(self.config.full_every).unwrap_or(self.now);
            self.walk(look, &mut changed);
            asked.extend(self.files.iter().filter(|(_, file)| file.asked != self.turn).map(|(path, _)| path.clone()));
        }
        asked.extend(self.due());
        // A watcher tells a change several times, and in several spellings.
        asked.sort_unstable();
        asked.dedup();
        for path in asked {
            match self.ask(&path, look) {
                Answer::Same => {}
                Answer::Changed => changed.push(path),
                Answer::Gone => gone.push(path),
            }
        }
        changed.sort_unstable();
        gone.sort_unstable();
        (changed, gone)
    }

    /// Walks the folders: what they list is there, and may be new or changed.
    fn walk(&mut self, look: &mut Look, changed: &mut Vec<PathBuf>) {
        let walk = self.tree.walk(&*self.disk, &mut self.problems);
        look.problems.extend(walk.problems);
        for Found { path, stat } in walk.found {
            let file = self.files.entry(path.clone()).or_insert_with(|| FileState::new(self.now));
            file.listed = self.turn;
            let Some(stat) = stat else { continue };
            // Reached by two ways: the first answer stands.
            if file.asked == self.turn {
                continue;
            }
            file.asked = self.turn;
            if file.takes(stat, self.now) {
                changed.push(path);
            }
        }
        if self.turn == 1 {
            // Remembered from other folders: neither followed nor gone.
            let turn = self.turn;
            let elsewhere: Vec<_> = self.files.extract_if(|_, file| file.listed != turn).collect();
            for (path, file) in elsewhere {
                if self.disk.stat(&path).is_err_and(|error| is_gone(&error)) {
                    self.files.insert(path, file);
                } else if let Some(key) = file.log
                    && let Some(log) = self.logs.get_mut(&key)
                {
                    log.at = None;
                    self.homeless.entry(log.position.header).or_default().push(key);
                }
            }
        }
    }

    /// Files whose listed size may be late, or that no hint may come for: those that lately changed are asked often, the
    /// others seldom.
    fn due(&mut self) -> Vec<PathBuf> {
        if !self.disk.lists_sizes() && self.config.full_every.is_zero() {
            return Vec::new();
        }
        let now = self.now;
        let mut due = Vec::new();
        for (path, file) in &mut self.files {
            let may_grow = match file.what {
                What::Waiting => true,
                What::Followed => {
                    let log = file.log.as_ref().and_then(|log| self.logs.get(log));
                    log.is_some_and(|log| log.position.ended != Some(Ended::Footer))
                }
                What::New | What::Other | What::Duplicate | What::Failed { .. } => false,
            };
            // Asked by the walk already, unless a walk's answer can be late.
            let answered = file.asked == self.turn && !self.disk.lists_sizes();
            if may_grow && !answered && now >= file.ask_at {
                let idle = now.duration_since(file.changed_at).unwrap_or(Duration::ZERO);
                file.ask_at = now + (idle / 8).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
                due.push(path.clone());
            }
        }
        due
    }

    /// Asks the file itself.
    fn ask(&mut self, path: &Path, look: &mut Look) -> Answer {
        let stat = self.disk.stat(path);
        let Some(file) = self.files.get_mut(path) else { return Answer::Same };
        file.asked = self.turn;
        let stat = match stat {
            Ok(stat) if stat.kind == EntryKind::File => stat,
            Ok(_) => return Answer::Gone,
            Err(error) if is_gone(&error) => return Answer::Gone,
            Err(error) => {
                look.problems.extend(self.problems.note(path, format!("failed to look at it: {error}")));
                return Answer::Same;
            }
        };
        if !self.disk.lists_sizes() {
            return if file.takes(stat, self.now) { Answer::Changed } else { Answer::Same };
        }
        // What a listing says of it is remembered apart, because the two need not agree.
        if file.stat.is_some() && file.len == stat.size_bytes {
            return Answer::Same;
        }
        file.stat = file.stat.or(Some(stat));
        if file.len != stat.size_bytes {
            (file.changed_at, file.ask_at) = (self.now, self.now);
        }
        Answer::Changed
    }
}

impl FileState {
    pub(super) fn new(now: SystemTime) -> Self {
        Self { stat: None, len: 0, listed: 0, asked: 0, changed_at: now, ask_at: now, what: What::New, log: None }
    }

    /// Remembers what was told; true when it is news.
    fn takes(&mut self, stat: Stat, now: SystemTime) -> bool {
        if self.stat == Some(stat) {
            return false;
        }
        // Of a file that is seen for the first time, the disk knows best how old it may be; of others, we do.
        self.changed_at = if self.what == What::New { stat.modified.min(now) } else { now };
        self.ask_at = now;
        self.stat = Some(stat);
        true
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
