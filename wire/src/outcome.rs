//! One grammar for outcomes: what became of a log, in one of six words, each with a colour, a mark and a sentence.
//!
//! A verdict has several axes (split, crossing, killed, retired). A reader first wants one word, so every log has exactly
//! one outcome and the six shares add up to all logs. Terminal, pages, pictures and filters use the same six.

use serde::{Deserialize, Serialize};

use crate::{Crossing, Split, Verdict};

/// What became of a log. The order is the order in pictures and tables: good first, then by how much can be repaired.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The weave ran on the GPU that drives the panel.
    Engaged,
    /// One GPU renders and drives the panel, so there was nothing to split.
    Local,
    /// Every frame crosses, and neither a setting nor a take-back explains it.
    Crossing,
    /// A setting switched the split off.
    Killed,
    /// The split was tried and given up: retired, set-up failed, or the display plug-in refused.
    TakenBack,
    /// The log does not tell where the weave ran or whether frames cross.
    Unknown,
}

impl Outcome {
    /// All six, in order.
    pub const ALL: [Self; 6] =
        [Self::Engaged, Self::Local, Self::Crossing, Self::Killed, Self::TakenBack, Self::Unknown];

    /// The outcome of a verdict. The first rule that fits wins: engaged, taken back, killed, then by crossing.
    pub fn of(verdict: &Verdict) -> Self {
        let tokens = verdict.reasons.iter().map(crate::Reason::as_str);
        Self::of_end(verdict.split, verdict.crossing, verdict.retired, verdict.killed, tokens)
    }

    /// The same of the parts that decide it, wherever they come from.
    pub fn of_end<'a>(
        split: Split,
        crossing: Crossing,
        retired: bool,
        killed: bool,
        mut tokens: impl Iterator<Item = &'a str>,
    ) -> Self {
        match split {
            Split::Engaged => Self::Engaged,
            Split::Unknown => Self::Unknown,
            Split::Off if retired || tokens.any(|token| matches!(token, "stage_a_failed" | "dp_refused_scanout")) => {
                Self::TakenBack
            }
            Split::Off if killed => Self::Killed,
            Split::Off => match crossing {
                Crossing::None => Self::Local,
                Crossing::EveryPresent => Self::Crossing,
                // `off` never goes with an atlas; the arm is for data of a newer agent.
                Crossing::AtlasPerFrame | Crossing::Unknown => Self::Unknown,
            },
        }
    }

    /// The word in queries and columns.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Engaged => "engaged",
            Self::Local => "local",
            Self::Crossing => "crossing",
            Self::Killed => "killed",
            Self::TakenBack => "taken_back",
            Self::Unknown => "unknown",
        }
    }

    /// The outcome with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// A shape that does not need colour to be told from the others.
    pub const fn mark(self) -> char {
        match self {
            Self::Engaged => '●',
            Self::Local => '○',
            Self::Crossing => '▲',
            Self::Killed => '✕',
            Self::TakenBack => '◐',
            Self::Unknown => '–',
        }
    }

    /// As people read it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Engaged => "Split engaged",
            Self::Local => "Local, nothing to split",
            Self::Crossing => "Crosses every present",
            Self::Killed => "Killed by setting",
            Self::TakenBack => "Taken back",
            Self::Unknown => "Cannot tell",
        }
    }

    /// What it means, as a clause.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Engaged => "the weave ran on the GPU that drives the panel",
            Self::Local => "one GPU renders and drives the panel",
            Self::Crossing => {
                "every frame is copied to the panel's GPU, not because of a setting or a split that failed"
            }
            Self::Killed => "somebody switched the split off",
            Self::TakenBack => "the split was tried, then given up or refused",
            Self::Unknown => "the log does not say where the weave ran or whether frames cross",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Basis, Reason};

    use super::*;

    fn verdict(split: Split, crossing: Crossing, reasons: &[&str], retired: bool) -> Verdict {
        Verdict {
            split,
            crossing,
            interop_crossing: false,
            reasons: reasons.iter().map(|token| Reason::new(token)).collect(),
            killed: reasons.contains(&"killed_by_env"),
            retired,
            basis: Basis::Stated,
            render: None,
            scanout: None,
            line: None,
        }
    }

    #[test]
    fn every_verdict_has_the_outcome_that_a_reader_expects() {
        use Crossing::{AtlasPerFrame, EveryPresent, None, Unknown};
        let cases = [
            (verdict(Split::Engaged, AtlasPerFrame, &[], false), Outcome::Engaged),
            (verdict(Split::Engaged, None, &[], false), Outcome::Engaged),
            (verdict(Split::Off, None, &["same_adapter"], false), Outcome::Local),
            (verdict(Split::Off, EveryPresent, &["api_unsupported"], false), Outcome::Crossing),
            (verdict(Split::Off, EveryPresent, &[], false), Outcome::Crossing),
            (verdict(Split::Off, EveryPresent, &["killed_by_env"], false), Outcome::Killed),
            (verdict(Split::Off, Unknown, &["killed_by_env"], false), Outcome::Killed),
            (verdict(Split::Off, EveryPresent, &["authored_mask"], true), Outcome::TakenBack),
            (verdict(Split::Off, EveryPresent, &["stage_a_failed"], false), Outcome::TakenBack),
            (verdict(Split::Off, EveryPresent, &["dp_refused_scanout"], false), Outcome::TakenBack),
            (verdict(Split::Off, Unknown, &["scanout_unresolvable"], false), Outcome::Unknown),
            (verdict(Split::Unknown, Unknown, &[], false), Outcome::Unknown),
        ];
        for (verdict, expected) in cases {
            assert_eq!(Outcome::of(&verdict), expected, "{verdict:?}");
        }
    }

    #[test]
    fn words_lead_back_to_their_outcome() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_word(outcome.as_str()), Some(outcome));
        }
        assert_eq!(Outcome::from_word("off"), None);
    }
}
