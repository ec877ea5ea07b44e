//! How are the smallest parts of a line of `displayxr-cli` spelled: an adapter, its id, a dash?

use nom::bytes::complete::{tag, take_till, take_while_m_n};
use nom::character::complete::space0;
use nom::error::{Error, ErrorKind};
use nom::sequence::terminated;
use nom::{IResult, Parser};
use wire::Luid;

/// An adapter as the tool names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gpu<'a> {
    pub name: &'a str,
    pub luid: Luid,
}

/// Without the indent, a byte order mark and the CR of a CRLF file.
pub(super) fn bare(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').trim_end_matches(['\r', '\n'])
}

/// `'NAME' LUID=hhhhhhhh:llllllll` up to the end of the line.
pub(super) fn gpu(text: &str) -> IResult<&str, Gpu<'_>> {
    let (name, tail) =
        text.strip_prefix('\'').and_then(|text| text.rsplit_once("' LUID=")).ok_or_else(|| refuse(text))?;
    let (left, luid) = terminated(luid, space0).parse(tail)?;
    Ok((left, Gpu { name, luid }))
}

pub(super) fn luid(text: &str) -> IResult<&str, Luid> {
    let half = || take_while_m_n(8, 8, |c: char| c.is_ascii_hexdigit());
    let (left, (high, _, low)) = (half(), tag(":"), half()).parse(text)?;
    let part = |digits| u32::from_str_radix(digits, 16).map_err(|_| refuse(text));
    Ok((left, Luid::from_parts(part(high)?, part(low)?)))
}

/// `(…)` up to the end of the line; what is inside may hold parentheses.
pub(super) fn in_parentheses(text: &str) -> IResult<&str, &str> {
    let inside = text.trim_end().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inside.map(|inside| ("", inside)).ok_or_else(|| refuse(text))
}

/// An em dash as printed; as code pages 1252, 437 and 850 show its UTF-8; twice encoded; as code page 1252's own byte; or
/// as a plain typist puts it.
pub(super) fn dash(text: &str) -> IResult<&str, &str> {
    let (left, word) = take_till(|c| c == ' ').parse(text)?;
    if DASHES.contains(&word) { Ok((left, word)) } else { Err(refuse(text)) }
}

/// What stands before a dash that ends the text, with its blank taken off.
pub(super) fn before_dash(text: &str) -> Option<&str> {
    let (before, word) = text.rsplit_once(' ')?;
    DASHES.contains(&word).then_some(before)
}

const DASHES: [&str; 11] =
    ["—", "–", "-", "?", "â€”", "ΓÇö", "ÔÇö", "â\u{80}\u{94}", "\u{97}", "\u{fffd}", "\u{fffd}\u{fffd}\u{fffd}"];

pub(super) fn refuse(text: &str) -> nom::Err<Error<&str>> {
    nom::Err::Error(Error::new(text, ErrorKind::Verify))
}
