//! Where a fleet goes: files in folders, or members of a zip stream; the truth beside them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, Write as _};
use std::path::PathBuf;

use jiff::civil::DateTime;
use simulate::{Made, Totals};

use super::crew::Part;
use super::zip_stream::{Member, ZipStream};
use super::{below, json_line};

/// What the threads that make logs do with them.
pub(super) enum Form {
    /// Write them below this folder.
    Folder(PathBuf),
    /// Compress them.
    Stream,
}

/// The place itself.
pub(super) enum Sink {
    /// A folder, and the file with the truth.
    Folder { folder: PathBuf, truth: BufWriter<File> },
    /// Standard output, and the file with the truth; without one it becomes the last member.
    Stream { zip: ZipStream<BufWriter<io::Stdout>>, truth: Option<BufWriter<File>>, kept: Option<File> },
}

impl Form {
    /// Keeps a log that was just made.
    pub(super) fn keep(&self, made: &Made, members: &mut Vec<Member>) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                let path = below(folder, &made.truth.file);
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::write(path, &made.bytes)
            }
            Self::Stream => {
                let started = made.truth.process.started.as_deref().and_then(|started| started.parse().ok());
                let moment = started.unwrap_or(DateTime::constant(1980, 1, 1, 0, 0, 0, 0));
                members.push(Member::new(made.truth.file.clone(), moment, &made.bytes)?);
                Ok(())
            }
        }
    }
}

impl Sink {
    /// A folder that is there.
    pub(super) const fn folder(folder: PathBuf, truth: BufWriter<File>) -> Self {
        Self::Folder { folder, truth }
    }

    /// Standard output.
    pub(super) fn stream(truth: Option<BufWriter<File>>) -> Self {
        Self::Stream { zip: ZipStream::new(BufWriter::with_capacity(256 << 10, io::stdout())), truth, kept: None }
    }

    /// What the threads shall do.
    pub(super) fn form(&self) -> Form {
        match self {
            Self::Folder { folder, .. } => Form::Folder(folder.clone()),
            Self::Stream { .. } => Form::Stream,
        }
    }

    /// Takes the next machine.
    pub(super) fn take(&mut self, part: &Part) -> io::Result<()> {
        match self {
            Self::Folder { truth, .. } => truth.write_all(&part.truth),
            Self::Stream { zip, truth, kept } => {
                for member in &part.members {
                    zip.add(member)?;
                }
                match (truth, kept) {
                    (Some(truth), _) => truth.write_all(&part.truth),
                    (None, Some(kept)) => kept.write_all(&part.truth),
                    (None, kept) => kept.insert(tempfile::tempfile()?).write_all(&part.truth),
                }
            }
        }
    }

    /// Writes what comes last.
    pub(super) fn finish(self, totals: &Totals) -> io::Result<()> {
        match self {
            Self::Folder { folder, mut truth } => {
                truth.flush()?;
                let mut out = BufWriter::new(File::create(folder.join("totals.json"))?);
                json_line(&mut out, totals)?;
                out.flush()
            }
            Self::Stream { mut zip, truth, kept } => {
                let moment = DateTime::constant(1980, 1, 1, 0, 0, 0, 0);
                if let Some(mut truth) = truth {
                    truth.flush()?;
                }
                if let Some(mut kept) = kept {
                    // A part at a time: the truth of a large fleet fits neither into memory nor into one member.
                    const PART_BYTES: u64 = 32 << 20;
                    kept.rewind()?;
                    let mut input = io::BufReader::new(kept);
                    for number in 0_u64.. {
                        let mut part = Vec::new();
                        (&mut input).take(PART_BYTES).read_to_end(&mut part)?;
                        io::BufRead::read_until(&mut input, b'\n', &mut part)?;
                        if part.is_empty() {
                            break;
                        }
                        let name = if number == 0 { "truth.jsonl".to_owned() } else { format!("truth.{number}.jsonl") };
                        zip.add(&Member::new(name, moment, &part)?)?;
                    }
                }
                let mut json = Vec::new();
                json_line(&mut json, totals)?;
                zip.add(&Member::new("totals.json".to_owned(), moment, &json)?)?;
                zip.finish().map(drop)
            }
        }
    }
}
