//! What every handler can reach.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::store::Store;

/// Shared by all requests; cheap to clone.
pub type App = Arc<State>;

/// The state of a running server.
#[derive(Debug)]
pub struct State {
    /// The database.
    pub store: Store,
    /// `demo` only: its throw-away data may be read without a token on this machine, so that curl shows something.
    pub open_on_loopback: bool,
    /// Batches that are unpacked and stored at the same time. Each may take half a gigabyte for a moment.
    pub uploads: Semaphore,
}

impl State {
    /// The state of `serve`.
    pub fn new(store: Store) -> Self {
        Self { store, open_on_loopback: false, uploads: Semaphore::new(2) }
    }

    /// The state of `demo`.
    pub fn for_demo(store: Store) -> Self {
        Self { open_on_loopback: true, ..Self::new(store) }
    }
}
