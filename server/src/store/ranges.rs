//! Which byte ranges of a log have arrived, and which of them knows an offset best.
//!
//! Pure: the rule is here, the rows are in `ingest.rs`. Ranges inside another are dropped, so that the rest rise in both
//! start and end. An offset belongs to the range that ends last among those that hold it, which is the one that starts last
//! at or before it: so each range owns what lies between its start and the next one's. Both rules give the same answer in
//! whatever order ranges arrive, and a new range costs no more than the ranges that it replaces.

use std::collections::BTreeMap;

/// Ranges of one log that are kept apart. An agent that sends every few seconds reaches this on a long day; above it the
/// first ones that touch are joined, and what comes late inside them changes nothing any more.
pub const MOST: usize = 1_000;
/// What a joined range may hold, as plain JSON: a reader has it in memory, and the next join writes it anew.
const JOINED_BYTES: i64 = 4 << 20;

/// A byte range, end excluded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Range {
    /// First byte.
    pub start: i64,
    /// The byte behind the last.
    pub end: i64,
}

/// What becomes of a new range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Everything it says is known better already.
    Nothing,
    /// It is one of the ranges now.
    Taken,
    /// There are [`MOST`] ranges with gaps between them, and this would be one more.
    TooMany,
}

/// One row: a range as it arrived, or several that were joined since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// All of it.
    pub range: Range,
    /// What it holds, as plain JSON.
    pub plain_bytes: i64,
    /// The ranges as they arrived, or as they were stored, by start.
    pub parts: Vec<Range>,
}

/// The ranges of one log, by start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges {
    by_start: BTreeMap<i64, Held>,
    /// Nothing could be joined since the last range came.
    is_full: bool,
    looked_at: usize,
}

impl Ranges {
    /// Adds a range that holds so much. The very same range again takes its own place: the newest reading of it counts.
    pub fn claim(&mut self, new: Range, plain_bytes: i64) -> Claim {
        if self.by_start.len() >= MOST && !self.is_full {
            self.join();
        }
        let before = self.by_start.range(..=new.start).next_back().map(|(_, held)| held.range);
        if new.start >= new.end || before.is_some_and(|before| before.end >= new.end && before != new) {
            return Claim::Nothing;
        }
        // Ends rise with starts, so what lies inside the new range stands in a row.
        let mut inside = Vec::new();
        let mut later = None;
        for (start, held) in self.by_start.range(new.start..) {
            if held.range.end > new.end {
                later = Some(*start);
                break;
            }
            inside.push(*start);
        }
        self.looked_at += inside.len() + 2;
        let touches = !inside.is_empty()
            || before.is_some_and(|before| before.end >= new.start)
            || later.is_some_and(|later| later <= new.end);
        if self.by_start.len() >= MOST && !touches {
            return Claim::TooMany;
        }
        for start in inside {
            self.by_start.remove(&start);
        }
        self.by_start.insert(new.start, Held { range: new, plain_bytes, parts: vec![new] });
        self.is_full = false;
        Claim::Taken
    }

    /// How many ranges all claims together have looked at.
    pub const fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// From start to end.
    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.by_start.values()
    }

    /// Every part, by start, with the end of what it owns.
    pub fn owners(&self) -> impl Iterator<Item = (Range, i64)> {
        let mut parts = self.iter().flat_map(|held| &held.parts).copied().peekable();
        std::iter::from_fn(move || {
            let part = parts.next()?;
            Some((part, parts.peek().map_or(part.end, |next| next.start.min(part.end))))
        })
    }

    /// Bytes below `end` that no range covers.
    pub fn missing_bytes(&self, end: i64) -> i64 {
        let mut reached = 0;
        let mut missing = 0;
        for Held { range, .. } in self.iter() {
            missing += (range.start - reached).max(0);
            reached = reached.max(range.end);
        }
        missing + (end - reached).max(0)
    }

    /// Joins ranges that touch, from the first on, until there are clearly fewer.
    fn join(&mut self) {
        let mut over = self.by_start.len() - MOST * 3 / 4;
        self.looked_at += self.by_start.len();
        let mut joined: BTreeMap<i64, Held> = BTreeMap::new();
        for (start, mut held) in std::mem::take(&mut self.by_start) {
            match joined.last_entry() {
                Some(mut last) if over > 0 && last.get().takes(&held) => {
                    over -= 1;
                    let last = last.get_mut();
                    last.range.end = held.range.end;
                    last.plain_bytes += held.plain_bytes;
                    last.parts.append(&mut held.parts);
                }
                _ => {
                    joined.insert(start, held);
                }
            }
        }
        self.by_start = joined;
        self.is_full = self.by_start.len() >= MOST;
    }
}

impl Held {
    /// Whether the next range can be joined to this one.
    const fn takes(&self, next: &Self) -> bool {
        self.range.end >= next.range.start && self.plain_bytes + next.plain_bytes <= JOINED_BYTES
    }
}

impl FromIterator<(Range, i64)> for Ranges {
    /// Of stored ranges and what they hold; none of them lies inside another.
    fn from_iter<I: IntoIterator<Item = (Range, i64)>>(stored: I) -> Self {
        let held = |(range, plain_bytes): (Range, i64)| (range.start, Held { range, plain_bytes, parts: vec![range] });
        Self { by_start: stored.into_iter().map(held).collect(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
