//! A log as it goes into a bundle: line by line without what must not leave, in constant memory.

use std::io::{self, BufRead, BufReader, Read};

use redact::{Counts, Redactor};

use super::utf16;

/// A longer line is cut: the runtime's longest is a few KiB, and a name must not hide in one that no memory holds.
const LONGEST_LINE_BYTES: usize = 1 << 20;

/// What stands where a line was cut.
const CUT: &[u8] = b" <cut>\n";

/// Reads a log and hands out what may leave.
pub struct Redacting<'a> {
    lines: BufReader<Box<dyn Read + 'a>>,
    redactor: &'a Redactor,
    line: Vec<u8>,
    out: Vec<u8>,
    at: usize,
    /// Told when the bytes before it are handed out.
    error: Option<io::Error>,
    /// What was taken out so far.
    pub counts: Counts,
    /// Lines that were too long so far.
    pub cut_lines: u64,
}

impl<'a> Redacting<'a> {
    /// `head` are the first bytes of `input`, which holds them still: they tell whether it is UTF-16.
    pub fn new(head: &[u8], input: impl Read + 'a, redactor: &'a Redactor) -> Self {
        let lines = BufReader::new(utf16::decoded(head, Box::new(input)));
        let counts = Counts::default();
        Self { lines, redactor, line: Vec::new(), out: Vec::new(), at: 0, error: None, counts, cut_lines: 0 }
    }

    /// Makes the next line ready; false at the end.
    fn next_line(&mut self) -> io::Result<bool> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.line.clear();
        let most = LONGEST_LINE_BYTES as u64;
        if let Err(error) = self.lines.by_ref().take(most).read_until(b'\n', &mut self.line) {
            self.error = Some(error);
        }
        let too_long = self.line.len() == LONGEST_LINE_BYTES && !self.line.ends_with(b"\n");
        if too_long {
            self.cut_lines += 1;
            // Behind the last blank half of a name may stand.
            let whole = self.line.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0);
            self.line.truncate(whole);
            if let Err(error) = self.lines.skip_until(b'\n') {
                self.error = Some(error);
            }
        }
        self.out.clear();
        self.at = 0;
        self.out.extend_from_slice(&self.redactor.line(&self.line, &mut self.counts));
        if too_long {
            self.out.extend_from_slice(CUT);
        }
        match self.error.take() {
            Some(error) if self.out.is_empty() => Err(error),
            error => {
                self.error = error;
                Ok(!self.out.is_empty())
            }
        }
    }
}

impl Read for Redacting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        // A line is short; the parser wants more at once.
        while filled < buffer.len() {
            if self.at == self.out.len() {
                match self.next_line() {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) if filled > 0 => {
                        self.error = Some(error);
                        self.out.clear();
                        self.at = 0;
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            let count = (self.out.len() - self.at).min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&self.out[self.at..self.at + count]);
            self.at += count;
            filled += count;
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use redact::Policy;

    use super::*;

    fn redacted(input: &[u8]) -> (Vec<u8>, u64, Counts) {
        let redactor = Redactor::new(Policy::default());
        let mut redacting = Redacting::new(&input[..input.len().min(64)], input, &redactor);
        let mut out = Vec::new();
        redacting.read_to_end(&mut out).expect("a slice does not fail");
        (out, redacting.cut_lines, redacting.counts)
    }

    #[test]
    fn lines_come_out_in_order_with_their_ends() {
        let (out, cut, counts) = redacted(b"one\r\n/home/ann/x\n\nlast \xff");
        assert_eq!(out, b"one\r\n/home/<user>/x\n\nlast \xff");
        assert_eq!((cut, counts.users), (0, 1));
    }

    #[test]
    fn a_line_without_end_is_cut_at_a_blank_and_the_next_one_is_read() {
        let long = [b"a word and ".to_vec(), vec![b'x'; LONGEST_LINE_BYTES], b"\nnext\n".to_vec()].concat();
        let (out, cut, _) = redacted(&long);
        assert_eq!((out.as_slice(), cut), (&b"a word and <cut>\nnext\n"[..], 1));
    }

    #[test]
    fn two_bytes_a_letter_become_text() {
        let units = "in C:\\Users\\山田\\x 🙂\r\nend".encode_utf16();
        for (mark, bytes) in [
            (b"\xff\xfe", units.clone().flat_map(u16::to_le_bytes).collect::<Vec<_>>()),
            (b"\xfe\xff", units.flat_map(u16::to_be_bytes).collect()),
        ] {
            let (out, _, counts) = redacted(&[mark.as_slice(), &bytes].concat());
            assert_eq!(String::from_utf8(out).expect("it is text"), "in C:\\Users\\<user>\\x 🙂\r\nend");
            assert_eq!(counts.users, 1);
        }
    }

    #[test]
    fn an_error_comes_behind_what_was_read() {
        struct Torn(u8);
        impl Read for Torn {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                match self.0 {
                    1 => {
                        buffer[..7].copy_from_slice(b"one\ntwo");
                        Ok(7)
                    }
                    _ => Err(io::Error::other("torn")),
                }
            }
        }
        let redactor = Redactor::new(Policy::default());
        let mut redacting = Redacting::new(b"one\n", Torn(0), &redactor);
        let mut out = Vec::new();
        let error = redacting.read_to_end(&mut out).expect_err("the input is torn");
        assert_eq!((out.as_slice(), error.to_string().as_str()), (&b"one\ntwo"[..], "torn"));
    }
}
