//! How numbers with bounds read: `33.2 MB`, `16.6 to 33.2 MB`, `at most 1.0 GB/s`. Units are decimal, as in the figures of the
//! design: a megabyte is 1,000,000 bytes.

use wire::Span;

/// `33.2 MB`; a null is `unknown`.
pub fn bytes(span: Option<Span<u64>>) -> String {
    amount(span.map(Span::real))
}

/// The same of a sum or a mean.
pub fn amount(bytes: Option<Span<f64>>) -> String {
    bytes.map_or_else(unknown, |own| bounds(own, own.high, &BYTES))
}

/// What a change does: `saves 1.20 to 2.40 TB`, `costs 3.00 GB more`. Negative numbers are what it costs.
pub fn saving(low: f64, high: f64) -> String {
    let bytes = |low: f64, high: f64| bounds(Span { low, high }, high, &BYTES);
    if low == 0.0 && high == 0.0 {
        "changes nothing".to_owned()
    } else if low >= 0.0 {
        format!("saves {}", bytes(low, high))
    } else if high <= 0.0 {
        format!("costs {} more", bytes(-high, -low))
    } else {
        format!("costs up to {} more or saves up to {}", bytes(-low, -low), bytes(high, high))
    }
}

/// `2.0 GB/s`.
pub fn rate(span: Option<Span<f64>>) -> String {
    span.map_or_else(unknown, |own| bounds(own, own.high, &RATES))
}

/// `10.9 ms`.
pub fn ms(span: Option<Span<f64>>) -> String {
    span.map_or_else(unknown, |own| bounds(own, own.high, &[(1.0, 1, "ms")]))
}

/// `60 Hz`.
pub fn hz(span: Option<Span<f64>>) -> String {
    span.map_or_else(unknown, |own| {
        let digits =
            usize::from([own.low, own.high].iter().any(|hz| hz.is_finite() && (hz - hz.round()).abs() >= 0.05));
        bounds(own, own.high, &[(1.0, digits, "Hz")])
    })
}

/// `65 %` of a share.
pub fn percent(span: Option<Span<f64>>) -> String {
    span.map_or_else(unknown, |own| bounds(own, own.high, &[(0.01, 0, "%")]))
}

/// A plain number, one digit behind the point where it has one.
pub fn number(span: Option<Span<f64>>) -> String {
    span.map_or_else(unknown, |own| {
        let digits = usize::from([own.low, own.high].iter().any(|value| (value - value.round()).abs() >= 0.05));
        bounds(own, own.high, &[(1.0, digits, "")])
    })
}

/// Factor, digits behind the point, and name; the largest first.
type Unit = (f64, usize, &'static str);

const BYTES: [Unit; 5] = [(1e12, 2, "TB"), (1e9, 2, "GB"), (1e6, 1, "MB"), (1e3, 1, "kB"), (1.0, 0, "bytes")];
const RATES: [Unit; 4] = [(1e9, 1, "GB/s"), (1e6, 1, "MB/s"), (1e3, 1, "kB/s"), (1.0, 0, "bytes/s")];

fn unknown() -> String {
    "unknown".to_owned()
}

/// Both bounds in the unit that `size` wants: one that it fills, or nearly. Bounds that read alike are one number.
fn bounds(span: Span<f64>, size: f64, units: &[Unit]) -> String {
    let size = if size.is_finite() { size } else { span.low };
    let (factor, digits, name) =
        units.iter().find(|(factor, ..)| size >= 0.95 * *factor).or(units.last()).copied().unwrap_or((1.0, 0, ""));
    let [low, high] = [span.low, span.high].map(|bound| format!("{:.digits$}", bound / factor));
    let blank = if name.is_empty() { "" } else { " " };
    if !span.high.is_finite() {
        format!("at least {low}{blank}{name}")
    } else if low == high {
        format!("{high}{blank}{name}")
    } else if span.low == 0.0 {
        format!("at most {high}{blank}{name}")
    } else {
        format!("{low} to {high}{blank}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_read_as_one_number_where_they_are_one() {
        fn of<T: Copy + PartialOrd>(low: T, high: T) -> Option<Span<T>> {
            (low <= high).then_some(Span { low, high })
        }
        for (text, expected) in [
            (bytes(of(33_177_600, 33_177_600)), "33.2 MB"),
            (bytes(of(16_588_800, 33_177_600)), "16.6 to 33.2 MB"),
            (bytes(of(0, 0)), "0 bytes"),
            (bytes(of(512, 4096)), "0.5 to 4.1 kB"),
            (bytes(None), "unknown"),
            (bytes(of(1_500_000_000_000, 2_000_000_000_000)), "1.50 to 2.00 TB"),
            (saving(0.0, 0.0), "changes nothing"),
            (saving(1e12, 2e12), "saves 1.00 to 2.00 TB"),
            (saving(0.0, 2e9), "saves at most 2.00 GB"),
            (saving(-3e9, -3e9), "costs 3.00 GB more"),
            (saving(-1e9, 4e6), "costs up to 1.00 GB more or saves up to 4.0 MB"),
            (rate(of(1.99e9, 1.99e9)), "2.0 GB/s"),
            (rate(of(0.0, 995_328_000.0)), "at most 1.0 GB/s"),
            (rate(of(2.31e9, f64::INFINITY)), "at least 2.3 GB/s"),
            (ms(of(10.91, 10.91)), "10.9 ms"),
            (hz(of(60.0, 60.0)), "60 Hz"),
            (hz(of(59.94, 60.0)), "59.9 to 60.0 Hz"),
            (percent(of(0.6548, 0.6548)), "65 %"),
            (number(of(1.0, 2.0)), "1 to 2"),
            (number(of(0.5, 0.5)), "0.5"),
        ] {
            assert_eq!(text, expected);
        }
    }
}
