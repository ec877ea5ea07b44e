//! On which days a machine has logs, and how many: a row for 64 days instead of a row a day.
//!
//! Pure. A row is a [`Block`]: one bit a day, by which the database finds the machines of some days, and the counts, from
//! which the bits come. Packed, each day is its distance to the day before it and the count, as variable-length numbers of seven bits a
//! byte, lowest first, the distance zigzagged. Nearly every day of a real machine takes two bytes.

use std::collections::BTreeMap;

use jiff::civil::{Date, date};

/// Stands for a log that does not tell its day; no calendar reaches so far.
const NOT_TOLD: i64 = -1 << 32;

/// Days of a block: the bits of the largest number that both databases know.
const BLOCK_DAYS: i64 = 64;

/// The days of a machine that are one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Which: the number of its first day since 1970, divided by 64.
    pub number: i64,
    /// One a day with logs, the first day's is the lowest.
    pub bits: i64,
    /// Days and counts.
    pub packed: Vec<u8>,
}

/// Logs by day. No day has the count 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Days(BTreeMap<i64, i64>);

impl Days {
    /// Adds logs, or takes some away, and answers how many the day had before and has now; never fewer than none.
    pub fn add(&mut self, day: Option<Date>, logs: i64) -> (i64, i64) {
        let day = number(day);
        let before = self.0.get(&day).copied().unwrap_or_default();
        let now = before.saturating_add(logs).max(0);
        if now == 0 {
            self.0.remove(&day);
        } else {
            self.0.insert(day, now);
        }
        (before, now)
    }

    /// No logs on any day.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As rows hold it.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<_> = self.0.keys().map(|day| day.div_euclid(BLOCK_DAYS)).collect();
        blocks.dedup();
        blocks.into_iter().filter_map(|number| self.block(number)).collect()
    }

    /// One row; none where there are no logs.
    pub fn block(&self, number: i64) -> Option<Block> {
        let first = number * BLOCK_DAYS;
        let (mut bits, mut packed, mut last) = (0, Vec::new(), 0);
        for (day, logs) in self.0.range(first..first + BLOCK_DAYS) {
            bits |= 1 << (day - first);
            let distance = day - last;
            push(&mut packed, ((distance << 1) ^ (distance >> 63)).cast_unsigned());
            push(&mut packed, logs.cast_unsigned());
            last = *day;
        }
        (bits != 0).then_some(Block { number, bits, packed })
    }

    /// Takes what a row holds; `None` when it is damaged.
    pub fn take(&mut self, packed: &[u8]) -> Option<()> {
        let entries: BTreeMap<_, _> =
            each(packed).map(|entry| entry.filter(|(_, logs)| *logs > 0)).collect::<Option<_>>()?;
        self.0.extend(entries);
        Some(())
    }
}

/// In which block a day is.
pub fn block_of(day: Option<Date>) -> i64 {
    number(day).div_euclid(BLOCK_DAYS)
}

/// The bits of some days, by block.
pub fn masks(days: &[Option<Date>]) -> BTreeMap<i64, i64> {
    let mut masks = BTreeMap::new();
    for day in days {
        *masks.entry(block_of(*day)).or_default() |= 1 << number(*day).rem_euclid(BLOCK_DAYS);
    }
    masks
}

/// All days of two blocks and those between, of which the first and the last count by their bits only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Number of the block, and the bits that count there.
    pub first: (i64, i64),
    /// The same. It may be the first block, where both have to count, or be before it: then there are no days.
    pub last: (i64, i64),
}

/// From the first to the last day, both included; without them all days that are told.
pub fn range(first: Option<Date>, last: Option<Date>) -> Range {
    let first = first.map_or(NOT_TOLD + 1, |day| number(Some(day)));
    let last = number(last.or(Some(Date::MAX)));
    let (low, high) = (first.rem_euclid(BLOCK_DAYS), last.rem_euclid(BLOCK_DAYS));
    let to_high = u64::MAX >> (BLOCK_DAYS - 1 - high);
    Range {
        first: (first.div_euclid(BLOCK_DAYS), (u64::MAX << low).cast_signed()),
        last: (last.div_euclid(BLOCK_DAYS), to_high.cast_signed()),
    }
}

/// Days and counts; `None` where the bytes make no sense, and then nothing more.
fn each(mut bytes: &[u8]) -> impl Iterator<Item = Option<(i64, i64)>> {
    let mut day = 0_i64;
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let entry = (|| {
            let distance = pull(&mut bytes)?;
            let logs = i64::try_from(pull(&mut bytes)?).ok()?;
            day = day.checked_add((distance >> 1).cast_signed() ^ -(distance & 1).cast_signed())?;
            Some((day, logs))
        })();
        if entry.is_none() {
            bytes = &[];
        }
        Some(entry)
    })
}

/// Days since 1970.
fn number(day: Option<Date>) -> i64 {
    day.map_or(NOT_TOLD, |day| day.duration_since(date(1970, 1, 1)).as_secs() / 86_400)
}

fn push(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn pull(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day() -> impl Strategy<Value = Option<Date>> {
        let near = (2026_i16..2028, 1_i8..=12, 1_i8..=28).prop_map(|(year, month, day)| Some(date(year, month, day)));
        prop_oneof![8 => near, 1 => Just(None), 1 => Just(Some(Date::MIN)), 1 => Just(Some(Date::MAX))]
    }

    /// As the database asks.
    fn is_in(block: &Block, range: Range) -> bool {
        let mask = |(number, bits)| if block.number == number { bits } else { -1 };
        (range.first.0..=range.last.0).contains(&block.number) && block.bits & mask(range.first) & mask(range.last) != 0
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(entries in prop::collection::vec((day(), 1_i64..1000), 0..60), of in prop::collection::vec(day(), 0..4)) {
            let mut days = Days::default();
            for (day, logs) in &entries {
                days.add(*day, *logs);
            }
            let blocks = days.blocks();
            let mut back = Days::default();
            for block in &blocks {
                prop_assert_eq!(back.take(&block.packed), Some(()));
            }
            prop_assert_eq!(&back, &days);
            let has = |fits: &dyn Fn(Option<Date>) -> bool| entries.iter().any(|(day, _)| fits(*day));
            let masks = masks(&of);
            let found = blocks.iter().any(|block| block.bits & masks.get(&block.number).copied().unwrap_or_default() != 0);
            prop_assert_eq!(found, has(&|day| of.contains(&day)));
            let found = |first, last| blocks.iter().any(|block| is_in(block, range(first, last)));
            prop_assert_eq!(found(None, None), has(&|day| day.is_some()));
            if let [Some(first), Some(last), ..] = of[..] {
                let between = has(&|day| day.is_some_and(|day| first <= day && day <= last));
                prop_assert_eq!(found(Some(first), Some(last)), between);
                prop_assert_eq!(found(Some(first), None), has(&|day| day.is_some_and(|day| first <= day)));
                prop_assert_eq!(found(None, Some(last)), has(&|day| day.is_some_and(|day| day <= last)));
            }
            for (day, logs) in &entries {
                days.add(*day, -logs);
            }
            prop_assert!(days.is_empty());
            prop_assert_eq!(days.blocks(), Vec::new());
        }

        #[test]
        fn damage_is_told_and_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut days = Days::default();
            if days.take(&bytes).is_some() {
                let mut back = Days::default();
                for block in days.blocks() {
                    prop_assert_eq!(back.take(&block.packed), Some(()));
                }
                prop_assert_eq!(back, days);
            }
        }
    }

    #[test]
    fn a_usual_day_takes_two_bytes_and_a_count_is_never_negative() {
        let mut days = Days::default();
        for number in 0..100 {
            assert_eq!(days.add(date(2026, 1, 1).checked_add(jiff::Span::new().days(number)).ok(), 10), (0, 10));
        }
        let blocks = days.blocks();
        let bytes: Vec<_> = blocks.iter().map(|block| block.packed.len()).collect();
        // The first day of each takes four.
        assert_eq!(bytes.iter().sum::<usize>(), 100 * 2 + blocks.len() * 2);
        assert_eq!(blocks.iter().map(|block| block.bits.count_ones()).sum::<u32>(), 100);
        assert_eq!(days.add(Some(date(2026, 1, 1)), -11), (10, 0));
        assert_eq!(days.add(Some(date(2026, 1, 1)), -1), (0, 0));
        assert_eq!(Days::default().take(&[0x80]), None);
        assert_eq!(Days::default().take(&[2, 0]), None, "a day without logs is not written");
    }
}
