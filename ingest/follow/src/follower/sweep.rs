//! What changed on the disk since the last look, by as few questions as that takes.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::state::{FileState, LONGEST_PAUSE, SHORTEST_PAUSE, What};
use super::{Follower, Look, seconds};
use crate::disk::{Disk, EntryKind};
use crate::position::Ended;
use crate::problem::Problems;
use crate::tree::{Found, spelled};

/// What a file tells when it is asked.
enum Answer {
    Same,
    Changed,
    Gone,
}

/// Files to look into, and files that are no longer there.
#[derive(Default)]
pub(super) struct News {
    pub changed: Vec<PathBuf>,
    pub gone: Vec<PathBuf>,
}

impl Follower {
    /// Asks whatever has to be asked at this look.
    pub(super) fn sweep(&mut self, look: &mut Look) -> News {
        let mut news = News::default();
        let mut full = self.now >= self.next_full;
        // A watcher tells a change several times, and in several spellings.
        let hints: BTreeSet<_> =
            std::mem::take(&mut self.hints).iter().map(|hint| spelled(&*self.disk, hint)).collect();
        for path in &hints {
            full |= self.may_be_folder(path);
        }
        if full {
            self.next_full = self.now.checked_add(self.config.full_every).unwrap_or(self.now);
            self.walk(look, &mut news);
        }
        let due =
            if full { Vec::new() } else { hints.into_iter().filter(|path| self.files.contains_key(path)).collect() };
        self.ask(due, look, &mut news);
        let due = self.due();
        self.ask(due, look, &mut news);
        news.changed.sort_unstable();
        news.changed.dedup();
        news.gone.sort_unstable();
        news.gone.dedup();
        news
    }

    /// What a hint names is a folder, or was one; a file that is new is remembered, to be asked.
    fn may_be_folder(&mut self, path: &Path) -> bool {
        if self.files.contains_key(path) {
            return false;
        }
        if self.tree.is_folder(path) {
            return true;
        }
        if !self.tree.admits(path) {
            return false;
        }
        match self.disk.stat(path) {
            Ok(stat) if stat.kind == EntryKind::File => {
                self.files.insert(path.to_owned(), FileState::new(self.now));
                false
            }
            Ok(stat) => stat.kind == EntryKind::Folder,
            Err(_) => false,
        }
    }

    /// Walks the folders and asks every file: what folders list is there, and may be new or changed.
    fn walk(&mut self, look: &mut Look, news: &mut News) {
        let Self { tree, disk, files, problems, now, turn, .. } = self;
        let walk = tree.walk(&**disk, problems);
        look.problems.extend(walk.problems);
        for Found { path, stat } in walk.found {
            let file = match files.get_mut(&path) {
                Some(file) => file,
                None => files.entry(path.clone()).or_insert_with(|| FileState::new(*now)),
            };
            file.listed = *turn;
            // Reached by two ways: the first answer stands.
            if let Some(stat) = stat.filter(|_| file.asked != *turn) {
                file.asked = *turn;
                if file.takes(stat, *now) {
                    news.changed.push(path);
                }
            }
        }
        if std::mem::take(&mut self.new_folders) {
            self.leave_elsewhere(look);
        }
        let Self { disk, files, problems, now, turn, .. } = self;
        for (path, file) in files.iter_mut().filter(|(_, file)| file.asked != *turn) {
            file.asked = *turn;
            match file.ask(path, &**disk, *now, problems, look) {
                Answer::Same => {}
                Answer::Changed => news.changed.push(path.clone()),
                Answer::Gone => news.gone.push(path.clone()),
            }
        }
    }

    /// Files that no folder lists any more although they are there: the folders are others now. Their logs are neither
    /// followed nor gone, and forgotten when they do not come back.
    fn leave_elsewhere(&mut self, look: &mut Look) {
        let Self { disk, files, turn, .. } = self;
        let is_there = |path: &Path| !disk.stat(path).is_err_and(|error| is_gone(&error));
        let elsewhere: Vec<_> = files.extract_if(|path, file| file.listed != *turn && is_there(path)).collect();
        for (path, file) in elsewhere {
            let Some(key) = file.log else { continue };
            let Some(log) = self.logs.get_mut(&key).filter(|log| log.at.as_ref() == Some(&path)) else { continue };
            log.at = None;
            log.position.gone_s = Some(seconds(self.now));
            self.homeless.entry(log.position.header).or_default().push(key.clone());
            look.moved.push(key);
        }
    }

    /// Files whose listed size may be late, or that no hint may come for: those that lately changed are asked often, the
    /// others seldom.
    fn due(&mut self) -> Vec<PathBuf> {
        let now = self.now;
        let idle_most = self.asked_by_time();
        if idle_most.is_zero() || self.rest.as_ref().is_some_and(|rest| now < rest.until) {
            return Vec::new();
        }
        let mut due = Vec::new();
        for (path, file) in &mut self.files {
            let ended = file.log.as_ref().and_then(|log| self.logs.get(log)).and_then(|log| log.position.ended);
            // Asked by the walk already, unless a walk's answer can be late.
            let answered = file.asked == self.turn && !self.disk.lists_sizes();
            let idle = file.idle(now);
            if file.what.may_grow(ended) && !answered && now >= file.ask_at && idle < idle_most {
                file.ask_at = now + (idle / 8).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
                due.push(path.clone());
            }
        }
        due
    }

    /// Files that may grow, and did so within this time, are asked between full looks, or apart from what listings tell.
    pub(super) fn asked_by_time(&self) -> Duration {
        /// Where a full look is exact, it finds the others soon enough.
        const LIVELY: Duration = Duration::from_mins(1);
        if self.disk.lists_sizes() {
            Duration::MAX
        } else if self.config.full_every.is_zero() {
            Duration::ZERO
        } else {
            LIVELY
        }
    }

    fn ask(&mut self, paths: Vec<PathBuf>, look: &mut Look, news: &mut News) {
        let Self { disk, files, problems, now, turn, .. } = self;
        for path in paths {
            let Some(file) = files.get_mut(&path) else { continue };
            file.asked = *turn;
            match file.ask(&path, &**disk, *now, problems, look) {
                Answer::Same => {}
                Answer::Changed => news.changed.push(path),
                Answer::Gone => news.gone.push(path),
            }
        }
    }
}

impl What {
    /// A file that somebody may be writing.
    pub fn may_grow(self, ended: Option<Ended>) -> bool {
        match self {
            Self::Waiting => true,
            Self::Followed => ended != Some(Ended::Footer),
            Self::New | Self::Other | Self::Duplicate | Self::Failed { .. } => false,
        }
    }
}

impl FileState {
    /// Asks the file itself.
    fn ask(
        &mut self,
        path: &Path,
        disk: &dyn Disk,
        now: SystemTime,
        problems: &mut Problems,
        look: &mut Look,
    ) -> Answer {
        let stat = match disk.stat(path) {
            Ok(stat) if stat.kind == EntryKind::File => stat,
            Ok(_) => return Answer::Gone,
            Err(error) if is_gone(&error) => return Answer::Gone,
            Err(error) => {
                look.problems.extend(problems.note(path, format!("failed to look at it: {error}")));
                return Answer::Same;
            }
        };
        if !disk.lists_sizes() {
            return if self.takes(stat, now) { Answer::Changed } else { Answer::Same };
        }
        // What a listing says of it is remembered apart, because the two need not agree.
        if self.stat.is_some() && self.len == stat.size_bytes {
            return Answer::Same;
        }
        self.stat = self.stat.or(Some(stat));
        if self.len != stat.size_bytes {
            (self.changed_at, self.ask_at) = (now, now);
        }
        Answer::Changed
    }
}

/// There is nothing of that name.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
