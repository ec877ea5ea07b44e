//! Byte order marks, and UTF-16 files as UTF-8.

/// How the bytes of a file spell text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// As the runtime writes: UTF-8 literals, perhaps with stray Latin-1 bytes.
    Bytes,
    /// Saved by an editor.
    Utf16 {
        /// Byte order.
        little_endian: bool,
    },
}

/// Tells encoding and length of the byte order mark; `None` while too few bytes are there to tell.
pub fn detect(start: &[u8], complete: bool) -> Option<(Encoding, usize)> {
    const MARKS: [(&[u8], Encoding); 3] = [
        (b"\xef\xbb\xbf", Encoding::Bytes),
        (b"\xff\xfe", Encoding::Utf16 { little_endian: true }),
        (b"\xfe\xff", Encoding::Utf16 { little_endian: false }),
    ];
    for (mark, encoding) in MARKS {
        if start.starts_with(mark) {
            return Some((encoding, mark.len()));
        }
        if !complete && mark.starts_with(start) {
            return None;
        }
    }
    Some((Encoding::Bytes, 0))
}

/// Turns UTF-16 chunks into UTF-8; what is no UTF-16 becomes U+FFFD.
#[derive(Debug)]
pub struct Utf16 {
    little_endian: bool,
    /// A byte of an unfinished unit.
    odd: Option<u8>,
    /// The first half of an unfinished pair.
    high: Option<u16>,
    out: String,
}

impl Utf16 {
    /// Ready for the byte behind the mark.
    pub const fn new(little_endian: bool) -> Self {
        Self { little_endian, odd: None, high: None, out: String::new() }
    }

    /// The text that the chunk completes.
    pub fn feed(&mut self, chunk: &[u8]) -> &str {
        self.out.clear();
        let mut units = Vec::with_capacity(chunk.len() / 2 + 2);
        units.extend(self.high.take());
        for byte in chunk {
            match self.odd.take() {
                None => self.odd = Some(*byte),
                Some(first) if self.little_endian => units.push(u16::from_le_bytes([first, *byte])),
                Some(first) => units.push(u16::from_be_bytes([first, *byte])),
            }
        }
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        self.out.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        &self.out
    }

    /// What an unfinished end stands for.
    pub fn finish(&self) -> &'static str {
        if self.odd.is_some() || self.high.is_some() { "\u{fffd}" } else { "" }
    }
}

/// Bytes of the file that a piece of decoded text came from.
pub fn utf16_len(text: &str) -> u64 {
    2 * text.chars().map(|letter| letter.len_utf16() as u64).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_told_from_few_bytes() {
        assert_eq!(detect(b"\xef\xbb\xbf=", false), Some((Encoding::Bytes, 3)));
        assert_eq!(detect(b"\xff\xfe", false), Some((Encoding::Utf16 { little_endian: true }, 2)));
        assert_eq!(detect(b"\xef", false), None);
        assert_eq!(detect(b"\xef", true), Some((Encoding::Bytes, 0)));
        assert_eq!(detect(b"", true), Some((Encoding::Bytes, 0)));
        assert_eq!(detect(b"=", false), Some((Encoding::Bytes, 0)));
    }

    proptest! {
        #[test]
        fn text_does_not_depend_on_chunks(text in ".{0,60}", size in 1_usize..9, little_endian: bool) {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(|unit| if little_endian { unit.to_le_bytes() } else { unit.to_be_bytes() })
                .collect();
            let mut decoder = Utf16::new(little_endian);
            let mut found = String::new();
            for chunk in bytes.chunks(size) {
                found.push_str(decoder.feed(chunk));
            }
            found.push_str(decoder.finish());
            prop_assert_eq!(&found, &text);
            prop_assert_eq!(utf16_len(&text), bytes.len() as u64);
        }

        #[test]
        fn any_bytes_are_taken(bytes: Vec<u8>) {
            let mut decoder = Utf16::new(true);
            decoder.feed(&bytes);
            decoder.finish();
        }
    }
}
