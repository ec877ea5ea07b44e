//! Where logs come from: files, folders, bundles, standard input, and the runtime's own folder.

pub mod named;
pub mod walk;

use std::ffi::OsString;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The folder that the runtime itself writes to (contract section 6); `None` when the environment does not tell.
pub fn runtime_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("DisplayXR"))
}

/// The last part of a path as text.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Opens a regular file for reading; anything else is an error that says what it is. Never waits, neither for the other end
/// of a pipe nor for a kernel that has nothing to say yet: what would wait fails. On Windows others may write, rename and
/// delete the file meanwhile, as the runtime does.
pub fn open(path: &Path) -> io::Result<File> {
    // Asked before opening, because opening a device can make it act, and again afterwards, because names change.
    regular(fs::metadata(path)?.file_type())?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

fn regular(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "it is a folder" } else { NO_FILE };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// What to do about an input that could keep us waiting for ever.
pub const NO_FILE: &str = "it is a pipe, socket or device; pipe its contents in and give `-` instead";

/// True for a pipe that the shell made for this command, such as `<(zcat x.log.gz)`. Somebody writes into it and will end,
/// and it can be opened without waiting; neither holds for a pipe that lies in a folder.
pub fn is_handed_over(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    let handed = path == Path::new("/dev/stdin") || folders.iter().any(|own| path.parent() == Some(Path::new(own)));
    handed && fs::metadata(path).is_ok_and(|metadata| is_pipe(metadata.file_type()))
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}
