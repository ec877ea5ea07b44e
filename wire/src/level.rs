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

    /// Reads a level from any of its spellings: file (`WARN `), stderr (` WARN`), JSON (`warn`).
    pub fn from_word(word: &[u8]) -> Self {
        match word.trim_ascii() {
            b"TRACE" | b"trace" => Self::Trace,
            b"DEBUG" | b"debug" => Self::Debug,
            b"INFO" | b"info" => Self::Info,
            b"WARN" | b"warn" => Self::Warn,
            b"ERROR" | b"error" => Self::Error,
            b"RAW" | b"raw" => Self::Raw,
            b"OXR" => Self::Oxr,
            _ => Self::Unknown,
        }
    }
}
