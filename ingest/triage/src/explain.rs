//! One log, everything that is to be said about it: gathered in a [`Dossier`], told to programs as [`Explained`] and to
//! people as a [`page`].

pub mod causes;
pub mod caveats;
mod dossier;
mod object;
mod page;
pub mod questions;
pub mod timeline;
pub mod verdict;

pub use dossier::{Dossier, Gathering, Seen};
pub use object::Explained;
pub use page::page;
