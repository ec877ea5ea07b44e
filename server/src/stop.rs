//! How the program is asked to end: ctrl-c, and SIGTERM where there is one.
//!
//! A signal that comes before anybody listens kills the process on the spot. So listening starts before the address is
//! told to anybody, not when the first one waits for the signal.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::Signal;
#[cfg(windows)]
use tokio::signal::windows::{CtrlC as Signal, CtrlClose as Closing};

#[cfg(unix)]
use Signal as Closing;

/// Listens from its making on.
#[derive(Debug)]
pub struct Stop {
    interrupt: io::Result<Signal>,
    terminate: io::Result<Closing>,
}

impl Stop {
    /// Starts to listen. What cannot be listened for never comes; the log says so.
    pub fn listen() -> Self {
        #[cfg(unix)]
        let (interrupt, terminate) = {
            use tokio::signal::unix::{SignalKind, signal};
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        };
        #[cfg(windows)]
        let (interrupt, terminate) = (tokio::signal::windows::ctrl_c(), tokio::signal::windows::ctrl_close());
        for error in [interrupt.as_ref().err(), terminate.as_ref().err()].into_iter().flatten() {
            tracing::warn!("failed to listen for the signals to stop: {error}");
        }
        Self { interrupt, terminate }
    }

    /// Done when somebody has asked.
    pub async fn asked(self) {
        tokio::select! {
            Some(()) = async { self.interrupt.ok()?.recv().await } => {}
            Some(()) = async { self.terminate.ok()?.recv().await } => {}
            else => std::future::pending().await,
        }
    }
}
