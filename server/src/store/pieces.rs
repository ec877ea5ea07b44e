//! What the pieces of one log change, worked out before the database is asked to change anything: so many pieces cost as
//! few statements as one.
//!
//! Pure: what is stored comes in, what has to be deleted and inserted comes out.

use std::collections::{BTreeMap, BTreeSet};

use wire::{Observation, Segment};

use super::ranges::{Claim, MOST, Range, Ranges};

/// Pieces of one log, in the order in which they came.
#[derive(Debug)]
pub struct Pieces {
    stored: BTreeSet<Range>,
    ranges: Ranges,
    known: Vec<Range>,
    observations: BTreeMap<i64, Vec<Observation>>,
    newest: Option<Segment>,
    refused: Vec<(u64, String)>,
}

/// What becomes of the rows of the log.
#[derive(Debug)]
pub struct Changes {
    /// All ranges, for the count of missing bytes.
    pub ranges: Ranges,
    /// Stored ranges that others have taken the place of.
    pub gone: Vec<Range>,
    /// Ranges that are not stored yet.
    pub new: Vec<Range>,
    /// Where stored observations may be that are known better now. Rising, with gaps between.
    pub clear: Vec<Range>,
    /// What is known better, by offset and by its place there.
    pub observations: Vec<(i64, i64, Observation)>,
    /// The piece that ends last, without its observations: facts and the rest are known best by it.
    pub newest: Option<Segment>,
    /// Pieces that were left out, by their place in the batch, with the reason.
    pub refused: Vec<(u64, String)>,
}

impl Pieces {
    /// On top of the ranges that are stored.
    pub fn new(stored: Vec<Range>) -> Self {
        Self {
            ranges: stored.iter().copied().collect(),
            stored: stored.into_iter().collect(),
            known: Vec::new(),
            observations: BTreeMap::new(),
            newest: None,
            refused: Vec::new(),
        }
    }

    /// Adds a piece; `place` is its own in the batch. Offsets were checked to fit when the batch was read.
    pub fn add(&mut self, place: u64, mut segment: Segment) {
        let new = Range { start: signed(segment.start), end: signed(segment.end) };
        let observations = std::mem::take(&mut segment.observations);
        match self.ranges.claim(new) {
            Claim::TooMany => {
                let why =
                    format!("the log has {MOST} pieces with gaps between them already: send the missing ones first");
                self.refused.push((place, why));
                return;
            }
            Claim::Nothing => {}
            Claim::Below { limit, known } => {
                if known {
                    self.known.push(Range { start: new.start, end: limit });
                    let replaced: Vec<_> =
                        self.observations.range(new.start..limit).map(|(offset, _)| *offset).collect();
                    for offset in replaced {
                        self.observations.remove(&offset);
                    }
                }
                for observation in observations {
                    let offset = signed(observation.offset());
                    if offset < limit {
                        self.observations.entry(offset).or_default().push(observation);
                    }
                }
            }
        }
        if self.newest.as_ref().is_none_or(|newest| newest.end <= segment.end) {
            self.newest = Some(segment);
        }
    }

    /// The sum of it.
    pub fn changes(mut self) -> Changes {
        let now: BTreeSet<_> = self.ranges.iter().collect();
        self.known.sort_unstable();
        let mut clear: Vec<Range> = Vec::new();
        for range in self.known {
            match clear.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => clear.push(range),
            }
        }
        let observations = self.observations.into_iter().flat_map(|(offset, observations)| {
            (0..).zip(observations).map(move |(ordinal, observation)| (offset, ordinal, observation))
        });
        Changes {
            gone: self.stored.difference(&now).copied().collect(),
            new: now.difference(&self.stored).copied().collect(),
            ranges: self.ranges,
            clear,
            observations: observations.collect(),
            newest: self.newest,
            refused: self.refused,
        }
    }
}

fn signed(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}
