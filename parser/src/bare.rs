//! Which records does a text hold that somebody pasted without their prefix? People put a bare placement line into a chat.
//!
//! An input is read so only when its first bytes hold no record of a log or a capture, and begin a line with the placement
//! marker. Behind the first record with a prefix everything is read as in a log again, where such a line continues the record
//! before it (contract section 2). A bare record tells no time, level or function.

use wire::Level;

use crate::decode::decode;
use crate::prefix::{self, Prefixed};
use crate::vocabulary;

/// What chats and issues put around a line that is quoted.
const QUOTES: &[u8] = b"`\"'*";
/// Bracketed fields that a cut in the middle of the prefix leaves in front of the body, and the length of one.
const FIELDS: usize = 3;
const FIELD_BYTES: usize = 64;

/// Takes bare records out of the lines of one input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare {
    /// A record with its prefix was there.
    over: bool,
}

impl Bare {
    /// The record that a line is, if it is a bare one.
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Option<Prefixed<'l>> {
        self.over |= prefix::starts_record(line);
        let body = body(line);
        let is_record = !self.over && vocabulary::marker(decode(body).text()).is_some();
        is_record.then_some(Prefixed { time: None, level: Level::Unknown, function: None, body, spliced: false })
    }
}

/// True for a line that is a bare placement record: the only one that makes a text a log.
pub fn is_placement(line: &[u8]) -> bool {
    body(line).starts_with(vocabulary::PLACEMENT.as_bytes())
}

/// The line without quotes, signs of a quotation or a list, and what is left of a prefix.
fn body(line: &[u8]) -> &[u8] {
    let mut body = line.trim_ascii();
    while let Some(rest) = [&b">"[..], b"- ", b"* "].iter().find_map(|sign| body.strip_prefix(*sign)) {
        body = rest.trim_ascii_start();
    }
    while let [first, inner @ .., last] = body
        && first == last
        && QUOTES.contains(first)
    {
        body = inner.trim_ascii();
    }
    for _ in 0..FIELDS {
        let end = body.strip_prefix(b"[").and_then(|_| body.iter().take(FIELD_BYTES).position(|byte| *byte == b']'));
        let Some(rest) = end.and_then(|end| body[end + 1..].strip_prefix(b" ")) else { break };
        // `[RENDER] ` is a marker itself.
        if body.starts_with(b"[RENDER] ") {
            break;
        }
        body = rest;
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_line_is_a_record_and_prose_is_none() {
        let line = "weave placement: CHANGED (split=0 reason=unknown)";
        for pasted in [
            line.to_owned(),
            format!("  {line}  "),
            format!("`{line}`"),
            format!("> \"{line}\""),
            format!(">> - **{line}**"),
            format!("[WARN ] [d3d_log_weave_placement] {line}"),
            format!("0.137] [WARN ] [f] {line}").split_off(7),
        ] {
            assert!(is_placement(pasted.as_bytes()), "{pasted}");
            let found = Bare::default().read(pasted.as_bytes()).expect("a record");
            assert_eq!((str::from_utf8(found.body), found.level), (Ok(line), Level::Unknown), "{pasted}");
        }
        for prose in
            ["", "`", "the line says weave placement: x", "[x] [y] [z] [w] weave placement: x", "> hello", "\"\""]
        {
            assert!(!is_placement(prose.as_bytes()) && Bare::default().read(prose.as_bytes()).is_none(), "{prose}");
        }
        assert!(Bare::default().read(b"[RENDER] split=1").is_some());
    }

    #[test]
    fn behind_a_record_with_its_prefix_it_continues_that_one() {
        let mut bare = Bare::default();
        assert!(bare.read(b"weave placement: x").is_some());
        assert!(bare.read(b"[2026-09-14 12:00:00.137] [WARN ] [fn] body").is_none());
        assert!(bare.read(b"weave placement: x").is_none());
    }
}
