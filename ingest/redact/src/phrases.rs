//! Finds names as whole words, in every spelling in which a log shows them.

use std::ops::Range;

/// Names to look for, each with what it means to the caller.
#[derive(Clone, Debug)]
pub struct Phrases<T> {
    /// Lower-case in ASCII, longest first.
    spellings: Vec<(Vec<u8>, T)>,
    /// Whether a spelling begins with this byte.
    begins: [bool; 256],
}

/// One place where a name stands.
#[derive(Debug)]
pub struct Found<'p, T> {
    /// Where.
    pub range: Range<usize>,
    /// Whose.
    pub meaning: &'p T,
}

impl<T: Clone> Phrases<T> {
    /// Nothing to look for.
    pub const fn none() -> Self {
        Self { spellings: Vec::new(), begins: [false; 256] }
    }

    /// Also looks for this name.
    pub fn add(&mut self, name: &str, meaning: &T) {
        for spelling in spellings(name) {
            let Some(first) = spelling.first() else { continue };
            self.begins[usize::from(*first)] = true;
            self.begins[usize::from(first.to_ascii_uppercase())] = true;
            let at = self.spellings.partition_point(|(known, _)| known.len() >= spelling.len());
            self.spellings.insert(at, (spelling, meaning.clone()));
        }
    }

    /// The places where names stand as whole words, in order and without overlap; where several begin, the longest. Letters
    /// and digits of ASCII belong to a word; `-`, `_` and all other bytes end it, so that a name inside a file name is found.
    pub fn find<'p, 't>(&'p self, text: &'t [u8]) -> impl Iterator<Item = Found<'p, T>> + use<'p, 't, T> {
        let mut at = if self.spellings.is_empty() { text.len() } else { 0 };
        std::iter::from_fn(move || {
            while at < text.len() {
                let start = at;
                at += 1;
                if !self.begins[usize::from(text[start])]
                    || start.checked_sub(1).is_some_and(|before| inside(text, before))
                {
                    continue;
                }
                let here = |spelling: &[u8]| {
                    let end = start + spelling.len();
                    let same = text.get(start..end).is_some_and(|word| word.eq_ignore_ascii_case(spelling));
                    (same && !inside(text, end)).then_some(end)
                };
                let found = self.spellings.iter().find_map(|(spelling, meaning)| Some((here(spelling)?, meaning)));
                if let Some((end, meaning)) = found {
                    at = end;
                    return Some(Found { range: start..end, meaning });
                }
            }
            None
        })
    }
}

/// A byte of a word stands here.
fn inside(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// A name as text, in both cases where it is not ASCII, in Latin-1, in a URL, and as JSON escapes it.
fn spellings(name: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for name in [name.to_owned(), name.to_lowercase(), name.to_uppercase()] {
        let latin1 = || name.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect::<Option<Vec<u8>>>();
        all.push(name.as_bytes().to_vec());
        all.extend(latin1());
        all.push(escaped(&name, |letter| {
            letter.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat()
        }));
        all.push(escaped(&name, |letter| {
            letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
        }));
        all.push(name.replace(' ', "+").into_bytes());
    }
    for spelling in &mut all {
        spelling.make_ascii_lowercase();
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The name with every blank and every letter beyond ASCII written as `escape` does.
fn escaped(name: &str, escape: impl Fn(char) -> String) -> Vec<u8> {
    let plain = |letter: char| letter != ' ' && letter.is_ascii();
    name.chars()
        .map(|letter| if plain(letter) { letter.to_string() } else { escape(letter) })
        .collect::<String>()
        .into_bytes()
}
