//! What a look concludes: logs that are gone, logs that ended, logs to read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use wire::Loss;

use super::config::Config;
use super::state::{FileState, LONGEST_PAUSE, Log, Rest, Take, What};
use super::{Follower, Look, remove, seconds};
use crate::position::{Ended, LogKey, Position};

/// A program that starts again does not write into its older log; two that run at once do. So a line that is not whole is
/// left alone for this long.
const STILL: Duration = Duration::from_secs(10);

/// A file that gets another name while the folders are walked is in neither place, and comes back at the next look. So what
/// was not read of a file that is gone counts as lost only this much later.
const GONE_FOR_GOOD: Duration = Duration::from_secs(10);

impl Follower {
    /// Ends a look.
    pub(super) fn settle(&mut self, look: &mut Look) {
        if let Some(rest) = self.rest.as_ref().filter(|rest| self.now < rest.until) {
            rest.counts.clone().told(look);
        } else {
            self.try_again(look);
            self.settle_unsure(look);
            self.settle_touched(look);
            self.settle_orphans(look);
            self.settle_gone(look);
            self.find_work(look);
            self.forget(look);
        }
        // What was lost and the size behind it are saved together, or it would be lost again at the next start.
        look.moved.extend(look.losses.iter().filter_map(|loss| loss.log.as_deref().map(LogKey::from)));
        look.moved.sort_unstable();
        look.moved.dedup();
    }

    /// Files that only time can help.
    fn try_again(&mut self, look: &mut Look) {
        let again = self.files.iter().filter(|(_, file)| match file.what {
            What::Failed { again_at, .. } => self.now >= again_at,
            What::Waiting => file.idle(self.now) >= self.config.quiet,
            What::New | What::Other | What::Followed | What::Duplicate => false,
        });
        let again: Vec<PathBuf> = again.map(|(path, _)| path.clone()).collect();
        for path in again {
            self.examine(&path, look);
        }
    }

    /// Files that lost their log to another file, and that nothing else asked to look into.
    fn settle_unsure(&mut self, look: &mut Look) {
        for path in std::mem::take(&mut self.unsure) {
            if self.files.get(&path).is_some_and(|file| file.what == What::New) {
                self.examine(&path, look);
            }
        }
    }

    /// Logs without a file: a copy takes their place, or they have ended.
    fn settle_orphans(&mut self, look: &mut Look) {
        let mut orphans = std::mem::take(&mut self.orphans);
        orphans.sort_unstable();
        orphans.dedup();
        for key in orphans {
            if self.logs.get(&key).is_none_or(|log| log.at.is_some()) {
                continue;
            }
            self.examine_copies(&key, look);
            self.end_orphan(&key, look);
        }
        // Examining copies can only find files gone that were there a moment ago; the next look ends their logs.
    }

    /// Files that changed: their copies may be the longer ones now, or something else. What a file lost before it was read is
    /// a loss if no copy has it.
    fn settle_touched(&mut self, look: &mut Look) {
        for (key, had) in std::mem::take(&mut self.touched) {
            self.examine_copies(&key, look);
            let Some(position) = self.logs.get(&key).map(|log| &log.position) else { continue };
            let there = position.seen.max(position.end);
            if had > there {
                look.losses.push(loss(&key, position, "truncated", had - there));
            }
        }
        // Those that comparing touched have just been compared.
        self.touched.clear();
    }

    fn examine_copies(&mut self, key: &LogKey, look: &mut Look) {
        for copy in self.copies.get(key).cloned().unwrap_or_default() {
            self.examine(&copy, look);
        }
    }

    fn end_orphan(&mut self, key: &LogKey, look: &mut Look) {
        let Some(log) = self.logs.get_mut(key).filter(|log| log.at.is_none()) else { return };
        let position = &mut log.position;
        let replaced = self.files.contains_key(Path::new(&position.path));
        position.ended = Some(if replaced { Ended::Replaced } else { Ended::Deleted });
        position.gone_s = Some(seconds(self.now));
        if position.told || position.seen > position.end {
            look.moved.push(key.clone());
        }
    }

    /// Logs whose file is gone for good: what was not read of them is lost.
    fn settle_gone(&mut self, look: &mut Look) {
        let now = self.now;
        for (key, log) in &mut self.logs {
            let position = &mut log.position;
            if log.at.is_some() || position.lost_at().is_none_or(|at| now < at) {
                continue;
            }
            let reason = if position.ended == Some(Ended::Replaced) { "truncated" } else { "deleted" };
            look.losses.push(loss(key, position, reason, position.seen - position.end));
            position.seen = position.end;
        }
    }

    /// Logs with something to read, logs that ended by being quiet, how many there are of everything, and when to go through
    /// all of that again.
    fn find_work(&mut self, look: &mut Look) {
        let idle_most = self.asked_by_time();
        let Self { config, files, logs, newest, now, .. } = self;
        let now = *now;
        let mut until = now + LONGEST_PAUSE;
        let mut counts = Look::default();
        for (path, file) in files {
            let log = file.log.as_ref().and_then(|key| logs.get_mut(key).map(|log| (key, log)));
            match (file.what, log) {
                (What::Followed, Some((key, log))) => {
                    let at = log.settle(file, config, newest, now, key, look);
                    until = until.min(at.unwrap_or(until));
                }
                (What::Waiting, _) => {
                    counts.waiting.push(path.clone());
                    until = until.min(file.changed_at + config.quiet);
                }
                (What::Failed { again_at, .. }, _) => until = until.min(again_at),
                (What::Other, _) => counts.others += 1,
                (What::Duplicate, _) => counts.duplicates += 1,
                (What::New | What::Followed, _) => {}
            }
            let ended = file.log.as_ref().and_then(|key| logs.get(key)).and_then(|log| log.position.ended);
            if file.what.may_grow(ended) && file.idle(now) < idle_most {
                until = until.min(file.ask_at);
            }
        }
        let lost = logs.values().filter(|log| log.at.is_none()).filter_map(|log| log.position.lost_at()).min();
        until = until.min(lost.unwrap_or(until));
        look.changed.sort_unstable();
        counts.waiting.sort_unstable();
        counts.finished = logs.values().filter(|log| log.position.ended.is_some()).count() as u64;
        counts.followed = logs.values().filter(|log| log.at.is_some() && log.position.ended.is_none()).count() as u64;
        // What was not read or not committed comes again.
        self.rest = look.changed.is_empty().then_some(Rest { until, counts: counts.clone() });
        counts.told(look);
    }

    /// Forgets logs whose file is gone for long, but not while another content of the same process is there: it would get a
    /// number that was used.
    fn forget(&mut self, look: &mut Look) {
        let now_s = seconds(self.now);
        let keep_s = self.config.keep.as_secs();
        let over = |gone_s: Option<u64>| gone_s.is_some_and(|gone_s| gone_s.saturating_add(keep_s) <= now_s);
        let candidates: Vec<LogKey> =
            self.logs.iter().filter(|(_, log)| over(log.position.gone_s)).map(|(key, _)| key.clone()).collect();
        for key in candidates {
            let Some(Position { base, header, id, .. }) = self.logs.get(&key).map(|log| log.position.clone()) else {
                continue;
            };
            let relatives = self.by_base.get(&base).into_iter().flatten();
            if relatives.filter_map(|key| self.logs.get(key)).any(|log| !over(log.position.gone_s)) {
                continue;
            }
            self.logs.remove(&key);
            remove(&mut self.by_base, &base, &key);
            remove(&mut self.homeless, &header, &key);
            if let Some(id) = id.filter(|id| self.by_id.get(id) == Some(&key)) {
                self.by_id.remove(&id);
            }
            look.forgotten.push(key);
        }
    }
}

impl Position {
    /// When what was not read of a log whose file is gone counts as lost, if anything does.
    fn lost_at(&self) -> Option<SystemTime> {
        let gone = matches!(self.ended, Some(Ended::Replaced | Ended::Deleted)) && self.seen > self.end;
        let gone_s = self.gone_s.filter(|_| gone)?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(gone_s) + GONE_FOR_GOOD)
    }
}

/// Bytes of a log that nobody will read any more.
fn loss(key: &LogKey, position: &Position, reason: &str, bytes: u64) -> Loss {
    let (log, file) = (Some(key.to_string()), Some(position.file.clone()));
    Loss { log, file, reason: reason.to_owned(), bytes, events: 0 }
}

impl Log {
    /// Says whether there is something to read, or that the log ended by being quiet; when to ask again, if ever.
    fn settle(
        &mut self,
        file: &FileState,
        config: &Config,
        newest: &HashMap<String, String>,
        now: SystemTime,
        key: &LogKey,
        look: &mut Look,
    ) -> Option<SystemTime> {
        if !self.is_pending() && self.position.ended.is_some() {
            return None;
        }
        let newest = self.process.as_ref().and_then(|(exe, started)| Some((newest.get(exe)?, started)));
        let superseded = newest.is_some_and(|(newest, started)| newest > started);
        let idle = file.idle(now);
        let ended = if idle >= config.quiet {
            Some(Ended::Quiet)
        } else {
            (superseded && idle >= STILL).then_some(Ended::Superseded)
        };
        self.take = match ended {
            Some(ended) => Take::Ended(ended),
            None if config.take_partial => Take::AsItIs,
            None => Take::No,
        };
        if self.is_pending() {
            if let Some((again_at, _)) = self.failed.filter(|(again_at, _)| now < *again_at) {
                return Some(again_at);
            }
            if self.take != Take::No || self.tried != Some(self.position.seen) {
                look.changed.push(key.clone());
            }
            return Some(file.changed_at + if superseded { STILL } else { config.quiet });
        }
        if ended == Some(Ended::Quiet) {
            self.position.ended = ended;
            look.moved.push(key.clone());
            return None;
        }
        Some(file.changed_at + config.quiet)
    }
}

impl Look {
    /// Adds what there is of everything.
    fn told(self, look: &mut Self) {
        let Self { waiting, followed, finished, duplicates, others, .. } = self;
        *look = Self { waiting, followed, finished, duplicates, others, ..std::mem::take(look) };
    }
}
