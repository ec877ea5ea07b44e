//! Bytes to text: UTF-8, and what is not UTF-8 as Latin-1, byte by byte (contract section 2).

use std::borrow::Cow;
use std::ops::Range;

/// A body as text that still knows its bytes.
#[derive(Debug)]
pub struct Decoded<'a> {
    raw: &'a [u8],
    text: Cow<'a, str>,
    /// Offsets in `text` of the characters that stand for one Latin-1 byte each.
    latin1: Vec<usize>,
}

/// Decodes without copying when the bytes are UTF-8.
pub fn decode(raw: &[u8]) -> Decoded<'_> {
    if let Ok(text) = str::from_utf8(raw) {
        return Decoded { raw, text: Cow::Borrowed(text), latin1: Vec::new() };
    }
    let mut text = String::with_capacity(raw.len() + 8);
    let mut latin1 = Vec::new();
    for chunk in raw.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            latin1.push(text.len());
            text.push(char::from(*byte));
        }
    }
    Decoded { raw, text: Cow::Owned(text), latin1 }
}

impl Decoded<'_> {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes that a range of the text came from.
    pub fn raw(&self, range: Range<usize>) -> &[u8] {
        // A Latin-1 byte above 0x7f takes two bytes of text.
        let offset = |at: usize| at - self.latin1.partition_point(|latin1| *latin1 < at);
        &self.raw[offset(range.start)..offset(range.end)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_latin1_byte_does_not_spoil_its_neighbours() {
        let decoded = decode(b"Gr\xfcn \xe2\x80\x94 \xe2\x80");
        assert_eq!(decoded.text(), "Grün — \u{e2}\u{80}");
        assert_eq!(decoded.raw(2..4), b"\xfc");
    }

    proptest! {
        #[test]
        fn every_character_leads_back_to_its_bytes(raw: Vec<u8>) {
            let decoded = decode(&raw);
            let mut back = Vec::new();
            for (at, letter) in decoded.text().char_indices() {
                back.extend_from_slice(decoded.raw(at..at + letter.len_utf8()));
            }
            prop_assert_eq!(back, raw);
        }
    }
}
