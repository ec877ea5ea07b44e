//! Files to everything that is said of them, by the code that `weavewatch scan` and `weavewatch explain` run.
//!
//! One bad file spoils no other: it is left out with its reason. A log is read piece by piece, a bundle when it is there as a
//! whole: its table of contents comes last. Slow for large uploads, so not for an async thread.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::io::{self, Cursor, Read};
use std::path::Path;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use triage::bundle::{self, Limits};
use triage::document;
use triage::explain::{self, Dossier, Explained};
use triage::one::{self, Found};
use wire::{LogFacts, Observation, Outcome};

use super::limits::ReportLimits;
use super::seen::Seen;
use super::upload::File;
use crate::store::ReportLog;
use crate::text;

/// Small documents that are read often.
const ZSTD_LEVEL: i32 = 3;

/// What an upload says.
#[derive(Debug, Default)]
pub struct Analysis {
    /// By start, then name; those without a start last, as `scan` prints them.
    pub logs: Vec<Log>,
    /// What was left out.
    pub refused: Vec<Refusal>,
    /// The machine that a bundle's manifest names.
    pub machine: Option<String>,
}

/// A file or a member of a bundle that was not taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// Its name; a member is `bundle.zip!/path/name.log`.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// One log.
#[derive(Debug)]
pub struct Log {
    /// The base name, when it is one that the runtime gives.
    pub file: Option<String>,
    /// The one word for its verdict.
    pub outcome: Outcome,
    /// The scan object, as `scan` prints it.
    pub summary: String,
    /// The object of `explain --format json`, on one line, as zstd.
    pub explained: Vec<u8>,
    /// What `explain --format markdown` prints, as zstd.
    pub page: Vec<u8>,
    /// What its page is drawn from (`seen`); none when there is too much of it.
    pub observations: Option<Vec<u8>>,
    started: Option<String>,
    name: String,
}

impl Log {
    /// As it is stored at this place of its report, without its documents.
    pub fn row(self, number: i64) -> ReportLog {
        ReportLog { number, file: self.file, summary: self.summary, explained: Vec::new(), page: Vec::new() }
    }
}

/// Reads every file.
///
/// # Errors
/// When an object cannot be written, which is our own fault.
pub fn analyse(files: Vec<File>, limits: ReportLimits) -> anyhow::Result<Analysis> {
    let mut reader = Reader::new(limits);
    for file in files {
        reader.file(&file.name, &mut file.pieces.into_iter().map(Ok));
    }
    reader.end()
}

fn in_order(a: &Log, b: &Log) -> Ordering {
    let key = |log: &Log| (log.started.is_none(), log.started.clone(), log.name.clone());
    key(a).cmp(&key(b))
}

/// Reads one file after the other.
pub struct Reader {
    analysis: Analysis,
    limits: ReportLimits,
    unpacked_left: u64,
    failure: Option<anyhow::Error>,
}

impl Reader {
    /// Nothing is read yet.
    pub fn new(limits: ReportLimits) -> Self {
        Self { analysis: Analysis::default(), limits, unpacked_left: limits.unpacked_bytes, failure: None }
    }

    /// Reads a file, whose pieces are not empty; an error is told like one of a disk.
    pub fn file(&mut self, name: &str, pieces: &mut impl Iterator<Item = io::Result<Bytes>>) {
        let Some(first) = pieces.next() else { return self.refuse(name, "the file is empty") };
        let is_bundle = first.as_ref().is_ok_and(|head| bundle::is_zip(head)) || bundle::is_named(Path::new(name));
        let mut pieces = std::iter::once(first).chain(pieces);
        if is_bundle {
            match pieces.collect::<io::Result<Vec<_>>>() {
                // Most bundles are one piece.
                Ok(pieces) => match pieces.as_slice() {
                    [whole] => self.bundle(name, whole),
                    pieces => self.bundle(name, &pieces.concat()),
                },
                Err(error) => self.refuse(name, &format!("failed to read it: {error}")),
            }
        } else {
            self.log(name.to_owned(), |name, sink| one::in_pieces(&mut pieces, name, sink));
        }
    }

    /// What they say.
    ///
    /// # Errors
    /// When an object could not be written, which is our own fault.
    pub fn end(self) -> anyhow::Result<Analysis> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut analysis = self.analysis;
        analysis.logs.sort_by(in_order);
        Ok(analysis)
    }

    fn bundle(&mut self, file: &str, bytes: &[u8]) {
        let (logs, refusals) = (self.analysis.logs.len(), self.analysis.refused.len());
        let ReportLimits { logs: members, member_bytes, .. } = self.limits;
        let limits = Limits { members, member_bytes, unpacked_bytes: self.unpacked_left };
        let mut problems = Vec::new();
        let unpacked = bundle::members_within(
            Cursor::new(bytes),
            limits,
            &mut |member, contents| self.member(contents, format!("{file}!/{member}")),
            &mut |member, error| {
                let name = member.map_or_else(|| file.to_owned(), |member| format!("{file}!/{member}"));
                problems.push(Refusal { file: name, reason: error.to_string() });
            },
        );
        self.unpacked_left = self.unpacked_left.saturating_sub(unpacked);
        self.analysis.refused.extend(problems);
        if let Some(machine) = bundle::machine(Cursor::new(bytes)).filter(|id| text::is_id(id)) {
            self.analysis.machine.get_or_insert(machine);
        }
        if (logs, refusals) == (self.analysis.logs.len(), self.analysis.refused.len()) {
            self.refuse(file, "the bundle holds no log");
        }
    }

    fn member(&mut self, contents: &mut dyn Read, name: String) {
        self.log(name, |name, sink| one::log(contents, name, Vec::new(), sink));
    }

    fn log(&mut self, name: String, read: impl FnOnce(String, &mut dyn FnMut(Observation)) -> Found) {
        if self.analysis.logs.len() == self.limits.logs {
            self.refuse(
                &name,
                &format!("the report has {} logs already: send the others on their own", self.limits.logs),
            );
            return;
        }
        let (mut seen, mut facts) = (Seen::default(), LogFacts::default());
        let Ok(dossier) = Dossier::gather::<Infallible>(|sink| {
            let found = read(name, &mut |observation| {
                seen.push(&observation);
                sink(observation);
            });
            facts.clone_from(&found.facts);
            Ok(found)
        });
        let report = &dossier.report;
        if let Some(error) = &dossier.error {
            let is_limit = bundle::is_limit(error);
            self.refuse(&report.file, &format!("failed to read on after {} bytes: {error}", report.counts.bytes));
            // What stands before is told, as `scan` does, but never of something that only wants to be large.
            if is_limit || report.counts.bytes == 0 {
                return;
            }
        }
        let kept = seen.pack(&facts, dossier.error.as_ref()).map_err(anyhow::Error::from);
        match kept.and_then(|observations| told(&dossier, observations)) {
            Ok(log) => self.analysis.logs.push(log),
            Err(error) => self.failure = Some(error),
        }
    }

    fn refuse(&mut self, file: &str, reason: &str) {
        self.analysis.refused.push(Refusal { file: file.to_owned(), reason: reason.to_owned() });
    }
}

/// What is kept of a log.
fn told(dossier: &Dossier, observations: Option<Vec<u8>>) -> anyhow::Result<Log> {
    let report = &dossier.report;
    let explained = serde_json::to_string(&Explained::from(dossier))?;
    let mut page = Vec::new();
    document::markdown(&explain::page(dossier), &mut page)?;
    let base_name = triage::reading::base_name(&report.file);
    Ok(Log {
        file: parser::file_name::process(base_name).map(|_| text::for_column(base_name)),
        outcome: Outcome::of(&report.verdict),
        // As the command line prints them: nothing in them acts on a terminal.
        summary: wire::cell::json(&serde_json::to_string(report)?).into_owned(),
        explained: zstd::encode_all(wire::cell::json(&explained).as_bytes(), ZSTD_LEVEL)?,
        page: zstd::encode_all(page.as_slice(), ZSTD_LEVEL)?,
        observations,
        started: report.process.as_ref().and_then(|process| process.started.clone()),
        name: report.file.clone(),
    })
}
