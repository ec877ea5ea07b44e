//! Two shares: their difference with an interval, whether it is more than chance, and many such questions at once.

use dashboards::share::wilson_95;
use libm::erfc;

/// `count` of `of` logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    pub count: u64,
    pub of: u64,
}

impl Sample {
    /// Between 0 and 1; `None` without logs.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}

/// 95 % interval of the second share less the first: Newcombe's method 10, which joins two Wilson intervals. It holds for
/// small numbers and for shares near 0 and 1, and never leaves -1 to 1.
pub fn interval(first: Sample, second: Sample) -> Option<[f64; 2]> {
    let (a, b) = (first.share()?, second.share()?);
    let (low_a, high_a) = wilson_95(first.count, first.of)?;
    let (low_b, high_b) = wilson_95(second.count, second.of)?;
    let difference = b - a;
    Some([difference - (b - low_b).hypot(high_a - a), difference + (high_b - b).hypot(a - low_a)])
}

/// The probability of shares at least as different when both sides are alike: two-sided, pooled, with Yates's correction,
/// which keeps small numbers from claiming much.
pub fn p(first: Sample, second: Sample) -> Option<f64> {
    let (a, b) = (first.share()?, second.share()?);
    let (n, m) = (first.of as f64, second.of as f64);
    let pooled = (first.count + second.count) as f64 / (n + m);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    let correction = 0.5 * (1.0 / n + 1.0 / m);
    let distance = ((b - a).abs() - correction).max(0.0);
    // All or none on both sides: nothing differs.
    Some(if deviation > 0.0 { erfc(distance / deviation / std::f64::consts::SQRT_2) } else { 1.0 })
}

/// Which of these are below the level when all of them together may be wrong with that probability: Holm's step-down.
pub fn holm(p: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<_> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut beyond = vec![false; p.len()];
    for (rank, index) in order.into_iter().enumerate() {
        if p[index] > level / (p.len() - rank) as f64 {
            break;
        }
        beyond[index] = true;
    }
    beyond
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, off: f64) {
        assert!((found - expected).abs() <= off, "{found}, expected {expected}");
    }

    #[test]
    fn the_interval_is_newcombe_s() {
        // His table II: 56/70 against 48/80, and 9/10 against 3/10; the signs are those of the second less the first.
        for (first, second, low, high) in [
            (Sample { count: 48, of: 80 }, Sample { count: 56, of: 70 }, 0.0524, 0.3339),
            (Sample { count: 3, of: 10 }, Sample { count: 9, of: 10 }, 0.1705, 0.8090),
            (Sample { count: 0, of: 10 }, Sample { count: 10, of: 10 }, 0.6075, 1.0),
        ] {
            let [found_low, found_high] = interval(first, second).expect("both sides have logs");
            near(found_low, low, 5e-5);
            near(found_high, high, 5e-5);
        }
        assert_eq!(interval(Sample { count: 0, of: 0 }, Sample { count: 1, of: 2 }), None);
    }

    #[test]
    fn the_test_is_that_of_the_tables() {
        for (x, expected) in [
            (0.0, 1.0),
            (0.5, 0.479_500_122_187),
            (1.0, 0.157_299_207_050),
            (2.0, 4.677_734_981_05e-3),
            (3.0, 2.209_049_699_86e-5),
            (10.0, 2.088_487_583_76e-45),
        ] {
            near(erfc(x) / expected, 1.0, 1e-10);
        }
        // Chi-squared with Yates's correction is 6.1143.
        near(p(Sample { count: 48, of: 80 }, Sample { count: 56, of: 70 }).expect("a number"), 0.013_409, 1e-6);
        assert_eq!(p(Sample { count: 5, of: 5 }, Sample { count: 9, of: 9 }), Some(1.0));
        assert_eq!(p(Sample { count: 1, of: 2 }, Sample { count: 2, of: 4 }), Some(1.0));
        assert_eq!(p(Sample { count: 0, of: 0 }, Sample { count: 2, of: 4 }), None);
    }

    #[test]
    fn holm_steps_down_and_stops() {
        // Against 0.05/4, 0.05/3, 0.05/2, 0.05.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.012, 0.016, 0.024, 0.049], 0.05), [true; 4]);
        // The second is small enough for its place, but a smaller one before it was not.
        assert_eq!(holm(&[0.02, 0.021, 0.021], 0.05), [false; 3]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }
}
