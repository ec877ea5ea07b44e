//! Looks into an opened file without reading all of it: its start, the bytes before an offset, the last line that is whole.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use crate::header::{self, Header, LIMIT_BYTES};

/// Bytes before an offset that tell whether a file still has the content that was read from it.
pub const TAIL_BYTES: usize = 256;

/// The last bytes that were read.
#[derive(Clone, Debug, Default)]
pub struct Tail(Vec<u8>);

impl Tail {
    /// Those before `end` in the file.
    pub fn before(file: &File, end: u64) -> io::Result<Self> {
        let start = end.saturating_sub(TAIL_BYTES as u64);
        let mut bytes = vec![0; (end - start) as usize];
        let filled = read_at(file, start, &mut bytes)?;
        bytes.truncate(filled);
        Ok(Self(bytes))
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(TAIL_BYTES)..];
        let excess = (self.0.len() + bytes.len()).saturating_sub(TAIL_BYTES);
        self.0.drain(..excess);
        self.0.extend_from_slice(bytes);
    }

    /// What is remembered of them.
    pub fn checksum(&self) -> u32 {
        crc32fast::hash(&self.0)
    }
}

/// The start of a file.
pub fn header(file: &File, name: &str) -> io::Result<Header> {
    let mut head = [0; LIMIT_BYTES];
    let filled = read_at(file, 0, &mut head)?;
    Ok(Header::read(&head[..filled], name))
}

/// True when the first `end` bytes of the file seem to be those whose last had this checksum.
pub fn holds(file: &File, len: u64, end: u64, checksum: u32) -> io::Result<bool> {
    Ok(len >= end && (end == 0 || Tail::before(file, end)?.checksum() == checksum))
}

/// True when one file seems to begin with all of the other, given their lengths and that their headers are the same.
pub fn agree(files: [&File; 2], lens: [u64; 2]) -> io::Result<bool> {
    let shorter = lens[0].min(lens[1]);
    Ok(Tail::before(files[0], shorter)?.0 == Tail::before(files[1], shorter)?.0)
}

/// The offset behind the last newline in `from..to`, where `from` is the start of a line or inside one. `buffer` is working
/// space. A newline of UTF-16 is two bytes at an even offset.
pub fn last_newline(
    file: &File,
    from: u64,
    to: u64,
    utf16: Option<bool>,
    buffer: &mut [u8],
) -> io::Result<Option<u64>> {
    // An even length, so that no pair is cut.
    let step = (buffer.len() & !1) as u64;
    let mut end = to;
    while end > from {
        // The first step ends where the others begin: at a multiple of the step.
        let start = ((end - 1) / step * step).max(from & !1);
        let piece = &mut buffer[..(end - start) as usize];
        if read_at(file, start, piece)? < piece.len() {
            return Ok(None);
        }
        let found = match utf16 {
            None => last_feed(piece).map(|at| at + 1),
            Some(little_endian) => {
                let newline = if little_endian { [b'\n', 0] } else { [0, b'\n'] };
                piece.as_chunks().0.iter().rposition(|pair| *pair == newline).map(|at| 2 * at + 2)
            }
        };
        if let Some(at) = found.map(|at| start + at as u64).filter(|at| *at > from) {
            return Ok(Some(at));
        }
        end = start;
    }
    Ok(None)
}

/// True when the rest of the file is the footer of a log that lacks its newline.
pub fn is_footer(file: &File, from: u64, to: u64) -> io::Result<bool> {
    /// Longer than any footer.
    const LONG: u64 = 64;
    if to - from > LONG {
        return Ok(false);
    }
    let mut line = vec![0; (to - from) as usize];
    let filled = read_at(file, from, &mut line)?;
    Ok(header::is_footer(&line[..filled]))
}

fn last_feed(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

/// Reads at an offset until the buffer is full or the file ends.
pub fn read_at(mut file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    fill(file, buffer)
}

/// Reads until the buffer is full or the file ends.
pub fn fill(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file can be made");
        file.write_all(bytes).expect("it is writable");
        file
    }

    #[test]
    fn the_last_newline_is_found_whatever_the_buffer() {
        let bytes = b"one\ntwo\nthree";
        let file = file(bytes);
        for size in [2, 3, 5, 64] {
            let mut buffer = vec![0; size];
            for (from, to, expected) in [
                (0, 13, Some(8)),
                (8, 13, None),
                (4, 8, Some(8)),
                (4, 7, None),
                (0, 4, Some(4)),
                (0, 0, None),
                (7, 13, Some(8)),
            ] {
                let found = last_newline(&file, from, to, None, &mut buffer).expect("it is readable");
                assert_eq!(found, expected, "{from}..{to} by {size}");
            }
        }
    }

    #[test]
    fn a_newline_of_utf16_is_a_pair() {
        // The second letter is U+0A0A, which is no newline.
        let text = "a\u{a0a}\nb";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, little_endian) in [(little, true), (big, false)] {
            let found = last_newline(&file(&bytes), 0, 8, Some(little_endian), &mut [0; 4]).expect("it is readable");
            assert_eq!(found, Some(6));
        }
    }

    #[test]
    fn a_tail_does_not_depend_on_its_pieces() {
        let bytes: Vec<u8> = (0..1000_u16).map(|at| (at % 251) as u8).collect();
        let whole = Tail::before(&file(&bytes), 1000).expect("it is readable");
        for size in [1, 7, 255, 256, 257, 1000] {
            let mut tail = Tail::default();
            bytes.chunks(size).for_each(|piece| tail.feed(piece));
            assert_eq!(tail.checksum(), whole.checksum(), "{size}");
        }
        assert_eq!(whole.0.len(), TAIL_BYTES);
    }
}
