//! What is `--machine FILE`? A machine file, a log, or saved output of `displayxr-cli`; through a pipe as well.

use std::io::{self, Read};

use anyhow::{Context as _, Result, bail};
use resolver::Examiner;
use resolver::replay::Told;
use wire::Observation;

use super::{cli_output, machine_file};
use crate::one::{self, Contents, Found};
use crate::reading;

/// A machine file is a few kilobytes; a log that starts with a brace is not read whole.
const MACHINE_FILE_BYTES: u64 = 16 << 20;
/// A brace that opens a machine file stands within these.
const HEAD_BYTES: usize = 1024;

/// A machine as a file tells it.
pub struct Source {
    /// The machine, and the facts that the file does not state.
    pub told: Told,
    /// Which kind of file it is.
    pub kind: Kind,
    /// What a reader should know of it.
    pub notes: Vec<String>,
}

/// The kinds of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Written by somebody: what it leaves out is meant to be as usual.
    MachineFile,
    /// `displayxr-cli info`.
    ToolOutput,
    /// `displayxr-cli perf list` or another output without a topology: settings at most.
    Settings,
    /// A log.
    Log,
}

impl Source {
    /// The same, if it tells enough for a replay.
    ///
    /// # Errors
    /// When it tells settings only.
    pub fn with_topology(self) -> Result<Self> {
        if self.kind == Kind::Settings {
            bail!("it tells settings and no GPU topology; save `displayxr-cli info` on the PC with the panel");
        }
        Ok(self)
    }
}

impl Kind {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MachineFile => "a machine file",
            Self::ToolOutput => "saved displayxr-cli output",
            Self::Settings => "saved displayxr-cli output without a topology",
            Self::Log => "a log",
        }
    }
}

/// Reads the file and finds out which kind it is; `name` is the path as given.
///
/// # Errors
/// When it is none of the kinds, or cannot be read to its end.
pub fn read(contents: Contents<'_>, name: &str) -> Result<Source> {
    let contents = match contents {
        Contents::Log(contents) => match machine_text(contents).context("failed to read it")? {
            Ok(text) => {
                let told = machine_file::read(&text)?;
                return Ok(Source { told, kind: Kind::MachineFile, notes: Vec::new() });
            }
            Err(contents) => Contents::Log(contents),
        },
        bundle @ Contents::Bundle(_) => bundle,
    };
    gather(|sink| one::read(contents, name, sink))
}

/// The same for what can be a log or the tool's output only: `read` reads it and hands every observation on.
///
/// # Errors
/// As [`read`].
pub fn gather(read: impl FnOnce(&mut dyn FnMut(Observation)) -> Result<Found>) -> Result<Source> {
    let mut examiner = Examiner::new();
    let found = read(&mut |observation| examiner.push(&observation))?;
    if let Some(error) = found.error {
        bail!("failed to read on after {} bytes: {error}", found.facts.counts.bytes);
    }
    let mut notes = found.notes;
    if let Some(output) = &found.facts.cli {
        let kind = if cli_output::topology(output).is_some() { Kind::ToolOutput } else { Kind::Settings };
        if kind == Kind::Settings && output.perf.is_none() {
            bail!(
                "it is displayxr-cli output that tells no GPU topology; save `displayxr-cli info` on the PC with the panel"
            );
        }
        if cli_output::must_be_asked(output) {
            notes.push(
                "The tool is of a build that splits only where DXR_WEAVE_ON_SCANOUT=1 asks for it; the rules are those of \
                 later builds, in which the split is on by default."
                    .to_owned(),
            );
        }
        return Ok(Source { told: cli_output::told(output), kind, notes });
    }
    if found.facts.counts.records == 0 {
        bail!("it is no machine file, no log and no displayxr-cli output; expected one of these");
    }
    Ok(Source { told: examiner.finish(&found.facts).told, kind: Kind::Log, notes })
}

/// The whole text when it is, or wants to be, a machine file; else the contents as they were.
fn machine_text<'a>(contents: Box<dyn Read + 'a>) -> io::Result<Result<String, Box<dyn Read + 'a>>> {
    let (head, mut contents) = reading::peek(contents, HEAD_BYTES)?;
    let head = String::from_utf8_lossy(&head);
    if !head.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return Ok(Err(Box::new(contents)));
    }
    let mut bytes = Vec::new();
    (&mut contents).take(MACHINE_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= MACHINE_FILE_BYTES;
    match String::from_utf8(bytes) {
        Ok(text) if whole && machine_file::looks_like(&text) => Ok(Ok(text)),
        Ok(text) => Ok(Err(Box::new(io::Cursor::new(text).chain(contents)))),
        Err(error) => Ok(Err(Box::new(io::Cursor::new(error.into_bytes()).chain(contents)))),
    }
}
