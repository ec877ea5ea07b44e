//! Who may write into a folder? The one process that holds its lock.
//!
//! The lock is the operating system's and goes with the process, however that ends: a lock file left behind locks
//! nothing. The process number stands in a second file, because on Windows a locked file cannot be read.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const LOCK_NAME: &str = "lock";
const OWNER_NAME: &str = "lock.owner";

/// The right to write into a folder. Given back when it is dropped.
#[derive(Debug)]
pub struct Lock {
    owner: PathBuf,
    // Closing the file gives the lock back.
    _file: File,
}

/// Why the folder cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{} is in use by {}; stop that program first, or choose another folder", folder.display(), owner_text(owner.as_deref()))]
    Held {
        /// The folder.
        folder: PathBuf,
        /// The other process's number, when it could be read.
        owner: Option<String>,
    },
    /// The folder or the lock cannot be made, or the file system knows no locks.
    #[error("failed to lock {}; check that the folder is on a local disk and that this account may write there", path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

impl Lock {
    /// Locks the folder, which is made when it is missing. Does not wait.
    ///
    /// # Errors
    /// [`LockError::Held`] when another process has it, [`LockError::Io`] when the lock cannot be asked for.
    pub fn take(folder: &Path) -> Result<Self, LockError> {
        let path = folder.join(LOCK_NAME);
        let failed = |source| LockError::Io { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        let owner = folder.join(OWNER_NAME);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let owner = fs::read_to_string(&owner).ok().map(|text| text.trim().to_owned());
                // Only a number may reach a terminal from here.
                let owner = owner.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
                return Err(LockError::Held { folder: folder.to_owned(), owner });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // It only makes an error message better: a full disk must not keep the program from starting.
        let _ = fs::write(&owner, format!("{}\n", std::process::id()));
        Ok(Self { owner, _file: file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before the lock itself goes, or it could be the next owner's file.
        let _ = fs::remove_file(&self.owner);
    }
}

fn owner_text(owner: Option<&str>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |number| format!("process {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_other_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let first = Lock::take(folder.path()).expect("nobody has it");
        let error = Lock::take(folder.path()).expect_err("it is held");
        let words = format!(
            "{} is in use by process {}; stop that program first, or choose another folder",
            folder.path().display(),
            std::process::id()
        );
        assert_eq!(error.to_string(), words);
        // What somebody else wrote into the file is not shown.
        fs::write(folder.path().join(OWNER_NAME), "\u{1b}[2J").expect("the folder is writable");
        let error = Lock::take(folder.path()).expect_err("it is held");
        assert!(error.to_string().contains("in use by another process"), "{error}");
        drop(first);
        drop(Lock::take(folder.path()).expect("it was given back"));
        // The files that a killed process leaves lock nothing.
        fs::write(folder.path().join(OWNER_NAME), "1").expect("the folder is writable");
        drop(Lock::take(folder.path()).expect("nobody has it"));
    }

    #[test]
    fn a_folder_that_cannot_be_made_says_which() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("the folder is writable");
        let error = Lock::take(&file).expect_err("a file is no folder");
        assert!(matches!(&error, LockError::Io { path, .. } if path.starts_with(&file)), "{error}");
    }
}
