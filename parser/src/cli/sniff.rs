//! Is this input output of `displayxr-cli`? Decided once, from its first lines.
//!
//! A capture often starts with the runtime's stderr lines, so one line of the tool's own is enough. A log file never
//! is: its lines carry times. Nor is a JSON capture of the runtime's stderr, which holds one log record a line.

use super::line::{self, Line, Section};

/// Keys of the tool's JSON documents, in their quotes; inside a JSON string the quotes would be escaped.
const KEYS: [&str; 7] = [
    r#""gpu_topology""#,
    r#""git_tag""#,
    r#""plugin_abi_version""#,
    r#""dp_selection""#,
    r#""weave_on_scanout_env""#,
    r#""user_written""#,
    r#""checks""#,
];

/// True for text and for JSON of the tool. `first_lines` may end in the middle of a line.
pub fn looks_like(first_lines: &str) -> bool {
    let mut found = false;
    for line in first_lines.lines().map(|line| line.trim_start_matches('\u{feff}')) {
        if is_log(line) || is_log_object(line) {
            return false;
        }
        found = found || is_ours(line) || KEYS.iter().any(|key| line.contains(key));
    }
    found
}

/// A line of a log file, or its header.
fn is_log(line: &str) -> bool {
    let dated = |stamp: &[u8]| stamp.len() == 5 && stamp[..4].iter().all(u8::is_ascii_digit) && stamp[4] == b'-';
    let stamp = line.strip_prefix('[').and_then(|rest| rest.as_bytes().get(..5));
    stamp.is_some_and(dated) || line.starts_with("=== DisplayXR Log Started ===")
}

/// A record of a JSON capture of the log (vocabulary 1.6).
fn is_log_object(line: &str) -> bool {
    line.starts_with('{') && [r#""level""#, r#""func""#].iter().all(|key| line.contains(key))
}

fn is_ours(line: &str) -> bool {
    if line::section(line).is_some() {
        return true;
    }
    // These two are too plain to tell on their own.
    line::read(line, Section::Any).is_some_and(|said| !matches!(said, Line::Store { .. } | Line::Written(_)))
}
