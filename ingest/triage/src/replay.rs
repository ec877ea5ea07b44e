//! A machine as a file tells it ([`source`]), added to what a log tells ([`beside`]), and an answer of the resolver in words
//! ([`words`]), as a drawing ([`picture`]) and as a page.

pub mod beside;
mod cli_output;
mod machine_file;
mod page;
pub mod picture;
pub mod source;
pub mod words;

pub use page::{Open, page};
