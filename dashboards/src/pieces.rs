//! Text that quotes a log, taken apart: names set apart from the words around them, LUIDs with the adapter that they stand
//! for, and lines that the page can jump to.

use std::collections::{BTreeMap, BTreeSet};

use wire::Luid;

/// A piece of such a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'t> {
    /// Anything else.
    Words(&'t str),
    /// A name from the log.
    Name(&'t str),
    /// A command, which our sentences put between backticks.
    Code(&'t str),
    /// A LUID, with its adapter where the text itself does not name it.
    Luid(&'t str, Option<String>),
    /// A line that is told on the page.
    Line(&'t str, u64),
}

/// What can be found in a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Known {
    /// Adapters by LUID; valid within the boot of the log.
    pub luids: BTreeMap<Luid, String>,
    /// Names of adapters and programs.
    pub names: BTreeSet<String>,
    /// Lines with a place on the page.
    pub lines: BTreeSet<u64>,
}

/// `00000000:00015f3a`.
const LUID_BYTES: usize = 17;

impl Known {
    /// Takes a sentence of ours apart.
    pub(crate) fn sentence<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        self.pieces(text, true)
    }

    /// Takes apart what the runtime printed: there every word may be a name, so only LUIDs stand out.
    pub(crate) fn record<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        self.pieces(text, false)
    }

    fn pieces<'t>(&self, text: &'t str, ours: bool) -> Vec<Piece<'t>> {
        let (mut pieces, mut words, mut at) = (Vec::new(), 0, 0);
        while let Some(next) = text[at..].chars().next() {
            let found = self.luid(text, at).or_else(|| {
                ours.then(|| self.name(text, at).or_else(|| code(text, at)).or_else(|| self.line(text, at)))?
            });
            let Some((piece, length)) = found else {
                at += next.len_utf8();
                continue;
            };
            if words < at {
                pieces.push(Piece::Words(&text[words..at]));
            }
            pieces.push(piece);
            at += length;
            words = at;
        }
        if words < text.len() {
            pieces.push(Piece::Words(&text[words..]));
        }
        pieces
    }

    fn luid<'t>(&self, text: &'t str, at: usize) -> Option<(Piece<'t>, usize)> {
        let spelled = text.get(at..at + LUID_BYTES)?;
        let is_luid = spelled.bytes().enumerate().all(|(place, byte)| match place {
            8 => byte == b':',
            _ => byte.is_ascii_hexdigit(),
        });
        let inside = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b':');
        let bytes = text.as_bytes();
        if !is_luid
            || inside(at.checked_sub(1).and_then(|before| bytes.get(before)))
            || inside(bytes.get(at + LUID_BYTES))
        {
            return None;
        }
        let name = self.luids.get(&spelled.parse().ok()?).filter(|name| !text.contains(name.as_str()));
        Some((Piece::Luid(spelled, name.cloned()), LUID_BYTES))
    }

    /// The longest name that stands there: one may begin like another.
    fn name<'t>(&self, text: &'t str, at: usize) -> Option<(Piece<'t>, usize)> {
        let fits = self.names.iter().filter(|name| !name.is_empty() && text[at..].starts_with(name.as_str()));
        let length = fits.map(String::len).max()?;
        Some((Piece::Name(&text[at..at + length]), length))
    }

    fn line<'t>(&self, text: &'t str, at: usize) -> Option<(Piece<'t>, usize)> {
        let rest = &text[at..];
        let digits = rest.strip_prefix("line ").or_else(|| rest.strip_prefix("Line "))?;
        let is_inside = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let line = digits[..count].parse().ok().filter(|line| !is_inside && self.lines.contains(line))?;
        let length = "line ".len() + count;
        Some((Piece::Line(&rest[..length], line), length))
    }
}

fn code(text: &str, at: usize) -> Option<(Piece<'_>, usize)> {
    let (code, _) = text[at..].strip_prefix('`')?.split_once('`')?;
    // A lonely backtick in a name must not swallow a page.
    (!code.is_empty() && code.len() <= 80).then_some((Piece::Code(code), code.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known {
            luids: BTreeMap::from([(Luid(0x1_5f3a), "RTX".to_owned())]),
            names: BTreeSet::from(["RTX".to_owned(), "RTX 4080".to_owned(), String::new()]),
            lines: BTreeSet::from([21]),
        }
    }

    #[test]
    fn a_sentence_falls_into_names_lines_and_luids() {
        let known = known();
        let text = "RTX 4080 and RTX (line 21, not line 22 nor inline 21): `ls`";
        assert_eq!(
            known.sentence(text),
            [
                Piece::Name("RTX 4080"),
                Piece::Words(" and "),
                Piece::Name("RTX"),
                Piece::Words(" ("),
                Piece::Line("line 21", 21),
                Piece::Words(", not line 22 nor inline 21): "),
                Piece::Code("ls"),
            ]
        );
    }

    #[test]
    fn a_luid_gets_its_adapter_where_the_text_does_not_name_it() {
        let known = known();
        let luid = "00000000:00015F3A";
        assert_eq!(
            known.record("on 00000000:00015F3A."),
            [Piece::Words("on "), Piece::Luid(luid, Some("RTX".to_owned())), Piece::Words(".")]
        );
        assert_eq!(known.record("RTX 00000000:00015F3A")[1], Piece::Luid(luid, None));
        // One more digit, or a part of something longer, is none.
        for other in ["00000000:00015F3A0", "a00000000:00015F3A", "00000000:00015F3A:1", "é0000000:00015F3A", "line 21"]
        {
            assert_eq!(known.record(other), [Piece::Words(other)], "{other}");
        }
    }
}
