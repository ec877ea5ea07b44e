//! How far a long command has come: only on a terminal, and gone when it is done.

use std::io::Read;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar or a counter on stderr; nothing when that is no terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Counts without knowing the end: `what 120,000 rows`.
    pub fn counter(what: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_prefix(what);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {human_pos} rows, {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(125));
        Self(bar)
    }

    /// So many things: `what 120 of 4,100`.
    pub fn items(what: &'static str, total: u64) -> Self {
        let bar = ProgressBar::new(total).with_prefix(what);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {human_pos} of {human_len}, {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(125));
        Self(bar)
    }

    /// Bytes of a file.
    pub fn bytes(what: &'static str, total: u64) -> Self {
        let bar = ProgressBar::new(total).with_prefix(what);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {bytes}/{total_bytes}, {eta} left") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// So much more is done.
    pub fn add(&self, amount: u64) {
        self.0.inc(amount);
    }

    /// Makes room for what is printed meanwhile.
    pub fn beside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.suspend(print)
    }

    /// Counts what is read from `input`.
    pub fn follow<R: Read>(&self, input: R) -> impl Read {
        self.0.wrap_read(input)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
