//! What the local times of a log mean: the machine's zone, and its offset at the log's start.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use wire::Clock;

/// The clock of a log that started at `started`, `2026-09-14T12:00:00` in `zone`. `None` when that is no time.
///
/// In the hour that a clock change repeats, the offset is that of the first pass, and `repeated` says that it may be the
/// second. A time that a clock change leaves out is one that nobody set the clock by: the offset before the change.
pub fn clock(zone: &TimeZone, started: &str) -> Option<Clock> {
    let started: DateTime = started.parse().ok()?;
    let (offset, repeated) = match zone.to_ambiguous_timestamp(started).offset() {
        AmbiguousOffset::Unambiguous { offset } => (offset, false),
        AmbiguousOffset::Gap { before, .. } => (before, false),
        AmbiguousOffset::Fold { before, .. } => (before, true),
    };
    Some(Clock { zone: zone.iana_name().map(str::to_owned), offset_s: offset.seconds(), repeated })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(zone: &str, started: &str, offset_s: i32, repeated: bool) {
        let zone_of_logs = TimeZone::get(zone).expect("the zone is in the database");
        let expected = Clock { zone: Some(zone.to_owned()), offset_s, repeated };
        assert_eq!(clock(&zone_of_logs, started), Some(expected), "{zone} {started}");
    }

    #[test]
    fn the_hour_that_autumn_repeats_is_marked_and_spring_leaves_nothing_open() {
        check("Europe/Berlin", "2026-09-14T12:00:00", 7200, false);
        check("Europe/Berlin", "2026-10-25T01:59:59", 7200, false);
        check("Europe/Berlin", "2026-10-25T02:30:00", 7200, true);
        check("Europe/Berlin", "2026-10-25T03:00:00", 3600, false);
        check("Europe/Berlin", "2026-03-29T02:30:00", 3600, false);
        check("Australia/Lord_Howe", "2026-04-05T01:45:00", 39_600, true);
    }

    #[test]
    fn what_is_no_time_has_no_clock() {
        assert_eq!(clock(&TimeZone::UTC, "yesterday"), None);
        assert_eq!(
            clock(&TimeZone::fixed(jiff::tz::offset(5)), "2026-01-01T00:00:00").map(|clock| clock.zone),
            Some(None)
        );
    }
}
