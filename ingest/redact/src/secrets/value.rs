//! Where the value of a secret ends.
//!
//! A quoted value ends at its quote, a bare one at the next blank. What closes the text around it stays, so that a line of
//! JSON remains one.

use std::ops::Range;

/// The value that starts here, without its quotes. Empty when there is none.
pub fn after(text: &[u8], start: usize) -> Range<usize> {
    let rest = &text[start..];
    let escaped = rest.starts_with(b"\\\"") || rest.starts_with(b"\\'");
    let open = usize::from(escaped);
    match rest.get(open) {
        Some(quote @ (b'"' | b'\'')) => {
            let inner = open + 1;
            let end = closing(&rest[inner..], *quote, escaped);
            start + inner..start + inner + end
        }
        _ => start..start + bare(rest),
    }
}

/// The value of a header, which may hold blanks: up to the quote that closes it or the end of the line.
pub fn of_header(text: &[u8], start: usize) -> Range<usize> {
    let rest = &text[start..];
    // A digest quotes its parts one by one.
    let quotes_end = !rest.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"digest"));
    let ends = |byte: &u8| matches!(byte, b'\r' | b'\n') || quotes_end && matches!(byte, b'"' | b'\'');
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    start..start + trimmed(&rest[..end], |byte| byte.is_ascii_whitespace() || byte == b'\\')
}

/// Bytes up to the closing quote, or all that is left of the line when it is cut.
fn closing(inner: &[u8], quote: u8, escaped: bool) -> usize {
    let mut at = 0;
    while let Some(byte) = inner.get(at) {
        match byte {
            b'\r' | b'\n' => break,
            b'\\' if escaped && inner.get(at + 1) == Some(&quote) => break,
            b'\\' if !escaped => at += 1,
            byte if *byte == quote => break,
            _ => {}
        }
        at += 1;
    }
    at.min(inner.len())
}

/// Bytes of a value without quotes. A quote inside it belongs to it when more of a word follows.
fn bare(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        let next = rest.get(at + 1);
        match byte {
            byte if byte.is_ascii_whitespace() || *byte == 0 => break,
            b'"' | b'\'' if !next.is_some_and(u8::is_ascii_alphanumeric) => break,
            b'\\' if next.is_none_or(|next| matches!(next, b'"' | b'\'') || next.is_ascii_whitespace()) => break,
            _ => at += 1,
        }
    }
    trimmed(&rest[..at], |byte| matches!(byte, b',' | b';' | b')' | b']' | b'}'))
}

/// The length without what stands at the end and is none of it.
fn trimmed(value: &[u8], loose: impl Fn(u8) -> bool) -> usize {
    value.iter().rposition(|byte| !loose(*byte)).map_or(0, |last| last + 1)
}
