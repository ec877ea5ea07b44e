//! Alerts: rules over the counts of `summary`, and messages by webhook and e-mail when a share is too large (issue 6).
//!
//! A file of rules (`file`, `rules`) is held against the database (`findings`), `decide` makes states and messages of it, the
//! store keeps both, and `deliver` brings the messages to where they go. Time comes in as a value everywhere.

mod command;
mod decide;
mod deliver;
mod file;
mod findings;
mod mail;
mod measure;
mod message;
mod page;
mod rules;
mod run;
mod secret;
mod webhook;

pub(crate) use command::{check, test};
pub(crate) use page::lines;
pub use rules::{Alerts, Rule};
pub use run::{keep, release, round};
