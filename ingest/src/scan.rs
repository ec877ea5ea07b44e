//! `weavewatch scan`: from paths to one report per log, sorted, printed, and summed up in an exit code.
//!
//! Inputs are read in parallel, each in constant memory. Finished reports wait in [`Sorted`] until the last one is
//! there, because they come out sorted by start time.

mod count;
mod inputs;
pub(crate) mod progress;
mod runs;
mod sorted;

use std::io::{self, Read, Seek};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use resolver::Code;
use triage::one::Contents;
use triage::reading::BUFFER_BYTES;
use triage::{bundle, reading};

use crate::cli::{Format, ScanArgs};
use crate::exit::Exit;
use crate::problems::Problems;
use crate::scan::count::Counted;
use crate::scan::inputs::{Input, inputs};
use crate::scan::progress::Progress;
use crate::source::{self, named, walk};
use crate::{ahead, show};

pub use count::{COUNT_SCHEMA, MarkerCount};
pub use sorted::Sorted;

/// More threads would only fight for one disk, and each holds a buffer.
const MAX_THREADS: usize = 8;

/// Runs the command.
pub fn run(args: &ScanArgs) -> Exit {
    let progress = Progress::default();
    let scan = Scan {
        problems: Problems::new(progress.bar()),
        progress,
        found: Mutex::new(Found::default()),
        fail_on: args.fail_on.clone(),
        count: args.count,
    };
    let inputs = inputs(&args.paths, &scan.problems);
    scan.progress.start(inputs.iter().map(Input::size_bytes).sum(), inputs.len());
    scan.read_all(&inputs);
    scan.progress.finish();
    scan.print(args.format())
}

/// What all threads share.
struct Scan {
    problems: Problems,
    progress: Progress,
    found: Mutex<Found>,
    fail_on: Vec<Code>,
    count: bool,
}

#[derive(Default)]
struct Found {
    reports: Sorted,
    matched: bool,
    failure: Option<io::Error>,
}

impl Scan {
    fn print(self, format: Format) -> Exit {
        let Found { mut reports, matched, failure } = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unreadable = self.problems.count();
        let printed = match failure {
            Some(error) => Err(error).context("failed to keep the reports on disk; is the temporary folder full?"),
            None if self.count => show::counts(format, &mut reports, unreadable).context("failed to print the counts"),
            None => show::reports(format, &mut reports, unreadable).context("failed to print the reports"),
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
                    Input::Stream(path) => self.read_stream(path, &mut buffer),
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
        let (head, contents) =
            match source::open(&file.path).and_then(|opened| reading::peek(opened, bundle::HEAD_BYTES)) {
                Ok(peeked) => peeked,
                Err(error) => return self.problems.unreadable(&name, format_args!("failed to open it: {error}")),
            };
        if bundle::is_named(&file.path) || bundle::is_zip(&head) {
            self.read_bundle(contents.into_inner().1, &name, buffer);
            self.progress.add(file.size_bytes);
        } else if bundle::is_truth(&head) {
            self.progress.add(file.size_bytes);
        } else if file.size_bytes >= ahead::AHEAD_FROM_BYTES {
            let contents = self.progress.follow(contents);
            ahead::ahead(contents, |contents| self.read_log(contents, name.into_owned(), buffer));
        } else {
            self.read_log(&mut self.progress.follow(contents), name.into_owned(), buffer);
        }
    }

    fn read_stream(&self, path: &Path, buffer: &mut [u8]) {
        let name = path.to_string_lossy();
        match named::open(path) {
            Ok(Contents::Log(mut contents)) => self.read_log(&mut contents, name.into_owned(), buffer),
            Ok(Contents::Bundle(bundle)) => self.read_bundle(bundle, &name, buffer),
            Err(error) => self.problems.unreadable(&name, format_args!("{error:#}")),
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
        if self.count {
            let Counted { count, started, bytes, error } = count::count(contents, name, buffer);
            if self.has_something(&count.file, bytes, error) {
                self.keep(false, |found| found.add(started, &count.file, &count));
            }
            return;
        }
        let (report, error) = triage::scan::report(contents, name, buffer);
        if self.has_something(&report.file, report.counts.bytes, error) {
            let codes = self.fail_on.iter().map(|code| code.as_str());
            let matched = codes.into_iter().any(|code| report.findings.iter().any(|finding| finding.code == code));
            let started = report.process.as_ref().and_then(|process| process.started.clone());
            self.keep(matched, |found| found.add(started, &report.file, &report));
        }
    }

    /// Says why reading broke off, if it did; false when it broke off before the first byte.
    fn has_something(&self, name: &str, bytes: u64, error: Option<io::Error>) -> bool {
        let broke_off = error.is_some();
        if let Some(error) = error {
            self.problems.unreadable(
                name,
                format_args!("failed to read on after {bytes} bytes: {error}; what stands before is told"),
            );
        }
        !broke_off || bytes > 0
    }

    fn keep(&self, matched: bool, add: impl FnOnce(&mut Sorted) -> io::Result<()>) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.matched |= matched;
        if let Err(error) = add(&mut found.reports) {
            found.failure.get_or_insert(error);
        }
    }
}
