//! What the agent remembers: ranges that wait for the server, and per log how far it was read and what became of it.
//!
//! Two things on disk, a queue and a map, that a crash can part. Every step is ordered so that the pair is put right at the
//! next start:
//! - A range is made safe in the queue before the log's position moves. An entry carries the position that it leads to, so a
//!   crash in between moves it at the next start, and nothing is read twice.
//! - An answer of the server is noted in the map, with the number of the last entry that it was about, before the queue lets
//!   go. A crash in between leaves entries that the map knows to be settled; they are not counted or sent again.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use follow::Position;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use spool::{Lock, Map, Options, PushError, Queue};
use wire::Loss;

use crate::agent::config::WhenFull;
use crate::agent::home::Home;
use crate::agent::tally::{Ledger, Lost, Tally};

/// Name and version of what stands in the map.
const SCHEMA: &str = "weavewatch.state/2";
const MAP_NAME: &str = "logs";
/// The key of the number of the last settled entry; no log has an identity like it.
const SETTLED: &str = "settled";

/// The memory of the one agent that may write it.
#[derive(Debug)]
pub struct Memory {
    queue: Queue,
    map: Map<Record>,
    when_full: WhenFull,
    _lock: Lock,
}

/// A value of the map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A log, by its identity.
    Log(Box<LogState>),
    /// The last entry of the queue that is settled.
    Settled(u64),
}

/// What is known of one log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LogState {
    /// Where reading goes on, with the totals up to there.
    pub position: Position,
    /// Events that the server has committed.
    pub acknowledged: u64,
    /// What will never arrive, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, Lost>,
}

/// A range on its way to the server. The segment stays the very text that is sent.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The log.
    pub log: String,
    /// Totals before the range.
    pub before: Tally,
    /// Where reading goes on behind it, with the totals there.
    pub position: Position,
    /// A [`wire::Segment`].
    pub segment: Box<RawValue>,
}

/// What became of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The server has committed it.
    Acknowledged,
    /// It will not arrive, for this reason.
    Lost(&'static str),
}

/// Why an entry cannot be kept just now.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The queue has reached its size.
    #[error("the queue has reached its size")]
    Full,
    /// The range is too large for any queue of this size.
    #[error("a range of {0} bytes is too large for the queue")]
    TooLarge(usize),
    /// The disk refuses.
    #[error("failed to write the queue: {0}; is the disk full?")]
    Disk(#[source] std::io::Error),
}

impl Memory {
    /// Opens the folder for writing and puts queue and map right. Also tells, in words, what a crash or damage had left.
    ///
    /// # Errors
    /// When another agent has it, a newer version wrote it, or it cannot be read or made.
    pub fn open(home: &Home, cap_bytes: u64, when_full: WhenFull) -> anyhow::Result<(Self, Vec<String>)> {
        home.create()?;
        let lock = Lock::take(home.path())?;
        let context = || format!("failed to open the agent's memory in {}", home.path().display());
        let (queue, found_in_queue) = Queue::open(Options::new(home.queue(), cap_bytes)).with_context(context)?;
        let (map, found_in_map) = Map::open(home.path(), MAP_NAME, SCHEMA).with_context(context)?;
        let mut notes: Vec<String> =
            [found_in_queue, found_in_map].iter().filter(|found| !found.is_clean()).map(ToString::to_string).collect();
        let mut memory = Self { queue, map, when_full, _lock: lock };
        memory.put_right(home, &mut notes).with_context(context)?;
        Ok((memory, notes))
    }

    /// Makes positions follow the entries, and forgets what neither has, so that it is read again.
    fn put_right(&mut self, home: &Home, notes: &mut Vec<String>) -> anyhow::Result<()> {
        if self.settled() >= self.queue.next() {
            // The queue lost its memory and counts anew; the old number would hide its entries.
            self.map.set(SETTLED, Record::Settled(0));
        }
        self.queue.acknowledge(self.settled())?;
        let mut queued: BTreeMap<String, i64> = BTreeMap::new();
        for entry in Queue::read_only(&home.queue())? {
            let Ok(entry) = serde_json::from_slice::<Entry>(&entry?.bytes) else { continue };
            *queued.entry(entry.log.clone()).or_default() += entry.events();
            let known = self.log(&entry.log);
            if known.is_none_or(|known| known.position.end < entry.position.end) {
                let Entry { log, before, position, .. } = entry;
                // Without a memory of it, what lies before the first entry was settled some time.
                let (acknowledged, lost) =
                    known.map_or_else(|| (before.events, BTreeMap::new()), |log| (log.acknowledged, log.lost.clone()));
                self.set(&log, LogState { position, acknowledged, lost });
            }
        }
        let torn: Vec<String> = self
            .logs()
            .filter(|(log, state)| state.waiting().cast_signed() != queued.get(*log).copied().unwrap_or_default())
            .map(|(log, _)| log.to_owned())
            .collect();
        for log in &torn {
            self.map.remove(log);
        }
        if !torn.is_empty() {
            notes.push(format!(
                "{} logs are read and sent again from their first byte, because entries of the queue are damaged; the \
                 server takes what it has as nothing new",
                torn.len()
            ));
        }
        Ok(self.map.commit()?)
    }

    /// All logs, by identity.
    pub fn logs(&self) -> impl Iterator<Item = (&str, &LogState)> {
        logs(self.map.iter())
    }

    /// One log.
    pub fn log(&self, identity: &str) -> Option<&LogState> {
        match self.map.get(identity) {
            Some(Record::Log(state)) => Some(state),
            _ => None,
        }
    }

    fn set(&mut self, identity: &str, state: LogState) {
        self.map.set(identity, Record::Log(Box::new(state)));
    }

    fn settled(&self) -> u64 {
        match self.map.get(SETTLED) {
            Some(Record::Settled(through)) => *through,
            _ => 0,
        }
    }

    /// Keeps a range and tells its bytes. It is safe, and the log's position moves, with [`Self::settle`].
    ///
    /// # Errors
    /// See [`KeepError`]; the range is to be read again later.
    pub fn keep(&mut self, entry: &Entry) -> Result<usize, KeepError> {
        let bytes = serde_json::to_vec(entry).map_err(|error| KeepError::Disk(error.into()))?;
        loop {
            match self.queue.push(&bytes) {
                Ok(_) => break,
                Err(PushError::Full { .. }) if self.when_full == WhenFull::DropOldest && !self.queue.is_empty() => {
                    self.queue.sync().map_err(KeepError::Disk)?;
                    self.drop_oldest(bytes.len()).map_err(KeepError::Disk)?;
                }
                Err(PushError::Full { .. }) => return Err(KeepError::Full),
                Err(PushError::TooLarge { .. }) => return Err(KeepError::TooLarge(bytes.len())),
                Err(PushError::Io { source, .. }) => return Err(KeepError::Disk(source)),
            }
        }
        let (acknowledged, lost) =
            self.log(&entry.log).map(|log| (log.acknowledged, log.lost.clone())).unwrap_or_default();
        self.set(&entry.log, LogState { position: entry.position.clone(), acknowledged, lost });
        Ok(bytes.len())
    }

    /// Moves a position without a range, such as that of a log that has ended.
    pub fn move_to(&mut self, identity: &str, position: Position) {
        let (acknowledged, lost) =
            self.log(identity).map(|log| (log.acknowledged, log.lost.clone())).unwrap_or_default();
        self.set(identity, LogState { position, acknowledged, lost });
    }

    /// Notes something of the log at this position that will never arrive and was never an entry.
    pub fn lose(&mut self, identity: &str, position: &Position, reason: &str, more: Lost) {
        let mut state = self.log(identity).cloned().unwrap_or_else(|| LogState {
            position: position.clone(),
            acknowledged: 0,
            lost: BTreeMap::new(),
        });
        add(&mut state.lost, reason, more);
        self.set(identity, state);
    }

    /// Forgets a log that is gone, unless something of it still waits.
    pub fn forget(&mut self, identity: &str) {
        if self.log(identity).is_some_and(|state| state.waiting() == 0) {
            self.map.remove(identity);
        }
    }

    /// Makes everything kept so far safe: entries first, then the positions behind them.
    ///
    /// # Errors
    /// When the disk refuses; nothing is forgotten, call it again.
    pub fn settle(&mut self) -> std::io::Result<()> {
        self.queue.sync()?;
        self.map.commit()
    }

    /// The oldest entries that are safe, with their numbers.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn oldest(&mut self, most_bytes: usize, most: usize) -> std::io::Result<Vec<(u64, Vec<u8>)>> {
        self.queue.peek(most_bytes, most)
    }

    /// Notes what became of the oldest entries, and lets go of them.
    ///
    /// # Errors
    /// When the disk refuses; they are offered again then.
    pub fn done(&mut self, entries: &[(u64, Entry, Outcome)]) -> std::io::Result<()> {
        let settled = self.settled();
        // Others may have been dropped from a full queue while these were on their way; they are settled already.
        for (_, entry, outcome) in entries.iter().filter(|(number, ..)| *number > settled) {
            let Some(state) = self.log(&entry.log) else { continue };
            let mut state = state.clone();
            let events = entry.events();
            match outcome {
                Outcome::Acknowledged => state.acknowledged = state.acknowledged.saturating_add_signed(events),
                Outcome::Lost(reason) => {
                    let sum = state.lost.entry((*reason).to_owned()).or_default();
                    sum.events = sum.events.saturating_add_signed(events);
                }
            }
            self.set(&entry.log, state);
        }
        let Some(through) = entries.iter().map(|(number, ..)| *number).max().filter(|through| *through > settled)
        else {
            return Ok(());
        };
        self.map.set(SETTLED, Record::Settled(through));
        if self.map.commit().is_err() {
            // A full disk gets room from the queue first. A crash before the next line has the logs read again, as damage would.
            self.queue.acknowledge(through)?;
            self.map.commit()?;
        }
        self.queue.acknowledge(through)
    }

    /// Lets go of an entry that no version of this program can read.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn discard(&mut self, number: u64) -> std::io::Result<()> {
        self.queue.acknowledge(number)
    }

    fn drop_oldest(&mut self, room: usize) -> std::io::Result<()> {
        let oldest = self.queue.peek(room, usize::MAX)?;
        let mut dropped = Vec::new();
        for (number, bytes) in oldest {
            match serde_json::from_slice(&bytes) {
                Ok(entry) => dropped.push((number, entry, Outcome::Lost("queue_full"))),
                Err(_) => self.discard(number)?,
            }
        }
        self.done(&dropped)
    }

    /// Empties the queue; what was in it counts as lost for the reason `purged`.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn purge(&mut self) -> std::io::Result<()> {
        let states: Vec<(String, LogState)> = self.logs().map(|(log, state)| (log.to_owned(), state.clone())).collect();
        for (log, mut state) in states {
            let events = state.waiting();
            if events > 0 {
                add(&mut state.lost, "purged", Lost { bytes: 0, events });
                self.set(&log, state);
            }
        }
        self.map.commit()?;
        self.queue.clear()
    }

    /// Bytes that wait.
    pub fn queue_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Age of the oldest entry, in seconds.
    pub fn oldest_age_s(&self) -> u64 {
        age_s(self.queue.oldest())
    }

    /// The sums over all logs.
    pub fn ledger(&self) -> Ledger {
        let mut ledger = sum(self.logs());
        ledger.queued = self.logs().map(|(_, state)| state.waiting()).sum();
        ledger
    }

    /// What was lost, log by log, as the server wants to know it: totals, so that telling twice changes nothing.
    pub fn losses(&self) -> Vec<Loss> {
        self.logs()
            .flat_map(|(log, state)| {
                state.lost.iter().map(move |(reason, lost)| Loss {
                    log: Some(log.to_owned()),
                    file: Some(state.position.file.clone()),
                    reason: reason.clone(),
                    bytes: lost.bytes,
                    events: lost.events,
                })
            })
            .collect()
    }
}

/// What can be seen of the memory while another process may be writing it.
#[derive(Debug, Default)]
pub struct View {
    /// The logs.
    pub logs: BTreeMap<String, LogState>,
    /// The sums; `queued` was counted in the queue.
    pub ledger: Ledger,
    /// Bytes that wait.
    pub queue_bytes: u64,
    /// Age of the oldest entry, in seconds.
    pub oldest_age_s: u64,
    /// The logs of the entries that wait.
    pub waiting: BTreeSet<String>,
    /// The oldest entries that wait, as many as were asked for.
    pub entries: Vec<Entry>,
}

impl View {
    /// Looks; the entries that are kept have this many bytes at most, but there is one at least if any waits and bytes are
    /// asked for.
    ///
    /// # Errors
    /// When the files cannot be read, or a newer version wrote them.
    pub fn of(home: &Home, entry_bytes: usize) -> anyhow::Result<Self> {
        let context = || format!("failed to read the agent's memory in {}", home.path().display());
        if !home.path().is_dir() {
            return Ok(Self::default());
        }
        let map: BTreeMap<String, Record> = Map::read_only(home.path(), MAP_NAME, SCHEMA).with_context(context)?;
        let settled = match map.get(SETTLED) {
            Some(Record::Settled(through)) => *through,
            _ => 0,
        };
        let logs = logs(map.iter().map(|(key, record)| (key.as_str(), record)));
        let logs: BTreeMap<String, LogState> = logs.map(|(log, state)| (log.to_owned(), state.clone())).collect();
        let mut view = Self { ledger: sum(logs.iter().map(|(log, state)| (log.as_str(), state))), ..Self::default() };
        if home.queue().is_dir() {
            for queued in Queue::read_only(&home.queue()).with_context(context)? {
                let queued = queued.with_context(context)?;
                if queued.sequence <= settled {
                    continue;
                }
                view.queue_bytes += queued.bytes.len() as u64;
                view.oldest_age_s = view.oldest_age_s.max(age_s(Some(queued.pushed)));
                if let Ok(entry) = serde_json::from_slice::<Entry>(&queued.bytes) {
                    view.ledger.queued = view.ledger.queued.saturating_add_signed(entry.events());
                    view.waiting.insert(entry.log.clone());
                    if view.queue_bytes <= entry_bytes as u64 || (view.entries.is_empty() && entry_bytes > 0) {
                        view.entries.push(entry);
                    }
                }
            }
        }
        view.logs = logs;
        Ok(view)
    }
}

impl LogState {
    /// Events that were read and of which nothing has become yet.
    pub fn waiting(&self) -> u64 {
        let lost: u64 = self.lost.values().map(|lost| lost.events).sum();
        self.position.counts.events.saturating_sub(self.acknowledged + lost)
    }
}

impl Entry {
    /// Events that the range adds to its log. Negative when the last record before it turned out to be none.
    pub const fn events(&self) -> i64 {
        self.position.counts.events.wrapping_sub(self.before.events).cast_signed()
    }
}

fn logs<'a>(records: impl Iterator<Item = (&'a str, &'a Record)>) -> impl Iterator<Item = (&'a str, &'a LogState)> {
    records.filter_map(|(key, record)| match record {
        Record::Log(state) => Some((key, state.as_ref())),
        Record::Settled(_) => None,
    })
}

fn sum<'a>(logs: impl Iterator<Item = (&'a str, &'a LogState)>) -> Ledger {
    let mut ledger = Ledger::default();
    for (_, state) in logs {
        ledger.add(&Tally::at(&state.position), state.acknowledged, &state.lost);
    }
    ledger
}

fn add(lost: &mut BTreeMap<String, Lost>, reason: &str, more: Lost) {
    let sum = lost.entry(reason.to_owned()).or_default();
    sum.bytes += more.bytes;
    sum.events += more.events;
}

fn age_s(since: Option<std::time::SystemTime>) -> u64 {
    since.and_then(|since| since.elapsed().ok()).unwrap_or_default().as_secs()
}
