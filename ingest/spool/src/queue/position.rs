//! Up to which number is the queue acknowledged, and which numbers are known to be gone?
//!
//! One checked line in a file of its own, replaced whole. The copy before it stays. An older position is harmless, the
//! entries behind it are only handed out again; so of all copies that can be read the highest counts.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::frame::TOO_HIGH;
use crate::recovery::{Finding, Recovery};
use crate::{disk, line};

/// The current copy.
pub(super) const NAME: &str = "position";
const SCHEMA: &str = "weavewatch.queue/1";
/// A position is a line; a file that is longer than this is none.
const MOST_BYTES: u64 = 1 << 20;

/// The acknowledged position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Position {
    /// Every entry up to this number is acknowledged or dropped.
    pub acknowledged: u64,
    /// Ranges of numbers behind it, first and last, that are gone and were told as gone.
    pub gone: Vec<(u64, u64)>,
}

/// What the copies in the folder said.
pub(super) struct Loaded {
    pub position: Option<Position>,
    /// Is it the newest there was? An older one knows less than the segments' names.
    pub newest: bool,
    /// Are the current file and its copy in order?
    pub in_order: bool,
}

#[derive(Serialize, Deserialize)]
struct OnDisk {
    schema: String,
    acknowledged: u64,
    gone: Vec<(u64, u64)>,
}

#[derive(PartialEq)]
enum Copy {
    Missing,
    Broken { nul_filled: bool },
    Good(Position),
}

impl Position {
    /// The position further on, without what lies behind it.
    pub(super) fn moved_to(&self, acknowledged: u64) -> Self {
        Self { acknowledged, gone: self.gone.iter().copied().filter(|(_, last)| *last > acknowledged).collect() }
    }

    /// Takes the numbers from `first` up to but without `next` as gone, and gives those that were not before.
    pub(super) fn miss(&mut self, first: u64, next: u64) -> Vec<(u64, u64)> {
        let (mut first, mut news) = (first, Vec::new());
        for (known_first, known_last) in &self.gone {
            if *known_last < first || *known_first >= next {
                continue;
            }
            if *known_first > first {
                news.push((first, known_first - 1));
            }
            first = known_last + 1;
        }
        if first < next {
            news.push((first, next - 1));
        }
        self.gone.extend_from_slice(&news);
        self.gone.sort_unstable();
        news
    }

    /// Brings the position to disk.
    pub(super) fn store(&self, folder: &Path) -> io::Result<()> {
        let bytes = self.line()?;
        let stored = disk::replace(folder, NAME, &bytes, true);
        match stored {
            // The queue's own entries may have filled the disk, and only a new position lets go of them: the copy
            // before gives its block. A failed replacement leaves the current file, or else nothing to spare.
            Err(error) if disk::is_full(&error) && folder.join(NAME).exists() => {
                disk::remove(&disk::backup_of(folder, NAME))?;
                disk::replace(folder, NAME, &bytes, true)
            }
            stored => stored,
        }
    }

    /// Writes both copies anew, after a first start or damage.
    pub(super) fn store_both(&self, folder: &Path) -> io::Result<()> {
        disk::replace(folder, NAME, &self.line()?, false)?;
        self.store(folder)
    }

    fn line(&self) -> io::Result<Vec<u8>> {
        let on_disk = OnDisk { schema: SCHEMA.to_owned(), acknowledged: self.acknowledged, gone: self.gone.clone() };
        let mut bytes = Vec::new();
        line::append(&mut bytes, &on_disk)?;
        Ok(bytes)
    }
}

/// Reads all copies. An error only for a file that cannot be read or that a newer program wrote.
pub(super) fn load(folder: &Path, recovery: &mut Recovery) -> io::Result<Loaded> {
    let names = [NAME.to_owned(), format!("{NAME}.new"), format!("{NAME}.bak")];
    let mut copies = Vec::new();
    for name in &names {
        copies.push(read(folder, name)?);
    }
    if copies.iter().all(|copy| *copy == Copy::Missing) {
        return Ok(Loaded { position: None, newest: false, in_order: false });
    }
    match &copies[0] {
        Copy::Missing => recovery.note(Finding::MissingFile { file: names[0].clone() }),
        Copy::Broken { nul_filled } => {
            recovery.note(Finding::Unreadable { file: names[0].clone(), nul_filled: *nul_filled });
        }
        Copy::Good(_) => {}
    }
    if copies[1] != Copy::Missing {
        recovery.note(Finding::LeftOver { file: names[1].clone() });
    }
    if let Copy::Broken { nul_filled } = copies[2] {
        recovery.note(Finding::Unreadable { file: names[2].clone(), nul_filled });
    }
    let in_order = matches!(copies[..], [Copy::Good(_), Copy::Missing, Copy::Good(_)]);
    let mut best: Option<(usize, Position)> = None;
    for (index, copy) in copies.into_iter().enumerate() {
        if let Copy::Good(position) = copy
            && best.as_ref().is_none_or(|(_, best)| position.acknowledged > best.acknowledged)
        {
            best = Some((index, position));
        }
    }
    let index = best.as_ref().map(|(index, _)| *index);
    match index {
        Some(0) => {}
        Some(index) => {
            recovery.note(Finding::CopyUsed { copy: names[index].clone(), instead_of: names[0].clone() });
        }
        None => recovery.note(Finding::StartedAfresh { file: names[0].clone() }),
    }
    Ok(Loaded { position: best.map(|(_, position)| position), newest: index.is_some_and(|index| index < 2), in_order })
}

fn read(folder: &Path, name: &str) -> io::Result<Copy> {
    let path = folder.join(name);
    let Some(bytes) = disk::read(&path, MOST_BYTES)? else { return Ok(Copy::Missing) };
    let on_disk = bytes.strip_suffix(b"\n").and_then(line::json).map(serde_json::from_slice::<OnDisk>);
    match on_disk {
        Some(Ok(on_disk)) if on_disk.schema == SCHEMA => Ok(if on_disk.acknowledged < TOO_HIGH {
            Copy::Good(Position { acknowledged: on_disk.acknowledged, gone: on_disk.gone })
        } else {
            Copy::Broken { nul_filled: false }
        }),
        // The checksum fits, so a program wrote exactly this; going on would throw away what it meant.
        Some(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "failed to read {}: another version wrote it; run that version, or move the folder away",
                path.display()
            ),
        )),
        None => Ok(Copy::Broken { nul_filled: !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0) }),
    }
}
