//! Where the bytes go: a temporary file beside the target that takes its name when it is whole. Until then whatever had
//! that name keeps it, and a failure leaves nothing behind.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;

/// A file in the making.
pub(crate) struct Output {
    writer: Writer,
    /// None for what is no regular file, such as a pipe or `/dev/stdout`: that is written as it stands.
    temporary: Option<(NamedTempFile, PathBuf)>,
}

/// A handle for writing. Shared, because polars keeps one and drops it without saying whether the last bytes got out.
#[derive(Clone)]
pub(crate) struct Writer(Arc<Mutex<dyn Write + Send>>);

/// Bytes that wait for somebody to take them.
#[derive(Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub(crate) fn writer(&self) -> Writer {
        Writer(self.0.clone())
    }

    /// What has come together since the last time.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Output {
    /// Begins; the target itself is not touched.
    pub(crate) fn create(target: &Path) -> io::Result<Self> {
        let (file, temporary) = match fs::metadata(target) {
            Ok(known) if !known.is_file() => (File::options().write(true).open(target)?, None),
            known => {
                // A link stays one: the file that it leads to is replaced.
                let target = if known.is_ok() { fs::canonicalize(target)? } else { std::path::absolute(target)? };
                let temporary = beside(&target)?;
                (temporary.as_file().try_clone()?, Some((temporary, target)))
            }
        };
        Ok(Self { writer: Writer(Arc::new(Mutex::new(BufWriter::new(file)))), temporary })
    }

    /// For polars.
    pub(crate) fn writer(&self) -> Writer {
        self.writer.clone()
    }

    /// Everything is written: the target takes its place, safe from a power cut.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()?;
        if let Some((temporary, target)) = self.temporary {
            temporary.as_file().sync_all()?;
            temporary.persist(target).map_err(|error| error.error)?;
        }
        Ok(())
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// A new file in the folder of the target, with the rights that a plain new file would have.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".weavewatch-export-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
