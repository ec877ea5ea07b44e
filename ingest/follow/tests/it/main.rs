//! What following gives for everything that can happen to a file.

mod common;
mod content;
mod disks;
mod files;
mod identity;
mod model;
