//! Log bytes to records to typed events.
//!
//! [`LogReader`] is the front door. Behind it a file goes through small stages, each testable alone: byte order mark and
//! encoding (`transcode`), kind of input (`sniff`), lines (`lines`), records with their repairs (`framing`, `prefix`,
//! `header`), meaning (`classify` over the tables of [`vocabulary`]), values (`template`). [`format`](mod@format) goes the
//! other way.
//!
//! This crate opens no file, knows no clock and no network, and never fails: what cannot be read is counted.

mod bare;
mod capture;
mod classify;
mod decode;
mod framing;
mod header;
mod lines;
mod noise;
mod prefix;
mod reader;
mod sniff;
mod template;
mod transcode;
mod window;

pub mod cli;
pub mod file_name;
pub mod format;
pub mod vocabulary;

pub use framing::Checkpoint;
pub use prefix::last_record_start;
pub use reader::LogReader;
