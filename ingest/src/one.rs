//! Finds the one log that `explain`, `diff` and `replay` are asked about: a file, standard input, or the last log of a
//! bundle.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use wire::{LogFacts, Observation};

use crate::reading::{self, BUFFER_BYTES};
use crate::source::{self, bundle};

/// A log that was read, under the name that reports show.
#[derive(Debug)]
pub struct Found {
    /// The path as given; a bundle's member is `bundle.zip!/path/name.log`.
    pub name: String,
    /// Header, end and totals.
    pub facts: LogFacts,
    /// What a reader should know of the way it was found and read.
    pub notes: Vec<String>,
    /// Why reading stopped before the end.
    pub error: Option<io::Error>,
}

/// Reads the log that `path` means. `sink` gets its observations only.
pub fn read(path: &Path, sink: &mut dyn FnMut(Observation)) -> Result<Found> {
    let name = path.to_string_lossy().into_owned();
    if path == Path::new("-") {
        let (head, mut input) = source::peek(io::stdin().lock(), 4).context("failed to read standard input")?;
        if bundle::is_zip(&head) {
            bail!("a bundle on standard input cannot be read twice; give it as a file");
        }
        return Ok(log(&mut input, name, Vec::new(), sink));
    }
    if path.is_dir() {
        bail!("is a folder; name one log in it, or use `weavewatch scan` for all of them");
    }
    let (head, mut input) = open(path)?;
    if !bundle::is_zip(&head) {
        return Ok(log(&mut input, name, Vec::new(), sink));
    }
    drop(input);
    let (member, note) = last_member(path, &name)?;
    let mut found = None;
    bundle::members(
        source::open(path).context("failed to open it again")?,
        &mut |own, contents| {
            if own == member && found.is_none() {
                found = Some(log(contents, format!("{name}!/{member}"), vec![note.clone()], sink));
            }
        },
        &mut |_, _| {},
    );
    found.context("failed to read the log a second time; did the bundle change meanwhile?")
}

fn open(path: &Path) -> Result<(Vec<u8>, source::Peeked<File>)> {
    let opened = source::open(path).context("failed to open it")?;
    source::peek(opened, 4).context("failed to read it")
}

fn log(contents: &mut dyn Read, name: String, notes: Vec<String>, sink: &mut dyn FnMut(Observation)) -> Found {
    let mut buffer = vec![0; BUFFER_BYTES];
    let base_name = source::base_name(&name).to_owned();
    let reading = reading::read(contents, &base_name, &mut buffer, sink);
    Found { name, facts: reading.facts, notes, error: reading.error }
}

/// The member that started last; one with a start time and a record outranks everything else.
fn last_member(path: &Path, name: &str) -> Result<(String, String)> {
    let mut logs: Vec<(bool, Option<String>, String)> = Vec::new();
    let mut problems = Vec::new();
    bundle::members(
        source::open(path).context("failed to open it")?,
        &mut |member, contents| {
            let facts = log(contents, member.to_owned(), Vec::new(), &mut |_| {}).facts;
            let started = facts.process.and_then(|process| process.started);
            logs.push((facts.counts.records > 0, started, member.to_owned()));
        },
        &mut |member, error| problems.push(format!("{}: {error}", member.unwrap_or(name))),
    );
    logs.sort();
    let with_records = logs.iter().filter(|(records, ..)| *records).count();
    let Some((_, _, member)) = logs.pop().filter(|(records, ..)| *records) else {
        bail!(
            "the bundle holds no log that can be read{}",
            problems.iter().fold(String::new(), |said, own| said + "; " + own)
        );
    };
    let note = match with_records {
        1 => format!("{member} is the only log of the bundle {name}."),
        count => format!("The bundle {name} has {count} logs; {member} started last and is the one told here."),
    };
    Ok((member, note))
}
