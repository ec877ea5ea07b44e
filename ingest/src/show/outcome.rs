//! One word for what became of a log, with the mark that stands for it everywhere: a reader first wants one word.

use comfy_table::Color;
use wire::{Crossing, Split, Verdict};

/// What became of a log, in the order of summaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The weave ran on the GPU that drives the panel.
    Engaged,
    /// One GPU renders and drives the panel.
    Local,
    /// Every present crosses, and neither a setting nor a failed split explains it.
    Crossing,
    /// A setting switched the split off.
    Killed,
    /// The split was tried and given up.
    TakenBack,
    /// The log does not tell.
    Unknown,
}

impl Outcome {
    /// All six, in order.
    pub const ALL: [Self; 6] =
        [Self::Engaged, Self::Local, Self::Crossing, Self::Killed, Self::TakenBack, Self::Unknown];

    /// The first rule that fits wins: engaged, taken back, killed, then by what crosses.
    pub fn of(verdict: &Verdict) -> Self {
        let tried = |token: &str| matches!(token, "stage_a_failed" | "dp_refused_scanout");
        match verdict.split {
            Split::Engaged => Self::Engaged,
            Split::Unknown => Self::Unknown,
            Split::Off if verdict.retired || verdict.reasons.iter().any(|reason| tried(reason.as_str())) => {
                Self::TakenBack
            }
            Split::Off if verdict.killed => Self::Killed,
            Split::Off => match verdict.crossing {
                Crossing::None => Self::Local,
                Crossing::EveryPresent => Self::Crossing,
                Crossing::AtlasPerFrame | Crossing::Unknown => Self::Unknown,
            },
        }
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

    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Engaged => "engaged",
            Self::Local => "local",
            Self::Crossing => "crossing",
            Self::Killed => "killed",
            Self::TakenBack => "taken back",
            Self::Unknown => "unknown",
        }
    }

    /// Told apart by people who do not see red and green as two colours.
    pub(super) const fn color(self) -> Color {
        match self {
            Self::Engaged => Color::Blue,
            Self::Local => Color::Cyan,
            Self::Crossing => Color::Red,
            Self::Killed => Color::Magenta,
            Self::TakenBack => Color::Yellow,
            Self::Unknown => Color::DarkGrey,
        }
    }
}
