//! A number of which only the bounds are known. The unit is in the name of the field that holds it.

use serde::{Deserialize, Serialize};

/// The truth lies from `low` to `high`, both included; a number that is known has equal bounds. Never negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Span<T> {
    /// It is no less.
    pub low: T,
    /// It is no more.
    pub high: T,
}

impl<T: Copy + PartialOrd> Span<T> {
    /// A number that is known.
    pub const fn exact(value: T) -> Self {
        Self { low: value, high: value }
    }

    /// Bounds in either order.
    pub fn between(one: T, other: T) -> Self {
        if one <= other { Self { low: one, high: other } } else { Self { low: other, high: one } }
    }

    /// Both bounds are one number.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// The smallest that holds both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            low: if other.low < self.low { other.low } else { self.low },
            high: if other.high > self.high { other.high } else { self.high },
        }
    }

    /// True where it is at most this for certain, false where it is more for certain, else null.
    pub fn is_at_most(self, limit: T) -> Option<bool> {
        if self.high <= limit {
            Some(true)
        } else if self.low > limit {
            Some(false)
        } else {
            None
        }
    }
}

impl Span<u64> {
    /// Both together; stays at the end of the range instead of beginning anew.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { low: self.low.saturating_add(other.low), high: self.high.saturating_add(other.high) }
    }

    /// A product, as [`Span::plus`].
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self { low: self.low.saturating_mul(other.low), high: self.high.saturating_mul(other.high) }
    }

    /// As a real number.
    pub const fn real(self) -> Span<f64> {
        Span { low: self.low as f64, high: self.high as f64 }
    }
}

impl Span<f64> {
    /// A product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self { low: self.low * other.low, high: self.high * other.high }
    }

    /// A quotient; null where the divisor may be zero, which would leave no upper bound.
    pub fn over(self, other: Self) -> Option<Self> {
        (other.low > 0.0).then(|| Self { low: self.low / other.high, high: self.high / other.low })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_stay_bounds() {
        let wide = Span::between(8_u64, 4);
        assert_eq!(wide, Span { low: 4, high: 8 });
        assert_eq!(wide.times(Span::exact(u64::MAX)).high, u64::MAX);
        assert_eq!(wide.plus(Span::exact(1)), Span { low: 5, high: 9 });
        assert_eq!(wide.or(Span::exact(2)), Span { low: 2, high: 8 });
        assert_eq!([8, 3, 5].map(|limit| wide.is_at_most(limit)), [Some(true), Some(false), None]);
        let quotient = Span::exact(1.0).over(wide.real()).expect("no bound of it is zero");
        assert_eq!(quotient, Span { low: 0.125, high: 0.25 });
        assert_eq!(quotient.over(Span { low: 0.0, high: 1.0 }), None);
        // A rate without an upper bound takes no time at best.
        assert_eq!(Span::exact(1.0).over(Span { low: 2.0, high: f64::INFINITY }), Some(Span { low: 0.0, high: 0.5 }));
    }
}
