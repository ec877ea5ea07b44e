//! How far one log got: all that has to be remembered of it between two runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wire::{ByteLedger, Clock, Counts};

/// Identity of a log on its machine, 32 hex digits: what [`wire::Segment::log`] holds.
pub type LogKey = Arc<str>;

const LABEL: &[u8] = b"weavewatch log 2\0";
const INCARNATION_LABEL: &[u8] = b"weavewatch log 2, another content\0";

/// Why nothing more is expected of a log. If more comes, it is read all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Its process said so.
    Footer,
    /// Nothing was written for a long time.
    Quiet,
    /// The same program writes a newer log.
    Superseded,
    /// Its file has another content now.
    Replaced,
    /// Its file is gone.
    Deleted,
}

/// How far a log got. The caller saves it when the range before it is safe.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// Base name of the file.
    pub file: String,
    /// Its canonical path, where it was seen last. A hint.
    pub path: String,
    /// Its volume and number there. A hint.
    pub id: Option<String>,
    /// The identity of its first content.
    pub base: String,
    /// How many contents with the same process and header came before this one.
    pub incarnation: u32,
    /// Checksum of the header block.
    pub header: u32,
    /// It was taken before its header was whole.
    pub early: bool,
    /// The byte behind what was read.
    pub end: u64,
    /// Where the next range starts: the last record may still have grown.
    pub start: u64,
    /// How reading goes on at `start` without the bytes before it; without it reading begins at the first byte.
    pub checkpoint: Option<parser::Checkpoint>,
    /// Checksum of the last bytes before `end`.
    pub tail: u32,
    /// Size of the file when it was looked at last.
    pub seen: u64,
    /// A range of it was read, be it empty.
    pub told: bool,
    /// Nothing more is expected.
    pub ended: Option<Ended>,
    /// When its file was found to be gone or replaced, seconds since 1970.
    pub gone_s: Option<u64>,
    /// Totals up to `end`.
    pub counts: Counts,
    /// Where the bytes up to `end` went.
    pub bytes: ByteLedger,
    /// What its times mean.
    pub clock: Option<Clock>,
}

impl Position {
    /// The identity of the log.
    pub fn identity(&self) -> String {
        if self.incarnation == 0 {
            return self.base.clone();
        }
        hex32(INCARNATION_LABEL, &[self.base.as_bytes(), &self.incarnation.to_be_bytes()])
    }
}

/// The identity of a process' first content under this header.
pub fn base(process: Option<&wire::Process>, header: &[u8]) -> String {
    let Some(wire::Process { exe, pid, started }) = process else { return hex32(LABEL, &[header]) };
    let started = started.as_deref().unwrap_or_default();
    hex32(LABEL, &[exe.as_bytes(), b"\0", &pid.to_be_bytes(), started.as_bytes(), b"\0", header])
}

/// The first 32 hex digits of the SHA-256 of a label and parts.
fn hex32(label: &[u8], parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    hash.update(label);
    for part in parts {
        hash.update(part);
    }
    let half = hash.finalize().iter().take(16).fold(0_u128, |half, byte| half << 8 | u128::from(*byte));
    format!("{half:032x}")
}
