//! What did opening find that an orderly end would not have left? Data for a program, plain words for a person.
//!
//! The queue and the map share it. Every finding is told once: opening also puts the files in order.

use std::fmt;

/// What was found while opening, oldest file first. Empty when everything was in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recovery {
    /// The findings.
    pub findings: Vec<Finding>,
}

/// One thing that was not in order. `file` is a name in the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// The last write was cut short. What it held was never confirmed as kept.
    TornTail {
        /// The file that was cut back to its last whole entry.
        file: String,
        /// How much was cut off.
        bytes: u64,
    },
    /// Bytes before good ones, or a whole file, that are no entry. They were skipped.
    Damaged {
        /// The file.
        file: String,
        /// How much was skipped.
        bytes: u64,
    },
    /// Numbers of queue entries that were neither acknowledged nor dropped, and that no file holds any more.
    MissingEntries {
        /// The first number.
        first: u64,
        /// The last number.
        last: u64,
    },
    /// A file that should exist does not.
    MissingFile {
        /// The file.
        file: String,
    },
    /// A small file from which nothing could be read.
    Unreadable {
        /// The file.
        file: String,
        /// Nothing but NUL bytes, as after a power cut.
        nul_filled: bool,
    },
    /// A copy stood in for the file.
    CopyUsed {
        /// The copy that was read.
        copy: String,
        /// The file that should have been read.
        instead_of: String,
    },
    /// No copy of a file could be read.
    StartedAfresh {
        /// The file.
        file: String,
    },
    /// A leftover of an interrupted write, which was removed: it held nothing that is not elsewhere.
    LeftOver {
        /// The file.
        file: String,
    },
    /// What was found could not be put in order on disk; it will be found again.
    NotRepaired {
        /// The file.
        file: String,
        /// What the operating system said.
        error: String,
    },
}

impl Recovery {
    /// Was everything in order?
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// May something be gone that had been confirmed as kept? A torn tail or a leftover alone says no.
    pub fn may_have_lost(&self) -> bool {
        self.findings.iter().any(|finding| {
            matches!(finding, Finding::Damaged { .. } | Finding::MissingEntries { .. } | Finding::StartedAfresh { .. })
        })
    }

    /// How many queue entries are known to be gone, by their numbers.
    pub fn missing_entries(&self) -> u64 {
        let count = |finding: &Finding| match finding {
            Finding::MissingEntries { first, last } => last - first + 1,
            _ => 0,
        };
        self.findings.iter().map(count).sum()
    }

    pub(crate) fn note(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

/// One sentence a finding, separated by `; `.
impl fmt::Display for Recovery {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return to.write_str("everything was in order");
        }
        for (index, finding) in self.findings.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(to, "{separator}{finding}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail { file, bytes } => {
                write!(to, "{file}: cut off {bytes} bytes of a write that had not been finished")
            }
            Self::Damaged { file, bytes } => {
                write!(to, "{file}: skipped {bytes} damaged bytes")
            }
            Self::MissingEntries { first, last } if first == last => {
                write!(to, "queue entry {first} is lost: no file holds it any more")
            }
            Self::MissingEntries { first, last } => {
                write!(to, "queue entries {first} to {last} are lost: no file holds them any more")
            }
            Self::MissingFile { file } => write!(to, "{file} is missing"),
            Self::Unreadable { file, nul_filled: true } => {
                write!(to, "{file} holds nothing but NUL bytes, as after a power cut")
            }
            Self::Unreadable { file, nul_filled: false } => write!(to, "{file} is damaged and cannot be read"),
            Self::CopyUsed { copy, instead_of } => write!(to, "used {copy} instead of {instead_of}"),
            Self::StartedAfresh { file } => {
                write!(to, "no copy of {file} could be read; started afresh, so known things are done again")
            }
            Self::LeftOver { file } => write!(to, "removed {file}, a leftover of an interrupted write"),
            Self::NotRepaired { file, error } => {
                write!(to, "failed to put {file} in order ({error}); it will be tried again at the next start")
            }
        }
    }
}
