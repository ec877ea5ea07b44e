//! The harness of the end-to-end tests: it starts the real programs, talks to them from outside and cleans up.
//!
//! The tests themselves are the modules of `it/`, one binary. `tests/run` is the command that runs them all: it builds
//! the programs that [`program`] looks for and starts the PostgreSQL that [`postgres`] connects to.

pub mod agent;
pub mod batches;
pub mod browser;
pub mod evil;
pub mod fleet;
pub mod http;
pub mod kills;
pub mod layering;
pub mod logs;
pub mod postgres;
pub mod program;
pub mod random;
pub mod server;
pub mod torture;
