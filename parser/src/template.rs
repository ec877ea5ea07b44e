//! A `printf` format, compiled so that one table row both reads and prints a record body.
//!
//! Reading is glob matching: the free texts (`%s`) are the stars, and what stands between two of them (literals, numbers,
//! ids) is a chunk that is found as a whole. The leftmost chunk is always right, because a later star can take up whatever
//! is left; so reading never goes back and costs at most the length of the body times the longest chunk.

mod compile;
mod conversion;
mod literal;

use wire::{Fields, Patch, Value};

use crate::decode::Decoded;
pub use conversion::Conversion;
use literal::Literal;

/// A compiled format.
#[derive(Debug)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Literal(Literal),
    Value { name: &'static str, conversion: Conversion },
}

impl Piece {
    const fn is_free_text(&self) -> bool {
        matches!(self, Self::Value { conversion: Conversion::Text | Conversion::Reasons, .. })
    }
}

/// What a body matched: per piece where it stands, and its value.
struct Match {
    /// End of each piece in the decoded body; each starts where the one before ends.
    ends: Vec<usize>,
    /// The values of the pieces that have one.
    values: Vec<Value>,
}

/// What reading a body yields.
#[derive(Debug, PartialEq)]
pub struct Reading {
    /// Printed values by name, without those named `_`.
    pub fields: Fields,
    /// Where the body strays from what the template prints; not known for templates with `_`.
    pub spelling: Vec<Patch>,
}

impl Template {
    /// Compiles a format with the names of its conversions, separated by blanks.
    pub fn compile(format: &'static str, names: &'static str) -> Result<Self, String> {
        compile::pieces(format, names).map(|pieces| Self { pieces })
    }

    /// The literal that every body starts with, up to the first place that may be spelled differently.
    pub fn head(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(literal)) => literal.head(),
            _ => "",
        }
    }

    /// Name and type of each conversion in order, with the literal that follows it.
    pub fn conversions(&self) -> impl Iterator<Item = (&'static str, Conversion, &'static str)> {
        self.pieces.iter().enumerate().filter_map(|(at, piece)| match piece {
            Piece::Literal(_) => None,
            Piece::Value { name, conversion } => {
                let following = match self.pieces.get(at + 1) {
                    Some(Piece::Literal(literal)) => literal.text(),
                    _ => "",
                };
                Some((*name, *conversion, following))
            }
        })
    }

    /// Reads a body; `None` when it has another shape.
    pub fn read(&self, body: &Decoded<'_>) -> Option<Reading> {
        let found = self.find(body.text())?;
        let spelling = self.spelling(body, &found);
        let mut fields = Fields::new();
        let names = self.conversions().map(|(name, ..)| name);
        for (name, value) in names.zip(found.values).filter(|(name, _)| *name != "_") {
            fields.push(name, value);
        }
        Some(Reading { fields, spelling })
    }

    /// Prints the body that these values came from, without any stray spelling. `None` when a value is missing or was not
    /// kept.
    pub fn print(&self, fields: &Fields) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => out.push_str(literal.text()),
                Piece::Value { name, conversion } => conversion.print(fields.get(name)?, &mut out)?,
            }
        }
        Some(out)
    }

    /// Walks chunk by chunk: the first is anchored at the start, the last at the end, the others where they first fit.
    fn find(&self, body: &str) -> Option<Match> {
        let mut found = Match { ends: Vec::with_capacity(self.pieces.len()), values: Vec::new() };
        let mut at = 0;
        let mut pieces = self.pieces.as_slice();
        loop {
            let starts_free = pieces.first().is_some_and(Piece::is_free_text);
            let rest = &pieces[usize::from(starts_free)..];
            let length = rest.iter().position(Piece::is_free_text).unwrap_or(rest.len());
            let (chunk, behind) = rest.split_at(length);
            let last = behind.is_empty();
            let start = if starts_free { Self::locate(chunk, body, at, last)? } else { at };
            if let Some(Piece::Value { conversion, .. }) = pieces.first().filter(|_| starts_free) {
                found.ends.push(start);
                found.values.push(conversion.of_text(&body[at..start]));
            }
            at = Self::read_chunk(chunk, body, start, Some(&mut found))?;
            if last {
                return (at == body.len()).then_some(found);
            }
            pieces = behind;
        }
    }

    /// Where the chunk first fits at or behind `from`; the last chunk must also reach the end of the body.
    fn locate(chunk: &[Piece], body: &str, from: usize, last: bool) -> Option<usize> {
        let Some(first) = chunk.first() else { return Some(body.len()) };
        let head = match first {
            Piece::Literal(literal) => literal.head(),
            Piece::Value { .. } => "",
        };
        let mut at = from;
        loop {
            at += if head.is_empty() { 0 } else { memchr::memmem::find(&body.as_bytes()[at..], head.as_bytes())? };
            let end = Self::read_chunk(chunk, body, at, None);
            if end.is_some_and(|end| !last || end == body.len()) {
                return Some(at);
            }
            at += body[at..].chars().next()?.len_utf8();
        }
    }

    /// Reads the pieces of one chunk from `at`, and says where it ends.
    fn read_chunk(chunk: &[Piece], body: &str, mut at: usize, mut found: Option<&mut Match>) -> Option<usize> {
        for piece in chunk {
            let rest = &body[at..];
            let (length, value) = match piece {
                Piece::Literal(literal) => (literal.matches(rest)?, None),
                Piece::Value { conversion, .. } => {
                    let (rest_behind, value) = conversion.read(rest)?;
                    (rest.len() - rest_behind.len(), Some(value))
                }
            };
            at += length;
            if let Some(found) = found.as_deref_mut() {
                found.ends.push(at);
                found.values.extend(value);
            }
        }
        Some(at)
    }

    /// Compares what was read with what would be printed, piece by piece.
    fn spelling(&self, body: &Decoded<'_>, found: &Match) -> Vec<Patch> {
        let mut patches = Vec::new();
        let mut values = found.values.iter();
        let (mut start, mut printed_at) = (0, 0);
        for (piece, end) in self.pieces.iter().zip(&found.ends) {
            let mut printed = String::new();
            match piece {
                Piece::Literal(literal) => printed.push_str(literal.text()),
                Piece::Value { conversion, .. } => {
                    let value = values.next().expect("every conversion that was read has a value");
                    conversion.print(value, &mut printed).expect("a value prints with the conversion that read it");
                }
            }
            let raw = body.raw(start..*end);
            if raw != printed.as_bytes() {
                patches.push(difference(printed_at, printed.as_bytes(), raw));
            }
            printed_at += printed.len();
            start = *end;
        }
        patches
    }
}

/// Puts the stray spelling back into a printed body.
pub fn apply(printed: &str, patches: &[Patch]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(printed.len());
    let mut at = 0;
    for patch in patches {
        out.extend_from_slice(printed.as_bytes().get(at..patch.at)?);
        out.extend_from_slice(&patch.bytes);
        at = patch.at.checked_add(patch.len)?;
    }
    out.extend_from_slice(printed.as_bytes().get(at..)?);
    Some(out)
}

/// The smallest replacement that turns `printed` into `raw`.
fn difference(at: usize, printed: &[u8], raw: &[u8]) -> Patch {
    let common = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let front = common(&mut printed.iter().zip(raw));
    let back = common(&mut printed[front..].iter().rev().zip(raw[front..].iter().rev()));
    Patch { at: at + front, len: printed.len() - front - back, bytes: raw[front..raw.len() - back].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

    fn check(format: &'static str, names: &'static str, body: &[u8], expected: Option<&str>) {
        let template = Template::compile(format, names).expect("the test's format is sound");
        let reading = template.read(&decode(body));
        let values = reading.as_ref().map(|reading| {
            let show = |(name, value): (&str, &Value)| match value {
                Value::Text(text) | Value::Decimal(text) => format!("{name}={text}"),
                Value::Luid(luid) => format!("{name}={luid}"),
                Value::Reasons(reasons) => {
                    format!("{name}={}", reasons.iter().map(wire::Reason::as_str).collect::<Vec<_>>().join("+"))
                }
                Value::Uint(value) | Value::Hex(value) => format!("{name}={value}"),
                Value::Int(value) => format!("{name}={value}"),
            };
            reading.fields.iter().map(show).collect::<Vec<_>>().join("; ")
        });
        assert_eq!(values.as_deref(), expected, "{}", String::from_utf8_lossy(body));
        if let Some(reading) = reading.filter(|_| !names.contains('_')) {
            let printed = template.print(&reading.fields).expect("every value was kept");
            assert_eq!(apply(&printed, &reading.spelling).as_deref(), Some(body), "printing is the inverse");
        }
    }

    #[test]
    fn free_text_ends_where_the_following_chunk_first_fits() {
        let format = "render='%ls' LUID=%08lx:%08lx, x";
        check(format, "n luid", b"render='A' LUID=00000000:00000001, x", Some("n=A; luid=00000000:00000001"));
        check(
            format,
            "n luid",
            b"render='It's (a) B' LUID=00000000:00000001, x",
            Some("n=It's (a) B; luid=00000000:00000001"),
        );
        check(
            format,
            "n luid",
            b"render='a' LUID=no' LUID=00000000:00000001, x",
            Some("n=a' LUID=no; luid=00000000:00000001"),
        );
        check(format, "n luid", b"render='A' LUID=00000000:00000001, y", None);
    }

    #[test]
    fn the_last_text_takes_the_rest_and_the_last_chunk_the_end() {
        check("uuid: %s", "uuid", b"uuid: 00 00 ", Some("uuid=00 00 "));
        check("(%s) (#1)", "why", b"(a (b) (#1)) (#1)", Some("why=a (b) (#1)"));
        check("fixed", "", b"fixed", Some(""));
        check("fixed", "", b"fixed and more", None);
    }

    #[test]
    fn numbers_keep_their_type_and_their_stray_spelling() {
        check(
            "%d %u %08lX 0x%x %.1f",
            "a b c d e",
            b"-1 2 887A0005 0xff 0.5",
            Some("a=-1; b=2; c=2289696773; d=255; e=0.5"),
        );
        check("%u %08lx", "a b", b"007 887A0005", Some("a=7; b=2289696773"));
        check("%u", "a", b"99999999999999999999", None);
        check("%.1f", "ms", b"-nan(ind)", Some("ms=-nan(ind)"));
        check("LUID=0x%016llx", "luid", b"LUID=0x00000000000123ab", Some("luid=00000000:000123ab"));
    }

    #[test]
    fn token_lists_are_lists() {
        check("(reason=%s)", "reasons", b"(reason=a_b)", Some("reasons=a_b"));
        check("(reason=%s,%s)", "reasons", b"(reason=a,b_c)", Some("reasons=a+b_c"));
        check("(reason=%s)", "reasons", b"(reason=)", Some("reasons="));
        check("(reason=%s)", "reasons", b"(reason=dp-refused, No HWND)", Some("reasons=dp-refused+ No HWND"));
    }

    #[test]
    fn dashes_from_a_wrong_code_page_read_as_dashes() {
        for dash in ["—", "\u{e2}\u{20ac}\u{201d}", "ÔÇö", "ΓÇö", "–", "-", "?", "--"] {
            check("a — %s — b", "x", format!("a {dash} v — {dash} b").as_bytes(), Some("x=v —"));
        }
        check("a — b §2", "", b"a \x97 b \xa72", Some(""));
    }

    #[test]
    fn names_are_not_repaired_and_come_back_byte_for_byte() {
        check(
            "'%ls' — %u",
            "n u",
            b"'Gr\xfcn \xe2\x80\x94 \xc3\xa2\xe2\x82\xac\xe2\x80\x9d' - 3",
            Some("n=Grün — â€”; u=3"),
        );
    }
}
