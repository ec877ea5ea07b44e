//! The agent: what `watch` runs, and what the commands around it share.
//!
//! [`reader`] looks which logs have something new (crate `follow`), takes out what must not leave ([`privacy`], crate
//! `redact`) and keeps it in the [`memory`] (crate `spool`). [`sender`] takes it from there and gives it to the server
//! ([`upload`]). Both keep to the [`config`]; [`live`] tells the other commands what only the running agent knows.

pub mod background;
pub mod batch;
pub mod config;
pub mod home;
pub mod live;
pub mod machine;
pub mod memory;
pub mod pace;
pub mod privacy;
pub mod reader;
pub mod rejected;
pub mod sender;
pub mod shared;
pub mod tally;
pub mod upload;
pub mod watcher;

use anyhow::Context as _;

/// What requests to the server run on: one thread.
///
/// # Errors
/// When the system has nothing left to give.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("failed to start the network runtime")
}
