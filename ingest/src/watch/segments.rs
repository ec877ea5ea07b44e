//! Cuts a log into byte ranges with what was seen in them.
//!
//! A range ends where the log ends at this moment, or earlier, when enough was seen to fill an upload; it is read as if
//! the log ended there, so its totals hold up to there. The last record of a range may still have grown: the next range
//! starts with it. Offsets and line numbers count from the first byte, so every range is read from the first byte, which
//! is many times faster than sending it.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};

use wire::{Observation, Segment};

use crate::reading;
use crate::source;
use crate::watch::logs::Log;

/// A range is cut when its observations take this much JSON: a few of them fit into one upload.
const FULL_BYTES: usize = 2 << 20;

/// Small, because a range can only be cut between two of them.
const STEP_BYTES: usize = 64 * 1024;

/// A range of a log.
#[derive(Debug)]
pub(super) struct Range {
    pub segment: Segment,
    /// The size of its JSON, about.
    pub json_bytes: usize,
    /// Where the range behind it starts.
    pub resume: u64,
    /// The log ended here.
    pub complete: bool,
}

/// Reads the range of `log` that starts at `start`, the `resume` of the range before it. `buffer` is working space.
pub(super) fn next(log: &Log, start: u64, buffer: &mut [u8]) -> io::Result<Range> {
    let step = buffer.len().min(STEP_BYTES);
    range(source::open(&log.path)?, log, start, FULL_BYTES, &mut buffer[..step])
}

fn range(input: impl Read, log: &Log, start: u64, full_bytes: usize, buffer: &mut [u8]) -> io::Result<Range> {
    let seen = RefCell::new(Vec::new());
    let json_bytes = Cell::new(0);
    let complete = Cell::new(false);
    // Without a later record the next range would start where this one does, for ever.
    let full = || json_bytes.get() >= full_bytes && resume(&seen.borrow()).is_some_and(|resume| resume > start);
    let reading = reading::read(
        Until { input, stop: full, complete: &complete },
        &log.base_name,
        buffer,
        &mut |observation: Observation| {
            if observation.offset() >= start {
                json_bytes.set(json_bytes.get() + json_len(&observation));
                seen.borrow_mut().push(observation);
            }
        },
    );
    if let Some(error) = reading.error {
        return Err(error);
    }
    let observations = seen.into_inner();
    let resume = resume(&observations).unwrap_or(start);
    Ok(Range {
        json_bytes: json_bytes.get(),
        resume,
        complete: complete.get(),
        segment: Segment {
            log: log.identity.clone(),
            file: log.base_name.clone(),
            start,
            end: reading.facts.counts.bytes,
            facts: reading.facts,
            observations,
        },
    })
}

/// The first observation of the last line that holds any: all before it is final.
fn resume(observations: &[Observation]) -> Option<u64> {
    let line = observations.last()?.line();
    observations.iter().rev().take_while(|observation| observation.line() == line).last().map(Observation::offset)
}

/// The size of a value's JSON without making it.
fn json_len(value: &impl serde::Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What cannot be written as JSON fails when the batch is made, where the error can be told.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// An input that ends when `stop` says so.
struct Until<'a, R, S> {
    input: R,
    stop: S,
    complete: &'a Cell<bool>,
}

impl<R: Read, S: Fn() -> bool> Read for Until<'_, R, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() {
            return Ok(0);
        }
        let count = self.input.read(buffer)?;
        self.complete.set(count == 0);
        Ok(count)
    }
}
