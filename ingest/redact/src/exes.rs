//! Names of programs, mapped or hashed by policy, the same in every place.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;
use sha2::{Digest as _, Sha256};

use crate::counts::Counts;
use crate::edit::Edit;
use crate::phrases::Phrases;
use crate::policy::{ExeNames, Key};
use crate::words;

/// Hex digits of a hashed name: 48 bits tell all programs of a fleet apart.
const HASH_DIGITS: usize = 12;

/// A stem that is shorter is not looked for without its ending.
const LEAST_LETTERS: usize = 4;

/// The name of a log, whose program may have no ending.
static LOG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?-u)DisplayXR_([^\\/:*?"<>|\r\n]+?)\.[0-9]+_[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2}\.log"#,
    )
    .expect("the pattern is a constant")
});

/// Anything that ends like a program; how far it reaches to the left is for [`start_of`] to say.
static PROGRAM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i-u)[^\\/:*?"<>|\x00-\x1f]+?\.exe\b"#).expect("the pattern is a constant"));

/// What is known of programs.
#[derive(Clone, Debug)]
pub struct Exes {
    policy: ExeNames,
    /// Each with what stands for it; a name that stands for another one stands for itself.
    known: Phrases<String>,
}

impl Exes {
    /// Makes the policy ready.
    pub fn new(policy: ExeNames) -> Self {
        let mut known = Phrases::none();
        if let ExeNames::Map(map) = &policy {
            for own in map.values().flat_map(|name| [name.as_str(), stem(name)]) {
                known.add(own, &own.to_owned());
            }
            let is_own = |name: &str| map.values().any(|own| own.eq_ignore_ascii_case(name));
            for (name, own) in map.iter().filter(|(name, _)| !is_own(name)) {
                learn(&mut known, name, own);
            }
        }
        Self { policy, known }
    }

    /// The same, and this program is known.
    pub fn knowing(&self, exe: &str) -> Self {
        let mut exes = self.clone();
        if let ExeNames::Hash { key } = &self.policy
            && !is_hashed(exe)
            && !exe.is_empty()
        {
            learn(&mut exes.known, exe, &hashed(key, exe));
        }
        exes
    }

    /// What stands for the name of a program when it is a value of its own.
    pub fn name<'a>(&self, exe: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        let own = match &self.policy {
            ExeNames::Keep => None,
            ExeNames::Map(map) => mapped(map, exe),
            ExeNames::Hash { key } => (!exe.is_empty() && !is_hashed(exe)).then(|| hashed(key, exe)),
        };
        own.map_or(Cow::Borrowed(exe), |own| {
            counts.exes += 1;
            Cow::Owned(own)
        })
    }

    /// False when no name of a program has to go.
    pub fn could_be_in(&self, text: &[u8]) -> bool {
        match self.policy {
            ExeNames::Keep => false,
            ExeNames::Map(_) => self.known.find(text).next().is_some(),
            ExeNames::Hash { .. } => {
                self.known.find(text).next().is_some() || PROGRAM.is_match(text) || LOG.is_match(text)
            }
        }
    }

    /// Replaces names wherever they stand.
    pub fn apply(&self, edit: &mut Edit<'_>, counts: &mut Counts) {
        if self.policy == ExeNames::Keep {
            return;
        }
        let text = edit.source();
        let mut places: Vec<_> =
            self.known.find(text).map(|found| (found.range, Cow::Borrowed(found.meaning.as_str()))).collect();
        if let ExeNames::Hash { key } = &self.policy {
            // The name of a log holds its program's, and nothing else in it is one.
            let logs: Vec<_> = LOG
                .captures_iter(text)
                .filter_map(|groups| Some((groups.get(0)?.range(), groups.get(1)?.range())))
                .collect();
            let programs: Vec<_> = PROGRAM
                .find_iter(text)
                .map(|found| start_of(text, found.start(), found.end())..found.end())
                .filter(|range| !covers(&logs, |(log, _)| log, range))
                .collect();
            let known = places.clone();
            for range in logs.into_iter().map(|(_, exe)| exe).chain(programs) {
                let name = String::from_utf8_lossy(&text[range.clone()]);
                let is_free = !covers(&known, |(known, _)| known, &range);
                if is_free && !is_hashed(&name) && !name.eq_ignore_ascii_case(".exe") {
                    let own = hashed(key, &name);
                    places.push((range, Cow::Owned(own)));
                }
            }
        }
        places.sort_unstable_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        for (range, own) in places {
            edit.replace(range, own.as_bytes(), &mut counts.exes);
        }
    }
}

/// One of the places, which are in order and apart, overlaps the range.
fn covers<T>(places: &[T], range_of: impl Fn(&T) -> &Range<usize>, range: &Range<usize>) -> bool {
    let next = places.partition_point(|place| range_of(place).end <= range.start);
    places.get(next).is_some_and(|place| range_of(place).start < range.end)
}

/// Looks for the name, and for its stem where that is a word of its own.
fn learn(known: &mut Phrases<String>, name: &str, own: &str) {
    known.add(name, &own.to_owned());
    let bare = stem(name);
    if bare.len() < name.len() && bare.chars().count() >= LEAST_LETTERS && !words::is_ours(bare) {
        known.add(bare, &stem(own).to_owned());
    }
}

/// A name in prose starts behind a blank or a bracket; as the last part of a path it may hold them.
fn start_of(text: &[u8], start: usize, end: usize) -> usize {
    if start > 0 && matches!(text[start - 1], b'\\' | b'/') {
        return start;
    }
    let stops = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b'[' | b']' | b',' | b';' | b'=' | b'\'' | b'`')
    };
    text[start..end].iter().rposition(stops).map_or(start, |at| start + at + 1)
}

fn mapped(map: &BTreeMap<String, String>, exe: &str) -> Option<String> {
    if map.values().any(|own| own.eq_ignore_ascii_case(exe)) {
        return None;
    }
    map.iter().find(|(name, _)| name.eq_ignore_ascii_case(exe)).map(|(_, own)| own.clone())
}

/// The name without `.exe`.
fn stem(name: &str) -> &str {
    let at = name.len().saturating_sub(4);
    if name.get(at..).is_some_and(|ending| ending.eq_ignore_ascii_case(".exe")) { &name[..at] } else { name }
}

/// Twelve hex digits, with or without the ending.
fn is_hashed(name: &str) -> bool {
    let name = stem(name);
    name.len() == HASH_DIGITS && name.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// What stands for the name; its case does not matter, because it does not to Windows.
fn hashed(key: &Key, name: &str) -> String {
    let digest = hmac(&key.0, name.to_lowercase().as_bytes());
    let mut own = digest.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    own.push_str(if stem(name).len() < name.len() { ".exe" } else { "" });
    own
}

/// HMAC-SHA-256 (RFC 2104) for a key that is shorter than a block.
fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let pad = |mask: u8| {
        let mut block = [mask; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // RFC 4231, test case 1: a key of 20 bytes is the same as one that is filled up with zeros.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let digest = hmac(&key, b"Hi There");
        assert_eq!(digest[..6], [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb]);
    }

    #[test]
    fn a_hash_keeps_the_ending_and_does_not_mind_the_case() {
        let key = Key([7; 32]);
        let own = hashed(&key, "MyViewer.exe");
        assert_eq!(own, hashed(&key, "MYVIEWER.EXE"));
        assert!(is_hashed(&own) && own.len() == HASH_DIGITS + ".exe".len());
        assert_ne!(own, hashed(&Key([8; 32]), "MyViewer.exe"));
        assert!(!hashed(&key, "hello_xr").contains('.'));
    }
}
