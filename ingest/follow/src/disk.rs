//! What is asked of a disk, and the machine's own.
//!
//! A trait, because systems differ in what a listing tells. On Windows it tells sizes for nothing, but a file's entry stays
//! as it was while its writer holds it open; on Unix it tells names only, and asking for a size is exact. Tests bring disks
//! that behave like either, and count what is asked.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a name in a folder stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link or a junction, to whatever.
    Link,
    /// A pipe, socket or device, which is never opened.
    Special,
}

/// What is known of a file without its content. Two that are equal say that nothing happened; the times in it prove nothing
/// else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// What it is; links are followed.
    pub kind: EntryKind,
    /// Bytes.
    pub size_bytes: u64,
    /// As the system tells; it can be set to anything and can be late.
    pub modified: SystemTime,
    /// Changes when another file takes the name, as far as the system tells.
    pub mark: [u64; 3],
}

/// A name in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Without the folder.
    pub name: OsString,
    /// Links are not followed.
    pub kind: EntryKind,
    /// Where the listing tells it ([`Disk::lists_sizes`]). The size is a hint.
    pub stat: Option<Stat>,
}

/// Where files are.
pub trait Disk: Send {
    /// True when listings tell sizes, which then may be late for files that somebody holds open.
    fn lists_sizes(&self) -> bool;
    /// The names in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>>;
    /// Asks the file itself.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// Opens a regular file for reading, without ever waiting and without hindering others.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Volume and number of the file, where there are such. Numbers are used again: a hint.
    fn id(&self, path: &Path) -> Option<String>;
    /// The one spelling of a path: links resolved, no `..`, the case and the long form that the disk has.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
}

/// The disks of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn lists_sizes(&self) -> bool {
        cfg!(windows)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let kind = kind(entry.file_type()?);
            // Part of the listing on Windows, a system call for each name elsewhere.
            let stat = if self.lists_sizes() { entry.metadata().ok().map(|metadata| stat(&metadata)) } else { None };
            Ok(Entry { name: entry.file_name(), kind, stat })
        };
        fs::read_dir(folder)?.map(entry).collect()
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        // On Windows the standard library opens a handle for this, so the answer is not the listing's.
        fs::metadata(path).map(|metadata| stat(&metadata))
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        // Asked before opening, because opening a device can make it act, and again afterwards, because names change.
        regular(self.stat(path)?.kind)?;
        // On Windows the standard library shares what it opens for reading, writing and deleting: the runtime can write,
        // rename and delete its log meanwhile.
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.open(path)?;
        regular(kind(file.metadata()?.file_type()))?;
        Ok(file)
    }

    fn id(&self, path: &Path) -> Option<String> {
        use file_id::FileId;
        Some(match file_id::get_file_id(path).ok()? {
            FileId::Inode { device_id, inode_number } => format!("{device_id:x}:{inode_number:x}"),
            FileId::LowRes { volume_serial_number, file_index } => format!("{volume_serial_number:x}:{file_index:x}"),
            FileId::HighRes { volume_serial_number, file_id } => format!("{volume_serial_number:x}:{file_id:x}"),
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        dunce::canonicalize(path)
    }
}

fn kind(kind: fs::FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Special
    }
}

fn stat(metadata: &fs::Metadata) -> Stat {
    Stat {
        kind: kind(metadata.file_type()),
        size_bytes: metadata.len(),
        modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        mark: mark(metadata),
    }
}

#[cfg(unix)]
fn mark(metadata: &fs::Metadata) -> [u64; 3] {
    use std::os::unix::fs::MetadataExt as _;
    let changed_ns = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    [metadata.dev(), metadata.ino(), changed_ns.cast_unsigned() as u64]
}

#[cfg(windows)]
fn mark(metadata: &fs::Metadata) -> [u64; 3] {
    use std::os::windows::fs::MetadataExt as _;
    [metadata.creation_time(), 0, 0]
}

#[cfg(not(any(unix, windows)))]
fn mark(_: &fs::Metadata) -> [u64; 3] {
    [0; 3]
}

fn regular(kind: EntryKind) -> io::Result<()> {
    let what = match kind {
        EntryKind::File => return Ok(()),
        EntryKind::Folder => "it is a folder",
        EntryKind::Link | EntryKind::Special => "it is a pipe, socket or device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}
