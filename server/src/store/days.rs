//! On which days a machine has logs, and how many: a few bytes a day instead of a row a day.
//!
//! Pure. Packed, each day is its distance to the day before it and the count, as variable-length numbers of seven bits a
//! byte, lowest first, the distance zigzagged. Nearly every day of a real machine takes two bytes.

use std::collections::BTreeMap;

use jiff::civil::{Date, date};

/// Stands for a log that does not tell its day; no calendar reaches so far.
const NOT_TOLD: i64 = -1 << 32;

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

    /// As a column holds it.
    pub fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 3);
        let mut last = 0;
        for (day, logs) in &self.0 {
            let distance = day - last;
            push(&mut bytes, ((distance << 1) ^ (distance >> 63)).cast_unsigned());
            push(&mut bytes, logs.cast_unsigned());
            last = *day;
        }
        bytes
    }

    /// Reads a column; `None` when it is damaged.
    pub fn unpacked(bytes: &[u8]) -> Option<Self> {
        each(bytes).map(|entry| entry.filter(|(_, logs)| *logs > 0)).collect::<Option<_>>().map(Self)
    }
}

/// Whether a column has logs on any day from `first` to `last`, both included; `None` when it is damaged.
pub fn any_between(bytes: &[u8], first: Option<Date>, last: Option<Date>) -> Option<bool> {
    let (first, last) =
        (first.map_or(NOT_TOLD + 1, |day| number(Some(day))), last.map_or(i64::MAX, |day| number(Some(day))));
    has_any(bytes, |day| (first..=last).contains(&day))
}

/// Whether a column has logs on any of some days; `None` when it is damaged.
pub fn any_of(bytes: &[u8], days: &[Option<Date>]) -> Option<bool> {
    has_any(bytes, |day| days.iter().any(|own| number(*own) == day))
}

fn has_any(bytes: &[u8], fits: impl Fn(i64) -> bool) -> Option<bool> {
    for entry in each(bytes) {
        if fits(entry?.0) {
            return Some(true);
        }
    }
    Some(false)
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

    proptest! {
        #[test]
        fn what_is_packed_comes_back(entries in prop::collection::vec((day(), 1_i64..1000), 0..60), of in prop::collection::vec(day(), 0..4)) {
            let mut days = Days::default();
            for (day, logs) in &entries {
                days.add(*day, *logs);
            }
            let packed = days.packed();
            prop_assert_eq!(Days::unpacked(&packed), Some(days.clone()));
            let has = |fits: &dyn Fn(Option<Date>) -> bool| entries.iter().any(|(day, _)| fits(*day));
            prop_assert_eq!(any_of(&packed, &of), Some(has(&|day| of.contains(&day))));
            if let [Some(first), Some(last), ..] = of[..] {
                let between = has(&|day| day.is_some_and(|day| first <= day && day <= last));
                prop_assert_eq!(any_between(&packed, Some(first), Some(last)), Some(between));
                prop_assert_eq!(any_between(&packed, Some(first), None), Some(has(&|day| day.is_some_and(|day| first <= day))));
            }
            for (day, logs) in &entries {
                days.add(*day, -logs);
            }
            prop_assert!(days.is_empty());
            prop_assert_eq!(days.packed(), Vec::<u8>::new());
        }

        #[test]
        fn damage_is_told_and_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = any_between(&bytes, None, None);
            if let Some(days) = Days::unpacked(&bytes) {
                prop_assert_eq!(Days::unpacked(&days.packed()), Some(days));
            }
        }
    }

    #[test]
    fn a_usual_day_takes_two_bytes_and_a_count_is_never_negative() {
        let mut days = Days::default();
        for number in 0..100 {
            assert_eq!(days.add(date(2026, 1, 1).checked_add(jiff::Span::new().days(number)).ok(), 10), (0, 10));
        }
        assert_eq!(days.packed().len(), 3 + 1 + 99 * 2);
        assert_eq!(days.add(Some(date(2026, 1, 1)), -11), (10, 0));
        assert_eq!(days.add(Some(date(2026, 1, 1)), -1), (0, 0));
        assert_eq!(Days::unpacked(&[0x80]), None);
        assert_eq!(Days::unpacked(&[2, 0]), None, "a day without logs is not written");
    }
}
