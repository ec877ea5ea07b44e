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

/// A manifest is a few kilobytes for each log.
const MANIFEST_BYTES: u64 = 64 << 20;

/// How much a bundle may be, beside what honest compression can reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Members beyond this many are not read.
    pub members: usize,
    /// What one member may unpack to.
    pub member_bytes: u64,
    /// What all of them may unpack to together.
    pub unpacked_bytes: u64,
}

impl Limits {
    /// For somebody who reads bundles of their own choice, a simulated fleet of a million machines among them.
    pub const HONEST: Self = Self { members: 64 << 20, member_bytes: u64::MAX, unpacked_bytes: u64::MAX };
}

/// Enough to tell what a member or a file is.
pub const HEAD_BYTES: usize = 64;

/// A bundle of our own has its manifest among so many members.
const MANIFEST_MEMBERS: usize = 65_535;

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
    head.starts_with(REPORT_TITLE.as_bytes()) || is_of(head, &[BUNDLE_SCHEMA, wire::SCAN_SCHEMA]) || is_truth(head)
}

/// True for the start of what a simulated fleet holds beside logs, in a bundle or in a folder.
pub fn is_truth(head: &[u8]) -> bool {
    is_of(head, &[wire::TRUTH_SCHEMA, wire::TOTALS_SCHEMA])
}

/// True for the start of a JSON object of one of these schemas.
fn is_of(head: &[u8], schemas: &[&str]) -> bool {
    let json: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    schemas.iter().any(|schema| json.starts_with(format!("{{\"schema\":\"{schema}\"").as_bytes()))
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
    /// See [`Limits::members`].
    #[error("read only in part: it has {0} members, of which the first {1} were read")]
    Members(usize, usize),
    /// See `DEFLATE_LIMIT`.
    #[error("read only in part: it unpacks to more than {0} bytes, which no honest bundle of its size does")]
    Bomb(u64),
    /// See [`Limits::unpacked_bytes`].
    #[error(
        "read only in part: it unpacks to more than the {0} bytes that are taken; send its logs in several bundles"
    )]
    Large(u64),
}

/// Why a member ends before its time.
#[derive(Debug, Error)]
enum Over {
    #[error("the bundle has unpacked to more than it honestly can")]
    Bundle,
    #[error("it unpacks to more than the {0} bytes that are taken of one file")]
    Member(u64),
}

/// True for an error with which a member ends because of its size or that of its bundle.
pub fn is_limit(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Over>()).is_some()
}

/// The pseudonym of the machine in the manifest of a bundle of our own; `None` where there is none.
pub fn machine(bundle: impl Read + Seek) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        schema: String,
        machine: Option<String>,
    }
    let mut archive = ZipIterable::try_new(io::BufReader::new(bundle), Config::default()).ok()?;
    let entries = archive.files().ok()?;
    for _ in 0..MANIFEST_MEMBERS {
        let entry = entries.next()?.ok()?;
        if entry.name_raw() == b"manifest.json" {
            let member = entry.with_reader(entries.reader_mut(), ZipReadOptions::new()).ok()?;
            let manifest: Manifest = serde_json::from_reader(io::BufReader::new(member.take(MANIFEST_BYTES))).ok()?;
            return manifest.machine.filter(|_| manifest.schema == BUNDLE_SCHEMA);
        }
    }
    None
}

/// Calls `each` with the name and the contents of every member that is a file, beside the manifest and reports of a bundle
/// of our own, and `problem` with what is wrong, and
/// with which member (`None`: the bundle itself).
pub fn members(
    bundle: impl Read + Seek,
    each: &mut dyn FnMut(&str, &mut dyn Read),
    problem: &mut dyn FnMut(Option<&str>, BundleError),
) {
    members_within(bundle, Limits::HONEST, each, problem);
}

/// The same for a bundle from a stranger; answers how many bytes it was unpacked to.
pub fn members_within(
    mut bundle: impl Read + Seek,
    limits: Limits,
    each: &mut dyn FnMut(&str, &mut dyn Read),
    problem: &mut dyn FnMut(Option<&str>, BundleError),
) -> u64 {
    let size = match bundle.seek(SeekFrom::End(0)) {
        Ok(size) => size,
        Err(error) => {
            problem(None, BundleError::Bundle(error.into()));
            return 0;
        }
    };
    let honest = size.saturating_mul(DEFLATE_LIMIT);
    let limit = honest.min(limits.unpacked_bytes);
    let allowance = Cell::new(limit);
    walk(bundle, limits, &allowance, each, problem);
    if limit > 0 && allowance.get() == 0 {
        problem(None, if honest == limit { BundleError::Bomb(limit) } else { BundleError::Large(limit) });
    }
    limit - allowance.get()
}

fn walk(
    bundle: impl Read + Seek,
    limits: Limits,
    allowance: &Cell<u64>,
    each: &mut dyn FnMut(&str, &mut dyn Read),
    problem: &mut dyn FnMut(Option<&str>, BundleError),
) {
    let mut archive = match ZipIterable::try_new(io::BufReader::new(bundle), Config::default()) {
        Ok(archive) => archive,
        Err(error) => return problem(None, BundleError::Bundle(error)),
    };
    let count = archive.len();
    let entries = match archive.files() {
        Ok(entries) => entries,
        Err(error) => return problem(None, BundleError::Bundle(error)),
    };
    for _ in 0..limits.members {
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
        match reading::peek(Allowed { member, own: limits.member_bytes, limits, allowance }, HEAD_BYTES) {
            Ok((head, _)) if is_zip(&head) => problem(Some(&name), BundleError::Nested),
            Ok((head, _)) if is_own(&head) => {}
            Ok((_, mut contents)) => each(&name, &mut contents),
            Err(error) => problem(Some(&name), BundleError::Member(error.into())),
        }
        if allowance.get() == 0 {
            return;
        }
    }
    if count > limits.members {
        problem(None, BundleError::Members(count, limits.members));
    }
}

/// A member that ends, with an error, when it or the bundle has unpacked to more than it may.
struct Allowed<'a, R> {
    member: R,
    /// What it may still unpack to.
    own: u64,
    limits: Limits,
    allowance: &'a Cell<u64>,
}

impl<R: Read> Read for Allowed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.get();
        if left == 0 {
            return Err(io::Error::other(Over::Bundle));
        }
        // One byte more than it may tells that there is more.
        let most = left.min(self.own.saturating_add(1));
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.member.read(&mut buffer[..most])?;
        self.allowance.set(left - count as u64);
        match self.own.checked_sub(count as u64) {
            Some(own) => {
                self.own = own;
                Ok(count)
            }
            None => Err(io::Error::other(Over::Member(self.limits.member_bytes))),
        }
    }
}
