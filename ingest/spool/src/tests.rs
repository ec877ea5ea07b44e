//! Laws of the queue and the map: any operations and crashes against a model in memory, and any damage.

mod damage;
mod disk_full;
mod map_model;
mod queue_model;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

/// What becomes of bytes that were never brought to disk. The number says where it begins, from start to end.
#[derive(Clone, Debug)]
enum Tear {
    Keep,
    Cut(u16),
    Nuls(u16),
    Garbage(u16, u8),
}

fn tear() -> impl Strategy<Value = Tear> {
    prop_oneof![
        Just(Tear::Keep),
        any::<u16>().prop_map(Tear::Cut),
        any::<u16>().prop_map(Tear::Nuls),
        (any::<u16>(), any::<u8>()).prop_map(|(at, seed)| Tear::Garbage(at, seed)),
    ]
}

impl Tear {
    /// Tears a file behind its first `safe` bytes.
    fn apply(&self, path: &Path, safe: usize) {
        let mut bytes = fs::read(path).expect("the file was just listed");
        let length = bytes.len();
        let from = |at: u16| safe + (length - safe) * usize::from(at) / usize::from(u16::MAX);
        match *self {
            Self::Keep => {}
            Self::Cut(at) => bytes.truncate(from(at)),
            Self::Nuls(at) => {
                let from = from(at);
                bytes[from..].fill(0);
            }
            Self::Garbage(at, seed) => garble(&mut bytes[from(at)..], seed),
        }
        fs::write(path, bytes).expect("the folder is writable");
    }
}

/// Makes every byte another one.
fn garble(bytes: &mut [u8], seed: u8) {
    let mut step = u32::from(seed);
    for byte in bytes {
        step = step.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte ^= (step >> 24) as u8 | 1;
    }
}

/// A folder in memory where there is one: these tests tear files themselves, and thousands of real syncs take a minute.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder can be made")
}

/// All files of a folder.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let read = entries.map(|entry| {
        let entry = entry.expect("the folder can be listed");
        let name = entry.file_name().into_string().expect("all names are ours");
        (name, fs::read(entry.path()).expect("the file was just listed"))
    });
    read.collect()
}

/// Makes a folder hold exactly these files.
fn put(folder: &Path, wanted: &BTreeMap<String, Vec<u8>>) {
    for name in files(folder).keys() {
        fs::remove_file(folder.join(name)).expect("the folder is writable");
    }
    for (name, bytes) in wanted {
        fs::write(folder.join(name), bytes).expect("the folder is writable");
    }
}
