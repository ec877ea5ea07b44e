//! From the bytes of a log or a bundle to everything that is said about it: the scan object, the whole explanation, two
//! logs side by side, what should have happened instead.
//!
//! [`scan::report`] reads one log, [`bundle::members`] takes a bundle apart, [`one`] finds the log that is meant,
//! [`explain::Dossier`] gathers all about it, [`cost`] what crossing costs, [`replay::source`] reads a machine, and [`document`] prints a page as text or
//! markdown. The command line and the server both answer through here, which is why they answer the same bytes.
//!
//! This crate opens no file and asks no clock, terminal or network: whoever calls hands in readers and takes values.

pub mod bundle;
pub mod cost;
pub mod diff;
pub mod document;
pub mod escape;
pub mod explain;
pub mod one;
pub mod reading;
pub mod replay;
pub mod row;
pub mod scan;
