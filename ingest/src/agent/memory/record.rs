//! What stands in the map and in the queue: what is known of a log, and a range of it on its way to the server.

use std::collections::BTreeMap;

use follow::Position;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agent::tally::Lost;

/// A value of the map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A log, by its identity.
    Log(Box<LogState>),
    /// A log that is to be read again from its first byte: entries of it up to this number count for nothing.
    Again(u64),
    /// The last entry of the queue that is settled.
    Settled(u64),
}

/// What is known of one log.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LogState {
    /// Where reading goes on, with the totals up to there.
    pub position: Position,
    /// The byte behind the last range of which something has become: from here to the position everything is queued.
    pub settled_end: u64,
    /// Events that the server has committed.
    pub acknowledged: u64,
    /// What will never arrive, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, Lost>,
    /// Entries up to this number are of an earlier reading and count for nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void_through: u64,
}

/// A range on its way to the server. The segment stays the very text that is sent.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The log.
    pub log: String,
    /// Where the range before it ended.
    pub before: Before,
    /// Where reading goes on behind it, with the totals there.
    pub position: Position,
    /// A [`wire::Segment`].
    pub segment: Box<RawValue>,
}

/// Where a range begins to add something to its log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Before {
    /// The byte behind the range before.
    pub end: u64,
    /// Events up to there.
    pub events: u64,
}

/// What became of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The server has committed it.
    Acknowledged,
    /// It will not arrive, for this reason.
    Lost(&'static str),
}

impl Record {
    /// The state of a log.
    pub fn state(&self) -> Option<&LogState> {
        match self {
            Self::Log(state) => Some(state),
            Self::Again(_) | Self::Settled(_) => None,
        }
    }

    /// Entries of the log up to this number count for nothing.
    pub fn void_through(&self) -> u64 {
        match self {
            Self::Log(state) => state.void_through,
            Self::Again(through) => *through,
            Self::Settled(_) => 0,
        }
    }
}

impl LogState {
    /// Events that were read and of which nothing has become yet.
    pub fn waiting(&self) -> u64 {
        let lost: u64 = self.lost.values().map(|lost| lost.events).sum();
        self.position.counts.events.saturating_sub(self.acknowledged + lost)
    }

    /// True when nothing of it is in the queue.
    pub fn is_settled(&self) -> bool {
        self.settled_end == self.position.end && self.waiting() == 0
    }

    /// Adds a loss.
    pub fn lose(&mut self, reason: &str, more: Lost) {
        let sum = self.lost.entry(reason.to_owned()).or_default();
        sum.bytes += more.bytes;
        sum.events += more.events;
    }
}

impl Entry {
    /// Events that the range adds to its log. Negative when the last record before it turned out to be none.
    pub const fn events(&self) -> i64 {
        self.before.events_until(&self.position)
    }
}

impl Before {
    /// The range that follows begins where reading goes on.
    pub const fn at(position: &Position) -> Self {
        Self { end: position.end, events: position.counts.events }
    }

    /// Events from here to a position.
    pub const fn events_until(&self, position: &Position) -> i64 {
        position.counts.events.wrapping_sub(self.events).cast_signed()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
