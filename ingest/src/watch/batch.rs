//! Gathers ranges into batches, sends them, and moves the remembered offsets behind what was acknowledged.

use std::collections::HashSet;

use anyhow::Context as _;
use wire::{BATCH_SCHEMA, Batch};

use crate::exit::Exit;
use crate::problems::Problems;
use crate::watch::logs::Log;
use crate::watch::segments::{self, Range};
use crate::watch::state::{LogState, State};
use crate::watch::upload::Uploader;

/// A batch is sent when it has this much JSON, or this many ranges.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_SEGMENTS: usize = 500;

/// What a run did, in logs.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Acknowledged up to their present end.
    pub sent: u64,
    /// Nothing new since the last run.
    pub unchanged: u64,
    /// The server refused a range of them.
    pub refused: u64,
    /// Observations that were acknowledged.
    pub observations: u64,
}

/// Takes logs one by one.
pub(super) struct Sender<'a> {
    machine: String,
    state: State,
    uploader: Uploader,
    problems: &'a Problems,
    waiting: Vec<Range>,
    waiting_bytes: usize,
    /// Logs that the server refused a range of: their offsets stay, so that the range is offered again.
    refused: HashSet<String>,
    done: Done,
    exit: Exit,
}

impl<'a> Sender<'a> {
    pub(super) fn new(machine: String, state: State, uploader: Uploader, problems: &'a Problems) -> Self {
        Self {
            machine,
            state,
            uploader,
            problems,
            waiting: Vec::new(),
            waiting_bytes: 0,
            refused: HashSet::new(),
            done: Done::default(),
            exit: Exit::Done,
        }
    }

    /// Reads what is new in a log and sends it, now or with the next logs.
    pub(super) fn log(&mut self, log: &Log, buffer: &mut [u8]) -> Result<(), GaveUp> {
        let name = log.path.to_string_lossy();
        let mut start = 0;
        if let Some(known) = self.state.log(&log.identity) {
            if known.end > log.size_bytes {
                self.problems.note(format_args!(
                    "{name}: shorter than what was sent of it ({} of {} bytes); nothing is sent",
                    log.size_bytes, known.end
                ));
            }
            if known.end >= log.size_bytes {
                self.done.unchanged += 1;
                return Ok(());
            }
            start = known.resume;
        }
        loop {
            let range = match segments::next(log, start, buffer) {
                Ok(range) => range,
                Err(error) => {
                    self.problems
                        .unreadable(&name, format_args!("failed to read it: {error}; it is sent in the next run"));
                    return Ok(());
                }
            };
            let (complete, resume) = (range.complete, range.resume);
            self.waiting_bytes += range.json_bytes;
            self.waiting.push(range);
            if self.waiting_bytes >= BATCH_BYTES || self.waiting.len() >= BATCH_SEGMENTS {
                self.send()?;
            }
            if complete {
                return Ok(());
            }
            start = resume;
        }
    }

    /// Sends what waits and says what the run did.
    pub(super) fn finish(mut self, gave_up: bool) -> (Done, Exit) {
        if !gave_up {
            // The reason has been said where it happened.
            let _ = self.send();
        }
        self.done.refused = self.refused.len() as u64;
        (self.done, self.exit)
    }

    fn send(&mut self) -> Result<(), GaveUp> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut places = Vec::with_capacity(self.waiting.len());
        let mut segments = Vec::with_capacity(self.waiting.len());
        for range in self.waiting.drain(..) {
            let state = LogState {
                file: range.segment.file.clone(),
                end: range.segment.end,
                resume: range.resume,
                refused: None,
            };
            places.push(Place {
                log: range.segment.log.clone(),
                state,
                complete: range.complete,
                observations: range.segment.observations.len() as u64,
            });
            segments.push(range.segment);
        }
        self.waiting_bytes = 0;
        let batch = Batch {
            schema: BATCH_SCHEMA.to_owned(),
            machine: self.machine.clone(),
            agent: env!("CARGO_PKG_VERSION").to_owned(),
            segments,
            ..Batch::default()
        };
        let saved = self.uploader.send(&batch).and_then(|ack| {
            self.acknowledge(places, ack);
            self.state.save().context("failed to save what the server acknowledged; it is sent again next time")
        });
        saved.map_err(|error| {
            self.problems.note(format_args!("failed to upload: {error:#}; nothing is lost, run it again"));
            self.exit = Exit::Server;
            GaveUp
        })
    }

    fn acknowledge(&mut self, places: Vec<Place>, ack: wire::Ack) {
        let mut reasons: std::collections::HashMap<u64, String> =
            ack.refused.into_iter().map(|refusal| (refusal.segment, refusal.reason)).collect();
        for (index, place) in (0..).zip(places) {
            if let Some(reason) = reasons.remove(&index) {
                self.problems.note(format_args!(
                    "{}: the server refused bytes up to {}: {reason}; it is offered again in the next run",
                    place.state.file, place.state.end
                ));
                self.exit = Exit::Server;
                if self.refused.insert(place.log.clone()) {
                    let known = self.state.log(&place.log).cloned().unwrap_or_default();
                    self.state.set(&place.log, LogState { file: place.state.file, refused: Some(reason), ..known });
                }
                continue;
            }
            self.done.observations += place.observations;
            if !self.refused.contains(&place.log) {
                self.done.sent += u64::from(place.complete);
                self.state.set(&place.log, place.state);
            }
        }
    }
}

/// The server cannot be reached or takes nothing: the reason has been said, the rest waits for the next run.
#[derive(Debug)]
pub(super) struct GaveUp;

/// What becomes of a log when its range is acknowledged.
struct Place {
    log: String,
    state: LogState,
    complete: bool,
    observations: u64,
}
