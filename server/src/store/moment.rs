//! A point in time as a query names it, and the seconds of the log's own clock that it stands for.

use jiff::civil::{Date, DateTime, Time};

use crate::text;

const DAY_S: i64 = 86_400;

/// A point in the log's own local time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// A whole day.
    Day(Date),
    /// A time of day. Logs carry no zone, so the clock time counts as written, whatever offset stands behind it.
    Time(DateTime),
}

impl Moment {
    /// Reads a date or an RFC 3339 time.
    pub fn parse(value: &str) -> Option<Self> {
        if let Ok(date) = value.parse::<Date>()
            && date.to_string() == value
        {
            return Some(Self::Day(date));
        }
        value.parse::<jiff::Timestamp>().ok()?;
        let pieces = jiff::fmt::temporal::Pieces::parse(value).ok()?;
        Some(Self::Time(pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()))))
    }

    /// The first second.
    pub fn start_s(self) -> i64 {
        match self {
            Self::Day(date) => text::seconds(date.to_datetime(Time::midnight())),
            Self::Time(time) => text::seconds(time),
        }
    }

    /// The second behind the last: a day is meant whole, a time is excluded.
    pub fn end_s(self) -> i64 {
        match self {
            Self::Day(_) => self.start_s() + DAY_S,
            Self::Time(_) => self.start_s(),
        }
    }

    /// As the beginning of a time: the day that it begins with, when that is at midnight.
    pub fn first_whole_day(self) -> Option<Date> {
        (self.start_s().rem_euclid(DAY_S) == 0).then(|| self.date())
    }

    /// As the end of a time: the last day in it, when it ends at midnight.
    pub fn last_whole_day(self) -> Option<Date> {
        match self {
            Self::Day(date) => Some(date),
            Self::Time(time) => self.first_whole_day().and(time.date().yesterday().ok()),
        }
    }

    /// The day that it lies in.
    pub fn date(self) -> Date {
        match self {
            Self::Day(date) => date,
            Self::Time(time) => time.date(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_meant_whole_and_a_time_is_read_off_the_wall() {
        let parse = |text| Moment::parse(text).expect("a moment");
        let noon = parse("2026-09-14T12:00:00+02:00");
        assert_eq!(noon, parse("2026-09-14T12:00:00Z"));
        assert_eq!(noon.start_s(), 1_789_387_200);
        assert_eq!(noon.end_s(), noon.start_s());
        let day = parse("2026-09-14");
        assert_eq!(day.end_s() - day.start_s(), 86_400);
        assert_eq!((noon.first_whole_day(), noon.last_whole_day()), (None, None));
        assert_eq!((day.first_whole_day(), day.last_whole_day()), (Some(noon.date()), Some(noon.date())));
        let midnight = parse("2026-09-15T00:00:00.5+09:00");
        assert_eq!((midnight.first_whole_day(), midnight.last_whole_day()), (Some(midnight.date()), Some(noon.date())));
        for text in ["", "14.9.2026", "2026-13-01", "2026-09-14T12:00:00", "20260914", "now"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
