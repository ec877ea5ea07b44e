//! Chunks to lines, in bounded memory: a line that is whole in its chunk is borrowed from it.

/// The longest part of a line that is looked at. The runtime's own limit is 4096 bytes a record; glued records can make a
/// line longer than that, and nothing sensible makes one longer than this.
pub const LONGEST: usize = 64 * 1024;

/// Cuts chunks of any size into lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// The beginning of a line that the last chunk left unfinished, at most [`LONGEST`] bytes.
    begun: Vec<u8>,
    /// Its true length so far.
    begun_len: u64,
}

/// A line without its newline.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// At most [`LONGEST`] bytes of it.
    pub bytes: &'a [u8],
    /// Bytes in the file, with the newline.
    pub len: u64,
}

impl Lines {
    /// Hands out the lines that the chunk completes.
    pub fn feed(&mut self, chunk: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', chunk) {
            let piece = &chunk[start..newline];
            if self.begun_len == 0 {
                take(Line { bytes: head(piece), len: piece.len() as u64 + 1 });
            } else {
                self.begin(piece);
                take(Line { bytes: &self.begun, len: self.begun_len + 1 });
                self.begun.clear();
                self.begun_len = 0;
            }
            start = newline + 1;
        }
        self.begin(&chunk[start..]);
    }

    /// True when no line is begun.
    pub const fn is_between(&self) -> bool {
        self.begun_len == 0
    }

    /// Hands out a last line without a newline.
    pub fn finish(self, take: impl FnOnce(Line<'_>)) {
        if self.begun_len > 0 {
            take(Line { bytes: &self.begun, len: self.begun_len });
        }
    }

    fn begin(&mut self, piece: &[u8]) {
        let room = LONGEST - self.begun.len();
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
        self.begun_len += piece.len() as u64;
    }
}

fn head(line: &[u8]) -> &[u8] {
    &line[..line.len().min(LONGEST)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_do_not_depend_on_chunks(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), size in 1_usize..50) {
            let mut found = Vec::new();
            let mut lines = Lines::default();
            for chunk in bytes.chunks(size) {
                lines.feed(chunk, |line| found.push((line.bytes.to_vec(), line.len)));
            }
            lines.finish(|line| found.push((line.bytes.to_vec(), line.len)));
            let expected: Vec<_> = bytes
                .split_inclusive(|byte| *byte == b'\n')
                .map(|line| (line.strip_suffix(b"\n").unwrap_or(line).to_vec(), line.len() as u64))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_line_without_end_stays_small() {
        let mut lines = Lines::default();
        for _ in 0..1000 {
            lines.feed(&[b'x'; 4096], |_| panic!("there is no newline"));
        }
        assert_eq!((lines.begun.len(), lines.begun_len), (LONGEST, 4_096_000));
    }
}
