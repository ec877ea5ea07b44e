//! The progress bar of a scan: only on a terminal, only when there is enough to do that somebody would wonder.

use std::io::{self, Read};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Less than this is read before a bar could be seen.
const WORTH_A_BAR_BYTES: u64 = 64 << 20;
const WORTH_A_BAR_FILES: usize = 500;

/// Bytes done and left, shared by all threads.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Default for Progress {
    /// Not seen until it starts.
    fn default() -> Self {
        Self { bar: ProgressBar::hidden() }
    }
}

impl Progress {
    pub(crate) fn start(&self, total_bytes: u64, files: usize) {
        if total_bytes < WORTH_A_BAR_BYTES && files < WORTH_A_BAR_FILES {
            return;
        }
        self.bar.set_length(total_bytes);
        if let Ok(style) = ProgressStyle::with_template("reading logs {bar:30} {bytes}/{total_bytes}, {eta} left") {
            self.bar.set_style(style);
        }
        // Hides itself when stderr is no terminal.
        self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    }

    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    pub(crate) fn done(&self) {
        self.bar.tick();
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Counts what is read from `input`.
    pub(crate) fn follow<R: Read>(&self, input: R) -> impl Read {
        Followed { input, bar: &self.bar }
    }
}

struct Followed<'a, R> {
    input: R,
    bar: &'a ProgressBar,
}

impl<R: Read> Read for Followed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bar.inc(count as u64);
        Ok(count)
    }
}
