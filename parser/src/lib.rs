//! Log bytes to records to typed events.

mod reader;

pub mod cli;
pub mod file_name;
pub mod vocabulary;

pub use reader::LogReader;
