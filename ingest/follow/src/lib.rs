//! From folders to what is new in which log.
//!
//! [`Follower::look`] asks the folders, decides which log each file is and says which logs have something new.
//! [`Follower::read`] hands out the next byte range of one of them as a [`wire::Segment`] with the [`Position`] behind it.
//! When the caller has the range on its own disk, it saves the position and tells [`Follower::commit`]; until then the same
//! range is read again. So a crash anywhere repeats a range and never leaves one out.
//!
//! A log is its process, its header and its content. Paths and file ids only say where to look first: a file that no longer
//! has the bytes that were read from it is another log, and the same bytes elsewhere are the same log.
//!
//! This crate writes nothing, keeps no file open between calls, and knows no network.

mod clock;
mod content;
mod disk;
mod folders;
mod follower;
mod header;
mod position;
mod problem;
mod range;
mod tree;

pub use clock::clock;
pub use disk::{Disk, Entry, EntryKind, RealDisk, Stat};
pub use folders::{Env, Folder, RealEnv, Scope, System, default_folders};
pub use follower::{Config, Follower, Look};
pub use position::{Ended, LogKey, Position};
pub use problem::Problem;
pub use range::{Limits, Range};
