//! Adapter ids. A LUID is valid within one boot of one machine only: never join machines, days or boots on it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A locally unique adapter id, `high << 32 | low`, printed `hhhhhhhh:llllllll` whatever spelling a log used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Luid(pub u64);

/// The text is none of the spellings that DisplayXR or Windows use for a LUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LuidError;

impl Luid {
    /// From the two halves that the runtime prints; `HighPart` is signed in Windows but printed as unsigned.
    pub const fn from_parts(high: u32, low: u32) -> Self {
        Self((high as u64) << 32 | low as u64)
    }

    /// The upper half.
    pub const fn high(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The lower half.
    pub const fn low(self) -> u32 {
        self.0 as u32
    }

    /// Zero is how the runtime prints "could not be had".
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// From the raw eight bytes of the registry or a Vulkan id: little-endian, `LowPart` first.
    pub const fn from_raw(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }
}

impl fmt::Display for Luid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}:{:08x}", self.high(), self.low())
    }
}

impl fmt::Debug for Luid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Luid({self})")
    }
}

impl fmt::Display for LuidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected a LUID such as 00000000:00015f3a, 00000000-00015f3a, 0x15f3a or luid_0x00000000_0x00015F3A",
        )
    }
}

impl std::error::Error for LuidError {}

/// Reads every spelling of vocabulary section 4: colon, dash, packed, short hex, performance counter.
impl FromStr for Luid {
    type Err = LuidError;

    fn from_str(text: &str) -> Result<Self, LuidError> {
        let lower = text.trim().to_ascii_lowercase();
        let text = lower.strip_prefix("luid_").unwrap_or(&lower);
        match text.find([':', '-', '_']) {
            Some(at) => {
                let half = |part: &str| {
                    let digits = part.strip_prefix("0x").unwrap_or(part);
                    hex(digits).and_then(|value| u32::try_from(value).map_err(|_| LuidError))
                };
                Ok(Self::from_parts(half(&text[..at])?, half(&text[at + 1..])?))
            }
            None => text.strip_prefix("0x").ok_or(LuidError).and_then(hex).map(Self),
        }
    }
}

/// Hex digits only: `from_str_radix` alone would also take a sign.
fn hex(digits: &str) -> Result<u64, LuidError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(LuidError);
    }
    u64::from_str_radix(digits, 16).map_err(|_| LuidError)
}

impl Serialize for Luid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Luid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_of_one_luid_is_one_value() {
        for spelling in
            ["00000000:00024bbf", "00000000-00024bbf", "0x0000000000024bbf", "0x24BBF", "luid_0x00000000_0x00024BBF"]
        {
            assert_eq!(spelling.parse(), Ok(Luid(0x24bbf)), "{spelling}");
        }
        assert_eq!(Luid::from_raw([0xbf, 0x4b, 2, 0, 0, 0, 0, 0]), Luid(0x24bbf));
    }

    #[test]
    fn what_is_no_luid_is_refused() {
        for text in ["", ":", "0x", "24bbf", "+1:2", "1:-2", "1ffffffff:0", "0x1ffffffffffffffff", "UNKNOWN"] {
            assert_eq!(text.parse::<Luid>(), Err(LuidError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_reading_are_inverse(value: u64) {
            let luid = Luid(value);
            prop_assert_eq!(luid.to_string().parse(), Ok(luid));
            prop_assert_eq!(format!("{:08x}-{:08x}", luid.high(), luid.low()).parse(), Ok(luid));
            prop_assert_eq!(format!("0x{value:016x}").parse(), Ok(luid));
        }
    }
}
