//! The root table of a layout with two levels: it covers what the process uses of its space, and is made anew when that
//! changes.
//!
//! To grow it, another one is made, filled and put in place before the old one goes; to shrink it, a part of the old one is
//! copied. So both are there for a moment, and every context is told the new address.

use super::layout::{Layout, right};
use super::{PAGE_4K_BYTES, round_up};

/// A root of some size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootTable {
    /// Entries that it must have.
    pub entries: u64,
    /// Those in whole pages of 4 KiB, as an allocation has them.
    pub bytes: u64,
}

/// One change of size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resize {
    /// The root behind it.
    pub to: RootTable,
    /// Memory while both are there; the size alone where nothing changes.
    pub peak_bytes: u64,
    /// Bytes of entries that are written anew: all when it grows.
    pub initialised_bytes: u64,
    /// Bytes of entries that are copied: those that stay when it shrinks.
    pub copied_bytes: u64,
}

impl RootTable {
    /// The root for a space whose last byte in use is at `last`.
    pub fn up_to(layout: &Layout, last: u64) -> Self {
        let entries = right(last, layout.shift(layout.levels().len() - 1)).saturating_add(1);
        Self { entries, bytes: round_up(entries.saturating_mul(layout.entry_bytes()), PAGE_4K_BYTES) }
    }

    /// What it takes to make it fit another last byte.
    pub fn resize(self, layout: &Layout, last: u64) -> Resize {
        let to = Self::up_to(layout, last);
        let (initialised_bytes, copied_bytes) = match to.bytes.cmp(&self.bytes) {
            std::cmp::Ordering::Greater => (to.bytes, 0),
            std::cmp::Ordering::Less => (0, to.bytes),
            std::cmp::Ordering::Equal => {
                return Resize { to, peak_bytes: to.bytes, initialised_bytes: 0, copied_bytes: 0 };
            }
        };
        Resize { to, peak_bytes: self.bytes.saturating_add(to.bytes), initialised_bytes, copied_bytes }
    }
}
