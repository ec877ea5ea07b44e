//! Scripts of events against the rules of contract section 2, and the laws that hold for any script.

mod build;
mod laws;
mod observed;
mod sessions;
mod single;
