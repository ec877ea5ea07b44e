//! The front door: feed it a file in chunks, it hands out observations.

use wire::{LogFacts, Observation};

/// Reads one input in chunks of any size.
#[derive(Default)]
pub struct LogReader {}

impl LogReader {
    /// Ready for the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands out what they complete, in file order.
    pub fn feed(&mut self, _chunk: &[u8], _sink: &mut dyn FnMut(Observation)) {}

    /// Takes the end of the file.
    pub fn finish(self, _sink: &mut dyn FnMut(Observation)) -> LogFacts {
        LogFacts::default()
    }
}
