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

/// Reads the range of `log` that starts at `start`, the `resume` of the range before it. `buffer` is working space; a range
/// can only end where the buffer was full.
pub(super) fn next(log: &Log, start: u64, buffer: &mut [u8]) -> io::Result<Range> {
    range(source::open(&log.path)?, log, start, FULL_BYTES, buffer)
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
            ..Segment::default()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of every kind that can change while a log grows: continued, spliced, glued, cut, empty, unknown.
    const TEXT: &str = "=== DisplayXR Log Started ===\r\nLog file: C:\\x.log\r\nProcess: A.exe (PID 7)\r\n\
        Timestamp: 2026-09-14 12:00:00\r\n============================\r\n\r\n\
        [2026-09-14 12:00:00.060] [OXR  ] WARNING in xrGetVulkanGraphicsDeviceKHR: Did not find runtime suggested GPU, fall back to GPU 0\r\n\
        \tuuid: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \r\n\
        [2026-09-14 12:00:01.000] [WARN ] [d3d_log_weave_placement] weave placement: render='A' LUID=00000000:00015f3a, panel scanout='B' LUID=00000000:00013c07 — weave on the RENDER adapter; every present crosses adapters to reach scanout (split=0 reason=killed_by_env) (#918)\r\n\
        [2026-09-14 12:00:01.001] [WARN ] [fn_a] [2026-09-14 12:00:01.001] [WARN ] [d3d_log_weave_placement] weave placement: something new\r\n\
        [2026-09-14 12:00:01.002] [WARN ] [d3d_log_weave_placement] \r\n\
        [2026-09-14 12:00:01.003] [INFO ] [fn_b] none of our business\r\n\
        [2026-09-14 12:00:01.507] [WARN ] [d3d12_split_retire] weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session (split=0 reason=authored_mask) (#918)\r\n\
        \r\n=== DisplayXR Log Ended ===\r\n";

    fn log() -> Log {
        Log { path: "x".into(), base_name: "x.log".into(), identity: "0".repeat(32), size_bytes: 0 }
    }

    fn read(bytes: &[u8], start: u64, full_bytes: usize, step: usize) -> Range {
        range(bytes, &log(), start, full_bytes, &mut vec![0; step]).expect("a slice does not fail")
    }

    #[test]
    fn a_log_that_grew_adds_up_to_the_whole_wherever_it_was_cut() {
        let whole = read(TEXT.as_bytes(), 0, usize::MAX, 4096);
        assert!(whole.complete && whole.segment.observations.len() > 5, "{:?}", whole.segment.observations);
        for cut in 0..TEXT.len() {
            let first = read(&TEXT.as_bytes()[..cut], 0, usize::MAX, 4096);
            let second = read(TEXT.as_bytes(), first.resume, usize::MAX, 4096);
            assert!(second.segment.start <= first.segment.end, "{cut}: there is a gap");
            // As the server does it: the range that ends last owns an offset.
            let mut merged = first.segment.observations;
            merged.retain(|observation| observation.offset() < second.segment.start);
            merged.extend(second.segment.observations);
            assert_eq!(merged, whole.segment.observations, "{cut}");
            assert_eq!(second.segment.facts, whole.segment.facts, "{cut}");
        }
    }

    #[test]
    fn a_long_log_goes_out_in_ranges_that_add_up_to_the_whole() {
        let (header, records) = TEXT.split_at(TEXT.find("[2026").expect("there are records"));
        let text = [header, &records.repeat(60)].concat();
        let whole = read(text.as_bytes(), 0, usize::MAX, 4096);
        for step in [1_000, 4_096, 10_000] {
            let (mut merged, mut start, mut end, mut ranges) = (Vec::new(), 0, 0, 0);
            loop {
                let next = read(text.as_bytes(), start, 20_000, step);
                assert!(next.segment.start <= end && next.segment.end > end, "{step}: no gap, and each adds bytes");
                merged.retain(|observation: &Observation| observation.offset() < next.segment.start);
                merged.extend(next.segment.observations);
                (start, end) = (next.resume, next.segment.end);
                ranges += 1;
                if next.complete {
                    break;
                }
            }
            assert!(ranges > 2, "{step}: {ranges}");
            assert_eq!(merged, whole.segment.observations, "{step}");
            assert_eq!(end, text.len() as u64);
        }
    }

    #[test]
    fn every_observation_lies_in_its_range() {
        for cut in 0..TEXT.len() {
            let range = read(&TEXT.as_bytes()[..cut], 0, usize::MAX, 4096);
            let inside = range.segment.start..range.segment.end;
            assert!(range.segment.observations.iter().all(|seen| inside.contains(&seen.offset())), "{cut}");
        }
    }
}
