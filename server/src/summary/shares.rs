//! A share beside every count, with everything needed to believe it: Wilson's 95 % interval and the sample size.

use dashboards::share::{Share, wilson_95};
use serde::Serialize;
use utoipa::ToSchema;

use crate::store::Totals;

/// What share of a group's logs has each property; null for a group without logs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, ToSchema)]
pub struct Shares {
    /// Split: ran on the panel's adapter.
    engaged: Option<Interval>,
    /// Split: ran on the render adapter.
    off: Option<Interval>,
    /// Split: cannot be told.
    unknown: Option<Interval>,
    /// Crossing: one adapter.
    none: Option<Interval>,
    /// Crossing: once per rendered frame.
    atlas_per_frame: Option<Interval>,
    /// Crossing: every present.
    every_present: Option<Interval>,
    /// Crossing: cannot be told.
    crossing_unknown: Option<Interval>,
    /// With an OpenGL or client crossing.
    interop_crossing: Option<Interval>,
    /// Switched off by a setting.
    killed: Option<Interval>,
    /// Taken back.
    retired: Option<Interval>,
    /// Where other records overruled the placement line.
    corrected: Option<Interval>,
}

/// A share between 0 and 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, ToSchema)]
pub struct Interval {
    share: f64,
    /// The ends of the interval.
    low: f64,
    high: f64,
    /// Logs in the group.
    of: u64,
}

impl From<&Totals> for Shares {
    fn from(totals: &Totals) -> Self {
        let number = |count: i64| u64::try_from(count).unwrap_or_default();
        let of = number(totals.logs);
        let share = |count: i64| {
            let count = number(count);
            let (low, high) = wilson_95(count, of)?;
            Some(Interval { share: Share { count, total: of }.fraction(), low, high, of })
        };
        Self {
            engaged: share(totals.split.engaged),
            off: share(totals.split.off),
            unknown: share(totals.split.unknown),
            none: share(totals.crossing.none),
            atlas_per_frame: share(totals.crossing.atlas_per_frame),
            every_present: share(totals.crossing.every_present),
            crossing_unknown: share(totals.crossing.unknown),
            interop_crossing: share(totals.interop_crossing),
            killed: share(totals.killed),
            retired: share(totals.retired),
            corrected: share(totals.corrected),
        }
    }
}
