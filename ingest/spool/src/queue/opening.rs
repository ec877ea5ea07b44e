//! How does the queue start, whatever is in its folder?
//!
//! Every segment is scanned once. Whole entries with ascending numbers count; the rest is cut off or, in the middle of
//! a file, left out of a new copy, so that it is told once. Numbers that no file holds are missing entries.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::frame::{self, Scan};
use super::position::{self, Position};
use super::segment::{self, MOST_BYTES, Segment, Waiting};
use crate::disk;
use crate::recovery::{Finding, Recovery};

/// The queue as it was found and put in order.
pub(super) struct Opened {
    pub position: Position,
    pub segments: VecDeque<Segment>,
    /// Is the last segment's file as long as it is good, so that one may go on writing there?
    pub appendable: bool,
    pub recovery: Recovery,
}

/// Reads the folder, which exists.
pub(super) fn open(folder: &Path) -> io::Result<Opened> {
    let mut recovery = Recovery::default();
    let loaded = position::load(folder, &mut recovery)?;
    let firsts = segment::list(folder)?;
    if loaded.position.is_none() && recovery.is_clean() && !firsts.is_empty() {
        recovery.note(Finding::MissingFile { file: position::NAME.to_owned() });
    }
    remove_leftovers(folder, &mut recovery)?;
    let position = loaded.position.unwrap_or_default();
    let mut opening = Opening {
        folder,
        recovery,
        newest: loaded.newest,
        expected: loaded.newest.then_some(position.acknowledged + 1),
        position,
        last: 0,
        segments: VecDeque::new(),
        appendable: false,
    };
    let gone_before = opening.position.gone.len();
    for (index, first) in firsts.iter().enumerate() {
        opening.segment(*first, index + 1 == firsts.len())?;
    }
    let Opening { mut recovery, position, segments, appendable, .. } = opening;
    let stored = if !loaded.in_order {
        position.store_both(folder)
    } else if position.gone.len() != gone_before {
        position.store(folder)
    } else {
        Ok(())
    };
    if let Err(error) = stored {
        recovery.note(Finding::NotRepaired { file: position::NAME.to_owned(), error: error.to_string() });
    }
    Ok(Opened { position, segments, appendable, recovery })
}

struct Opening<'a> {
    folder: &'a Path,
    recovery: Recovery,
    position: Position,
    // Is that what was acknowledged last? An older position, or none, cannot tell entries that were acknowledged since
    // from entries that are gone; then everything that is here is handed out again, and nothing before it is missed.
    newest: bool,
    // The number that has to come next, when that is known.
    expected: Option<u64>,
    // The highest number seen.
    last: u64,
    segments: VecDeque<Segment>,
    appendable: bool,
}

impl Opening<'_> {
    fn segment(&mut self, first: u64, is_last: bool) -> io::Result<()> {
        let name = segment::name(first);
        let path = self.folder.join(&name);
        let Some(bytes) = disk::read(&path, MOST_BYTES)? else { return Ok(()) };
        let unread = fs::metadata(&path)?.len().saturating_sub(bytes.len() as u64);
        if bytes.is_empty() {
            self.recovery.note(Finding::LeftOver { file: name.clone() });
        }
        let scan = frame::scan(&bytes, first.max(self.last + 1));
        self.expect(&scan);
        self.tell_damage(&name, &scan, &bytes, unread, is_last);
        let good = scan.frames.last().map_or(0, |frame| frame.offset as u64 + frame.size_bytes());
        let acknowledged = self.position.acknowledged;
        let waiting = Waiting::behind(acknowledged, &scan, 0, good);
        if waiting.entries == 0 {
            if let Err(error) = disk::remove(&path) {
                self.not_repaired(name, &error);
            }
            return Ok(());
        }
        let mut segment = Segment { first, last: self.last, length: good, waiting };
        let repaired = match &scan.damage[..] {
            [] if unread == 0 => Ok(()),
            [damage] if damage.end == bytes.len() => cut(&path, good),
            [] => cut(&path, good),
            _ => {
                let whole = scan.frames.iter().filter(|frame| frame.sequence > acknowledged);
                let whole: Vec<u8> = whole.flat_map(|frame| frame.bytes(&bytes)).copied().collect();
                disk::replace(self.folder, &name, &whole, false).map(|()| {
                    segment.length = whole.len() as u64;
                    segment.waiting.offset = 0;
                })
            }
        };
        self.appendable = is_last && repaired.is_ok();
        if let Err(error) = repaired {
            self.not_repaired(name, &error);
        }
        if is_last {
            // A process that was killed may have written these without a sync, and they are about to be handed out.
            File::options().write(true).open(&path)?.sync_all()?;
            disk::sync_folder(self.folder)?;
        }
        self.segments.push_back(segment);
        Ok(())
    }

    /// Follows the numbers and tells the gaps.
    fn expect(&mut self, scan: &Scan<'_>) {
        for frame in &scan.frames {
            if !self.newest {
                self.position.acknowledged = self.position.acknowledged.max(frame.sequence.saturating_sub(1));
                self.newest = true;
            }
            if let Some(expected) = self.expected {
                for (first, last) in self.position.miss(expected, frame.sequence) {
                    self.recovery.note(Finding::MissingEntries { first, last });
                }
            }
            self.last = frame.sequence;
            self.expected = Some(frame.sequence.max(self.position.acknowledged) + 1);
        }
    }

    fn tell_damage(&mut self, name: &str, scan: &Scan<'_>, bytes: &[u8], unread: u64, is_last: bool) {
        let (mut skipped, mut torn) = (unread, 0);
        for range in &scan.damage {
            let next = scan.frames.iter().find(|frame| frame.offset >= range.end);
            if is_last && unread == 0 && range.end == bytes.len() {
                torn += range.len() as u64;
            } else if next.is_none_or(|next| next.sequence > self.position.acknowledged + 1) {
                skipped += range.len() as u64;
            }
        }
        if skipped > 0 {
            self.recovery.note(Finding::Damaged { file: name.to_owned(), bytes: skipped });
        }
        if torn > 0 {
            self.recovery.note(Finding::TornTail { file: name.to_owned(), bytes: torn });
        }
    }

    fn not_repaired(&mut self, file: String, error: &io::Error) {
        self.recovery.note(Finding::NotRepaired { file, error: error.to_string() });
    }
}

fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

fn remove_leftovers(folder: &Path, recovery: &mut Recovery) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        if name.starts_with("q-") && name.ends_with(".seg.new") {
            // It is overwritten by the next repair when it cannot be removed.
            let _ = fs::remove_file(folder.join(&name));
            recovery.note(Finding::LeftOver { file: name });
        }
    }
    Ok(())
}
