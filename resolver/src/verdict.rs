//! The verdict of a log (contract section 2) and its findings (contract section 3).
//!
//! One subject a file: [`judge`](Judge) is the fold, `session` what one session remembers, `decision` the pure rules
//! from that memory to a verdict, `code` and `findings` what a reader should know, `silence` why a placement line may
//! be missing, `path` and `generation` what the neighbours tell, `kept` how much of the past is carried along.

mod code;
mod decision;
mod doubts;
mod findings;
mod generation;
mod judge;
mod kept;
mod path;
mod session;
mod silence;
mod strange;
#[cfg(test)]
mod tests;

pub use code::Code;
pub use doubts::{ON_TOKENS, rests_on};
pub use judge::Judge;
pub use strange::{Strange, strange};
