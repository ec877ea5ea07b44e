//! Names of machines: in shares and addresses, in dumps of the environment, and bare where they are known.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::counts::Counts;
use crate::edit::Edit;
use crate::phrases::Phrases;
use crate::words;

const MARKER: &[u8] = b"<host>";

/// A shorter bare name would be found in too many words that mean something else.
const LEAST_LETTERS: usize = 3;

/// The machine of a share, `\\server\share`, also behind `\\?\UNC\`, doubled as JSON doubles it, or with slashes. The
/// device names `\\.\DISPLAY1` and `\\?\C:` are none, and neither are the doubled separators inside a path.
static SHARE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)(?:(?:^|[^a-z0-9_.%:~\\/<>$)-])(?:\\{2,}|//)|[a-z0-9]{2}:\\{2,}|[?.]\\+UNC\\+)([^\\/:*?"<>|\x00-\x20.,;='()][^\\/:*?"<>|\x00-\x20,;='()]*)"#,
    )
    .expect("the pattern is a constant")
});

/// The machine of an address whose kind is used inside a house.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)\b(?:file|smb|cifs|nfs|ftps?|sftp|ssh|rdp|vnc|ldaps?)://(?:[^\s/@]*@)?([^\x00-\x20/:"'<>\\]+)"#)
        .expect("the pattern is a constant")
});

/// Variables that hold the name of a machine or its domain, as a dump of the environment shows them.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?-u)\b(?:COMPUTERNAME|HOSTNAME|USERDOMAIN|USERDNSDOMAIN|USERDOMAIN_ROAMINGPROFILE|LOGONSERVER|CLIENTNAME)["']?[ ]*[=:][ ]*["']?\\*([^\x00-\x20"'\\<>,;]+)"#)
        .expect("the pattern is a constant")
});

/// The domain behind a short name: two labels or more, or one that is used inside a house.
static DOMAIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u)^(?:(?:\.[a-z][a-z0-9-]*){2,}|\.(?:local|lan|home|corp|intern|internal|intra|localdomain)\b)")
        .expect("the pattern is a constant")
});

/// Labels that make it the name of a file: `pc01.exe.config` is no machine.
const ENDINGS: [&[u8]; 10] = [b"exe", b"dll", b"log", b"json", b"txt", b"zip", b"xml", b"dmp", b"conf", b"config"];

/// What is known of machines.
#[derive(Clone, Debug)]
pub struct Hosts {
    names: Phrases<Known>,
}

/// What a found name is.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// The short or the full name of a machine; its domain may follow.
    Host,
    /// The domain of one; other machines may stand in front of it.
    Domain,
}

impl Hosts {
    /// Takes the names that can be told from words, and the domains of those that have one.
    pub fn new(hosts: &[String]) -> Self {
        let mut names = Phrases::none();
        for name in hosts.iter().map(|name| name.trim().trim_matches('.')) {
            let (short, domain) = name.split_once('.').unwrap_or((name, ""));
            if domain.contains('.') {
                names.add(domain, &Known::Domain);
            }
            if !domain.is_empty() {
                names.add(name, &Known::Host);
            }
            if short.chars().count() >= LEAST_LETTERS && !words::is_ours(short) {
                names.add(short, &Known::Host);
            }
        }
        Self { names }
    }

    /// A known name stands in the text.
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.names.find(text).next().is_some()
    }

    /// Replaces names that stand where a name stands, and names that are known wherever they stand.
    pub fn apply(&self, edit: &mut Edit<'_>, counts: &mut Counts) {
        let text = edit.source();
        let mut ranges = Vec::new();
        for pattern in [&SHARE, &ADDRESS, &VARIABLE] {
            ranges.extend(pattern.captures_iter(text).filter_map(|groups| groups.get(1)).map(|name| name.range()));
        }
        for found in self.names.find(text) {
            let mut range = found.range;
            match found.meaning {
                Known::Host => range.end += domain_bytes(&text[range.end..]),
                Known::Domain => range.start -= labels_bytes(&text[..range.start]),
            }
            ranges.push(range);
        }
        ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        for range in ranges {
            edit.replace(range, MARKER, &mut counts.hosts);
        }
    }
}

/// How much of what follows a short name is its domain.
fn domain_bytes(rest: &[u8]) -> usize {
    let Some(found) = DOMAIN.find(rest) else { return 0 };
    let is_file = found
        .as_bytes()
        .split(|byte| *byte == b'.')
        .any(|label| ENDINGS.iter().any(|ending| label.eq_ignore_ascii_case(ending)));
    if is_file { 0 } else { found.len() }
}

/// How much in front of a domain are labels of it.
fn labels_bytes(before: &[u8]) -> usize {
    if !before.ends_with(b".") {
        return 0;
    }
    before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')).count()
}
