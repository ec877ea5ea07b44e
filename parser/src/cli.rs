//! What did `displayxr-cli` print? Its `info`, `selftest` and `perf list`, as text or as JSON (vocabulary section 10).
//!
//! Every line or JSON member that is understood becomes an event, and all of them together a [`CliOutput`]. Everything
//! else in a capture (other sections of `info`, the runtime's own stderr lines between them) is the caller's to count.
//! The file's bytes, encodings and the choice between a log and this are the reader's; see [`looks_like`].

mod document;
mod event;
mod gather;
mod line;
mod sniff;
mod words;

use wire::{CliOutput, Observation};

use gather::Gather;
use line::Section;

pub use document::json;
pub use sniff::looks_like;

/// Reads the text form, line by line.
#[derive(Default)]
pub struct CliReader {
    section: Section,
    gather: Gather,
}

impl CliReader {
    /// Ready for the first line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one line without its newline; `offset` is its first byte in the file, `line` its 1-based number. Hands out
    /// one event and answers true when the line is understood.
    pub fn line(&mut self, offset: u64, line: u64, text: &str, sink: &mut dyn FnMut(Observation)) -> bool {
        if let Some(section) = line::section(text) {
            self.section = section;
        }
        let Some(said) = line::read(text, self.section) else { return false };
        self.gather.take(&said);
        sink(Observation::Event(event::event(offset, line, &said)));
        true
    }

    /// What the lines said together.
    pub fn finish(self) -> CliOutput {
        self.gather.output
    }
}
