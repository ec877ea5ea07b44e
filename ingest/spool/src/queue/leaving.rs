//! How do entries come out of the queue: shown to the caller, then let go of?
//!
//! The position is on disk before a segment is removed; the other way round a crash would look like a loss.

use std::io;

use super::Queue;
use super::frame::{self, Frame, Scan};
use super::segment::{self, Waiting};
use crate::disk;
use crate::recovery::Finding;

impl Queue {
    /// Shows the safe entries, oldest first, until `take` has enough.
    pub(super) fn walk(&mut self, mut take: impl FnMut(&Frame<'_>) -> bool) -> io::Result<()> {
        for index in 0..self.segments.len() {
            if self.segments[index].waiting.entries == 0 {
                continue;
            }
            let bytes = self.segments[index].read_waiting(&self.options.folder)?;
            let scan = frame::scan(&bytes, self.position.acknowledged + 1);
            self.settle(index, &scan);
            if !scan.frames.iter().all(&mut take) {
                break;
            }
        }
        Ok(())
    }

    /// Takes note when a segment no longer holds what it held: somebody changed or removed the file.
    fn settle(&mut self, index: usize, scan: &Scan<'_>) {
        let segment = &mut self.segments[index];
        let acknowledged = self.position.acknowledged;
        let waiting = Waiting::behind(acknowledged, scan, segment.waiting.offset, segment.length);
        if waiting == segment.waiting {
            return;
        }
        segment.waiting = waiting;
        let bytes = scan.damage.iter().map(|range| range.len() as u64).sum();
        if bytes > 0 {
            self.found.note(Finding::Damaged { file: segment::name(segment.first), bytes });
        }
        let mut expected = segment.first.max(acknowledged + 1);
        for next in scan.frames.iter().map(|frame| frame.sequence).chain([segment.last + 1]) {
            for (first, last) in self.position.miss(expected, next) {
                self.found.note(Finding::MissingEntries { first, last });
            }
            expected = next + 1;
        }
    }

    pub(super) fn last_safe(&self) -> u64 {
        self.segments.back().map_or(self.position.acknowledged, |segment| segment.last)
    }

    /// Moves the position, then removes what lies behind it.
    pub(super) fn release(&mut self, through: u64) -> io::Result<()> {
        if through <= self.position.acknowledged {
            return Ok(());
        }
        let mut whole = self.segments.iter().take_while(|segment| segment.last <= through).count();
        if whole == self.segments.len() && self.tail.as_ref().is_some_and(|tail| tail.entries() > 0) {
            whole -= 1;
        }
        let waiting = match self.segments.get(whole) {
            Some(segment) => {
                let bytes = segment.read_waiting(&self.options.folder)?;
                let scan = frame::scan(&bytes, self.position.acknowledged + 1);
                Waiting::behind(through, &scan, segment.waiting.offset, segment.length)
            }
            None => Waiting::default(),
        };
        let position = self.position.moved_to(through);
        position.store(&self.options.folder)?;
        self.position = position;
        for _ in 0..whole {
            self.remove_first();
        }
        if let Some(first) = self.segments.front_mut() {
            first.waiting = waiting;
        }
        Ok(())
    }

    pub(super) fn remove_first_through(&mut self, through: u64) -> bool {
        let whole = self.segments.len() > 1 && self.segments.front().is_some_and(|first| first.last <= through);
        if whole {
            self.remove_first();
        }
        whole
    }

    fn remove_first(&mut self) {
        if self.segments.len() == 1 {
            // Windows keeps the name of a removed file for as long as it is open.
            self.tail = None;
        }
        if let Some(first) = self.segments.pop_front() {
            // A file that stays is behind the position and goes when the queue is opened next.
            let _ = disk::remove(&first.path(&self.options.folder));
        }
    }
}
