//! A share with everything needed to believe it: count, denominator and 95 % interval.

use std::fmt;

/// `count` of `total`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// How many have the property.
    pub count: u64,
    /// How many were looked at.
    pub total: u64,
}

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's score interval for a share, both ends between 0 and 1; `None` without a denominator, or when the count is
/// larger than it. Unlike the textbook interval it holds for small numbers and for shares near 0 and 1.
pub fn wilson_95(count: u64, total: u64) -> Option<(f64, f64)> {
    if total == 0 || count > total {
        return None;
    }
    let (n, p) = (total as f64, count as f64 / total as f64);
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At 0 and 1 the ends are exact; rounding must not move them.
    let low = if count == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if count == total { 1.0 } else { (centre + half).min(1.0) };
    Some((low, high))
}

impl Share {
    /// Between 0 and 1, whatever was counted; 0 without a denominator.
    pub fn fraction(self) -> f64 {
        if self.total == 0 { 0.0 } else { (self.count as f64 / self.total as f64).min(1.0) }
    }

    /// `7.6 %`; never 0 or 100 when the count says otherwise; a dash without a denominator.
    pub fn percent(self) -> String {
        if self.total == 0 { "–".to_owned() } else { format!("{}\u{a0}%", tenths(self.fraction())) }
    }

    /// `7.0–8.3 %`; empty without a denominator.
    pub fn interval(self) -> String {
        wilson_95(self.count, self.total)
            .map_or_else(String::new, |(low, high)| format!("{}–{}\u{a0}%", tenths(low), tenths(high)))
    }

    /// The share as a bar with its interval as a whisker, in per cent of the drawing's width.
    pub(crate) fn bar(self) -> Bar {
        let (low, high) = wilson_95(self.count, self.total).unwrap_or_default();
        Bar { share: Percent(self.fraction()), low: Percent(low), high: Percent(high) }
    }
}

/// `312 of 4,100`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", thousands(self.count), thousands(self.total))
    }
}

/// Where a bar and its whisker end.
pub(crate) struct Bar {
    pub(crate) share: Percent,
    pub(crate) low: Percent,
    pub(crate) high: Percent,
}

/// A fraction as SVG wants it: `12.50%`.
#[derive(Clone, Copy)]
pub(crate) struct Percent(pub(crate) f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}%", self.0 * 100.0)
    }
}

/// Per cent with one decimal; what is not nothing does not read as 0.0, what is not everything not as 100.0.
fn tenths(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent <= 0.0 || percent >= 100.0 {
        // Only exact ends are written without a decimal.
        format!("{percent:.0}")
    } else if percent < 0.05 {
        "<0.1".to_owned()
    } else if percent >= 99.95 {
        ">99.9".to_owned()
    } else {
        format!("{percent:.1}")
    }
}

/// `4,100`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 log`, `4,100 logs`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values: Newcombe 1998, table I (method 3) for 81/263, 15/148, 0/20 and 1/29.
    #[test]
    fn the_interval_is_wilsons() {
        for (count, total, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let (got_low, got_high) = wilson_95(count, total).expect("there is a denominator");
            assert!(
                (got_low - low).abs() < 5e-5 && (got_high - high).abs() < 5e-5,
                "{count}/{total}: {got_low} {got_high}"
            );
        }
    }

    #[test]
    fn the_interval_is_symmetric_and_holds_the_share() {
        for total in [1, 2, 7, 40, 4_100, u64::MAX] {
            for count in [0, 1, total / 3, total - 1, total] {
                let (low, high) = wilson_95(count, total).expect("there is a denominator");
                let share = Share { count, total }.fraction();
                assert!(0.0 <= low && low <= share && share <= high && high <= 1.0, "{count}/{total}: {low} {high}");
                let (mirror_low, mirror_high) = wilson_95(total - count, total).expect("there is a denominator");
                assert!((low + mirror_high - 1.0).abs() < 1e-9 && (high + mirror_low - 1.0).abs() < 1e-9);
            }
        }
        assert_eq!(wilson_95(0, 0), None);
        assert_eq!(wilson_95(2, 1), None);
    }

    #[test]
    fn shares_read_as_people_write_them() {
        let share = Share { count: 312, total: 4_100 };
        assert_eq!(share.to_string(), "312 of 4,100");
        assert_eq!(share.percent(), "7.6\u{a0}%");
        assert_eq!(share.interval(), "6.8–8.5\u{a0}%");
        assert_eq!(Share { count: 1, total: 1_000_000 }.percent(), "<0.1\u{a0}%");
        assert_eq!(Share { count: 999_999, total: 1_000_000 }.percent(), ">99.9\u{a0}%");
        assert_eq!(Share { count: 0, total: 9 }.percent(), "0\u{a0}%");
        assert_eq!(Share { count: 9, total: 9 }.percent(), "100\u{a0}%");
        assert_eq!(Share::default().percent(), "–");
        assert_eq!(Share::default().interval(), "");
        assert_eq!(
            (thousands(0), thousands(999), thousands(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!((counted(1, "log"), counted(0, "log")), ("1 log".to_owned(), "0 logs".to_owned()));
    }
}
