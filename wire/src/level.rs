//! The level field of a log record, and its two spellings.

use serde::{Deserialize, Serialize};

/// How loud a record is. `Oxr` marks the records of the OpenXR state tracker, which have no function field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Below debug.
    Trace,
    /// For the runtime's own engineers.
    Debug,
    /// Hidden by default, but the resolver lines are forced through.
    Info,
    /// The default threshold; the placement line has this level.
    Warn,
    /// Something failed.
    Error,
    /// Printed without a level on stderr.
    Raw,
    /// Written by the OpenXR state tracker.
    Oxr,
    /// `?????`, or a level of a newer build.
    #[serde(other)]
    Unknown,
}

impl Level {
    /// The five characters inside the brackets of a log file.
    pub const fn in_file(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO ",
            Self::Warn => "WARN ",
            Self::Error => "ERROR",
            Self::Raw => "RAW  ",
            Self::Oxr => "OXR  ",
            Self::Unknown => "?????",
        }
    }

    /// Reads the five characters inside the brackets of a log file.
    #[inline]
    pub const fn from_field(field: [u8; 5]) -> Self {
        match &field {
            b"TRACE" => Self::Trace,
            b"DEBUG" => Self::Debug,
            b"INFO " => Self::Info,
            b"WARN " => Self::Warn,
            b"ERROR" => Self::Error,
            b"RAW  " => Self::Raw,
            b"OXR  " => Self::Oxr,
            _ => Self::Unknown,
        }
    }

    /// Reads a level word of stderr (` WARN`) or JSON (`warn`), blanks aside.
    pub fn from_word(word: &[u8]) -> Self {
        let mut field = [b' '; 5];
        let word = word.trim_ascii();
        match field.get_mut(..word.len()) {
            Some(start) => start.copy_from_slice(word),
            None => return Self::Unknown,
        }
        field.make_ascii_uppercase();
        Self::from_field(field)
    }
}
