//! Passwords, tokens and keys: on command lines, in assignments, in headers, in addresses, and where their form tells.

mod value;

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::counts::Counts;
use crate::edit::Edit;

const MARKER: &[u8] = b"<secret>";

/// What makes a name the name of a secret.
const SECRET: &str = r"(?:token|passw(?:or)?d|passwd|pwd|passphrase|passcode|secret|api[-_]?key|access[-_]?key|private[-_]?key|signing[-_]?key|credentials?)";

/// `--token X`, `-password:X`, `/pwd=X`: an option, up to its value.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(r#"(?:^|[\s"'(\[,;|&`])(?:--?|/)(?:[\w.-]*{SECRET}[\w-]*|pass|auth)(?:["']?\s*[=:]\s*|["']?\s+)"#))
});

/// `api_key=X`, `"token": "X"`, `AWS_SECRET_ACCESS_KEY=X`: an assignment, up to its value.
static ASSIGNMENT: LazyLock<Regex> =
    LazyLock::new(|| compile(&format!(r#"(?:{SECRET}[\w-]*(?:\\?["'])?\s*(?:=|:|%3d)|\b(?:pass|sig)=)\s*"#)));

/// `Authorization: Bearer X`: a header, up to its value.
static HEADER: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"\b(?:(?:proxy-)?authorization|(?:set-)?cookie2?)(?:\\?["'])?\s*[=:]\s*(?:\\?["'])?"#));

/// `Bearer X` by itself.
static BEARER: LazyLock<Regex> = LazyLock::new(|| compile(r"\bbearer\s+([a-z0-9._~+/=-]{6,})"));

/// `-u name:X` of download tools.
static ACCOUNT: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"(?:^|\s)(?:-u|--user|--proxy-user)[ =]+["']?([^\s:"'<>]+:[^\s"'<>]+)"#));

/// `https://name:X@host`; a password may hold anything but a blank.
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"[a-z][a-z0-9+.-]*://(?:([^\s"'<>/:]+:[^\s"'<>]*)@|([^\s"'<>/]*)@)"#));

/// Secrets whose issuers gave them a form: ours, JSON web tokens, those of large hosts, private keys in text form.
static FORM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)\b(?:ww_[0-9a-f]{16,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_\w{20,}",
        r"|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|AIza[\w-]{30,})",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    ))
    .expect("the pattern is a constant")
});

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i-u){pattern}")).expect("the pattern is a constant")
}

/// Replaces every secret; the name in front of it stays.
pub fn apply(edit: &mut Edit<'_>, counts: &mut Counts) {
    let text = edit.source();
    let mut ranges = Vec::new();
    for pattern in [&OPTION, &ASSIGNMENT] {
        ranges.extend(pattern.find_iter(text).map(|found| value::after(text, found.end())));
    }
    ranges.extend(HEADER.find_iter(text).map(|found| value::of_header(text, found.end())));
    for pattern in [&BEARER, &ACCOUNT, &ADDRESS] {
        for groups in pattern.captures_iter(text) {
            ranges.extend(groups.iter().skip(1).flatten().map(|group| group.range()));
        }
    }
    ranges.extend(FORM.find_iter(text).map(|found| found.range()));
    // Of two that overlap the one that starts first wins, and of those the longer one.
    ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    for range in ranges {
        edit.replace(range, MARKER, &mut counts.secrets);
    }
}
