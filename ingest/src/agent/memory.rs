//! What the agent remembers: ranges that wait for the server, and per log how far it was read and what became of it.
//!
//! Two things on disk, a queue and a map, that a crash can part. Every step is ordered so that the pair is put right at the
//! next start:
//! - A range is made safe in the queue before the log's position moves. An entry carries the position that it leads to, so a
//!   crash in between moves it at the next start, and nothing is read twice.
//! - An answer of the server is noted in the map, with the number of the last entry that it was about, before the queue lets
//!   go. A crash in between leaves entries that the map knows to be settled; they are not counted or sent again.

use std::time::Duration;

use anyhow::Context as _;
use follow::Position;
use spool::{Lock, LockError, Map, Options, PushError, Queue};
use wire::Loss;

use crate::agent::config::WhenFull;
use crate::agent::home::Home;
use crate::agent::tally::{Ledger, Lost, Tally};

mod leaving;
mod record;
mod repair;
mod view;

#[cfg(test)]
mod tests;

pub use record::{Before, Entry, LogState, Outcome, Record};
pub use view::View;

/// Name and version of what stands in the map.
const SCHEMA: &str = "weavewatch.state/2";
const MAP_NAME: &str = "logs";
/// The key of the number of the last settled entry; no log has an identity like it.
const SETTLED: &str = "settled";
/// Who only asks whether an agent runs holds the lock for a moment.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The memory of the one agent that may write it.
#[derive(Debug)]
pub struct Memory {
    queue: Queue,
    map: Map<Record>,
    when_full: WhenFull,
    /// What became of entries is not safe yet, or the queue has not let go of them.
    owing: bool,
    _lock: Lock,
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
        let lock = lock(home)?;
        let context = || format!("failed to open the agent's memory in {}", home.path().display());
        let (queue, found_in_queue) = Queue::open(Options::new(home.queue(), cap_bytes)).with_context(context)?;
        let (map, found_in_map) = Map::open(home.path(), MAP_NAME, SCHEMA).with_context(context)?;
        let damaged = !found_in_queue.is_clean();
        let mut notes: Vec<String> =
            [found_in_queue, found_in_map].iter().filter(|found| !found.is_clean()).map(ToString::to_string).collect();
        let mut memory = Self { queue, map, when_full, owing: false, _lock: lock };
        memory.put_right(home, damaged, &mut notes).with_context(context)?;
        Ok((memory, notes))
    }

    /// Makes positions follow the entries, and has logs read again that miss one.
    fn put_right(&mut self, home: &Home, damaged: bool, notes: &mut Vec<String>) -> anyhow::Result<()> {
        if self.settled() >= self.queue.next() {
            // The queue lost its memory and counts anew; the old numbers would hide its entries.
            self.map.set(SETTLED, Record::Settled(0));
            let void: Vec<String> =
                self.map.iter().filter(|(_, record)| record.void_through() > 0).map(own_key).collect();
            for log in void {
                match self.map.get(&log).cloned() {
                    Some(Record::Log(mut state)) => {
                        state.void_through = 0;
                        self.map.set(log, Record::Log(state));
                    }
                    _ => drop(self.map.remove(&log)),
                }
            }
        }
        self.queue.acknowledge(self.settled())?;
        let found = repair::repair(self.map.iter(), self.settled(), damaged, Queue::read_only(&home.queue())?)?;
        for (log, state) in found.moved {
            self.set(&log, state);
        }
        let last = self.queue.next() - 1;
        for log in &found.torn {
            self.map.set(log, Record::Again(last));
        }
        if !found.torn.is_empty() {
            notes.push(format!(
                "{} logs are read and sent again from their first byte, because entries of the queue are damaged; the \
                 server takes what it has as nothing new",
                found.torn.len()
            ));
        }
        Ok(self.map.commit()?)
    }

    /// All logs, by identity.
    pub fn logs(&self) -> impl Iterator<Item = (&str, &LogState)> {
        self.map.iter().filter_map(|(log, record)| Some((log, record.state()?)))
    }

    /// One log.
    pub fn log(&self, identity: &str) -> Option<&LogState> {
        self.map.get(identity)?.state()
    }

    /// What is known of a log so far, to be changed and set.
    fn state(&self, identity: &str) -> LogState {
        match self.map.get(identity) {
            Some(Record::Log(state)) => state.as_ref().clone(),
            Some(record) => LogState { void_through: record.void_through(), ..LogState::default() },
            None => LogState::default(),
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
        let state = self.state(&entry.log);
        self.set(&entry.log, LogState { position: entry.position.clone(), ..state });
        Ok(bytes.len())
    }

    /// Moves a position without a range, such as that of a log that has ended.
    pub fn move_to(&mut self, identity: &str, position: Position) {
        let state = self.state(identity);
        let settled_end = if state.is_settled() { position.end } else { state.settled_end };
        self.set(identity, LogState { position, settled_end, ..state });
    }

    /// Notes something of the log at this position that will never arrive and was never an entry.
    pub fn lose(&mut self, identity: &str, position: &Position, reason: &str, more: Lost) {
        let mut state = self.state(identity);
        if self.log(identity).is_none() {
            state.position = position.clone();
        }
        state.lose(reason, more);
        self.set(identity, state);
    }

    /// Forgets a log that is gone, unless something of it still waits.
    pub fn forget(&mut self, identity: &str) {
        if self.log(identity).is_some_and(LogState::is_settled) {
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

    /// How many logs there are, and how many of them have ended.
    pub fn count(&self) -> (u64, u64) {
        let ended = |count: (u64, u64), (_, state): (&str, &LogState)| {
            (count.0 + 1, count.1 + u64::from(state.position.ended.is_some()))
        };
        self.logs().fold((0, 0), ended)
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
        let mut ledger = sum(self.logs().map(|(_, state)| state));
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

/// Takes the right to write the folder, and waits a moment for those who only ask whether an agent runs.
fn lock(home: &Home) -> Result<Lock, LockError> {
    for _ in 1..LOCK_ATTEMPTS {
        match Lock::take(home.path()) {
            Err(LockError::Held { .. }) => std::thread::sleep(LOCK_PAUSE),
            taken => return taken,
        }
    }
    Lock::take(home.path())
}

fn own_key((key, _): (&str, &Record)) -> String {
    key.to_owned()
}

fn sum<'a>(logs: impl Iterator<Item = &'a LogState>) -> Ledger {
    let mut ledger = Ledger::default();
    for state in logs {
        ledger.add(&Tally::at(&state.position), state.acknowledged, &state.lost);
    }
    ledger
}

fn age_s(since: Option<std::time::SystemTime>) -> u64 {
    since.and_then(|since| since.elapsed().ok()).unwrap_or_default().as_secs()
}
