//! What is in one segment file, as far as it is on disk and not acknowledged?

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::frame::{Frame, Scan};
use crate::disk;

/// No segment of ours is longer, so no more of a file is read: what lies behind is damage.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// A segment file and what of it still counts.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// The number in its name: no entry in it has a lower one.
    pub first: u64,
    /// Its last entry on disk; `first - 1` when there is none.
    pub last: u64,
    /// How far the file is good and on disk, in bytes.
    pub length: u64,
    pub waiting: Waiting,
}

/// The entries of a segment that are on disk and not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Waiting {
    /// Where the first one starts in the file.
    pub offset: u64,
    pub entries: u64,
    /// With their headers.
    pub bytes: u64,
    /// When the first one was pushed, seconds since 1970.
    pub oldest_unix_s: Option<u64>,
}

impl Segment {
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(name(self.first))
    }

    /// The bytes from the first waiting entry to the end. Fewer when somebody cut the file.
    pub(super) fn read_waiting(&self, folder: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = disk::read(&self.path(folder), self.length)?.unwrap_or_default();
        let offset = usize::try_from(self.waiting.offset).unwrap_or(usize::MAX).min(bytes.len());
        bytes.drain(..offset);
        Ok(bytes)
    }
}

impl Waiting {
    /// What is left behind `acknowledged` of a scan whose bytes started at `base` and reached to `length`.
    pub(super) fn behind(acknowledged: u64, scan: &Scan<'_>, base: u64, length: u64) -> Self {
        let mut waiting = Self { offset: length, ..Self::default() };
        for frame in scan.frames.iter().filter(|frame| frame.sequence > acknowledged) {
            waiting.add(frame, base);
        }
        waiting
    }

    fn add(&mut self, frame: &Frame<'_>, base: u64) {
        if self.entries == 0 {
            self.offset = base + frame.offset as u64;
            self.oldest_unix_s = Some(frame.unix_s);
        }
        self.entries += 1;
        self.bytes += frame.size_bytes();
    }
}

/// The name of the segment whose first entry has this number. Twenty digits hold every number, so names sort as numbers.
pub(super) fn name(first: u64) -> String {
    format!("q-{first:020}.seg")
}

/// The numbers in the names of all segment files in a folder, lowest first. None when there is no folder.
pub(super) fn list(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut firsts = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Some(first) = first_of(&entry.file_name()) else { continue };
        // A file that goes while we look was acknowledged.
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            firsts.push(first);
        }
    }
    firsts.sort_unstable();
    Ok(firsts)
}

fn first_of(file_name: &OsStr) -> Option<u64> {
    let digits = file_name.to_str()?.strip_prefix("q-")?.strip_suffix(".seg")?;
    // Exactly the spelling that `name` writes, or two files could claim one number.
    let first = digits.parse().ok()?;
    (digits.len() == 20 && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(first)
}
