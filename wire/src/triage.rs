//! How far people are with a report that somebody brought.

use serde::{Deserialize, Serialize};

/// The state of a report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    /// Nobody has looked at it.
    #[default]
    New,
    /// It is a fault, and it is not fixed.
    Confirmed,
    /// A build no longer has the fault.
    Fixed,
    /// The runtime did what it should.
    NotAFault,
}

impl ReportState {
    /// All of them, in the order in which a report goes through them.
    pub const ALL: [Self; 4] = [Self::New, Self::Confirmed, Self::Fixed, Self::NotAFault];

    /// The word in queries and columns.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Confirmed => "confirmed",
            Self::Fixed => "fixed",
            Self::NotAFault => "not_a_fault",
        }
    }

    /// The state with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// What people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::New => "New",
            Self::Confirmed => "Confirmed",
            Self::Fixed => "Fixed in build",
            Self::NotAFault => "Not a fault",
        }
    }
}
