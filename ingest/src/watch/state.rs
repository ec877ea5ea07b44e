//! What the server has acknowledged, per log, in one file that survives a crash at any point.
//!
//! The file is written whole under another name, brought to disk and renamed; the one before stays as `.bak`. A second
//! run with the same folder is kept out by a lock.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::problems::Problems;

const SCHEMA: &str = "weavewatch.state/1";
const FILE_NAME: &str = "acknowledged.json";
const BACKUP_NAME: &str = "acknowledged.json.bak";
const NEXT_NAME: &str = "acknowledged.json.new";
const LOCK_NAME: &str = "lock";

/// How far one log got.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct LogState {
    /// Base name, for people who look into the file.
    pub file: String,
    /// The byte behind the last acknowledged range.
    pub end: u64,
    /// Where the last record that was told starts: it may still have grown, so the next range starts here.
    pub resume: u64,
    /// Why the server refused the range behind `end`. It is offered again in the next run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The state of all logs, by log identity.
pub(super) struct State {
    folder: PathBuf,
    logs: BTreeMap<String, LogState>,
    // Released when the state goes.
    _lock: File,
}

#[derive(Serialize, Deserialize)]
struct OnDisk {
    schema: String,
    logs: BTreeMap<String, LogState>,
}

impl State {
    /// Opens the folder, makes it where it is missing, and keeps others out. Says when it had to fall back.
    pub(super) fn open(folder: &Path, problems: &Problems) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
        let path = folder.join(LOCK_NAME);
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.with_context(|| format!("failed to open {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another weavewatch uses {}; wait for it", folder.display()),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("failed to lock {}", path.display()));
            }
        }
        Ok(Self { folder: folder.to_owned(), logs: load(folder, problems)?, _lock: lock })
    }

    /// How far this log got.
    pub(super) fn log(&self, identity: &str) -> Option<&LogState> {
        self.logs.get(identity)
    }

    /// Changes the state of one log. [`State::save`] brings it to disk.
    pub(super) fn set(&mut self, identity: &str, log: LogState) {
        self.logs.insert(identity.to_owned(), log);
    }

    /// Brings the state to disk.
    pub(super) fn save(&self) -> io::Result<()> {
        let [current, backup, next] = [FILE_NAME, BACKUP_NAME, NEXT_NAME].map(|name| self.folder.join(name));
        let on_disk = OnDisk { schema: SCHEMA.to_owned(), logs: self.logs.clone() };
        let mut file = File::create(&next)?;
        file.write_all(&serde_json::to_vec_pretty(&on_disk)?)?;
        file.sync_all()?;
        match fs::rename(&current, &backup) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(&next, &current)?;
        // On Unix a rename is only on disk when its folder is.
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }
}

/// The newest copy that can be read. Older offsets only mean that ranges are sent twice, which changes nothing.
fn load(folder: &Path, problems: &Problems) -> anyhow::Result<BTreeMap<String, LogState>> {
    let mut missing = 0;
    for name in [FILE_NAME, BACKUP_NAME] {
        let path = folder.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing += 1;
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("failed to read {}", path.display())),
        };
        match serde_json::from_slice::<OnDisk>(&bytes) {
            Ok(on_disk) if on_disk.schema == SCHEMA => {
                if name == BACKUP_NAME {
                    problems
                        .note(format_args!("{}: using this older copy; some ranges are sent again", path.display()));
                }
                return Ok(on_disk.logs);
            }
            // A newer program wrote it: going on would lose what it knows.
            Ok(on_disk) => {
                bail!("{} has the format {}, which this version does not know", path.display(), on_disk.schema)
            }
            Err(error) => problems.note(format_args!("{}: failed to read it: {error}", path.display())),
        }
    }
    if missing < 2 {
        problems.note("starting without memory of what was sent; everything is sent again, which changes nothing");
    }
    Ok(BTreeMap::new())
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressBar;

    use super::*;

    fn open(folder: &Path) -> State {
        State::open(folder, &Problems::new(ProgressBar::hidden())).expect("the folder is writable and not locked")
    }

    fn at(end: u64) -> LogState {
        LogState { file: "a.log".into(), end, resume: end / 2, refused: None }
    }

    #[test]
    fn what_was_saved_is_there() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut state = open(folder.path());
        state.set("a", at(10));
        state.save().expect("the folder is writable");
        drop(state);
        assert_eq!(open(folder.path()).log("a"), Some(&at(10)));
    }

    #[test]
    fn a_torn_file_gives_way_to_the_copy_before_it_and_two_torn_files_to_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut state = open(folder.path());
        for end in [10, 20] {
            state.set("a", at(end));
            state.save().expect("the folder is writable");
        }
        drop(state);
        fs::write(folder.path().join(FILE_NAME), "{\"schema\":\"weavew").expect("the folder is writable");
        assert_eq!(open(folder.path()).log("a"), Some(&at(10)));
        fs::write(folder.path().join(BACKUP_NAME), "").expect("the folder is writable");
        assert_eq!(open(folder.path()).log("a"), None);
    }

    #[test]
    fn a_crash_between_the_renames_loses_one_step_only() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut state = open(folder.path());
        state.set("a", at(10));
        state.save().expect("the folder is writable");
        drop(state);
        fs::rename(folder.path().join(FILE_NAME), folder.path().join(BACKUP_NAME)).expect("it was just written");
        assert_eq!(open(folder.path()).log("a"), Some(&at(10)));
    }

    #[test]
    fn a_newer_format_and_a_second_run_are_kept_out() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let problems = Problems::new(ProgressBar::hidden());
        let first = open(folder.path());
        assert!(State::open(folder.path(), &problems).is_err());
        drop(first);
        fs::write(folder.path().join(FILE_NAME), r#"{"schema":"weavewatch.state/9","logs":{}}"#)
            .expect("the folder is writable");
        assert!(State::open(folder.path(), &problems).is_err());
    }
}
