//! What is said of the segments that are left out of a batch. Each is named, because the agent keeps it; reasons are few and
//! short, because a small batch of nonsense must not make a large answer.

use wire::Refusal;

use crate::text;

/// Reasons that are told in full.
const REASONS: usize = 100;
/// Instead of any further reason.
const AS_OTHERS: &str = "see the first reasons";

/// The list in the making.
#[derive(Debug, Default)]
pub struct Refusals(Vec<Refusal>);

impl Refusals {
    /// Adds a segment by its place in the batch.
    pub fn add(&mut self, segment: u64, reason: &str) {
        let reason = if self.0.len() < REASONS { text::brief(reason) } else { AS_OTHERS.to_owned() };
        self.0.push(Refusal { segment, reason });
    }

    /// By place.
    pub fn into_list(mut self) -> Vec<Refusal> {
        self.0.sort_by_key(|refusal| refusal.segment);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_few_and_short_and_every_segment_is_named() {
        let mut refusals = Refusals::default();
        for segment in (0..5_000).rev() {
            refusals.add(segment, &"\u{1b}x".repeat(100_000));
        }
        let list = refusals.into_list();
        assert!(list.iter().map(|refusal| refusal.segment).eq(0..5_000));
        assert!(serde_json::to_vec(&list).expect("plain data").len() < 350_000);
        assert!(list[4_999].reason.starts_with(r"\u{1b}x\u{1b}x") && list[0].reason == AS_OTHERS);
    }
}
