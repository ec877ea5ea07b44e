//! Finds the one log that `explain`, `diff` and `replay` are asked about: a file, standard input or a pipe, the last log of
//! a bundle, or the member of a bundle that is named as reports name it.

use std::path::Path;

use anyhow::{Context as _, Result};
use triage::one::{self, Found};
use wire::Observation;

use crate::source::{self, named};

/// Reads the log that `path` means. `sink` gets its observations only.
pub fn read(path: &Path, sink: &mut dyn FnMut(Observation)) -> Result<Found> {
    if let Some((bundle, member)) = named::member(path) {
        let mut file = source::open(&bundle).context("failed to open the bundle")?;
        return one::of_bundle(&mut file, &bundle.to_string_lossy(), Some(&member), sink);
    }
    one::read(named::open(path)?, &path.to_string_lossy(), sink)
}
