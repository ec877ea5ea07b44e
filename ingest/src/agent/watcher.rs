//! Hints from the system that something changed below a folder. A hint is no truth: it only says where to look first, and
//! without any the folders are polled.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use follow::{Folder, Scope};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::agent::shared::Waker;

/// Where something changed. More than this are one hint: look everywhere.
type Changed = Arc<Mutex<BTreeSet<PathBuf>>>;

/// The hints of all folders.
pub struct Watcher {
    changed: Changed,
    /// Hints end when it goes.
    system: Option<RecommendedWatcher>,
    /// Folders that were not there.
    missing: Vec<PathBuf>,
}

impl Watcher {
    /// No hints ever.
    pub fn none() -> Self {
        Self { changed: Changed::default(), system: None, missing: Vec::new() }
    }

    /// Hints for these folders. A folder that is not there yet is watched through the one above it.
    pub fn start(waker: &Waker, folders: &[Folder]) -> Self {
        let changed = Changed::default();
        let (heard, waker) = (changed.clone(), waker.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            // Reading is no change, and our own reading is most of it.
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            heard.lock().unwrap_or_else(PoisonError::into_inner).extend(event.paths);
            waker.wake();
        });
        let Ok(mut watcher) = watcher else { return Self::none() };
        // Polling alone is right too, only slower; half a set of hints would hide what has none.
        if !folders.iter().all(|folder| watch(&mut watcher, folder)) {
            return Self::none();
        }
        let missing = folders.iter().filter(|folder| !folder.path.is_dir()).map(|folder| folder.path.clone()).collect();
        Self { changed, system: Some(watcher), missing }
    }

    /// True when changes are told.
    pub const fn watches(&self) -> bool {
        self.system.is_some()
    }

    /// True when a folder has come that was not there.
    pub fn is_stale(&self) -> bool {
        self.missing.iter().any(|folder| folder.is_dir())
    }

    /// Where something changed since the last call.
    pub fn take(&self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Watches a folder with everything below it, or the nearest folder above it that exists, whose changes tell when it comes.
fn watch(watcher: &mut RecommendedWatcher, folder: &Folder) -> bool {
    let Folder { path, scope, .. } = folder;
    if path.is_dir() {
        // The folder of other programs changes all the time further down.
        let mode = if *scope == Scope::NamedLogs { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
        return watcher.watch(path, mode).is_ok();
    }
    path.ancestors().skip(1).find(|above| above.is_dir()).is_some_and(|above| {
        // Not what is below: that may be the whole disk.
        watcher.watch(above, RecursiveMode::NonRecursive).is_ok()
    })
}
