//! A file that is there when it is whole and safe from a power cut, or not at all. It is for its owner only.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

use crate::exit::Usage;

/// A file in the making, beside the name that it will have; dropped without [`NewFile::finish`], it is gone.
#[derive(Debug)]
pub struct NewFile {
    out: BufWriter<NamedTempFile>,
    target: PathBuf,
    replace: bool,
}

impl NewFile {
    /// Begins.
    ///
    /// # Errors
    /// When there is such a file and `replace` is not said, or none can be made there.
    pub fn create(file: &Path, replace: bool) -> anyhow::Result<Self> {
        if !replace && file.symlink_metadata().is_ok() {
            let why = format!("failed to write {}: it exists; name another file, or say --force", file.display());
            return Err(Usage(why).into());
        }
        let cannot = || format!("failed to write {}: check folder and rights", file.display());
        let target = std::path::absolute(file).with_context(cannot)?;
        let folder = target.parent().with_context(cannot)?;
        let mut builder = tempfile::Builder::new();
        let temporary = builder.prefix(".weavewatch-").suffix(".part").tempfile_in(folder).with_context(cannot)?;
        Ok(Self { out: BufWriter::new(temporary), target, replace })
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When the disk is full, or somebody made such a file meanwhile.
    pub fn finish(self) -> anyhow::Result<()> {
        let Self { out, target, replace } = self;
        let cannot = || format!("failed to write {}: check rights and room", target.display());
        let temporary = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
        temporary.as_file().sync_all().with_context(cannot)?;
        let named = if replace { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        named.map_err(|error| error.error).with_context(cannot)?;
        // The name itself has to be on the disk, too; Windows has no such thing.
        if cfg!(unix)
            && let Some(folder) = target.parent()
        {
            File::open(folder).and_then(|folder| folder.sync_all()).with_context(cannot)?;
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
