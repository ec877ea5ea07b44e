//! `--since`: how far back the logs of a bundle go.

use std::str::FromStr;
use std::time::SystemTime;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ZonedDateTime};

/// A local time; logs tell their start in local time without a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Since(DateTime);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(time) = text.parse::<DateTime>() {
            return Ok(Self(time));
        }
        if let Ok(date) = text.parse::<Date>() {
            return Ok(Self(date.to_datetime(jiff::civil::Time::midnight())));
        }
        let ago: Span = text.parse().map_err(|_| "expected a time ago such as 12h, 2d or 3w, or a date".to_owned())?;
        let then = ZonedDateTime::now().checked_sub(ago).map_err(|error| format!("too long ago: {error}"))?;
        Ok(Self(then.datetime()))
    }
}

impl std::fmt::Display for Since {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Since {
    /// True when the log started since then, or was written since then. Either is enough: the time of a file may be older
    /// than its last line, and a log that started before may still have been written to. A log of which nothing is known
    /// is taken.
    pub fn takes(self, started: Option<&str>, modified: Option<SystemTime>) -> bool {
        let started = started.and_then(|text| text.parse::<DateTime>().ok());
        let modified =
            modified.and_then(|time| Timestamp::try_from(time).ok()).map(|time| TimeZone::system().to_datetime(time));
        match (started, modified) {
            (None, None) => true,
            (started, modified) => [started, modified].into_iter().flatten().any(|time| time >= self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(text: &str) -> Since {
        text.parse().expect("it is one")
    }

    #[test]
    fn dates_times_and_times_ago() {
        assert_eq!(since("2026-09-14").to_string(), "2026-09-14T00:00:00");
        assert_eq!(since("2026-09-14T08:30").to_string(), "2026-09-14T08:30:00");
        assert_eq!(since("2026-09-14 08:30:05").to_string(), "2026-09-14T08:30:05");
        let now = ZonedDateTime::now().datetime();
        for (text, hours) in [("12h", 12), ("2d", 48), ("1w", 168), ("90 minutes", 1)] {
            let ago = now.duration_since(since(text).0).as_hours();
            assert!((hours - 1..=hours + 1).contains(&ago), "{text}: {ago} hours");
        }
        for wrong in ["", "yesterday", "12", "2026-13-01", "99999999 years"] {
            assert!(wrong.parse::<Since>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_log_is_taken_for_its_start_or_its_last_change() {
        let old = Some(SystemTime::UNIX_EPOCH);
        let new = Some(SystemTime::now());
        let since = since("2026-09-14");
        assert!(since.takes(Some("2026-09-14T00:00:00"), old));
        assert!(!since.takes(Some("2026-09-13T23:59:59"), old));
        assert_eq!(since.takes(Some("2026-09-13T23:59:59"), new), ZonedDateTime::now().datetime() >= since.0);
        assert!(since.takes(None, None) && !since.takes(None, old));
    }
}
