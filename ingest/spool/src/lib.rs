//! What the agent keeps on disk: a [`Queue`] of entries and a [`Map`] of named values, both of which survive a crash at
//! any point, a full disk and a damaged file.
//!
//! An entry is bytes and a value is whatever serde can write; this crate knows nothing of logs, servers or time limits.
//! It is plain blocking code on top of std. Opening never fails because of what a crash left behind: it takes what can
//! be read, puts the files in order and tells in a [`Recovery`] what it found. One process at a time may write; a
//! [`Lock`] sees to that, and the read-only views need none.

mod disk;
mod line;
mod lock;
mod map;
mod queue;
mod recovery;

#[cfg(test)]
mod tests;

pub use lock::{Lock, LockError};
pub use map::Map;
pub use queue::{Entries, Entry, Options, PushError, Queue};
pub use recovery::{Finding, Recovery};
