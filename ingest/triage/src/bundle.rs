//! Opens a `.zip` bundle and hands out its members one by one, in constant memory.
//!
//! A bundle comes from strangers. Its table of contents is walked, not loaded. What its members unpack to is bounded by
//! what honest compression can reach, which stops bundles whose members share their bytes.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use thiserror::Error;
use zip::read::{Config, ZipReadOptions};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use crate::reading;

/// Schema of the `manifest.json` in a bundle of our own.
pub const BUNDLE_SCHEMA: &str = "weavewatch.bundle/1";

/// The first line of the `report.md` in a bundle of our own.
pub const REPORT_TITLE: &str = "# Weavewatch report\n";

/// No byte of deflated data yields more bytes than this.
const DEFLATE_LIMIT: u64 = 1032;

/// Members beyond this many are not read: so many short logs do not come from one machine.
const MAX_MEMBERS: usize = 65_535;

/// Enough to tell what a member is.
const HEAD_BYTES: usize = 64;

/// True when these are the first bytes of a zip archive, empty ones included.
pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// True when the name says that it is a bundle, whatever its first bytes are.
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"))
}

/// True for the start of what a bundle holds beside logs: its manifest and its reports. Whoever reads a bundle leaves them
/// out, because they say again what its logs say.
pub fn is_own(head: &[u8]) -> bool {
    let json: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    head.starts_with(REPORT_TITLE.as_bytes())
        || [BUNDLE_SCHEMA, wire::SCAN_SCHEMA]
            .iter()
            .any(|schema| json.starts_with(format!("{{\"schema\":\"{schema}\"").as_bytes()))
}

/// Why a bundle, or one of its members, could not be read.
#[derive(Debug, Error)]
pub enum BundleError {
    /// The archive itself is broken.
    #[error("failed to open the bundle: {0}; pack it again")]
    Bundle(ZipError),
    /// The table of contents broke off.
    #[error("failed to read on in the bundle's table of contents: {0}; what stands behind is not read")]
    Contents(ZipError),
    /// One member: damaged, encrypted or packed in an unknown way.
    #[error("failed to unpack it: {0}")]
    Member(ZipError),
    /// A link inside a bundle leads nowhere.
    #[error("not followed: it is a link")]
    Link,
    /// A bundle in a bundle.
    #[error("not opened: it is a bundle inside a bundle; unpack it and scan it on its own")]
    Nested,
    /// See `MAX_MEMBERS`.
    #[error("read only in part: it has {0} members, of which the first {MAX_MEMBERS} were read")]
    Members(usize),
    /// See `DEFLATE_LIMIT`.
    #[error("read only in part: it unpacks to more than {0} bytes, which no honest bundle of its size does")]
    Bomb(u64),
}

/// Calls `each` with the name and the contents of every member that is a file, beside the manifest and reports of a bundle
/// of our own, and `problem` with what is wrong, and
/// with which member (`None`: the bundle itself).
pub fn members(
    mut bundle: impl Read + Seek,
    each: &mut dyn FnMut(&str, &mut dyn Read),
    problem: &mut dyn FnMut(Option<&str>, BundleError),
) {
    let size = match bundle.seek(SeekFrom::End(0)) {
        Ok(size) => size,
        Err(error) => return problem(None, BundleError::Bundle(error.into())),
    };
    let limit = size.saturating_mul(DEFLATE_LIMIT);
    let allowance = Cell::new(limit);
    let mut archive = match ZipIterable::try_new(io::BufReader::new(bundle), Config::default()) {
        Ok(archive) => archive,
        Err(error) => return problem(None, BundleError::Bundle(error)),
    };
    let count = archive.len();
    let entries = match archive.files() {
        Ok(entries) => entries,
        Err(error) => return problem(None, BundleError::Bundle(error)),
    };
    for _ in 0..MAX_MEMBERS {
        let entry = match entries.next() {
            None => return,
            Some(Ok(entry)) => entry,
            Some(Err(error)) => return problem(None, BundleError::Contents(error)),
        };
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
        };
        if entry.is_dir() {
            continue;
        }
        if entry.is_symlink() {
            problem(Some(&name), BundleError::Link);
            continue;
        }
        let member = match entry.with_reader(entries.reader_mut(), ZipReadOptions::new()) {
            Ok(member) => member,
            Err(error) => {
                problem(Some(&name), BundleError::Member(error));
                continue;
            }
        };
        match reading::peek(Allowed { member, allowance: &allowance }, HEAD_BYTES) {
            Ok((head, _)) if is_zip(&head) => problem(Some(&name), BundleError::Nested),
            Ok((head, _)) if is_own(&head) => {}
            Ok((_, mut contents)) => each(&name, &mut contents),
            Err(error) => problem(Some(&name), BundleError::Member(error.into())),
        }
        if allowance.get() == 0 {
            return problem(None, BundleError::Bomb(limit));
        }
    }
    if count > MAX_MEMBERS {
        problem(None, BundleError::Members(count));
    }
}

/// A member that ends, with an error, when the bundle has unpacked to more than it may.
struct Allowed<'a, R> {
    member: R,
    allowance: &'a Cell<u64>,
}

impl<R: Read> Read for Allowed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.get();
        if left == 0 {
            return Err(io::Error::other("the bundle has unpacked to more than it honestly can"));
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.member.read(&mut buffer[..most])?;
        self.allowance.set(left - count as u64);
        Ok(count)
    }
}
