//! The exact line that the runtime would print, masking included (vocabulary section 2).
//!
//! One helper prints the line for every path, and what it tests first hides what it would test later: scanout unresolved,
//! render unknown, equal adapters, split active, the caller's reason. So the printed token can differ from the reason.

use std::fmt::Write;

use wire::Luid;

use super::trace::outcomes;

outcomes! {
    /// Which of its tests decided the wording.
    Mask {
        /// The panel's adapter is not known.
        ScanoutUnresolved => "scanout unresolved",
        /// The app's adapter is not known.
        RenderUnknown => "render unknown",
        /// Both are one adapter, whether or not the split is up.
        SameAdapter => "same adapter",
        /// The split is up.
        SplitActive => "split active",
        /// The reason that the caller gave.
        Reason => "reason of the caller",
        /// The split was taken back: the line without adapters.
        Changed => "changed",
        /// A client's presenter: the record of the pipeline.
        Presenter => "presenter",
        /// Nothing is printed on this path.
        None => "no line on this path",
        /// A part of it cannot be told.
        Unknown => "unknown",
    }
}

/// A name with its LUID, as the line prints it.
pub type Named<'a> = (&'a str, Luid);

/// What the helper prints, and what it tells about the split.
pub struct Line {
    pub mask: Mask,
    pub text: String,
}

/// The full line. A reason that the caller does not give prints `unknown`.
pub fn placement(
    render: Option<Named<'_>>,
    scanout: Option<Named<'_>>,
    same: bool,
    active: bool,
    reason: Option<&str>,
) -> Line {
    let mut text = String::with_capacity(256);
    text.push_str("weave placement: render=");
    adapter(&mut text, render, "UNKNOWN");
    text.push_str(", panel scanout=");
    adapter(&mut text, scanout, "UNRESOLVED");
    let reason = reason.unwrap_or("unknown");
    let (mask, parts): (Mask, [&str; 3]) = match (render, scanout) {
        (_, None) => (
            Mask::ScanoutUnresolved,
            [" — cannot tell whether the weave crosses adapters (split=0 reason=scanout_unresolvable", "", ""],
        ),
        (None, Some(_)) => (
            Mask::RenderUnknown,
            [
                " — weave on the RENDER adapter; every present crosses adapters to reach scanout",
                " if they differ (split=0 reason=",
                reason,
            ],
        ),
        _ if same => (
            Mask::SameAdapter,
            [" — render and scanout share one adapter; weave is local (split=0 reason=same_adapter", "", ""],
        ),
        _ if active => (Mask::SplitActive, [" — weave/present on the SCANOUT adapter (split=1", "", ""]),
        _ => (
            Mask::Reason,
            [
                " — weave on the RENDER adapter; every present crosses adapters to reach scanout",
                " (split=0 reason=",
                reason,
            ],
        ),
    };
    for part in parts {
        text.push_str(part);
    }
    text.push_str(") (#918)");
    Line { mask, text }
}

/// The line of a split that was taken back; it names no adapters.
pub fn changed(reason: &str) -> Line {
    let text = format!(
        "weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session \
         (split=0 reason={reason}) (#918)"
    );
    Line { mask: Mask::Changed, text }
}

/// The service's record of a client that presents by itself.
pub fn presenter(reason: &str) -> Line {
    let text = format!("[pipeline] this presenter weaves on the RENDER adapter (split=0 reason={reason})");
    Line { mask: Mask::Presenter, text }
}

/// The formatter gives up on characters above U+00FF and leaves a record with an empty body (vocabulary 1.5).
pub fn prints(name: &str) -> bool {
    name.is_ascii() || name.chars().all(|character| character <= '\u{ff}')
}

fn adapter(text: &mut String, named: Option<Named<'_>>, unknown: &str) {
    match named {
        Some((name, luid)) => {
            // Writing into a string cannot fail.
            let _ = write!(text, "'{name}' LUID={luid}");
        }
        None => text.push_str(unknown),
    }
}
