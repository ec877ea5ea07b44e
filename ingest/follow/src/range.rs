//! Reads the next byte range of a log: what was seen in it, and how reading goes on behind it.
//!
//! A range starts at the last record of the range before it, which may have grown since, and ends at the last line that is
//! whole. It is read as if the log ended there, so its totals hold up to there. A long range is cut at the start of a record.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};

use parser::{Checkpoint, LogReader};
use wire::{InputKind, LogFacts, Observation, Segment};

use crate::content::{Tail, fill};
use crate::position::{LogKey, Position};

/// Below this size a log without a checkpoint is told from its first byte each time: what kind of input it is may not be
/// settled yet, and it is small. Twice what the parser looks at, in UTF-16.
const SETTLED_BYTES: u64 = 64 * 1024;

/// When a range is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// At the record before its observations take more than this much JSON.
    pub json_bytes: usize,
    /// At the first record behind this many bytes of the log, so that whoever reads politely can pause.
    pub log_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { json_bytes: 2 << 20, log_bytes: 16 << 20 }
    }
}

/// A byte range of a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// Which log; equal to the segment's.
    pub log: LogKey,
    /// What there is to send.
    pub segment: Segment,
    /// The size of its observations as JSON.
    pub json_bytes: usize,
    /// To be saved, and given to [`Follower::commit`](crate::Follower::commit), when the segment is safe.
    pub position: Position,
    /// Nothing more is there at this moment.
    pub complete: bool,
}

/// What was read: the parts of a [`Range`] that come from the content.
pub struct Piece {
    pub start: u64,
    pub end: u64,
    pub facts: LogFacts,
    pub observations: Vec<Observation>,
    pub json_bytes: usize,
    pub checkpoint: Option<Checkpoint>,
    pub next_start: u64,
    pub tail: Tail,
}

/// A place where the range can end.
struct Cut {
    checkpoint: Checkpoint,
    observations: usize,
    json_bytes: usize,
    tail: Tail,
}

/// Reads from where `position` says up to `to`, or less. `None` when the file is shorter than `to` by now.
pub fn read(
    mut file: &File,
    position: &Position,
    to: u64,
    limits: &Limits,
    buffer: &mut [u8],
) -> io::Result<Option<Piece>> {
    let start = position.start;
    let from = position.checkpoint.as_ref().map_or(0, Checkpoint::offset);
    let mut reader = position.checkpoint.clone().map_or_else(LogReader::new, LogReader::resume);
    let mut tail = Tail::before(file, from)?;
    file.seek(SeekFrom::Start(from))?;

    let seen = RefCell::new(Vec::new());
    let json_bytes = Cell::new(0);
    let mut sink = |observation: Observation| {
        if observation.offset() >= start {
            json_bytes.set(json_bytes.get() + json_len(&observation));
            seen.borrow_mut().push(observation);
        }
    };
    let mut cut: Option<Cut> = None;
    let mut at = from;
    while at < to {
        let wanted = usize::try_from(to - at).map_or(buffer.len(), |left| left.min(buffer.len()));
        let count = fill(file, &mut buffer[..wanted])?;
        if count < wanted {
            return Ok(None);
        }
        let chunk = &buffer[..count];
        let record = parser::last_record_start(chunk).unwrap_or(0);
        reader.feed(&chunk[..record], &mut sink);
        tail.feed(&chunk[..record]);
        if record > 0
            && let Some(checkpoint) = reader.checkpoint(&mut sink)
        {
            let here =
                Cut { checkpoint, observations: seen.borrow().len(), json_bytes: json_bytes.get(), tail: tail.clone() };
            // Nothing is gained by a range that ends no later than the one before.
            if here.checkpoint.offset() > position.end {
                let too_much = here.json_bytes > limits.json_bytes;
                if too_much && let Some(before) = cut.take().filter(|cut| cut.checkpoint.offset() > position.end) {
                    return Ok(Some(before.into_piece(start, seen.into_inner())));
                }
                if here.json_bytes >= limits.json_bytes || here.checkpoint.offset() - from >= limits.log_bytes {
                    return Ok(Some(here.into_piece(start, seen.into_inner())));
                }
            }
            cut = Some(here);
        }
        reader.feed(&chunk[record..], &mut sink);
        tail.feed(&chunk[record..]);
        at += count as u64;
        // What can only be read from its first byte is cut anywhere, if the next range then starts behind this one.
        if cut.is_none()
            && position.checkpoint.is_none()
            && json_bytes.get() >= limits.json_bytes
            && at > position.end
            && at >= SETTLED_BYTES
            && last_line(&seen.borrow()).is_some_and(|last| last > start)
        {
            break;
        }
    }
    let facts = reader.finish(&mut sink);
    let (observations, json_bytes) = (seen.into_inner(), json_bytes.get());
    if json_bytes > limits.json_bytes
        && let Some(before) = cut.take_if(|cut| cut.checkpoint.offset() > position.end)
    {
        return Ok(Some(before.into_piece(start, observations)));
    }
    let checkpoint = cut.map(|cut| cut.checkpoint).or_else(|| position.checkpoint.clone());
    let next_start = match &checkpoint {
        Some(checkpoint) => checkpoint.offset(),
        None if at < SETTLED_BYTES || facts.input == InputKind::Cli => 0,
        None => last_line(&observations).unwrap_or(start),
    };
    Ok(Some(Piece { start, end: at, facts, observations, json_bytes, checkpoint, next_start, tail }))
}

impl Cut {
    /// The range that ends here.
    fn into_piece(self, start: u64, mut observations: Vec<Observation>) -> Piece {
        let Self { checkpoint, observations: count, json_bytes, tail } = self;
        observations.truncate(count);
        let facts = LogReader::resume(checkpoint.clone()).finish(&mut |_| {});
        let end = checkpoint.offset();
        Piece { start, end, facts, observations, json_bytes, checkpoint: Some(checkpoint), next_start: end, tail }
    }
}

/// The first observation of the last line that holds any: all before it is final.
fn last_line(observations: &[Observation]) -> Option<u64> {
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
