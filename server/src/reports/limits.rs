//! How much a report may be: all limits of `POST /api/v1/reports` in one place. Whatever is above one is refused with the
//! limit's own words; nothing is cut in silence.

/// The limits of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportLimits {
    /// The whole body as it arrives, in bytes.
    pub body_bytes: usize,
    /// Files in one upload; more than that is a bundle.
    pub files: usize,
    /// Logs in one report, members of bundles included.
    pub logs: usize,
    /// What one member of a bundle may unpack to, in bytes.
    pub member_bytes: u64,
    /// What all bundles of an upload may unpack to together, in bytes. Beside that, no bundle may unpack to more than 1,032
    /// times its size, which no honest compression reaches (`triage::bundle`).
    pub unpacked_bytes: u64,
}

impl Default for ReportLimits {
    /// A reference PC held 2,665 logs; a long session's log packs to a tenth and less.
    fn default() -> Self {
        Self { body_bytes: 64 << 20, files: 1_000, logs: 5_000, member_bytes: 256 << 20, unpacked_bytes: 1 << 30 }
    }
}

/// The longest name of a file: many times what any system allows.
pub const NAME_BYTES: usize = 4 << 10;
/// What a page to paste into an issue may have: GitHub takes 65,536 characters.
pub const PAGE_BYTES: usize = 60_000;
