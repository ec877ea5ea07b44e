//! What a change saves on the bus between GPUs: for every situation what crosses before and after, times the time that its logs ran
//! (issue 8).
//!
//! A log that did something else than the rules say of it is not known: the change would do who knows what to it.

use std::collections::HashMap;

use serde::Serialize;
use utoipa::ToSchema;
use wire::Crossing;

use super::replayed::Replayed;
use crate::store::{Fleet, SituationCosts, WaysSaved};

/// What the change does to what crosses. A megabyte is 10^6 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
pub struct BusSaved {
    /// Days on which one of these logs started.
    pub days: i64,
    /// From what logs tell alone.
    pub told: Saved,
    /// With the reference laptop's numbers for what they do not tell.
    pub reference: Saved,
}

/// One way to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, ToSchema)]
#[schema(as = BusSavedNumbers)]
pub struct Saved {
    /// Logs of which it is known what the change saves, also where that is nothing.
    pub known_logs: i64,
    /// The others, which are in no sum.
    pub unknown_logs: i64,
    /// At least so much is saved; negative where the change costs more.
    pub megabytes_low: i64,
    /// At most so much.
    pub megabytes_high: i64,
    /// At least so much a day.
    pub megabytes_per_day_low: i64,
    /// At most so much a day.
    pub megabytes_per_day_high: i64,
}

/// Sums over all logs.
pub fn saved(costs: &[SituationCosts], days: i64, fleet: &Fleet, replayed: &Replayed, logs: u64) -> BusSaved {
    let places: HashMap<i64, usize> = fleet.situation_ids.iter().copied().zip(0..).collect();
    let crossing = |own: &SituationCosts| {
        let place = places.get(own.situation.as_ref()?)?;
        replayed.results[*replayed.of.get(*place)? as usize].crossing
    };
    let [told, reference] = [0, 1].map(|numbers| {
        let mut saved = Saved::default();
        for own in costs {
            let Some(both) = crossing(own) else { continue };
            let (logs, low, high) = one(own, both, &own.saved[numbers]);
            saved.known_logs += logs;
            saved.megabytes_low = saved.megabytes_low.saturating_add(low);
            saved.megabytes_high = saved.megabytes_high.saturating_add(high);
        }
        saved.unknown_logs = i64::try_from(logs).unwrap_or(i64::MAX) - saved.known_logs;
        let days = days.max(1);
        saved.megabytes_per_day_low = saved.megabytes_low.div_euclid(days);
        // Rounded up.
        saved.megabytes_per_day_high = -(-saved.megabytes_high).div_euclid(days);
        saved
    });
    BusSaved { days, told, reference }
}

/// Logs of which it is known, with the bounds of what they save.
fn one(own: &SituationCosts, [before, after]: [Crossing; 2], ways: &WaysSaved) -> (i64, i64, i64) {
    use Crossing::{AtlasPerFrame, EveryPresent, None};
    let less = |(logs, low, high): (i64, i64, i64)| (logs, -high, -low);
    if before == after {
        return (own.logs, 0, 0);
    }
    if own.crossing != before {
        return (0, 0, 0);
    }
    match (before, after) {
        (AtlasPerFrame, None) => ways.atlas,
        (EveryPresent, None) => ways.present,
        (EveryPresent, AtlasPerFrame) => ways.split_saves,
        (AtlasPerFrame, EveryPresent) => less(ways.split_saves),
        (None, AtlasPerFrame) => less(ways.atlas),
        (None, EveryPresent) => less(ways.present),
        _ => (0, 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_way_saves_the_one_less_the_other() {
        use Crossing::{AtlasPerFrame, EveryPresent, None, Unknown};
        let ways = WaysSaved { atlas: (2, 10, 20), present: (2, 30, 50), split_saves: (1, 15, 35) };
        for (crossing, both, expected) in [
            (EveryPresent, [EveryPresent, None], (2, 30, 50)),
            (EveryPresent, [EveryPresent, AtlasPerFrame], (1, 15, 35)),
            (AtlasPerFrame, [AtlasPerFrame, EveryPresent], (1, -35, -15)),
            (AtlasPerFrame, [AtlasPerFrame, None], (2, 10, 20)),
            (None, [None, AtlasPerFrame], (2, -20, -10)),
            (None, [None, EveryPresent], (2, -50, -30)),
            (Unknown, [None, None], (3, 0, 0)),
            (None, [EveryPresent, None], (0, 0, 0)),
        ] {
            let own = SituationCosts { situation: Some(1), crossing, logs: 3, saved: [ways; 2] };
            assert_eq!(one(&own, both, &ways), expected, "{crossing:?} {both:?}");
        }
    }
}
