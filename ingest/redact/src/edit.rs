//! One rule's pass over a text: what stands there, and what is put in its place.

use std::ops::Range;

/// A text that is being rewritten from front to back. Nothing is copied until something is replaced.
pub struct Edit<'a> {
    source: &'a [u8],
    out: Vec<u8>,
    copied: usize,
    changed: bool,
}

impl<'a> Edit<'a> {
    /// Begins with nothing replaced.
    pub const fn new(source: &'a [u8]) -> Self {
        Self { source, out: Vec::new(), copied: 0, changed: false }
    }

    /// The text as it was before.
    pub const fn source(&self) -> &'a [u8] {
        self.source
    }

    /// Puts `with` in the place of a range. Ranges come in order; one that starts before the last one ended is left out.
    /// Counts one when that changes the text.
    pub fn replace(&mut self, range: Range<usize>, with: &[u8], count: &mut u64) {
        if range.start < self.copied || range.is_empty() || &self.source[range.clone()] == with {
            return;
        }
        self.out.extend_from_slice(&self.source[self.copied..range.start]);
        self.out.extend_from_slice(with);
        self.copied = range.end;
        self.changed = true;
        *count += 1;
    }

    /// The new text, when there is one.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        self.changed.then(|| {
            self.out.extend_from_slice(&self.source[self.copied..]);
            self.out
        })
    }
}
