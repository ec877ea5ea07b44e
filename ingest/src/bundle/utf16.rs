//! A file that an editor or a shell saved with two bytes a letter, read as UTF-8: a rule for lines looks at text.

use std::io::{self, Read};

/// What is decoded at once.
const PIECE_BYTES: usize = 32 * 1024;

/// `input` as UTF-8 when its first bytes, `head`, are the mark of UTF-16; else as it is.
pub fn decoded<'a>(head: &[u8], input: Box<dyn Read + 'a>) -> Box<dyn Read + 'a> {
    let little_endian = match head.get(..2) {
        Some(b"\xff\xfe") => true,
        Some(b"\xfe\xff") => false,
        _ => return input,
    };
    Box::new(Utf16 {
        input,
        little_endian,
        high: None,
        odd: None,
        at_start: true,
        piece: vec![0; PIECE_BYTES],
        text: Vec::new(),
        at: 0,
    })
}

struct Utf16<'a> {
    input: Box<dyn Read + 'a>,
    little_endian: bool,
    /// The first half of a letter that takes two units.
    high: Option<u16>,
    /// The first half of a unit.
    odd: Option<u8>,
    /// The mark has not been read yet.
    at_start: bool,
    piece: Vec<u8>,
    text: Vec<u8>,
    at: usize,
}

impl Utf16<'_> {
    /// Decodes the first bytes of the piece.
    fn take(&mut self, count: usize) {
        let mut units = Vec::with_capacity(count / 2 + 2);
        units.extend(self.high.take());
        for byte in &self.piece[..count] {
            match self.odd.take() {
                None => self.odd = Some(*byte),
                Some(first) if self.little_endian => units.push(u16::from_le_bytes([first, *byte])),
                Some(first) => units.push(u16::from_be_bytes([first, *byte])),
            }
        }
        // Its second half comes with the next bytes.
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        self.decode(units);
    }

    fn decode(&mut self, units: impl IntoIterator<Item = u16>) {
        for letter in char::decode_utf16(units) {
            let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
            if !std::mem::take(&mut self.at_start) || letter != '\u{feff}' {
                self.text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            let count = self.input.read(&mut self.piece)?;
            if count == 0 {
                let rest = self.high.take();
                let half = self.odd.take().is_some();
                // Half a letter at the end of the file is no letter.
                self.decode(rest.into_iter().chain(half.then_some(0xd800)));
                if self.text.is_empty() {
                    return Ok(0);
                }
                break;
            }
            self.take(count);
        }
        let count = (self.text.len() - self.at).min(buffer.len());
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
