//! What went wrong on the way: each problem is said on stderr at once and counted, so that nothing is left out in
//! silence.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::ProgressBar;

use crate::exit::Exit;
use triage::escape;

/// The voice on stderr, shared by all threads.
pub struct Problems {
    progress: ProgressBar,
    unreadable: AtomicU64,
}

impl Problems {
    /// Writes above this progress bar, which may be a hidden one.
    pub const fn new(progress: ProgressBar) -> Self {
        Self { progress, unreadable: AtomicU64::new(0) }
    }

    /// Says why an input could not be read, or not to its end, and counts it.
    pub fn unreadable(&self, name: &str, why: impl Display) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
        self.note(format_args!("{name}: {why}"));
    }

    /// Says something that is worth knowing but loses nothing.
    pub fn note(&self, text: impl Display) {
        // Names and messages of the operating system may hold anything that a file name may hold.
        let line = escape::terminal(&text.to_string()).into_owned();
        // When stderr itself is gone there is nobody left to tell; the exit code still says it.
        self.progress.suspend(|| drop(writeln!(std::io::stderr().lock(), "weavewatch: {line}")));
    }

    /// How many inputs could not be read so far.
    pub fn count(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// `Unreadable` when there was one.
    pub fn exit(&self) -> Exit {
        if self.count() == 0 { Exit::Done } else { Exit::Unreadable }
    }
}

/// Says one thing on stderr, for commands that have nothing to count.
pub fn say(text: impl Display) {
    Problems::new(ProgressBar::hidden()).note(text);
}
