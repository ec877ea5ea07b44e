//! What the logs of one topology measured together: the time of a frame over its bytes, how far each machine is from that, and
//! which machines are so far off that a narrow link or power saving may be behind it (issue 8).
//!
//! The line is the one of Theil and Sen: its slope is the median of the slopes of all pairs, so that up to a quarter of the
//! machines may be odd without moving it. Few machines get no verdict.

/// Other machines that a machine is held against, at least.
pub const LEAST_OTHERS: usize = 5;
/// Points of one topology that are looked at; more are thinned out evenly.
const MOST_POINTS: usize = 400;
/// Sizes that differ by less than this part of the larger one tell nothing of the slope.
const LEAST_STEP: f64 = 0.05;
/// A machine is off where it takes this many times as long as its kind, or is that many times faster.
const LEAST_RATIO: f64 = 1.5;
/// And more than this many deviations away from the others.
const DEVIATIONS: f64 = 3.0;
/// A deviation is at least so wide in logarithms, 5 %, for machines that agree by chance.
const LEAST_DEVIATION: f64 = 0.048_790;
/// From the median of absolute deviations to the standard deviation of a normal distribution.
const NORMAL: f64 = 1.4826;

/// One machine's frames of one size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Which machine: a number of the caller's.
    pub machine: usize,
    /// Bytes of a frame, on average.
    pub bytes: f64,
    /// Time of a frame, on average, microseconds.
    pub us: f64,
}

/// The time of a frame over its bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Curve {
    /// What a frame takes whatever its bytes, microseconds.
    pub fixed_us: f64,
    /// What a byte takes, microseconds; null where all frames are of one size, or larger ones take no longer.
    pub us_per_byte: Option<f64>,
    /// Machines that it comes from.
    pub machines: usize,
}

/// How a machine stands to the curve of its topology.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Standing {
    /// As in its points.
    pub machine: usize,
    /// Measured time over that of the curve, the median of its points: 2 is twice as long.
    pub ratio: f64,
    /// Null where it is no further from the curve than others, or where there are too few others.
    pub off: Option<Off>,
}

/// In which way a machine is off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Off {
    /// It takes longer than its kind.
    Slower,
    /// It takes about twice as long: the rate of half the link.
    HalfRate,
    /// It takes far longer than half a link explains.
    FarSlower,
    /// It takes less time than its kind.
    Faster,
}

impl Off {
    /// The word of the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::HalfRate => "half_rate",
            Self::FarSlower => "far_slower",
            Self::Faster => "faster",
        }
    }

    /// For people, with what may be behind it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Slower => "slower than its kind: power saving, or an app that renders less often",
            Self::HalfRate => {
                "about half the rate of its kind: a link of half width, power saving, or an app that renders half as often"
            }
            Self::FarSlower => "less than half the rate of its kind: power saving, or an app that renders rarely",
            Self::Faster => "faster than its kind",
        }
    }

    const fn of(ratio: f64) -> Self {
        match ratio {
            ..1.0 => Self::Faster,
            ..1.6 => Self::Slower,
            ..=2.6 => Self::HalfRate,
            _ => Self::FarSlower,
        }
    }
}

/// The curve of one topology; null without a point. Points that are no positive numbers are passed over.
pub fn fit(points: &[Point]) -> Option<Curve> {
    let sound: Vec<_> = points.iter().filter(|own| own.is_sound()).collect();
    let step = sound.len().div_ceil(MOST_POINTS).max(1);
    let kept: Vec<_> = sound.iter().step_by(step).collect();
    let mut machines: Vec<_> = sound.iter().map(|own| own.machine).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut slopes = Vec::new();
    for (place, one) in kept.iter().enumerate() {
        for other in &kept[place + 1..] {
            let step = other.bytes - one.bytes;
            if step.abs() > LEAST_STEP * one.bytes.max(other.bytes) {
                slopes.push((other.us - one.us) / step);
            }
        }
    }
    let slope = median(slopes).filter(|own| *own > 0.0);
    let fixed = median(kept.iter().map(|own| own.us - slope.unwrap_or(0.0) * own.bytes).collect())?;
    let (fixed_us, us_per_byte) = if fixed >= 0.0 {
        (fixed, slope)
    } else {
        // No frame takes less than no time: then all of it is the bytes'.
        (0.0, median(kept.iter().map(|own| own.us / own.bytes).collect()))
    };
    Some(Curve { fixed_us, us_per_byte, machines: machines.len() })
}

/// Every machine of these points, by its number, with what is off about it.
pub fn standings(curve: &Curve, points: &[Point]) -> Vec<Standing> {
    let mut ratios: std::collections::BTreeMap<usize, Vec<f64>> = std::collections::BTreeMap::new();
    for own in points.iter().filter(|own| own.is_sound()) {
        ratios.entry(own.machine).or_default().push(curve.ratio(own));
    }
    let machines: Vec<(usize, f64)> =
        ratios.into_iter().filter_map(|(machine, ratios)| Some((machine, median(ratios)?))).collect();
    let logs: Vec<f64> = machines.iter().map(|(_, ratio)| ratio.ln()).collect();
    let middle = median(logs.clone()).unwrap_or(0.0);
    let deviation = median(logs.iter().map(|own| (own - middle).abs()).collect()).unwrap_or(0.0);
    let limit = DEVIATIONS * (NORMAL * deviation).max(LEAST_DEVIATION);
    let judge = |ratio: f64| {
        let is_far = ratio >= LEAST_RATIO || ratio <= 1.0 / LEAST_RATIO;
        let is_alone = (ratio.ln() - middle).abs() > limit;
        (machines.len() > LEAST_OTHERS && is_far && is_alone).then(|| Off::of(ratio))
    };
    machines.iter().map(|(machine, ratio)| Standing { machine: *machine, ratio: *ratio, off: judge(*ratio) }).collect()
}

impl Point {
    fn is_sound(&self) -> bool {
        [self.bytes, self.us].iter().all(|own| own.is_finite() && *own > 0.0)
    }
}

impl Curve {
    /// The time that a frame of this size takes, microseconds.
    pub fn us(&self, bytes: f64) -> f64 {
        self.fixed_us + self.us_per_byte.unwrap_or(0.0) * bytes
    }

    /// What the link carries by the slope; null where that tells nothing.
    pub fn bytes_per_second(&self) -> Option<f64> {
        self.us_per_byte.map(|own| 1e6 / own)
    }

    /// Measured time over that of the curve.
    pub fn ratio(&self, point: &Point) -> f64 {
        point.us / self.us(point.bytes)
    }
}

/// Of an even number the mean of the two in the middle; null of none.
fn median(mut values: Vec<f64>) -> Option<f64> {
    let at = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let is_even = values.len().is_multiple_of(2);
    let (low, middle, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    let middle = *middle;
    let before = low.iter().copied().max_by(f64::total_cmp).filter(|_| is_even);
    Some(before.map_or(middle, |before| before.midpoint(middle)))
}
