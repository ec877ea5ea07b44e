//! A short memory for noise: how records began that turned out to be none of our business.
//!
//! Nearly all of a real log is one record a frame, printed by the same few functions with the same first words. Comparing
//! a line with how such a record began is all that most lines cost.

/// Bytes of the body that are remembered with the prefix. No marker of ours is told by bytes behind them.
const BODY: usize = 16;

/// Longest beginning that is remembered: level, function and the start of the body.
const LONGEST: usize = 96;

const SLOTS: usize = 8;

/// Where the level field stands in a line: behind `[2026-09-14 12:00:00.137] [`.
pub const LEVEL_AT: usize = 27;

/// The beginnings that were seen last.
#[derive(Debug)]
pub struct Noise {
    slots: [Beginning; SLOTS],
}

#[derive(Clone, Copy, Debug)]
struct Beginning {
    bytes: [u8; LONGEST],
    /// Zero for a slot that is free.
    len: usize,
}

impl Default for Noise {
    fn default() -> Self {
        Self { slots: [Beginning { bytes: [0; LONGEST], len: 0 }; SLOTS] }
    }
}

impl Noise {
    /// True when a line goes on, from its level field, like a record that was none of our business.
    #[inline]
    pub fn knows(&self, from_level: &[u8]) -> bool {
        let Some(slot) = slot(from_level) else { return false };
        let Beginning { bytes, len } = &self.slots[slot];
        *len > 0 && from_level.get(..*len) == Some(&bytes[..*len])
    }

    /// Remembers the beginning of such a record; its body starts at `body` of what follows from the level field.
    pub fn learn(&mut self, from_level: &[u8], body: usize) {
        let len = body + BODY;
        let (Some(slot), Some(beginning)) = (slot(from_level), from_level.get(..len)) else { return };
        // `WORD output-device split` is told by what follows the word, which must not lie behind what is remembered.
        let mut words = beginning[body..].split(|byte| *byte == b' ');
        let second = words.nth(1);
        if len <= LONGEST && second.is_none_or(|second| !second.is_empty() && second[0] != b'o') {
            self.slots[slot].bytes[..len].copy_from_slice(beginning);
            self.slots[slot].len = len;
        }
    }
}

/// By the first letters of the function field, which stand behind `WARN ] [`.
#[inline]
fn slot(from_level: &[u8]) -> Option<usize> {
    let letters = u64::from_le_bytes(*from_level.get(8..)?.first_chunk()?);
    Some((letters.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"WARN ] [submit_fallback] [COMMIT_PROFILE_CLIENT] client=1";

    #[test]
    fn what_was_learnt_is_known_whatever_follows() {
        let mut noise = Noise::default();
        assert!(!noise.knows(LINE));
        noise.learn(LINE, 25);
        assert!(noise.knows(LINE));
        assert!(noise.knows(b"WARN ] [submit_fallback] [COMMIT_PROFILE_SERVER] client=1"));
        assert!(!noise.knows(b"WARN ] [submit_fallback] [COMMIT"));
        assert!(!noise.knows(b"WARN ] [submit_fallback] weave placement: render"));
        assert!(!noise.knows(b"INFO ] [submit_fallback] [COMMIT_PROFILE_CLIENT] client=1"));
    }

    #[test]
    fn what_may_be_ours_further_on_is_not_learnt() {
        for line in [
            &b"WARN ] [some_function_x] Metal output-device split"[..],
            b"WARN ] [some_function_x] Metal is too short ",
        ] {
            let mut noise = Noise::default();
            noise.learn(line, 25);
            assert_eq!(noise.knows(line), !line.ends_with(b"split"));
        }
        let mut noise = Noise::default();
        noise.learn(b"WARN ] [some_function_x] short", 25);
        assert!(!noise.knows(b"WARN ] [some_function_x] short"));
    }
}
