//! Names of people: in paths of their folders, in dumps of the environment, as account ids, and bare where they are known.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::counts::Counts;
use crate::edit::Edit;
use crate::phrases::Phrases;
use crate::words;

const MARKER: &[u8] = b"<user>";

/// A shorter bare name would be found in too many words that mean something else.
const LEAST_LETTERS: usize = 4;

/// The folder that holds the folders of people, up to the name: in every spelling of its blanks (`%20`), of its separators
/// (`\`, `/`, doubled in JSON, `%5C`), of its short form, and in any case.
static FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)(?:^|[^a-z0-9]|%5c|%2f)(?:users|home|documents(?: |%20|\+|_)and(?: |%20|\+|_)settings|docume~[0-9])(?:[\\/]|%5c|%2f)+",
    )
    .expect("the pattern is a constant")
});

/// Variables that hold a name, as a dump of the environment shows them.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?-u)\b(?:USERNAME|LOGNAME|USER)["']?[ ]*[=:][ ]*["']?"#).expect("the pattern is a constant")
});

/// Security ids of accounts: the machine's or domain's own number and the account's.
static ACCOUNT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i-u)\bS-1-(?:5-21|12-1)(?:-[0-9]+){2,}").expect("the pattern is a constant"));

/// Folders beside those of people, which are nobody's.
const NOBODY: [&str; 5] = ["public", "default", "default user", "all users", "default.migrated"];

/// The names of people in the paths of a text, each as it stands there. A caller that finds them in the header of a log
/// gives them to [`Policy::users`](crate::Policy::users), so that they are found elsewhere in it as well.
pub fn user_names(text: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for range in in_paths(text) {
        let name = String::from_utf8_lossy(&text[range]).into_owned();
        if !names.contains(&name) && !name.starts_with('<') {
            names.push(name);
        }
    }
    names
}

/// What is known of people.
#[derive(Clone, Debug)]
pub struct Users {
    names: Phrases<()>,
}

impl Users {
    /// Takes the names that can be told from words.
    pub fn new(users: &[String]) -> Self {
        let mut names = Phrases::none();
        for name in users.iter().map(|name| name.trim()) {
            if name.chars().count() >= LEAST_LETTERS && !words::is_ours(name) {
                names.add(name, &());
                // The short name of the folder, as Windows makes it from a long one.
                if let Some(short) = short_form(name) {
                    names.add(&short, &());
                }
            }
        }
        Self { names }
    }

    /// A known name stands in the text.
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.names.find(text).next().is_some()
    }

    /// Replaces names that are known, wherever they stand.
    pub fn apply(&self, edit: &mut Edit<'_>, counts: &mut Counts) {
        for found in self.names.find(edit.source()) {
            edit.replace(found.range, MARKER, &mut counts.users);
        }
    }
}

/// Replaces names that stand where a name stands.
pub fn apply_where_names_stand(edit: &mut Edit<'_>, counts: &mut Counts) {
    let text = edit.source();
    let mut ranges: Vec<_> = in_paths(text);
    ranges.extend(ACCOUNT.find_iter(text).map(|found| found.range()));
    for found in VARIABLE.find_iter(text) {
        let end = name_end(text, found.end());
        ranges.push(found.end()..end);
    }
    ranges.sort_unstable_by_key(|range| range.start);
    for range in ranges {
        edit.replace(range, MARKER, &mut counts.users);
    }
}

/// Where names stand in paths.
fn in_paths(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(found) = FOLDER.find_at(text, at) {
        let start = found.end();
        let end = name_end(text, start);
        // `/home/users/NAME`: the second folder is one of those as well, and its leading separator is the first one's last.
        at = found.end() - 1;
        let name = String::from_utf8_lossy(&text[start..end]);
        let name = name.to_lowercase();
        if name.is_empty() || matches!(name.as_str(), "users" | "home") {
            continue;
        }
        at = end;
        if !NOBODY.contains(&name.replace("%20", " ").as_str()) {
            ranges.push(start..end);
        }
        if at >= text.len() {
            break;
        }
    }
    ranges
}

/// Where the name ends that starts here. Up to the next separator everything is the name, blanks included. In a path that
/// ends with the name nothing marks the end, so everything up to a sign that no account name has belongs to it: in doubt
/// some words of prose go as well.
fn name_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    // What was redacted before stays; only what somebody put behind it is looked at.
    let mut at = if rest.starts_with(MARKER) { MARKER.len() } else { 0 };
    let from = at;
    let mut closed = false;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' if is_escape(&rest[at..]) => at += 6,
            // A name does not end with a blank: what follows is another path.
            b'\\' | b'/' => {
                closed = at > 0 && !rest[at - 1].is_ascii_whitespace();
                break;
            }
            b'%' if is_separator(&rest[at..]) => {
                closed = true;
                break;
            }
            b':' | b'*' | b'?' | b'"' | b'<' | b'>' | b'|' | b'=' | b',' | b';' | b'[' | b']' | 0..=0x1f => break,
            b'\'' if !rest.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => break,
            _ => at += 1,
        }
    }
    if !closed {
        at = from + open_end(&rest[from..at]);
    }
    // Nothing but the marker: nothing to do.
    if at == from && from > 0 { start } else { start + at }
}

/// How much of this is a name when no separator closes it.
fn open_end(run: &[u8]) -> usize {
    let ends: [&[u8]; 7] = [b" (", b" {", b" - ", "\u{20}\u{2014}".as_bytes(), b"  ", b")", b"}"];
    let end = (0..run.len()).find(|at| ends.iter().any(|end| run[*at..].starts_with(end))).unwrap_or(run.len());
    run[..end].trim_ascii_end().len()
}

/// `%5C` or `%2F`.
fn is_separator(text: &[u8]) -> bool {
    text.get(..3).is_some_and(|code| code.eq_ignore_ascii_case(b"%5c") || code.eq_ignore_ascii_case(b"%2f"))
}

/// `\u00fc` of JSON.
fn is_escape(text: &[u8]) -> bool {
    text.get(1) == Some(&b'u') && text.get(2..6).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// `JOHNDO~` of `John Doe`: what Windows puts in front of a number. The number is not known, one digit is.
fn short_form(name: &str) -> Option<Cow<'static, str>> {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    (name.len() > 8 || letters.len() < name.len()).then(|| format!("{}~1", letters.get(..6).unwrap_or(&letters)).into())
}
