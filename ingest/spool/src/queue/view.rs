//! What waits in a queue that another process may have open? Reads only, locks nothing, holds no file open.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::segment::{self, MOST_BYTES};
use super::{frame, from_unix_s, position};
use crate::disk;
use crate::recovery::Recovery;

/// One entry that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its number.
    pub sequence: u64,
    /// When it was pushed, in whole seconds.
    pub pushed: SystemTime,
    /// What was pushed.
    pub bytes: Vec<u8>,
}

/// The entries that wait, oldest first. One segment is in memory at a time.
#[derive(Debug)]
pub struct Entries {
    folder: PathBuf,
    // Segments not yet read.
    firsts: VecDeque<u64>,
    // Entries of the segment that was read last.
    ready: VecDeque<Entry>,
    last: u64,
}

impl Entries {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        // The position first: what is acknowledged afterwards only makes more entries come.
        let loaded = position::load(folder, &mut Recovery::default())?;
        let last = loaded.position.map_or(0, |position| position.acknowledged);
        Ok(Self { folder: folder.to_owned(), firsts: segment::list(folder)?.into(), ready: VecDeque::new(), last })
    }
}

impl Iterator for Entries {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(Ok(entry));
            }
            let first = self.firsts.pop_front()?;
            let bytes = match disk::read(&self.folder.join(segment::name(first)), MOST_BYTES) {
                Ok(Some(bytes)) => bytes,
                // Acknowledged since the folder was listed.
                Ok(None) => continue,
                Err(error) => return Some(Err(error)),
            };
            for frame in frame::scan(&bytes, first).frames {
                if frame.sequence > self.last {
                    self.last = frame.sequence;
                    let (sequence, pushed) = (frame.sequence, from_unix_s(frame.unix_s));
                    self.ready.push_back(Entry { sequence, pushed, bytes: frame.payload.to_vec() });
                }
            }
        }
    }
}
