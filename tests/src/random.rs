//! Numbers that are the same in every run with the same seed (splitmix64): enough for choices, good for nothing secret.

use std::time::SystemTime;

/// Where the numbers come from.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Any seed is as good as another.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A seed that no run before had. Print it: it is the way back to this run.
    pub fn fresh_seed() -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::new(now.as_nanos() as u64 ^ u64::from(std::process::id())).next() >> 32
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True in so many of a hundred cases.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub const fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
