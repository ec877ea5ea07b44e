//! The prefix of a record: `[2026-09-14 12:00:00.137] [WARN ] [function] body`, and the ways in which it is damaged.

use wire::Level;

/// The first bytes of a log line, taken apart without copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefixed<'a> {
    /// `2026-09-14 12:00:00.137`; null in stderr captures.
    pub time: Option<&'a [u8]>,
    /// The level field.
    pub level: Level,
    /// The function field; `[OXR  ]` records have none.
    pub function: Option<&'a [u8]>,
    /// What stands behind the prefix.
    pub body: &'a [u8],
    /// Another record's prefix stood in front of this one (builds before v2.7.0).
    pub spliced: bool,
}

/// Length of `[2026-09-14 12:00:00.137] [WARN ] `, with the blank behind it.
const HEAD: usize = 34;

/// True for a line that starts a record: `[dddd-dd-dd ` (vocabulary 1.3). Asked of every line of every log.
#[inline]
pub fn starts_record(line: &[u8]) -> bool {
    match (line.first_chunk(), line.get(4..).and_then(<[u8]>::first_chunk)) {
        (Some(front), Some(back)) => fits(*front, *b"[0000-00") && fits(*back, *b"0-00-00 "),
        _ => false,
    }
}

/// The start of the last line in `chunk` that begins a record, where a newline stands before it. What lies in front of
/// it is complete: reading can stop there and go on later ([`LogReader::checkpoint`](crate::LogReader::checkpoint)).
pub fn last_record_start(chunk: &[u8]) -> Option<usize> {
    memchr::memrchr_iter(b'\n', chunk).map(|newline| newline + 1).find(|start| starts_record(&chunk[*start..]))
}

/// True when a line that starts a record goes on with a time and the bracket of its level field.
#[inline]
pub fn has_time(line: &[u8]) -> bool {
    match (line.get(11..).and_then(<[u8]>::first_chunk), line.get(19..).and_then(<[u8]>::first_chunk)) {
        (Some(front), Some(back)) => fits(*front, *b" 00:00:0") && fits(*back, *b"0.000] ["),
        _ => false,
    }
}

/// True when eight bytes equal the pattern, in which `0` stands for any digit. All eight are compared at once: a digit
/// has the upper half 3, also after adding 6.
#[inline]
const fn fits(bytes: [u8; 8], pattern: [u8; 8]) -> bool {
    const UPPER: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const SIX: u64 = 0x0606_0606_0606_0606;
    let digits = digits_of(pattern);
    let (bytes, pattern) = (u64::from_le_bytes(bytes), u64::from_le_bytes(pattern));
    (bytes ^ pattern) & (UPPER | !digits) == 0 && (((bytes & digits) + (SIX & digits)) ^ pattern) & UPPER & digits == 0
}

/// All bits set where the pattern has a `0`.
const fn digits_of(pattern: [u8; 8]) -> u64 {
    let mut digits = [0; 8];
    let mut at = 0;
    while at < 8 {
        if pattern[at] == b'0' {
            digits[at] = 0xff;
        }
        at += 1;
    }
    u64::from_le_bytes(digits)
}

/// Reads the prefix of a line of a log file. `None` when the line starts no record, or when its prefix is torn.
#[inline]
pub fn read(line: &[u8]) -> Option<Prefixed<'_>> {
    let first = read_one(line)?;
    if !starts_record(first.body) {
        return Some(first);
    }
    // Two threads wrote into each other: the innermost prefix is the one that the body belongs to, as far as one can tell.
    let mut inner = first;
    while let Some(next) = read_one(inner.body) {
        inner = Prefixed { spliced: true, ..next };
    }
    Some(inner)
}

#[inline]
fn read_one(line: &[u8]) -> Option<Prefixed<'_>> {
    if !starts_record(line) {
        return None;
    }
    // Editors trim the blank behind an empty body.
    let head: &[u8; HEAD - 1] = line.first_chunk()?;
    if !has_time(head) || head[32] != b']' {
        return None;
    }
    let level = Level::from_field(*head[27..].first_chunk()?);
    let rest = line.get(HEAD..).unwrap_or_default();
    let (function, body) = if level == Level::Oxr { (None, rest) } else { function(rest) };
    Some(Prefixed { time: Some(&head[1..24]), level, function, body, spliced: false })
}

/// Splits `[function] body`. A body without a function field is taken as it is.
#[inline]
pub fn function(rest: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let field = rest.strip_prefix(b"[").and_then(|inner| {
        let end = memchr::memchr(b']', inner)?;
        let behind = &inner[end + 1..];
        let body = if behind.is_empty() { behind } else { behind.strip_prefix(b" ")? };
        Some((Some(&inner[..end]), body))
    });
    field.unwrap_or((None, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(Level, Option<&str>, &str, bool)>) {
        let found = read(line.as_bytes());
        let text = |bytes| str::from_utf8(bytes).expect("the test's lines are UTF-8");
        let found = found.map(|found| (found.level, found.function.map(text), text(found.body), found.spliced));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn the_forms_of_a_prefix() {
        check("[2026-09-14 12:00:00.137] [WARN ] [fn] body", Some((Level::Warn, Some("fn"), "body", false)));
        check("[2026-09-14 12:00:00.137] [INFO ] [?] [RENDER] x", Some((Level::Info, Some("?"), "[RENDER] x", false)));
        check(
            "[2026-09-14 12:00:00.137] [OXR  ] [not] a function",
            Some((Level::Oxr, None, "[not] a function", false)),
        );
        check("[2026-09-14 12:00:00.137] [?????] [fn] ", Some((Level::Unknown, Some("fn"), "", false)));
        check("[2026-09-14 12:00:00.137] [WARN ] [fn]", Some((Level::Warn, Some("fn"), "", false)));
    }

    #[test]
    fn a_splice_yields_the_inner_record() {
        let prefix = "[2026-06-14 12:00:20.101] [WARN ] ";
        check(&format!("{prefix}[a] {prefix}[b] body"), Some((Level::Warn, Some("b"), "body", true)));
        check(&format!("{prefix}[a] {prefix}[b] {prefix}[c] body"), Some((Level::Warn, Some("c"), "body", true)));
        check(
            &format!("{prefix}[a] said {prefix}[b] body"),
            Some((Level::Warn, Some("a"), &format!("said {prefix}[b] body"), false)),
        );
    }

    #[test]
    fn what_is_no_prefix() {
        for line in [
            "",
            "\tname: [2026-09-14 ",
            "[2026-09-14",
            "[2026-09-14 12:00:00.137] [WAR",
            "[2026-09-14 1x:00:00.137] [WARN ] [fn] body",
        ] {
            check(line, None);
        }
    }
}
