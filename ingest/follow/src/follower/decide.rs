//! Which log is this file? Content decides; path and file id only say which logs to compare with first.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::state::{FileState, LONGEST_PAUSE, Log, SHORTEST_PAUSE, What};
use super::sweep::is_gone;
use super::{Follower, Look, remove};
use crate::content;
use crate::header::{Extent, Header};
use crate::position::{Ended, LogKey, Position};
use crate::tree::base_name;

/// What a header's last line and the blank one behind it may take beside its block.
const HEADER_END_BYTES: u64 = 8;

/// A file that was looked into.
struct Opened {
    path: PathBuf,
    name: String,
    file: File,
    len: u64,
    id: Option<String>,
    header: Header,
}

impl Follower {
    /// Takes a log from a saved position. Its file is found, or not, at the first look.
    pub(super) fn restore(&mut self, position: Position) {
        let key = LogKey::from(position.identity());
        let path = Path::new(&position.path).to_owned();
        let process = parser::file_name::process(&position.file);
        let mut log = Log::new(position, process);
        if log.position.gone_s.is_none() {
            let mut file = FileState::new(self.now);
            file.log = Some(key.clone());
            self.files.insert(path.clone(), file);
            log.at = Some(path);
        }
        self.insert(key, log);
    }

    /// Looks into a file that changed.
    pub(super) fn examine(&mut self, path: &Path, look: &mut Look) {
        self.rest = None;
        match self.open(path) {
            Ok(opened) => {
                self.problems.solved(path);
                self.decide(&opened, look);
            }
            Err(error) if is_gone(&error) => self.file_is_gone(path),
            Err(error) => {
                look.problems.extend(self.problems.note(path, format!("failed to open it: {error}")));
                self.fail(path);
            }
        }
    }

    /// Looks into a file again later. Its log, if it has one, stays.
    fn fail(&mut self, path: &Path) {
        if self.files.get(path).is_some_and(|file| file.what == What::Duplicate) {
            // What it is a copy of is decided anew.
            self.release(path);
        }
        let Some(file) = self.files.get_mut(path) else { return };
        let pause = match file.what {
            What::Failed { pause, .. } => (pause * 2).min(LONGEST_PAUSE),
            _ => SHORTEST_PAUSE,
        };
        file.what = What::Failed { again_at: self.now + pause, pause };
    }

    /// A file is not there any more: its log, if it had one, is sought elsewhere before it counts as gone.
    pub(super) fn file_is_gone(&mut self, path: &Path) {
        self.rest = None;
        self.problems.solved(path);
        self.release(path);
        self.files.remove(path);
    }

    fn open(&self, path: &Path) -> io::Result<Opened> {
        let file = self.disk.open(path)?;
        let len = file.metadata()?.len();
        let name = base_name(path);
        let header = content::header(&file, &name)?;
        Ok(Opened { path: path.to_owned(), name, file, len, id: self.disk.id(path), header })
    }

    fn decide(&mut self, opened: &Opened, look: &mut Look) {
        let named = parser::file_name::process(&opened.name).is_some();
        let Some(file) = self.files.get_mut(&opened.path) else { return };
        file.len = opened.len;
        let changed_at = file.changed_at;
        let own = file.log.clone().filter(|_| file.what != What::Duplicate);
        if let Some(key) = &own
            && self.goes_on(key, opened)
        {
            self.keep(&key.clone(), opened, look);
            return;
        }
        let old = self.now.duration_since(changed_at).is_ok_and(|idle| idle >= self.config.quiet);
        let early = opened.header.extent == Extent::Growing;
        let may_come = early && (named || opened.header.begun);
        if may_come && !old {
            // A log whose file is written anew from its first byte stays until it shows what comes.
            self.set(&opened.path, What::Waiting, own);
        } else if named || opened.header.extent == Extent::Whole {
            self.release(&opened.path);
            self.resolve(opened, early, look);
        } else {
            self.release(&opened.path);
            self.set(&opened.path, What::Other, None);
        }
    }

    /// Finds the log of a file that has none.
    fn resolve(&mut self, opened: &Opened, early: bool, look: &mut Look) {
        for key in self.candidates(opened) {
            let Some(log) = self.logs.get(&key) else { continue };
            let same_base = log.position.base == opened.header.base;
            let same_id = opened.id.is_some() && log.position.id == opened.id;
            let elsewhere = match log.at.clone().filter(|at| *at != opened.path).map(|at| self.open(&at)) {
                Some(Ok(other)) => self.goes_on(&key, &other).then_some(other),
                Some(Err(error)) if !is_gone(&error) => {
                    // Whether it is a copy cannot be told now.
                    self.fail(&opened.path);
                    return;
                }
                Some(Err(_)) | None => None,
            };
            let Some(other) = elsewhere else {
                // Its file is gone or something else by now. Under another name, something of it has to be here.
                let header_bytes = opened.header.len_bytes;
                let renamed = same_id && opened.header.begun && log.position.end >= header_bytes;
                let moved = log.position.end > header_bytes + HEADER_END_BYTES;
                if (same_base || renamed || moved) && self.goes_on(&key, opened) {
                    self.keep(&key, opened, look);
                    return;
                }
                continue;
            };
            let same = content::agree([&opened.file, &other.file], [opened.len, other.len]).unwrap_or(false);
            if same && (same_base || same_id) {
                if opened.len > other.len && !same_id {
                    self.set(&other.path, What::Duplicate, Some(key.clone()));
                    self.keep(&key, opened, look);
                } else {
                    self.set(&opened.path, What::Duplicate, Some(key));
                }
                return;
            }
        }
        self.begin(opened, early, look);
    }

    /// Logs that the file may hold, the likeliest first: those of the same process and header, of several contents the one
    /// that most was read of and is here, then the newest; the one that had this file id; those with this header whose file
    /// is gone.
    fn candidates(&self, opened: &Opened) -> Vec<LogKey> {
        let mut keys = self.by_base.get(&opened.header.base).cloned().unwrap_or_default();
        // A new log with the header only seems to be the beginning of every other.
        keys.sort_by_cached_key(|key| {
            let position = self.logs.get(key).map(|log| &log.position);
            let here = position.filter(|_| self.goes_on(key, opened)).map(|position| position.end);
            std::cmp::Reverse((here, position.map(|position| position.incarnation)))
        });
        let by_id = opened.id.as_ref().and_then(|id| self.by_id.get(id));
        let homeless = self.homeless.get(&opened.header.checksum).filter(|_| opened.header.begun);
        for key in by_id.into_iter().chain(homeless.into_iter().flatten()) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        keys
    }

    /// The file holds what was read of the log, and may hold more.
    fn goes_on(&self, key: &LogKey, opened: &Opened) -> bool {
        let Some(Log { position, .. }) = self.logs.get(key) else { return false };
        let same = position.header == opened.header.checksum || position.early;
        same && content::holds(&opened.file, opened.len, position.end, position.tail).unwrap_or(false)
    }

    /// A log that nobody knows yet.
    fn begin(&mut self, opened: &Opened, early: bool, look: &mut Look) {
        let header = &opened.header;
        let known = self.by_base.get(&header.base).into_iter().flatten();
        let last = known.filter_map(|key| self.logs.get(key)).map(|log| log.position.incarnation).max();
        let position = Position {
            base: header.base.clone(),
            incarnation: last.map_or(0, |last| last + 1),
            header: header.checksum,
            early,
            ..Position::default()
        };
        let key = LogKey::from(position.identity());
        self.insert(key.clone(), Log::new(position, header.process.clone()));
        self.keep(&key, opened, look);
    }

    /// The file is the log's, as it was or from now on.
    fn keep(&mut self, key: &LogKey, opened: &Opened, look: &mut Look) {
        let Some(log) = self.logs.get_mut(key) else { return };
        let position = &mut log.position;
        if log.at.is_none() {
            remove(&mut self.homeless, &position.header, key);
        }
        self.touched.push((key.clone(), position.seen));
        if position.early && opened.header.extent == Extent::Whole {
            (position.early, position.header) = (false, opened.header.checksum);
        }
        let path = opened.path.to_string_lossy();
        if position.told && (position.path != path || position.gone_s.is_some()) {
            look.moved.push(key.clone());
        }
        let was_gone = position.gone_s.take().is_some();
        if opened.len > position.end || was_gone && matches!(position.ended, Some(Ended::Deleted | Ended::Replaced)) {
            position.ended = None;
        }
        log.scanned = log.scanned.min(opened.len);
        (position.path, position.file, position.id) = (path.into_owned(), opened.name.clone(), opened.id.clone());
        position.seen = opened.len;
        if let Some(id) = &opened.id {
            self.by_id.insert(id.clone(), key.clone());
        }
        let before = log.at.replace(opened.path.clone()).filter(|before| *before != opened.path);
        if let Some(before) = before
            && self.files.get(&before).is_some_and(|file| file.what == What::Followed)
        {
            // It holds something else, and what that is has to be found out.
            self.set(&before, What::New, None);
            self.unsure.push(before);
        }
        self.set(&opened.path, What::Followed, Some(key.clone()));
    }

    /// The file is not its log's any more.
    fn release(&mut self, path: &Path) {
        let Some(key) = self.set(path, What::New, None) else { return };
        if let Some(log) = self.logs.get_mut(&key)
            && log.at.as_deref() == Some(path)
        {
            log.at = None;
            self.homeless.entry(log.position.header).or_default().push(key.clone());
            self.orphans.push(key);
        }
    }

    /// Says what a file is; the log that it was before.
    fn set(&mut self, path: &Path, what: What, log: Option<LogKey>) -> Option<LogKey> {
        let file = self.files.get_mut(path)?;
        if what == What::Duplicate
            && let Some(log) = &log
        {
            self.copies.entry(log.clone()).or_default().insert(path.to_owned());
        }
        let before = std::mem::replace(&mut file.log, log);
        if std::mem::replace(&mut file.what, what) == What::Duplicate
            && let Some(before) =
                before.as_ref().filter(|before| what != What::Duplicate || file.log.as_ref() != Some(before))
            && let Some(copies) = self.copies.get_mut(before)
        {
            copies.remove(path);
            if copies.is_empty() {
                self.copies.remove(before);
            }
        }
        before
    }

    fn insert(&mut self, key: LogKey, log: Log) {
        let Log { position, process, .. } = &log;
        self.by_base.entry(position.base.clone()).or_default().push(key.clone());
        if log.at.is_none() {
            self.homeless.entry(position.header).or_default().push(key.clone());
        }
        if let Some(id) = &position.id {
            self.by_id.insert(id.clone(), key.clone());
        }
        if let Some((exe, started)) = process {
            let newest = self.newest.entry(exe.clone()).or_default();
            if *newest < *started {
                newest.clone_from(started);
            }
        }
        self.logs.insert(key, log);
    }
}
