//! Finds the one log that a question is about: what is there, the last log of a bundle, or the member that is named.

use std::io::{self, Read, Seek};

use anyhow::{Context as _, Result, bail};
use wire::{LogFacts, Observation};

use crate::bundle;
use crate::reading::{self, BUFFER_BYTES};

/// An input that has been opened and looked at.
pub enum Contents<'a> {
    /// Anything that is no bundle, from its first byte on.
    Log(Box<dyn Read + 'a>),
    /// A bundle, at any place.
    Bundle(Box<dyn Archive + 'a>),
}

/// What a bundle is read from: its table of contents comes last.
pub trait Archive: Read + Seek {}

impl<T: Read + Seek> Archive for T {}

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

/// Reads the log, or the last log of the bundle; `name` is the path as given. `sink` gets its observations only.
pub fn read(contents: Contents<'_>, name: &str, sink: &mut dyn FnMut(Observation)) -> Result<Found> {
    match contents {
        Contents::Log(mut contents) => Ok(log(&mut contents, name.to_owned(), Vec::new(), sink)),
        Contents::Bundle(mut bundle) => of_bundle(&mut *bundle, name, None, sink),
    }
}

/// Reads a log from its first byte to its last.
pub fn log(contents: &mut dyn Read, name: String, notes: Vec<String>, sink: &mut dyn FnMut(Observation)) -> Found {
    let mut buffer = vec![0; BUFFER_BYTES];
    let base_name = reading::base_name(&name).to_owned();
    let reading = reading::read(contents, &base_name, &mut buffer, sink);
    Found { name, facts: reading.facts, notes, error: reading.error }
}

/// The same for a log that comes in pieces.
pub fn in_pieces<P: AsRef<[u8]>>(
    pieces: impl IntoIterator<Item = io::Result<P>>,
    name: String,
    sink: &mut dyn FnMut(Observation),
) -> Found {
    let reading = reading::read_pieces(pieces, reading::base_name(&name), sink);
    Found { name, facts: reading.facts, notes: Vec::new(), error: reading.error }
}

/// Reads the wanted member of a bundle, else the log that started last. Reads the bundle twice: once to find the member,
/// once for its records.
///
/// # Errors
/// When there is no such member, or nothing in it can be read.
pub fn of_bundle(
    bundle: &mut dyn Archive,
    name: &str,
    wanted: Option<&str>,
    sink: &mut dyn FnMut(Observation),
) -> Result<Found> {
    let chosen = choose(bundle, name, wanted)?;
    let (mut at, mut found) = (0, None);
    bundle::members(
        bundle,
        &mut |member, contents| {
            // By its place and not by its name, which another member may have as well.
            if at == chosen.at {
                found = Some(log(contents, format!("{name}!/{member}"), chosen.notes.clone(), sink));
            }
            at += 1;
        },
        &mut |_, _| {},
    );
    found.context("failed to read the log a second time; did the bundle change meanwhile?")
}

/// A member, by its place among those that can be read, and what to say of the choice.
struct Chosen {
    at: usize,
    notes: Vec<String>,
}

/// A member as the choice sees it; the order of the fields is the order of preference, the greatest wins.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    has_records: bool,
    started: Option<String>,
    member: String,
    /// Of two members that are equal in all this the bundle's later one is the newer: a tool that adds to a bundle appends.
    at: usize,
}

/// The member that started last, of all of them or of those that have the wanted name. One that has records, and then one
/// that tells its start, outranks everything else.
fn choose(bundle: &mut dyn Archive, name: &str, wanted: Option<&str>) -> Result<Chosen> {
    let mut members = Vec::new();
    let mut problems = Vec::new();
    bundle::members(
        bundle,
        &mut |member, contents| {
            let facts = log(contents, member.to_owned(), Vec::new(), &mut |_| {}).facts;
            let started = facts.process.and_then(|process| process.started);
            let has_records = facts.counts.records > 0;
            members.push(Candidate { has_records, started, member: member.to_owned(), at: members.len() });
        },
        &mut |member, error| problems.push(format!("{}: {error}", member.unwrap_or(name))),
    );
    let problems = problems.iter().fold(String::new(), |said, own| said + "; " + own);
    // A member that is asked for by name is told even when it is no log.
    let fits = |own: &&Candidate| wanted.map_or(own.has_records, |wanted| own.member == wanted);
    let Some(chosen) = members.iter().filter(fits).max() else {
        match wanted {
            Some(wanted) => bail!("the bundle holds no member {wanted} that can be read; `scan` lists them{problems}"),
            None => bail!("the bundle holds no log that can be read{problems}"),
        }
    };
    let mut notes = Vec::new();
    let member = &chosen.member;
    match (wanted, members.iter().filter(|own| own.has_records).count()) {
        (Some(_), _) => {}
        (None, 1) => notes.push(format!("{member} is the only log of the bundle {name}.")),
        (None, count) => {
            notes.push(format!("The bundle {name} has {count} logs; {member} started last and is the one told here."));
        }
    }
    let twins: Vec<usize> = members.iter().filter(|own| own.member == *member).map(|own| own.at).collect();
    if let (2.., Some(place)) = (twins.len(), twins.iter().position(|at| *at == chosen.at)) {
        let (count, place) = (twins.len(), place + 1);
        notes.push(format!(
            "The bundle has {count} members of this name; number {place} of them, in the order of the bundle, is told \
             here: it started last, or last of equal starts. `scan` tells all of them."
        ));
    }
    Ok(Chosen { at: chosen.at, notes })
}
