//! Which files a list of paths means: files as they are, folders with everything below them.
//!
//! Links are followed. A link back to a folder above is a loop: it is said and not followed. A folder that is reached
//! twice is read once. Pipes, sockets and devices could block for ever and are left out with a message.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::problems::Problems;

/// A regular file that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFile {
    /// As it was given, or as it was reached from the folder that was given.
    pub path: PathBuf,
    /// Its size when it was found; it may grow.
    pub size_bytes: u64,
}

/// Finds the files that `path` means, by name. What is no file and no folder is said.
pub fn files(path: &Path, problems: &Problems) -> Vec<FoundFile> {
    let name = path.to_string_lossy();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => below(path, problems),
        Ok(metadata) if metadata.is_file() => {
            vec![FoundFile { path: path.to_owned(), size_bytes: metadata.len() }]
        }
        Ok(_) => {
            problems.unreadable(&name, super::NO_FILE);
            Vec::new()
        }
        Err(error) => {
            problems.unreadable(&name, format_args!("failed to find it: {error}"));
            Vec::new()
        }
    }
}

fn below(folder: &Path, problems: &Problems) -> Vec<FoundFile> {
    let mut found = Vec::new();
    let mut seen: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let name = error.path().unwrap_or(folder).to_string_lossy();
                match (error.loop_ancestor(), error.io_error()) {
                    (Some(above), _) => problems.unreadable(
                        &name,
                        format_args!("not followed: it is a loop back to {}", above.to_string_lossy()),
                    ),
                    (None, Some(cause)) => problems.unreadable(&name, format_args!("failed to read it: {cause}")),
                    (None, None) => problems.unreadable(&name, "failed to read it"),
                }
                continue;
            }
        };
        let name = entry.path().to_string_lossy();
        if entry.file_type().is_dir() {
            // Links that branch can make exponentially many ways to one folder, without any loop.
            let Ok(real) = fs::canonicalize(entry.path()) else { continue };
            if let Some(first) = seen.get(&real) {
                problems.note(format_args!("{name}: not read again: it is the same folder as {}", first.display()));
                entries.skip_current_dir();
            } else {
                seen.insert(real, entry.path().to_owned());
            }
        } else if entry.file_type().is_file() {
            let size_bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            found.push(FoundFile { path: entry.into_path(), size_bytes });
        } else {
            problems.unreadable(&name, "left out: it is a pipe, socket or device");
        }
    }
    found
}
