//! Chance that can be repeated: where do the numbers of one log come from?
//!
//! A counter-based generator is keyed by seed, machine, session and purpose, so every log depends on these four alone:
//! logs can be made in any order, on any number of threads, and any part of a fleet has the same bytes.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

/// What a row of numbers is for. Each purpose has its own row, so that a new throw in one place moves no other.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// What a machine is.
    Machine,
    /// Adapter ids of one boot.
    Boot,
    /// How many sessions a day has.
    Day,
    /// What happens in a log.
    Outcome,
    /// Figures and noise inside a log.
    Noise,
    /// What damages a log.
    Mutation,
}

/// A row of numbers.
#[derive(Clone, Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The row of these four.
    pub fn new(seed: u64, machine: u64, session: u64, purpose: Purpose) -> Self {
        let mut key = [0; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip([seed, machine, session, purpose as u64]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A number below `limit`; 0 when the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The upper half of the product: every machine gets the same number, without a division.
        ((u128::from(self.0.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from `low` up to, but not including, `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low))
    }

    /// A number from 0 up to, but not including, 1.
    pub fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in this share of all cases.
    pub fn chance(&mut self, share: f64) -> bool {
        self.fraction() < share
    }

    /// One of several; `None` when there is none.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len() as u64) as usize)
    }

    /// One of several, each as often as its share says; `None` when no share is above 0.
    pub fn weighted<T>(&mut self, choices: impl Iterator<Item = (T, f64)> + Clone) -> Option<T> {
        let sum: f64 = choices.clone().map(|(_, share)| share.max(0.0)).sum();
        let mut left = self.fraction() * sum;
        let mut last = None;
        for (choice, share) in choices.filter(|(_, share)| *share > 0.0) {
            if left < share {
                return Some(choice);
            }
            left -= share;
            last = Some(choice);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_row_and_always_the_same() {
        let row = |machine, purpose| {
            let mut dice = Dice::new(7, machine, 3, purpose);
            (0..4).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(row(1, Purpose::Outcome), row(1, Purpose::Outcome));
        assert_ne!(row(1, Purpose::Outcome), row(2, Purpose::Outcome));
        assert_ne!(row(1, Purpose::Outcome), row(1, Purpose::Noise));
    }

    #[test]
    fn shares_are_kept() {
        let mut dice = Dice::new(1, 0, 0, Purpose::Machine);
        let choices = [("a", 3.0), ("never", 0.0), ("b", 1.0)];
        let thrown: Vec<_> = (0..4000).filter_map(|_| dice.weighted(choices.into_iter())).collect();
        let count = |word| thrown.iter().filter(|own| **own == word).count();
        assert_eq!(count("never"), 0);
        assert!((2800..3200).contains(&count("a")), "{}", count("a"));
        assert_eq!(dice.weighted([("x", 0.0)].into_iter()), None);
    }
}
