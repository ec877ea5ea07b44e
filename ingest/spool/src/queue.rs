//! A queue of entries on disk: what was pushed and synced is there, once and in order, until it is acknowledged.
//!
//! Entries stand in segment files `q-<number of the first>.seg` of about [`Options::segment_bytes`]. Acknowledging
//! writes the position first and then deletes the segments behind it, so a crash hands entries out again rather than
//! losing them. What is not yet synced is also kept in memory: after a failed write or sync nothing on disk is trusted
//! (a second sync may claim success for bytes that the first one lost), the file is cut back and written again.

mod frame;
mod leaving;
mod opening;
mod options;
mod position;
mod segment;
mod tail;
mod view;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use frame::HEADER_BYTES;
use opening::Opened;
use position::Position;
use segment::{MOST_BYTES, Segment, Waiting};
use tail::Tail;

use crate::disk;
use crate::recovery::Recovery;
pub use options::{Options, PushError};
pub use view::{Entries, Entry};

/// The queue. One process may have it open; a [`crate::Lock`] sees to that.
#[derive(Debug)]
pub struct Queue {
    options: Options,
    position: Position,
    segments: VecDeque<Segment>,
    // Writes to the last segment.
    tail: Option<Tail>,
    next: u64,
    found: Recovery,
}

impl Queue {
    /// Opens the queue in any state that a crash or damage left, puts its files in order and says what was found.
    ///
    /// # Errors
    /// When the folder cannot be read or made, or when a newer version wrote it.
    pub fn open(options: Options) -> io::Result<(Self, Recovery)> {
        std::fs::create_dir_all(&options.folder)?;
        let opened = opening::open(&options.folder)?;
        let tail = match opened.segments.back() {
            Some(last) if opened.appendable && last.length < options.segment_bytes => {
                Some(Tail::reopen(&last.path(&options.folder))?)
            }
            _ => None,
        };
        let last = opened.segments.back().map_or(0, |segment| segment.last);
        let next = opened.position.acknowledged.max(last) + 1;
        let Opened { position, segments, recovery, .. } = opened;
        Ok((Self { options, position, segments, tail, next, found: Recovery::default() }, recovery))
    }

    /// Takes an entry and gives its number. It is not safe before [`Queue::sync`]: a crash may lose it.
    ///
    /// # Errors
    /// See [`PushError`]. Nothing was taken then, and nothing else was lost.
    pub fn push(&mut self, entry: &[u8]) -> Result<u64, PushError> {
        let frame_bytes = (HEADER_BYTES + entry.len()) as u64;
        let cap_bytes = self.options.cap_bytes;
        let most_bytes = cap_bytes.min(MOST_BYTES);
        if frame_bytes > most_bytes {
            return Err(PushError::TooLarge { most_bytes: most_bytes.saturating_sub(HEADER_BYTES as u64) });
        }
        if self.bytes() + frame_bytes > cap_bytes {
            return Err(PushError::Full { cap_bytes });
        }
        self.write(entry, frame_bytes).map_err(|source| PushError::Io { folder: self.options.folder.clone(), source })
    }

    /// Makes everything pushed so far safe. Costs one sync of a file when there is something to do, else nothing.
    ///
    /// # Errors
    /// When the disk refuses. Everything pushed stays in the queue, unsafe as before; call it again later.
    pub fn sync(&mut self) -> io::Result<()> {
        let (Some(tail), Some(segment)) = (&mut self.tail, self.segments.back_mut()) else { return Ok(()) };
        tail.sync(&self.options.folder, segment)
    }

    /// The oldest entries that are safe and not acknowledged, with their numbers. They stay in the queue.
    /// `most_bytes` counts entries without headers; the first entry is handed out whatever its length.
    pub fn peek(&mut self, most_bytes: usize, most_entries: usize) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let (mut entries, mut bytes) = (Vec::new(), 0_usize);
        self.walk(|frame| {
            bytes = bytes.saturating_add(frame.payload.len());
            let fits = entries.len() < most_entries && (entries.is_empty() || bytes <= most_bytes);
            if fits {
                entries.push((frame.sequence, frame.payload.to_vec()));
            }
            fits
        })?;
        Ok(entries)
    }

    /// Lets go of every safe entry up to and with this number. Doing it twice is fine.
    ///
    /// # Errors
    /// When the position cannot be written; the entries are handed out again, so call it again.
    pub fn acknowledge(&mut self, through: u64) -> io::Result<()> {
        match self.release(through.min(self.last_safe())) {
            // Segments whose entries have all arrived may be what fills the disk. Should we crash before the position
            // is written, they are told as missing though they are not: a false alarm rather than a standstill.
            Err(error) if disk::is_full(&error) && self.remove_first_through(through) => {
                self.release(through.min(self.last_safe()))
            }
            released => released,
        }
    }

    /// Drops the oldest entries until `until_free_bytes` of the cap are free, and hands them out so that the caller can
    /// count the loss. A push needs 28 bytes more than its entry has.
    ///
    /// # Errors
    /// When the disk refuses. Nothing was dropped then.
    pub fn drop_oldest(&mut self, until_free_bytes: u64) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let most_bytes = self.options.cap_bytes.saturating_sub(until_free_bytes);
        let excess = self.bytes().saturating_sub(most_bytes);
        if excess > self.segments.iter().map(|segment| segment.waiting.bytes).sum() {
            self.sync()?;
        }
        let (mut dropped, mut freed) = (Vec::new(), 0);
        self.walk(|frame| {
            let needed = freed < excess;
            if needed {
                freed += frame.size_bytes();
                dropped.push((frame.sequence, frame.payload.to_vec()));
            }
            needed
        })?;
        if let Some((last, _)) = dropped.last() {
            self.release(*last)?;
        }
        Ok(dropped)
    }

    /// Empties the queue, including what is not yet safe, and leaves no entry in its folder.
    pub fn clear(&mut self) -> io::Result<()> {
        self.tail = None;
        if self.segments.is_empty() {
            return Ok(());
        }
        self.release(self.next - 1)
    }

    /// Bytes that count against the cap: entries not acknowledged, with 28 bytes for each.
    pub fn bytes(&self) -> u64 {
        let unsafe_bytes = self.tail.as_ref().map_or(0, Tail::bytes);
        self.segments.iter().map(|segment| segment.waiting.bytes).sum::<u64>() + unsafe_bytes
    }

    /// Entries that are not acknowledged.
    pub fn len(&self) -> u64 {
        let unsafe_entries = self.tail.as_ref().map_or(0, Tail::entries);
        self.segments.iter().map(|segment| segment.waiting.entries).sum::<u64>() + unsafe_entries
    }

    /// The number that the next entry gets.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Is there nothing that is not acknowledged?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When the oldest entry that is not acknowledged was pushed, by the clock of that moment, in whole seconds.
    pub fn oldest(&self) -> Option<SystemTime> {
        let safe = self.segments.iter().find_map(|segment| segment.waiting.oldest_unix_s);
        safe.or_else(|| self.tail.as_ref().and_then(Tail::oldest_unix_s)).map(from_unix_s)
    }

    /// Damage that was met after opening, once. Empty as long as nobody else touches the files.
    pub fn take_found(&mut self) -> Recovery {
        std::mem::take(&mut self.found)
    }

    /// The entries that are not acknowledged, oldest first, while another process may have the queue open. What that
    /// process acknowledges meanwhile may or may not come; what it is just writing does not.
    pub fn read_only(folder: &Path) -> io::Result<Entries> {
        Entries::open(folder)
    }

    fn write(&mut self, entry: &[u8], frame_bytes: u64) -> io::Result<u64> {
        let used = self.segments.back().map_or(0, |segment| segment.length) + self.tail.as_ref().map_or(0, Tail::bytes);
        if self.tail.is_some() && used > 0 && used + frame_bytes > self.options.segment_bytes {
            self.sync()?;
            self.tail = None;
        }
        if self.tail.is_none() {
            let segment = Segment { first: self.next, last: self.next - 1, length: 0, waiting: Waiting::default() };
            self.tail = Some(Tail::create(&segment.path(&self.options.folder))?);
            self.segments.push_back(segment);
        }
        if let (Some(tail), Some(segment)) = (&mut self.tail, self.segments.back()) {
            tail.push(segment.length, self.next, now_unix_s(), entry)?;
        }
        self.next += 1;
        Ok(self.next - 1)
    }
}

fn now_unix_s() -> u64 {
    // A clock before 1970 is as good as none.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn from_unix_s(unix_s: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(unix_s)).unwrap_or(SystemTime::UNIX_EPOCH)
}
