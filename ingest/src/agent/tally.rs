//! How far a log is known: totals from its first byte to a position, and the ledger that they make (contract section 6).
//!
//! All sums are differences of such totals. So a range that is read or sent twice, after a crash, is counted once.

use std::collections::BTreeMap;

use follow::Position;
use serde::{Deserialize, Serialize};
use wire::ByteLedger;

/// Totals of one log from its first byte to a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Where its bytes went.
    pub bytes: ByteLedger,
    /// Prefixed lines.
    pub records: u64,
    /// Records that the parser understands.
    pub events: u64,
    /// Records that are none of our business.
    pub ignored: u64,
    /// Records with a marker of ours in no known shape.
    pub unrecognised: u64,
}

impl Tally {
    /// The totals at a position.
    pub const fn at(position: &Position) -> Self {
        let Position { counts, bytes, .. } = position;
        Self {
            bytes: *bytes,
            records: counts.records,
            events: counts.events,
            ignored: counts.ignored,
            unrecognised: counts.unrecognised,
        }
    }
}

/// What was lost of a log for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Lost {
    /// Bytes that were never read.
    pub bytes: u64,
    /// Events that were read and will not arrive.
    pub events: u64,
}

/// The sums over all logs, in the words of contract section 3.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Ledger {
    /// All that were read.
    pub bytes_read: u64,
    /// Of those, in records.
    pub bytes_in_records: u64,
    /// And not in records, by reason.
    pub bytes_skipped: BTreeMap<String, u64>,
    /// Prefixed lines.
    pub records: u64,
    /// Records that the parser understands.
    pub events: u64,
    /// Records that are none of our business.
    pub ignored: u64,
    /// Records with a marker of ours in no known shape.
    pub unrecognised: u64,
    /// Events that wait on this machine.
    pub queued: u64,
    /// Events that the server has committed.
    pub acknowledged: u64,
    /// Events that were lost for good, by reason.
    pub dropped: BTreeMap<String, u64>,
}

impl Ledger {
    /// Adds a log that was read so far, whose events went where the others say.
    pub fn add(&mut self, read: &Tally, acknowledged: u64, lost: &BTreeMap<String, Lost>) {
        self.bytes_read += read.bytes.total();
        self.bytes_in_records += read.bytes.in_records;
        for (reason, bytes) in read.bytes.skipped() {
            *self.bytes_skipped.entry(reason.to_owned()).or_default() += bytes;
        }
        self.records += read.records;
        self.events += read.events;
        self.ignored += read.ignored;
        self.unrecognised += read.unrecognised;
        self.acknowledged += acknowledged;
        for (reason, lost) in lost.iter().filter(|(_, lost)| lost.events > 0) {
            *self.dropped.entry(reason.clone()).or_default() += lost.events;
        }
    }

    /// The first sum that does not close, in words.
    pub fn open_sum(&self) -> Option<String> {
        let skipped: u64 = self.bytes_skipped.values().sum();
        let dropped: u64 = self.dropped.values().sum();
        let sums = [
            ("bytes", self.bytes_read, self.bytes_in_records + skipped),
            ("records", self.records, self.events + self.ignored + self.unrecognised),
            ("events", self.events, self.queued + self.acknowledged + dropped),
        ];
        sums.into_iter().find(|(_, whole, parts)| whole != parts).map(|(what, whole, parts)| {
            format!("the ledger does not close: {whole} {what} read, {parts} accounted for")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_that_does_not_close_says_which_sum() {
        let read = Tally {
            bytes: ByteLedger { in_records: 90, header: 10, ..ByteLedger::default() },
            records: 9,
            events: 5,
            ignored: 3,
            unrecognised: 1,
        };
        let mut ledger = Ledger::default();
        ledger.add(&read, 2, &BTreeMap::from([("rejected".to_owned(), Lost { bytes: 0, events: 1 })]));
        assert!(ledger.open_sum().is_some_and(|said| said.contains("5 events read, 3 accounted for")));
        ledger.queued = 2;
        assert_eq!(ledger.open_sum(), None);
        ledger.bytes_read += 1;
        assert!(ledger.open_sum().is_some_and(|said| said.contains("101 bytes")));
    }
}
