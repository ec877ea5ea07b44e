//! Which byte ranges of a log have arrived, and which of them knows an offset best.
//!
//! Pure: the rule is here, the rows are in `ingest.rs`. Ranges inside another are dropped, so that the rest rise in both
//! start and end. An offset belongs to the range that ends last among those that hold it. Both rules give the same
//! answer in whatever order ranges arrive, and a new range costs no more than the ranges that it replaces.

use std::collections::BTreeMap;

/// Ranges of one log that are kept apart. An agent that sends every few seconds reaches this on a long day; above it the
/// first ones that touch are joined, and what comes late inside them changes nothing any more.
pub const MOST: usize = 1_000;

/// A byte range, end excluded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Range {
    /// First byte.
    pub start: i64,
    /// The byte behind the last.
    pub end: i64,
}

/// What a new range may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Everything it says is known better already.
    Nothing,
    /// It knows the offsets below `limit` best.
    Below {
        /// The first offset that a later range knows better.
        limit: i64,
        /// Other ranges have said something of these offsets.
        known: bool,
    },
    /// There are [`MOST`] ranges with gaps between them, and this would be one more.
    TooMany,
}

/// The ranges of one log, by start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges {
    ends: BTreeMap<i64, i64>,
    /// Nothing could be joined since the last range came.
    is_full: bool,
    looked_at: usize,
}

impl Ranges {
    /// Adds a range. The very same range again may write: the newest reading of it counts.
    pub fn claim(&mut self, new: Range) -> Claim {
        if self.ends.len() >= MOST && !self.is_full {
            self.join();
        }
        let before = self.ends.range(..=new.start).next_back().map(|(start, end)| Range { start: *start, end: *end });
        if new.start >= new.end || before.is_some_and(|before| before.end >= new.end && before != new) {
            return Claim::Nothing;
        }
        // Ends rise with starts, so what lies inside the new range stands in a row.
        let mut inside = Vec::new();
        let mut later = None;
        for (start, end) in self.ends.range(new.start..) {
            if *end > new.end {
                later = Some(*start);
                break;
            }
            inside.push(*start);
        }
        self.looked_at += inside.len() + 2;
        let known = !inside.is_empty() || before.is_some_and(|before| before.end > new.start);
        let touches =
            before.is_some_and(|before| before.end == new.start) || later.is_some_and(|later| later <= new.end);
        if self.ends.len() >= MOST && !known && !touches {
            return Claim::TooMany;
        }
        for start in inside {
            self.ends.remove(&start);
        }
        self.ends.insert(new.start, new.end);
        self.is_full = false;
        Claim::Below { limit: later.map_or(new.end, |later| later.min(new.end)), known }
    }

    /// How many ranges all claims together have looked at.
    pub const fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// From start to end.
    pub fn iter(&self) -> impl Iterator<Item = Range> {
        self.ends.iter().map(|(start, end)| Range { start: *start, end: *end })
    }

    /// Bytes below `end` that no range covers.
    pub fn missing_bytes(&self, end: i64) -> i64 {
        let mut reached = 0;
        let mut missing = 0;
        for range in self.iter() {
            missing += (range.start - reached).max(0);
            reached = reached.max(range.end);
        }
        missing + (end - reached).max(0)
    }

    /// Joins ranges that touch, from the first on, until there are clearly fewer.
    fn join(&mut self) {
        let mut over = self.ends.len() - MOST * 3 / 4;
        let mut joined: BTreeMap<i64, i64> = BTreeMap::new();
        for range in self.iter() {
            match joined.last_entry() {
                Some(mut last) if over > 0 && *last.get() >= range.start => {
                    over -= 1;
                    last.insert(range.end);
                }
                _ => {
                    joined.insert(range.start, range.end);
                }
            }
        }
        self.looked_at += self.ends.len();
        self.ends = joined;
        self.is_full = self.ends.len() >= MOST;
    }
}

impl FromIterator<Range> for Ranges {
    /// Of stored ranges, none of which lies inside another.
    fn from_iter<I: IntoIterator<Item = Range>>(stored: I) -> Self {
        let ends = stored.into_iter().map(|range| (range.start, range.end)).collect();
        Self { ends, ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
