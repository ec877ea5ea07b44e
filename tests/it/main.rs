//! Everything that needs more than one crate: the fences between them, and the programs as their users meet them.

mod layering;
