//! Damage to a finished log: what no runtime does by itself, and what must still be read as far as possible.
//!
//! The truth stays what happened, so a reader that loses a verdict to the damage is counted as such; only the finding that
//! names the damage is added.

use wire::End;

use crate::description::Mutation;
use crate::dice::Dice;
use crate::log::Log;
use crate::writer::{Mark, Spelling};

/// A reason that is in no table.
const NEW_TOKEN: &str = "quiet_hours";

/// Damages the log, or leaves it as it is; answers what was done.
pub(crate) fn mutate(log: &mut Log<'_>, mut dice: Dice, spelling: Spelling, end: &mut End) -> Option<&'static str> {
    let rates = Mutation::ALL.iter().map(|own| (*own, log.fleet.mutations.get(own).copied().unwrap_or_default()));
    let thrown: Vec<_> = rates.filter(|(_, rate)| dice.chance(*rate)).map(|(mutation, _)| mutation).collect();
    let done = thrown.into_iter().find(|mutation| match mutation {
        Mutation::SplicedLine => splice(log),
        Mutation::CutLine => spelling != Spelling::Utf16 && cut_line(log),
        Mutation::RenamedKey => rename_key(log),
        Mutation::RenamedWindowKey => rename_window_key(log),
        Mutation::NewToken => new_token(log),
        Mutation::CutFile => cut_file(log, end),
    });
    done.map(Mutation::as_str)
}

/// The last full placement record that has its text.
fn placement(log: &Log<'_>) -> Option<Mark> {
    log.w.marks.iter().rfind(|mark| mark.shape.starts_with("wp.g") && mark.body < mark.bytes.end).cloned()
}

fn splice(log: &mut Log<'_>) -> bool {
    const UP_TO_LEVEL: usize = "[2026-09-14 12:00:00.137] [WARN ] ".len();
    let Some(mark) = placement(log) else { return false };
    let start = mark.bytes.start;
    let mut prefix = log.w.text[start..start + UP_TO_LEVEL].to_vec();
    prefix.extend_from_slice(b"[submit_fallback] ");
    log.w.text.splice(start..start, prefix);
    log.note("spliced_record", "", mark.line);
    true
}

fn cut_line(log: &mut Log<'_>) -> bool {
    const KEPT_BYTES: usize = 40;
    let Some(mark) = placement(log) else { return false };
    log.w.text.splice(mark.body + KEPT_BYTES..mark.bytes.end, [0]);
    log.note("truncated_record", "weave placement:", mark.line);
    true
}

fn rename_key(log: &mut Log<'_>) -> bool {
    let Some(mark) = placement(log) else { return false };
    let renamed =
        replace(log, &mark, "(split=", "(weave_split=") || replace(log, &mark, "panel scanout", "panel_scanout");
    if renamed {
        log.note("unrecognised_shape", "weave placement:", mark.line);
    }
    renamed
}

fn rename_window_key(log: &mut Log<'_>) -> bool {
    let windows = log.w.marks.iter().filter(|mark| matches!(mark.shape, "rd.inproc" | "rd.split"));
    // From the last one, because a longer text moves all that stands behind it.
    let windows: Vec<_> = windows.rev().cloned().collect();
    for mark in &windows {
        replace(log, mark, "no_slot=", "slotless=");
    }
    !windows.is_empty()
}

fn new_token(log: &mut Log<'_>) -> bool {
    let placed = |mark: &&Mark| matches!(mark.shape, "wp.g2.on_render" | "wp.changed");
    let Some(mark) = log.w.marks.iter().rfind(placed).filter(|mark| mark.body < mark.bytes.end).cloned() else {
        return false;
    };
    let text = &log.w.text[mark.body..mark.bytes.end];
    let Some(at) = find(text, b"reason=").map(|at| mark.body + at + b"reason=".len()) else { return false };
    let Some(len) = find(&log.w.text[at..mark.bytes.end], b")") else { return false };
    log.w.text.splice(at..at + len, NEW_TOKEN.bytes());
    log.note("unknown_reason_token", NEW_TOKEN, mark.line);
    log.mismatch = Some(mark.line);
    true
}

fn cut_file(log: &mut Log<'_>, end: &mut End) -> bool {
    const KEPT_BYTES: usize = 10;
    let text = &log.w.text;
    let Some(last) = (0..text.len()).rev().find(|at| text[*at] == b'[' && (*at == 0 || text[*at - 1] == b'\n')) else {
        return false;
    };
    // What only the lost record tells can be found no more.
    if let Some(line) = log.w.marks.last().filter(|mark| mark.bytes.start == last).map(|mark| Some(mark.line)) {
        let record = ["bridge_degraded", "device_removed", "unrecognised_shape", "empty_body"];
        log.due.retain(|(code, _), own| *own != line || !record.contains(code));
    }
    log.w.text.truncate(last + KEPT_BYTES);
    *end = End::Missing;
    true
}

fn replace(log: &mut Log<'_>, mark: &Mark, from: &str, to: &str) -> bool {
    let Some(at) = find(&log.w.text[mark.body..mark.bytes.end], from.as_bytes()) else { return false };
    let at = mark.body + at;
    log.w.text.splice(at..at + from.len(), to.bytes());
    true
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
