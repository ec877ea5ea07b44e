//! Which byte ranges of a log have arrived, and which of them knows an offset best.
//!
//! Pure: the rule is here, the rows are in `ingest.rs`. Ranges inside another are dropped, so that the rest rise in both
//! start and end. An offset belongs to the range that ends last among those that hold it. Both rules give the same
//! answer in whatever order ranges arrive.

/// A byte range, end excluded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Range {
    /// First byte.
    pub start: i64,
    /// The byte behind the last.
    pub end: i64,
}

/// What a new range may write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Everything it says is known better already.
    Nothing,
    /// It knows the offsets below `limit` best and makes the `inside` ranges superfluous.
    Below {
        /// The first offset that a later range knows better.
        limit: i64,
        /// Stored ranges that lie inside the new one.
        inside: Vec<Range>,
    },
}

/// Compares a new range with the stored ones. The very same range again may write: the newest reading of it counts.
pub fn claim(stored: &[Range], new: Range) -> Claim {
    let holds = |outer: &Range| outer.start <= new.start && new.end <= outer.end;
    if stored.iter().any(|range| holds(range) && *range != new) {
        return Claim::Nothing;
    }
    let later = stored.iter().filter(|range| range.end > new.end).map(|range| range.start).min();
    let inside = stored.iter().filter(|range| new.start <= range.start && range.end <= new.end).copied().collect();
    Claim::Below { limit: later.map_or(new.end, |start| start.min(new.end)), inside }
}

/// Bytes below `end` that no range covers.
pub fn missing_bytes(stored: &[Range], end: i64) -> i64 {
    let mut sorted = stored.to_vec();
    sorted.sort_unstable();
    let mut reached = 0;
    let mut missing = 0;
    for range in sorted {
        missing += (range.start - reached).max(0);
        reached = reached.max(range.end);
    }
    missing + (end - reached).max(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn add(stored: &mut Vec<Range>, owners: &mut BTreeMap<i64, i64>, new: Range) {
        if let Claim::Below { limit, inside } = claim(stored, new) {
            stored.retain(|range| !inside.contains(range));
            stored.push(new);
            owners.extend((new.start..limit).map(|offset| (offset, new.end)));
        }
    }

    #[test]
    fn gaps_are_counted() {
        let range = |start, end| Range { start, end };
        assert_eq!(missing_bytes(&[], 10), 10);
        assert_eq!(missing_bytes(&[range(5, 7), range(0, 2), range(1, 3)], 10), 5);
    }

    proptest! {
        #[test]
        fn the_range_that_ends_last_owns_an_offset_in_any_order(
            ranges in prop::collection::vec((0_i64..30, 1_i64..20), 1..12),
            shuffle in any::<prop::sample::Index>(),
        ) {
            let mut ranges: Vec<_> = ranges.into_iter().map(|(start, len)| Range { start, end: start + len }).collect();
            let by = shuffle.index(ranges.len());
            ranges.rotate_left(by);
            let mut stored = Vec::new();
            let mut owners = BTreeMap::new();
            for range in ranges.iter().chain(ranges.iter().rev()) {
                add(&mut stored, &mut owners, *range);
            }
            for offset in 0..64 {
                let best = ranges.iter().filter(|range| range.start <= offset && offset < range.end).map(|range| range.end);
                prop_assert_eq!(owners.get(&offset).copied(), best.max(), "offset {}", offset);
            }
        }
    }
}
