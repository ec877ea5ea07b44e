//! Opens what somebody named on the command line: a file, standard input, a pipe that the shell made, a bundle or one member
//! of a bundle.
//!
//! A bundle that comes through a pipe is kept in a temporary file first, because its table of contents comes last.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use triage::one::Contents;
use triage::{bundle, reading};

/// What a bundle that comes through a pipe may take on disk.
const MAX_PIPED_BUNDLE_BYTES: u64 = 4 << 30;

/// Opens the input.
pub fn open(path: &Path) -> Result<Contents<'static>> {
    if path == Path::new("-") {
        return piped(io::stdin()).context("failed to read standard input");
    }
    if super::is_handed_over(path) {
        return piped(File::open(path).context("failed to open the pipe")?);
    }
    if path.is_dir() {
        bail!("is a folder; name one log in it, or use `weavewatch scan` for all of them");
    }
    let file = super::open(path).context("failed to open it")?;
    let (head, contents) = reading::peek(file, 4).context("failed to read it")?;
    Ok(if bundle::is_named(path) || bundle::is_zip(&head) {
        Contents::Bundle(Box::new(contents.into_inner().1))
    } else {
        Contents::Log(Box::new(contents))
    })
}

/// A stream that can be read once.
pub fn piped(input: impl Read + 'static) -> Result<Contents<'static>> {
    let (head, mut contents) = reading::peek(input, 4)?;
    if !bundle::is_zip(&head) {
        return Ok(Contents::Log(Box::new(contents)));
    }
    let spooled = tempfile::tempfile().and_then(|mut file| {
        let copied = io::copy(&mut (&mut contents).take(MAX_PIPED_BUNDLE_BYTES + 1), &mut file)?;
        file.rewind()?;
        Ok((file, copied))
    });
    match spooled.context("failed to keep the bundle in a temporary file; give it as a file")? {
        (_, copied) if copied > MAX_PIPED_BUNDLE_BYTES => {
            bail!("a bundle in a pipe may have {MAX_PIPED_BUNDLE_BYTES} bytes; give it as a file")
        }
        (file, _) => Ok(Contents::Bundle(Box::new(file))),
    }
}

/// Takes `bundle.zip!/path/name.log`, as reports name a member, apart; `None` for anything that is a path of its own.
pub fn member(path: &Path) -> Option<(PathBuf, String)> {
    if path.exists() {
        return None;
    }
    let text = path.to_str()?;
    text.match_indices("!/").map(|(at, mark)| (&text[..at], &text[at + mark.len()..])).find_map(|(bundle, member)| {
        let bundle = Path::new(bundle);
        (bundle.is_file() && !member.is_empty()).then(|| (bundle.to_owned(), member.to_owned()))
    })
}
