//! Reads what is new in a log, if its file still holds what was read of it before.

use std::io;
use std::path::Path;

use wire::{End, Segment};

use super::Follower;
use super::state::{LONGEST_PAUSE, SHORTEST_PAUSE, Take};
use super::sweep::is_gone;
use crate::content;
use crate::position::{Ended, LogKey, Position};
use crate::problem::Problem;
use crate::range::{self, Limits, Range};
use crate::tree::base_name;

impl Follower {
    /// Reads the next range of a log, at most up to the limits; `None` when nothing more is there just now. `buffer` is
    /// working space; 64 KiB serve well, and a range can only be cut about where it was full.
    ///
    /// The same range comes again until [`Follower::commit`] is told of it.
    ///
    /// # Errors
    /// When the file cannot be read, once; it is tried again later.
    pub fn read(&mut self, log: &str, limits: &Limits, buffer: &mut [u8]) -> Result<Option<Range>, Problem> {
        let Some((key, known)) = self.logs.get_key_value(log) else { return Ok(None) };
        let (key, Some(path)) = (key.clone(), known.at.clone()) else { return Ok(None) };
        match self.range(&key, &path, limits, buffer) {
            Ok(range) => {
                self.problems.solved(&path);
                if let Some(log) = self.logs.get_mut(&key) {
                    log.failed = None;
                }
                Ok(range)
            }
            Err(error) if is_gone(&error) => {
                self.distrust(&path);
                Ok(None)
            }
            Err(error) => {
                if let Some(log) = self.logs.get_mut(&key) {
                    let pause = log.failed.map_or(SHORTEST_PAUSE, |(_, pause)| (pause * 2).min(LONGEST_PAUSE));
                    log.failed = Some((self.now + pause, pause));
                }
                self.rest = None;
                self.problems.note(&path, format!("failed to read it: {error}")).map_or(Ok(None), Err)
            }
        }
    }

    fn range(&mut self, key: &LogKey, path: &Path, limits: &Limits, buffer: &mut [u8]) -> io::Result<Option<Range>> {
        let Some(log) = self.logs.get_mut(key) else { return Ok(None) };
        let position = &log.position;
        let name = base_name(path);
        let file = self.disk.open(path)?;
        let len = file.metadata()?.len();
        let header = content::header(&file, &name)?;
        let same = header.checksum == position.header || position.early;
        if !same || !content::holds(&file, len, position.end, position.tail)? {
            self.distrust(path);
            return Ok(None);
        }
        let from = position.end.max(log.scanned.min(len));
        let whole = content::last_newline(&file, from, len, header.utf16, buffer)?.unwrap_or(position.end);
        let footer = len > whole && content::is_footer(&file, whole, len)?;
        let take = if footer { Take::AsItIs } else { log.take };
        let to = if take == Take::No { whole } else { len };
        if to == position.end && (position.told || len > 0) {
            (log.tried, log.scanned) = (Some(len), len);
            return Ok(None);
        }
        let read = range::read(&file, position, to, limits, buffer)?;
        // The content may have been replaced meanwhile, before or behind the place that was being read.
        let len_after = file.metadata()?.len();
        let read = match read {
            Some(read)
                if content::holds(&file, len_after, position.end, position.tail)?
                    && content::holds(&file, len_after, read.end, read.tail.checksum())? =>
            {
                read
            }
            _ => {
                self.distrust(path);
                return Ok(None);
            }
        };
        let mut facts = read.facts;
        facts.process = parser::file_name::merge(facts.process, &name);
        let started = facts.process.as_ref().and_then(|process| process.started.as_deref());
        let clock =
            position.clock.clone().or_else(|| started.and_then(|started| crate::clock(&(self.config.zone)(), started)));
        let all = read.end == len;
        let ended = match take {
            _ if !all => None,
            _ if facts.end == End::Footer => Some(Ended::Footer),
            Take::Ended(ended) => Some(ended),
            Take::No | Take::AsItIs => None,
        };
        let position = Position {
            end: read.end,
            start: read.next_start,
            checkpoint: read.checkpoint,
            tail: read.tail.checksum(),
            seen: len,
            told: true,
            ended,
            counts: facts.counts,
            bytes: facts.bytes,
            clock: clock.clone(),
            ..position.clone()
        };
        let segment = Segment {
            log: key.to_string(),
            file: name,
            start: read.start,
            end: read.end,
            facts,
            observations: read.observations,
            clock,
            unfinished: len > whole && all && !footer,
        };
        let complete = read.end == to;
        Ok(Some(Range { log: key.clone(), segment, json_bytes: read.json_bytes, position, complete }))
    }

    /// Looks into a file again at the next look: it is not what it was.
    fn distrust(&mut self, path: &Path) {
        self.rest = None;
        if let Some(file) = self.files.get_mut(path) {
            file.stat = None;
            file.ask_at = self.now;
        }
    }
}
