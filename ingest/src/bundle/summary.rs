//! What is in a bundle, in words for the person who is about to send it.

use std::path::Path;

use super::manifest::{Manifest, MemberKind};
use triage::escape;

/// Several lines.
pub fn text(out: &Path, size_bytes: u64, manifest: &Manifest) -> String {
    let count = |kind| manifest.members.iter().filter(|member| member.kind == kind).count() as u64;
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("{} ({})", escape::terminal(&out.to_string_lossy()), size(size_bytes)));
    line(format!("  {}, report.md, report.ndjson, manifest.json", many(count(MemberKind::Log), "log")));
    match count(MemberKind::Topology) {
        0 => line("  no topology: displayxr-cli was not found or said nothing".to_owned()),
        _ => line("  topology as displayxr-cli tells it".to_owned()),
    }
    let counts = manifest.redacted;
    let kinds = [
        (counts.users, "user name"),
        (counts.hosts, "host name"),
        (counts.emails, "e-mail address"),
        (counts.secrets, "secret"),
        (counts.exes, "program name"),
    ];
    let taken: Vec<_> =
        kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| many(count, what)).collect();
    line(format!("  taken out: {}", if taken.is_empty() { "nothing was found".to_owned() } else { taken.join(", ") }));
    let left_out = manifest.left_out;
    for (count, what, why) in [
        (manifest.unreadable.len() as u64, "file", "could not be read; manifest.json says why"),
        (left_out.older, "log", "left out as older"),
        (left_out.not_logs, "file", "left out: not named like a log"),
    ] {
        if count > 0 {
            line(format!("  {} {why}", many(count, what)));
        }
    }
    line("Look through it before you send it: no rule knows every name.".to_owned());
    text
}

fn many(count: u64, what: &str) -> String {
    let plural = if count == 1 {
        ""
    } else if what.ends_with("address") {
        "es"
    } else {
        "s"
    };
    format!("{count} {what}{plural}")
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=1023 => format!("{bytes} bytes"),
        1024..=1_048_575 => format!("{} KiB", bytes / 1024),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
