//! What is it? Decided once per input, from its first bytes (contract section 3).

use wire::InputKind;

use crate::{bare, capture, cli, header, prefix};

/// How many bytes are looked at before the decision.
pub const ENOUGH: usize = 8 * 1024;

/// True when the first line settles that it is a log, whatever follows.
pub fn is_settled(start: &[u8]) -> bool {
    memchr::memchr(b'\n', start).is_some_and(|end| is_log(start[..end].strip_suffix(b"\r").unwrap_or(&start[..end])))
}

fn is_log(line: &[u8]) -> bool {
    header::STARTED.contains(&line) || prefix::read(line).is_some()
}

/// The kind of an input that starts like this. Without any sign it is a log that holds no record.
pub fn input_kind(start: &[u8]) -> InputKind {
    let lines = || start.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let kind = lines().find_map(|line| {
        if is_log(line) {
            Some(InputKind::Log)
        } else if capture::JsonRecord::read(line).is_some() {
            Some(InputKind::Json)
        } else {
            capture::starts_record(line).then_some(InputKind::Stderr)
        }
    });
    // The tool's report and the runtime's stderr are often captured into one file: the report is what was asked for.
    match kind {
        Some(kind @ (InputKind::Log | InputKind::Json)) => kind,
        _ if cli::looks_like(crate::decode::decode(start).text()) => InputKind::Cli,
        None if lines().any(bare::is_placement) => InputKind::Bare,
        _ => kind.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_decide() {
        for (start, expected) in [
            ("", InputKind::Log),
            ("=== DisplayXR Log Started ===\n WARN [f] x\n", InputKind::Log),
            ("junk\n[2026-09-14 12:00:00.137] [WARN ] [fn] body\n", InputKind::Log),
            ("[DisplayXR] Log file: x\n WARN [f] x\n", InputKind::Stderr),
            ("{\"level\":\"warn\",\"func\":\"f\",\"message\":\"m\"}\n", InputKind::Json),
            (
                " WARN [f] x\n :: GPU topology (#918 — does the weave cross adapters to reach the panel?)\n",
                InputKind::Cli,
            ),
            ("It says\n> weave placement: CHANGED (split=0 reason=unknown)\n", InputKind::Bare),
            ("It says weave placement: CHANGED (split=0 reason=unknown)\n", InputKind::Log),
            ("weave placement: x\n[2026-09-14 12:00:00.137] [WARN ] [fn] body\n", InputKind::Log),
            ("weave placement: x\n WARN [f] x\n", InputKind::Stderr),
        ] {
            assert_eq!(input_kind(start.as_bytes()), expected, "{start}");
        }
    }
}
