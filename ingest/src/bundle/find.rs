//! Which files go into a bundle, and which do not, with the reason.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use follow::{Folder, Scope};
use walkdir::{DirEntry, WalkDir};

use super::since::Since;
use crate::source;

/// What the runtime and its captures are named like. Anything else in a folder, dumps above all, may hold what no rule for
/// lines of text can take out.
const ENDINGS: [&str; 6] = ["log", "txt", "json", "jsonl", "ndjson", "stderr"];

/// A file that goes into the bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundLog {
    /// Where it lies.
    pub path: PathBuf,
    /// Its size when it was found; it may grow.
    pub size_bytes: u64,
}

/// What the folders hold.
#[derive(Debug, Default)]
pub struct Found {
    /// By folder, then name.
    pub logs: Vec<FoundLog>,
    /// What is there and cannot be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Logs that are older than what was asked for.
    pub older: u64,
    /// Files that are not named like a log or a capture.
    pub not_logs: u64,
}

impl Found {
    /// Looks through the folders. A file that is reached twice is taken once.
    pub fn in_folders(folders: &[Folder], since: Option<Since>) -> Self {
        let mut found = Self::default();
        let mut seen = HashSet::new();
        for folder in folders {
            match fs::metadata(&folder.path) {
                Ok(metadata) if metadata.is_dir() => found.look_through(folder, since, &mut seen),
                Ok(_) => found.cannot(&folder.path, &"it is no folder"),
                Err(error) if folder.required => found.cannot(&folder.path, &error),
                Err(_) => {}
            }
        }
        found
    }

    fn look_through(&mut self, folder: &Folder, since: Option<Since>, seen: &mut HashSet<PathBuf>) {
        let depth = if folder.scope == Scope::Tree { usize::MAX } else { 1 };
        let entries = WalkDir::new(&folder.path).follow_links(true).max_depth(depth).min_depth(1).sort_by_file_name();
        for entry in entries {
            match entry {
                Ok(entry) => self.entry(&entry, folder.scope, since, seen),
                Err(error) => {
                    let path = error.path().unwrap_or(&folder.path).to_owned();
                    let why = match (error.loop_ancestor(), error.io_error()) {
                        (Some(_), _) => "not followed: it is a loop back to a folder above".to_owned(),
                        (None, Some(cause)) => cause.to_string(),
                        (None, None) => "it cannot be read".to_owned(),
                    };
                    // In a folder of other programs only what is named like a log is ours to complain about.
                    if folder.scope == Scope::Tree || is_named_log(&path) {
                        self.cannot(&path, &why);
                    }
                }
            }
        }
    }

    fn entry(&mut self, entry: &DirEntry, scope: Scope, since: Option<Since>, seen: &mut HashSet<PathBuf>) {
        let path = entry.path();
        if entry.file_type().is_dir() {
            if is_named_log(path) {
                self.cannot(path, &"it is a folder");
            }
            return;
        }
        let wanted = match scope {
            Scope::Tree => is_named_log(path) || has_ending(path),
            Scope::NamedLogs => is_named_log(path),
        };
        if !wanted {
            self.not_logs += u64::from(scope == Scope::Tree);
            return;
        }
        if !entry.file_type().is_file() {
            return self.cannot(path, &source::NO_FILE);
        }
        let metadata = entry.metadata().ok();
        let modified: Option<SystemTime> = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        let process = parser::file_name::process(&source::file_name(path));
        let started = process.and_then(|process| process.started);
        if since.is_some_and(|since| !since.takes(started.as_deref(), modified)) {
            self.older += 1;
        } else if seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())) {
            let size_bytes = metadata.map_or(0, |metadata| metadata.len());
            self.logs.push(FoundLog { path: path.to_owned(), size_bytes });
        }
    }

    fn cannot(&mut self, path: &Path, why: &dyn std::fmt::Display) {
        self.unreadable.push((path.to_owned(), why.to_string()));
    }
}

fn is_named_log(path: &Path) -> bool {
    parser::file_name::process(&source::file_name(path)).is_some()
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}
