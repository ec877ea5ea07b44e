//! The reference rules: what a log's typed events mean.
//!
//! Facts in, decisions out: no file, clock, environment or network is ever asked, so the same events give the same
//! answer in the agent, on the command line and on the server. This crate does not know how a line is spelled; it reads
//! kinds and values only.
//!
//! The way of an event: [`Judge::push`] hands it to the session that is open, to the collection of findings and to the
//! marks of path and build; [`Judge::finish`] decides the last session and puts the [`wire::Judgement`] together.
//!
//! The other way round, [`replay`] says what should have happened on a machine. [`Examiner`] does both in one pass and compares
//! them; programs read logs through it. [`cost`] says what crossing costs, and what other ways would.

/// The number of the rules. Raise it by one with every change, here or in what `parser` makes of a record that was stored, by
/// which the same observations come to another [`wire::Judgement`], and with every field that a [`wire::ScanReport`] gets or
/// loses, or a [`cost::session`]. Servers keep the number beside each verdict and judge anew what older rules have judged.
pub const RULES: u32 = 2;

pub mod cost;
mod examine;
mod levers;
mod mask;
pub mod replay;
mod verdict;

pub use examine::{Examination, Examiner};
pub use levers::Lever;
pub use verdict::{Code, Judge, ON_TOKENS, Strange, rests_on, strange};
