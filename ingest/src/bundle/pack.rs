//! The archive while it is written: beside its place and renamed in the end, every member hashed on its way.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use redact::Counts;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::manifest::{Member, MemberKind};

/// From here on the archive's long form is used, which every member may need that grows.
const LARGE_BYTES: u64 = 1 << 31;

/// The archive.
pub struct Pack {
    zip: ZipWriter<NamedTempFile>,
    out: PathBuf,
    force: bool,
    /// What is in it so far.
    pub members: Vec<Member>,
    /// Their names in lower case: on some systems they are unpacked to, case does not tell names apart.
    names: HashSet<String>,
}

impl Pack {
    /// Starts the archive that will be `out`.
    pub fn create(out: &Path, force: bool) -> anyhow::Result<Self> {
        if !force && out.symlink_metadata().is_ok() {
            bail!("it is there already; give another name with --out, or --force to replace it");
        }
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".weavewatch-bundle-").suffix(".part").tempfile_in(folder);
        let file = file.with_context(|| format!("failed to write in {}; is there such a folder?", folder.display()))?;
        Ok(Self { zip: ZipWriter::new(file), out: out.to_owned(), force, members: Vec::new(), names: HashSet::new() })
    }

    /// Starts a member; [`Writing::finish`] ends it. `size_bytes` is about how large it gets.
    pub fn begin(&mut self, name: &str, kind: MemberKind, size_bytes: u64) -> io::Result<Writing<'_>> {
        let options = SimpleFileOptions::default().large_file(size_bytes >= LARGE_BYTES);
        self.zip.start_file(name, options).map_err(io::Error::from)?;
        self.names.insert(name.to_lowercase());
        let member = Member {
            name: name.to_owned(),
            kind,
            file: None,
            size_bytes: 0,
            sha256: String::new(),
            redacted: Counts::default(),
            cut_lines: 0,
            broke_off: None,
        };
        Ok(Writing { pack: self, member, hash: Sha256::new() })
    }

    /// A name in `folder` that no member has yet.
    pub fn free_name(&self, folder: &str, base_name: &str) -> String {
        let taken = |name: &str| self.names.contains(&name.to_lowercase());
        let first = format!("{folder}/{base_name}");
        // A folder of its own keeps the name, which tells the log's process and start.
        let others = (2..).map(|number| format!("{folder}/{number}/{base_name}"));
        std::iter::once(first).chain(others).find(|name| !taken(name)).unwrap_or_default()
    }

    /// Brings the archive to disk and gives it its name. Its size in bytes.
    pub fn finish(self) -> anyhow::Result<u64> {
        let mut file = self.zip.finish().context("failed to write the bundle; is the disk full?")?;
        file.flush()
            .and_then(|()| file.as_file().sync_all())
            .context("failed to write the bundle; is the disk full?")?;
        let size_bytes = file.as_file().metadata().map_or(0, |metadata| metadata.len());
        let named = if self.force { file.persist(&self.out) } else { file.persist_noclobber(&self.out) };
        named.map(|_| size_bytes).map_err(|error| error.error).context("failed to give the bundle its name")
    }
}

/// A member while it is written.
pub struct Writing<'p> {
    pack: &'p mut Pack,
    /// What the manifest will say of it; size and hash are filled in.
    pub member: Member,
    hash: Sha256,
}

impl Writing<'_> {
    /// Ends the member.
    pub fn finish(self) {
        let mut member = self.member;
        let digest = self.hash.finalize();
        member.sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        self.pack.members.push(member);
    }
}

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.pack.zip.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.member.size_bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pack.zip.flush()
    }
}

/// Reads `input` and writes on the way what it reads, so that a report is about the very bytes of the member.
pub struct Tee<'a, R, W> {
    /// Where the bytes come from.
    pub input: R,
    /// Where they also go.
    pub out: &'a mut W,
    /// Why they could not go there; reading stops then.
    pub failure: Option<io::Error>,
}

impl<R: Read, W: Write> Read for Tee<'_, R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Err(error) = self.out.write_all(&buffer[..count]) {
            self.failure = Some(error);
            return Err(io::Error::other("the bundle cannot be written"));
        }
        Ok(count)
    }
}
