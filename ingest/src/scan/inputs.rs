//! What the paths on the command line mean: standard input, pipes of the shell, and the files below them.

use std::path::{Path, PathBuf};

use crate::problems::Problems;
use crate::source::{self, walk};

/// Something to read.
pub(super) enum Input {
    /// Standard input, or a pipe that the shell made.
    Stream(PathBuf),
    File(walk::FoundFile),
}

impl Input {
    pub(super) const fn size_bytes(&self) -> u64 {
        match self {
            Self::Stream(_) => 0,
            Self::File(file) => file.size_bytes,
        }
    }
}

/// What the paths on the command line mean.
pub(super) fn inputs(paths: &[PathBuf], problems: &Problems) -> Vec<Input> {
    let mut inputs = Vec::new();
    if paths.is_empty() {
        match source::runtime_folder() {
            Some(folder) if folder.is_dir() => {
                inputs.extend(walk::files(&folder, problems).into_iter().map(Input::File));
            }
            Some(folder) => problems.unreadable(
                &folder.to_string_lossy(),
                "the runtime has no log folder here; name the files, folders or bundles to read",
            ),
            None => problems.unreadable(
                "log folder",
                "neither XDG_DATA_HOME nor HOME nor LOCALAPPDATA is set; name the files, folders or bundles to read",
            ),
        }
    }
    for path in paths {
        if path == Path::new("-") || source::is_handed_over(path) {
            inputs.push(Input::Stream(path.clone()));
            continue;
        }
        let files = walk::files(path, problems);
        if files.is_empty() && path.is_dir() {
            problems.note(format_args!("{}: no file in this folder", path.display()));
        }
        inputs.extend(files.into_iter().map(Input::File));
    }
    inputs
}
