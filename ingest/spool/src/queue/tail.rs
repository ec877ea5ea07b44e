//! The end of the queue: the open segment, and in memory what of it is not yet safe.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::frame;
use super::segment::Segment;
use crate::disk;

/// Writes to the last segment. `base` is always that segment's safe length.
#[derive(Debug)]
pub(super) struct Tail {
    file: File,
    // Frames behind the safe length, whether or not they are in the file.
    pending: Vec<u8>,
    // How much of `pending` the file has.
    written: usize,
    entries: u64,
    oldest_unix_s: Option<u64>,
    last: u64,
    // The file may be longer than what was written on purpose.
    untidy: bool,
    // Its name may not be on disk yet.
    new: bool,
}

impl Tail {
    /// Starts a segment file.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).truncate(true).write(true).open(path)?;
        Ok(Self::of(file, true))
    }

    /// Goes on with a segment file that is in order.
    pub(super) fn reopen(path: &Path) -> io::Result<Self> {
        Ok(Self::of(File::options().write(true).open(path)?, false))
    }

    fn of(file: File, new: bool) -> Self {
        Self { file, pending: Vec::new(), written: 0, entries: 0, oldest_unix_s: None, last: 0, untidy: false, new }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.pending.len() as u64
    }

    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    pub(super) fn oldest_unix_s(&self) -> Option<u64> {
        self.oldest_unix_s
    }

    /// Writes one entry, or leaves no trace of it.
    pub(super) fn push(&mut self, base: u64, sequence: u64, unix_s: u64, entry: &[u8]) -> io::Result<()> {
        let before = self.pending.len();
        frame::append(&mut self.pending, sequence, unix_s, entry);
        if let Err(error) = self.write(base) {
            self.pending.truncate(before);
            return Err(error);
        }
        self.entries += 1;
        self.last = sequence;
        self.oldest_unix_s.get_or_insert(unix_s);
        Ok(())
    }

    /// Makes all that is pending safe and counts it in the segment, or leaves both as they were.
    pub(super) fn sync(&mut self, folder: &Path, segment: &mut Segment) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let synced = self
            .write(segment.length)
            .and_then(|()| self.file.sync_data())
            .and_then(|()| if self.new { disk::sync_folder(folder) } else { Ok(()) });
        if let Err(error) = synced {
            // After a failed sync the system may take its copy of these bytes for written. They are written anew.
            self.written = 0;
            self.untidy = true;
            let _ = self.tidy(segment.length);
            return Err(error);
        }
        self.new = false;
        let waiting = &mut segment.waiting;
        if waiting.entries == 0 {
            waiting.offset = segment.length;
            waiting.oldest_unix_s = self.oldest_unix_s;
        }
        waiting.entries += self.entries;
        waiting.bytes += self.pending.len() as u64;
        segment.length += self.pending.len() as u64;
        segment.last = self.last;
        // The buffer goes too: an idle agent is to be small.
        self.pending = Vec::new();
        self.written = 0;
        self.entries = 0;
        self.oldest_unix_s = None;
        Ok(())
    }

    fn write(&mut self, base: u64) -> io::Result<()> {
        self.tidy(base)?;
        self.file.seek(SeekFrom::Start(base + self.written as u64))?;
        if let Err(error) = self.file.write_all(&self.pending[self.written..]) {
            self.untidy = true;
            // On failure the next write tries again.
            let _ = self.tidy(base);
            return Err(error);
        }
        self.written = self.pending.len();
        Ok(())
    }

    fn tidy(&mut self, base: u64) -> io::Result<()> {
        if self.untidy {
            self.file.set_len(base + self.written as u64)?;
            self.untidy = false;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::queue::segment::Waiting;

    #[test]
    fn after_a_failed_sync_everything_is_written_anew() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut segment = Segment { first: 1, last: 0, length: 0, waiting: Waiting::default() };
        let path = segment.path(folder.path());
        // The device takes every write and refuses the sync, as a disk does that fails late.
        let mut tail = Tail::reopen(Path::new("/dev/null")).expect("every Unix has it");
        tail.push(0, 1, 7, b"one").expect("the device takes everything");
        tail.push(0, 2, 8, b"two").expect("the device takes everything");
        tail.sync(folder.path(), &mut segment).expect_err("the device cannot be synced");
        assert_eq!((tail.entries(), segment.length), (2, 0));

        tail.file = Tail::create(&path).expect("the folder is writable").file;
        tail.untidy = false;
        tail.push(0, 3, 9, b"three").expect("the disk has space");
        tail.sync(folder.path(), &mut segment).expect("the disk has space");
        let bytes = std::fs::read(&path).expect("the file is there");
        let seen = frame::scan(&bytes, 1).frames.into_iter().map(|frame| (frame.sequence, frame.payload));
        assert_eq!(seen.collect::<Vec<_>>(), [(1, &b"one"[..]), (2, b"two"), (3, b"three")]);
        assert_eq!((segment.length, segment.last, tail.entries()), (bytes.len() as u64, 3, 0));
    }
}
