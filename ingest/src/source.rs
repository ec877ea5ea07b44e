//! Where logs come from: files, folders, bundles, standard input, and the runtime's own folder.

pub mod bundle;
pub mod walk;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
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

/// The last part of a name, whichever system made the name.
pub fn base_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// The last part of a path as text.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// An input whose first bytes have been looked at and will be handed out again.
pub type Peeked<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// Looks at the first `count` bytes.
pub fn peek<R: Read>(mut input: R, count: usize) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut head = vec![0; count];
    let filled = crate::reading::fill(&mut input, &mut head)?;
    head.truncate(filled);
    Ok((head.clone(), io::Cursor::new(head).chain(input)))
}

/// Opens a file for reading. On Windows others may write, rename and delete it meanwhile, as the runtime does.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_names_of_both_systems() {
        for (name, expected) in [("a/b.log", "b.log"), (r"C:\x\b.log", "b.log"), ("b.log", "b.log"), ("a/", "")] {
            assert_eq!(base_name(name), expected);
        }
    }

    #[test]
    fn peeked_bytes_are_not_lost() {
        let (head, mut input) = peek(&b"PK\x03\x04rest"[..], 4).expect("a slice does not fail");
        let mut all = Vec::new();
        input.read_to_end(&mut all).expect("a slice does not fail");
        assert_eq!((head.as_slice(), all.as_slice()), (&b"PK\x03\x04"[..], &b"PK\x03\x04rest"[..]));
    }
}
