//! One log, everything that is to be said about it: gathered in a [`Dossier`], told to programs as [`Explained`] and to
//! people as a [`page`].

pub mod causes;
mod caveats;
mod dossier;
mod object;
mod page;
mod questions;
pub mod timeline;
pub mod verdict;

pub use dossier::{Dossier, Seen};
pub use object::Explained;
pub use page::page;
