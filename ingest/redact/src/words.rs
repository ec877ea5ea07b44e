//! Words of the runtime's own records and of graphics adapters. A machine or a person with such a name is not told from
//! the word, so the name is taken out only where it stands as a name: in a path, a share, an address.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words in lower case; a test holds the file against the parser's vocabulary.
static WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("words.txt").split_whitespace().collect());

/// Words that are joined in the records, such as `cross-adapter`: a name could be a part of one that is joined itself.
static JOINED: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| WORDS.iter().copied().filter(|word| word.contains(['-', '_'])).collect());

/// What this crate puts in the place of names.
const MARKERS: [&str; 6] = ["user", "host", "mail", "e-mail", "secret", "exe"];

/// True when taking the name out of a record could change what the record says.
pub fn is_ours(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.as_str();
    WORDS.contains(name)
        || MARKERS.contains(&name)
        || is_number(name)
        || is_monitor(name)
        || is_model(name)
        || JOINED.iter().any(|joined| contains(joined, name))
}

/// The name stands in the joined word, between its joints.
fn contains(joined: &str, name: &str) -> bool {
    let ends = |at: usize| at == 0 || at == joined.len() || !joined.as_bytes()[at].is_ascii_alphanumeric();
    joined.match_indices(name).any(|(at, found)| (at == 0 || ends(at - 1)) && ends(at + found.len()))
}

/// No letter at all, or a half or the whole of an adapter id.
fn is_number(name: &str) -> bool {
    let hex = name.strip_prefix("0x").unwrap_or(name);
    !name.chars().any(char::is_alphabetic)
        || (matches!(hex.len(), 8 | 16) || hex.len() < name.len()) && hex.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// `DISPLAY1` of `\\.\DISPLAY1`.
fn is_monitor(name: &str) -> bool {
    name.strip_prefix("display").is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// `RTX4090`, `A2000`, `780M`: words in the names of adapters that no list can hold.
fn is_model(name: &str) -> bool {
    let from = name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(name.len());
    let (family, model) = name.split_at(from);
    let digits = model.bytes().take_while(u8::is_ascii_digit).count();
    let suffix = &model[digits..];
    (family.len() <= 1 || matches!(family, "rtx" | "gtx" | "gt" | "rx" | "hd" | "uhd"))
        && (2..=5).contains(&digits)
        && suffix.len() <= 3
        && suffix.bytes().all(|letter| letter.is_ascii_lowercase())
}
