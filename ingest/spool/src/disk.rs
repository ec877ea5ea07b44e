//! How is a small file replaced so that a crash leaves the old or the new one, and the one before besides?
//!
//! Written under another name, brought to disk, renamed; the folder is brought to disk too, because on Unix a new name
//! is only there after a power cut when its folder is. Windows writes names through its own journal and has no such call.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Replaces `name` in `folder` with `bytes`. The file before stays as `name.bak` when `keep_previous` says so, which
/// is wrong only for a file that is known to be broken: it would push a good copy out.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8], keep_previous: bool) -> io::Result<()> {
    let next = next_of(folder, name);
    let done = write_whole(&next, bytes).and_then(|()| swap(folder, name, keep_previous));
    if done.is_err() {
        // Half a file is of no use, and its bytes may be what the disk lacks.
        let _ = fs::remove_file(&next);
    }
    done
}

/// `name.bak` in `folder`: the copy before the current one.
pub(crate) fn backup_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.bak"))
}

/// `name.new` in `folder`: the copy that is being written.
pub(crate) fn next_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.new"))
}

/// Brings the names in a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The first `most_bytes` of a file; nothing when there is no such file.
pub(crate) fn read(path: &Path, most_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(most_bytes).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Removes a file. That it is gone already is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Is this the error of a disk or a quota that is used up?
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn swap(folder: &Path, name: &str, keep_previous: bool) -> io::Result<()> {
    let (current, backup) = (folder.join(name), backup_of(folder, name));
    let kept = keep_previous && rename_if_there(&current, &backup)?;
    if let Err(error) = fs::rename(next_of(folder, name), &current) {
        if kept {
            let _ = fs::rename(&backup, &current);
        }
        return Err(error);
    }
    sync_folder(folder)
}

/// Renames a file over another one and says whether it was there.
pub(crate) fn rename_if_there(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
