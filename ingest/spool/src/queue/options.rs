//! How is a queue kept, and why does it not take an entry?

use std::io;
use std::path::PathBuf;

/// How a queue is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where it is kept; nothing else may be kept there but a [`crate::Lock`] and maps. Made when it is missing.
    pub folder: PathBuf,
    /// Most bytes that may wait, with 28 bytes for each entry. On disk it may be one segment more.
    pub cap_bytes: u64,
    /// A segment that reaches this is closed. The larger, the later a disk gets space back.
    pub segment_bytes: u64,
}

impl Options {
    /// Options with segments of 1 MiB.
    pub fn new(folder: impl Into<PathBuf>, cap_bytes: u64) -> Self {
        Self { folder: folder.into(), cap_bytes, segment_bytes: 1 << 20 }
    }
}

/// Why an entry was not taken. The queue is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The cap is reached: wait for acknowledgements, or [`Queue::drop_oldest`](super::Queue::drop_oldest).
    #[error(
        "the queue has reached its cap of {cap_bytes} bytes; wait until the server takes entries, or raise the cap"
    )]
    Full {
        /// [`Options::cap_bytes`].
        cap_bytes: u64,
    },
    /// No waiting will help: the entry is longer than the queue can ever hold.
    #[error("the entry is longer than {most_bytes} bytes; split it, or raise the queue's cap")]
    TooLarge {
        /// The longest entry that the queue takes.
        most_bytes: u64,
    },
    /// The disk did not take it. It can be pushed again once the cause is gone.
    #[error("failed to write the queue in {}; check that the disk has space and can be written", folder.display())]
    Io {
        /// The queue's folder.
        folder: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}
