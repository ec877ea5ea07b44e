//! `weavewatch scan`: from paths to one report per log, sorted, printed, and summed up in an exit code.
//!
//! Inputs are read in parallel, each in constant memory. Finished reports wait in [`reports`] until the last one is
//! there, because they come out sorted by start time.

mod progress;
mod reports;

use std::io::{self, Read, Seek};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use resolver::{Code, Judge};
use wire::ScanReport;

use crate::cli::{Format, ScanArgs};
use crate::exit::Exit;
use crate::problems::Problems;
use crate::reading::{self, BUFFER_BYTES};
use crate::scan::progress::Progress;
use crate::show;
use crate::source::{self, bundle, walk};

pub use reports::Reports;

/// More threads would only fight for one disk, and each holds a buffer.
const MAX_THREADS: usize = 8;

/// A zip stream on standard input must be kept on disk while it is read, because its table of contents comes last.
const MAX_STDIN_BUNDLE_BYTES: u64 = 4 << 30;

/// Runs the command.
pub fn run(args: &ScanArgs) -> Exit {
    let progress = Progress::default();
    let scan = Scan {
        problems: Problems::new(progress.bar()),
        progress,
        found: Mutex::new(Found::default()),
        fail_on: args.fail_on.clone(),
    };
    let inputs = inputs(&args.paths, &scan.problems);
    scan.progress.start(inputs.iter().map(Input::size_bytes).sum(), inputs.len());
    scan.read_all(&inputs);
    scan.progress.finish();
    scan.print(args.format())
}

/// Something to read.
enum Input {
    Stdin,
    File(walk::FoundFile),
}

impl Input {
    const fn size_bytes(&self) -> u64 {
        match self {
            Self::Stdin => 0,
            Self::File(file) => file.size_bytes,
        }
    }
}

/// What the paths on the command line mean.
fn inputs(paths: &[PathBuf], problems: &Problems) -> Vec<Input> {
    let mut inputs = Vec::new();
    if paths.is_empty() {
        match source::runtime_folder() {
            Some(folder) if folder.is_dir() => {
                inputs.extend(walk::files(&folder, problems).into_iter().map(Input::File))
            }
            Some(folder) => problems.unreadable(
                &folder.to_string_lossy(),
                "the runtime has no log folder here; name the files, folders or bundles to read",
            ),
            None => problems.unreadable(
                "log folder",
                "neither XDG_DATA_HOME nor HOME nor LOCALAPPDATA is set; name the files, folders or bundles to read",
            ),
        }
    }
    for path in paths {
        if path == Path::new("-") {
            inputs.push(Input::Stdin);
            continue;
        }
        let files = walk::files(path, problems);
        if files.is_empty() && path.is_dir() {
            problems.note(format_args!("{}: no file in this folder", path.display()));
        }
        inputs.extend(files.into_iter().map(Input::File));
    }
    inputs
}

/// What all threads share.
struct Scan {
    problems: Problems,
    progress: Progress,
    found: Mutex<Found>,
    fail_on: Vec<Code>,
}

#[derive(Default)]
struct Found {
    reports: Reports,
    matched: bool,
    failure: Option<io::Error>,
}

impl Scan {
    fn print(self, format: Format) -> Exit {
        let Found { mut reports, matched, failure } = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let printed = match failure {
            Some(error) => Err(error).context("failed to keep the reports on disk; is the temporary folder full?"),
            None => show::print(format, &mut reports, self.problems.count()).context("failed to print the reports"),
        };
        if let Err(error) = printed {
            self.problems.unreadable("output", format_args!("{error:#}"));
        }
        self.problems.exit().max(if matched { Exit::Matched } else { Exit::Done })
    }

    fn read_all(&self, inputs: &[Input]) {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS).min(inputs.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut buffer = vec![0; BUFFER_BYTES];
            while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
                match input {
                    Input::Stdin => self.read_stdin(&mut buffer),
                    Input::File(file) => self.read_file(file, &mut buffer),
                }
                self.progress.done();
            }
        };
        // One file needs no threads: they would cost more than a short log does.
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }

    fn read_file(&self, file: &walk::FoundFile, buffer: &mut [u8]) {
        let name = file.path.to_string_lossy();
        let (head, contents) = match source::open(&file.path).and_then(|opened| source::peek(opened, 4)) {
            Ok(peeked) => peeked,
            Err(error) => return self.problems.unreadable(&name, format_args!("failed to open it: {error}")),
        };
        let named_zip = file.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
        if named_zip || bundle::is_zip(&head) {
            self.read_bundle(contents.into_inner().1, &name, buffer);
            self.progress.add(file.size_bytes);
        } else {
            self.read_log(&mut self.progress.follow(contents), name.into_owned(), buffer);
        }
    }

    fn read_stdin(&self, buffer: &mut [u8]) {
        let (head, mut contents) = match source::peek(io::stdin().lock(), 4) {
            Ok(peeked) => peeked,
            Err(error) => return self.problems.unreadable("-", format_args!("failed to read standard input: {error}")),
        };
        if !bundle::is_zip(&head) {
            return self.read_log(&mut contents, "-".to_owned(), buffer);
        }
        let spooled = tempfile::tempfile().and_then(|mut file| {
            let copied = io::copy(&mut contents.take(MAX_STDIN_BUNDLE_BYTES + 1), &mut file)?;
            file.rewind()?;
            Ok((file, copied))
        });
        match spooled {
            Ok((_, copied)) if copied > MAX_STDIN_BUNDLE_BYTES => self.problems.unreadable(
                "-",
                format_args!("a bundle on standard input may have {MAX_STDIN_BUNDLE_BYTES} bytes; give it as a file"),
            ),
            Ok((file, _)) => self.read_bundle(file, "-", buffer),
            Err(error) => self.problems.unreadable(
                "-",
                format_args!("failed to keep the bundle in a temporary file: {error}; give it as a file"),
            ),
        }
    }

    fn read_bundle(&self, contents: impl Read + Seek, name: &str, buffer: &mut [u8]) {
        let member_name = |member: &str| format!("{name}!/{member}");
        bundle::members(
            contents,
            &mut |member, contents| self.read_log(contents, member_name(member), buffer),
            &mut |member, error| match member {
                Some(member) => self.problems.unreadable(&member_name(member), error),
                None => self.problems.unreadable(name, error),
            },
        );
    }

    fn read_log(&self, contents: &mut dyn Read, name: String, buffer: &mut [u8]) {
        let (report, error) = report(contents, name, buffer);
        if let Some(error) = error {
            let read = report.counts.bytes;
            self.problems.unreadable(
                &report.file,
                format_args!("failed to read on after {read} bytes: {error}; the report holds what stands before"),
            );
            if read == 0 {
                return;
            }
        }
        self.keep(&report);
    }

    fn keep(&self, report: &ScanReport) {
        let matched =
            report.findings.iter().any(|finding| self.fail_on.iter().any(|code| code.as_str() == finding.code));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.matched |= matched;
        if let Err(error) = found.reports.add(report) {
            found.failure.get_or_insert(error);
        }
    }
}

/// Reads one log and says what it tells. An error means that the report ends where reading did.
pub fn report(contents: &mut dyn Read, name: String, buffer: &mut [u8]) -> (ScanReport, Option<io::Error>) {
    let mut judge = Judge::new();
    let reading =
        reading::read(contents, source::base_name(&name), buffer, &mut |observation| judge.push(&observation));
    let judgement = judge.finish(&reading.facts);
    let facts = reading.facts;
    (ScanReport::new(name, facts.process, facts.end, facts.counts, judgement), reading.error)
}
