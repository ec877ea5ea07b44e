//! Small conversions between typed values and what a column or a header can hold.

use std::fmt::Write;

use jiff::civil::DateTime;
use serde::Serialize;

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a string takes everything");
        digits
    })
}

/// The bytes that [`hex`] spelled.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// 32 random hex digits.
///
/// # Errors
/// When the system gives no random numbers.
pub fn random_hex() -> std::io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    Ok(hex(&random))
}

/// True for 32 hex digits in lower case: how machines and logs are named.
pub fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The number that content is found by, as 16 hex digits: JavaScript would round it.
pub fn content_word(id: i64) -> String {
    format!("{id:016x}")
}

/// The number behind such a word.
pub fn content_id(word: &str) -> Option<i64> {
    if is_content_id(word) { i64::from_str_radix(word, 16).ok() } else { None }
}

/// True for 16 hex digits in lower case.
pub fn is_content_id(word: &str) -> bool {
    word.len() == 16 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The word that stands for a unit variant in JSON, such as `placement_changed`.
pub fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "unknown".to_owned(),
    }
}

/// The most characters of a log's text that a column holds: longer than every real name, shorter than what an index of
/// PostgreSQL takes (2,704 bytes).
const COLUMN_CHARS: usize = 300;

/// Text for a column. PostgreSQL takes no NUL, so its picture stands for it, and what is too long for an index is cut;
/// the JSON beside it keeps the real text.
pub fn for_column(text: &str) -> String {
    let mut chars = text.chars().map(|char| if char == '\0' { '\u{2400}' } else { char });
    let mut kept: String = chars.by_ref().take(COLUMN_CHARS).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    kept
}

/// The most characters of a message that quotes what somebody sent.
const MESSAGE_CHARS: usize = 200;

/// A message for a person, cut, and without anything that a terminal would obey.
pub fn brief(message: &str) -> String {
    // What is spelled out gets longer, never shorter, so more than this is never needed.
    let head: String = message.chars().take(MESSAGE_CHARS + 1).collect();
    let safe = wire::cell::terminal(&head);
    let mut chars = safe.chars();
    let mut kept: String = chars.by_ref().take(MESSAGE_CHARS).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    kept
}

/// A log's local time, `2026-09-14T12:00:00`. A year before 0 is none: such days would not sort as text.
pub fn local_time(text: &str) -> Option<DateTime> {
    text.parse().ok().filter(|time: &DateTime| time.year() >= 0)
}

/// Seconds since 1970 by the clock on the wall, as if that were UTC: for sorting, not for arithmetic across zones.
pub fn seconds(time: DateTime) -> i64 {
    time.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_secs()
}

/// The present, RFC 3339 in UTC with milliseconds.
pub fn now() -> String {
    timestamp(jiff::Timestamp::now())
}

/// RFC 3339 in UTC with milliseconds: such times sort as text.
pub fn timestamp(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// The time so many seconds from now, or ago, in the form of [`now`].
pub fn from_now(seconds: i64) -> String {
    let now = jiff::Timestamp::now();
    let there = now.checked_add(jiff::SignedDuration::from_secs(seconds));
    // Nobody lives that long.
    timestamp(there.unwrap_or(if seconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX }))
}

/// The digits of base64 for addresses (RFC 4648).
const URL_DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// 128 random bits as 22 characters of an address: nobody guesses them.
pub fn url_id() -> Result<String, getrandom::Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    let bits = u128::from_be_bytes(bits);
    // Two bits of the last digit are empty.
    let digit = |place: u32| if place == 21 { bits << 4 } else { bits >> (122 - 6 * place) } & 0x3f;
    Ok((0..22).map(|place| char::from(URL_DIGITS[digit(place) as usize])).collect())
}

/// The way back from [`hex`].
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

/// True for what [`url_id`] makes.
pub fn is_url_id(text: &str) -> bool {
    text.len() == 22 && text.bytes().all(|byte| URL_DIGITS.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_comes_back() {
        assert_eq!(from_hex(&hex(&[0, 0xab, 255])).as_deref(), Some([0, 0xab, 255].as_slice()));
        for wrong in ["0", "0g", "+1", "é"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn words_are_those_of_the_json() {
        assert_eq!(word(&wire::Kind::PlacementChanged), "placement_changed");
        assert_eq!(word(&wire::FlawKind::EmptyBody), "empty_body");
    }

    #[test]
    fn content_ids_lead_back_to_their_number() {
        for id in [0, 1, i64::MAX] {
            assert_eq!(content_id(&content_word(id)), Some(id));
        }
        for word in ["", "1", "ffffffffffffffff", "+000000000000001", "000000000000000G"] {
            assert_eq!(content_id(word), None, "{word}");
        }
    }

    #[test]
    fn local_times_sort_by_the_wall_clock() {
        let time = local_time("2026-09-14T12:00:00").expect("as the contract prints it");
        assert_eq!(seconds(time), 1_789_387_200);
        assert_eq!(local_time("yesterday"), None);
        assert_eq!(local_time("-000001-09-14T12:00:00"), None);
    }

    #[test]
    fn a_column_holds_no_nul_and_no_novel() {
        assert_eq!(for_column("a\0b"), "a\u{2400}b");
        assert_eq!(for_column(&"显".repeat(300)), "显".repeat(300));
        assert_eq!(for_column(&"显".repeat(301)), format!("{}…", "显".repeat(300)));
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }

    #[test]
    fn a_message_is_short_and_does_nothing() {
        assert_eq!(brief("failed: \u{1b}[2J"), r"failed: \u{1b}[2J");
        assert_eq!(brief(&"x".repeat(1_000_000)), format!("{}…", "x".repeat(200)));
        assert_eq!(brief(&"\0".repeat(200)).chars().count(), 201);
    }

    #[test]
    fn ids_for_addresses_differ_and_have_their_form() {
        let ids: std::collections::BTreeSet<_> = (0..1_000).map(|_| url_id().expect("random bits")).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| is_url_id(id)));
        assert!(!is_url_id("../../../../etc/passwd") && !is_url_id(""));
    }

    #[test]
    fn now_is_a_timestamp() {
        assert!(now().parse::<jiff::Timestamp>().is_ok());
    }
}
