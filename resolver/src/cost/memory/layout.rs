//! The shape of an adapter's page tables: any number of levels, any number of bits each, level 0 the leaf.
//!
//! The low bits of an address are the offset in a page; then come the index of the leaf's table, that of the next level, and
//! so on up to the root. A table has two to the power of its bits entries, unless the driver makes it larger.

use std::fmt;

use wire::LevelTables;

use super::root::RootTable;

/// Tables beyond these are no hardware's.
const MOST_INDEX_BITS: u32 = 32;
const MOST_ENTRY_BYTES: u64 = 64;

/// One level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Bits of an address that choose an entry.
    pub index_bits: u32,
    /// Size of a table.
    pub table_bytes: u64,
}

/// A whole layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    page_offset_bits: u32,
    levels: Vec<Level>,
    entry_bytes: u64,
}

/// An address, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// From the leaf to the root.
    pub indices: Vec<u64>,
    /// In the page.
    pub offset_bytes: u64,
}

/// What is wrong with a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayoutError {
    /// It has no level.
    NoLevel,
    /// A level has no bit, or more than 32.
    IndexBits,
    /// An entry has no byte, or more than 64.
    EntryBytes,
    /// Pages below 4 KiB, or above 2 GiB.
    PageBits,
    /// All bits together are more than 64.
    TooWide,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoLevel => "a layout needs at least one level",
            Self::IndexBits => "a level has 1 to 32 bits",
            Self::EntryBytes => "an entry has 1 to 64 bytes",
            Self::PageBits => "a page has 12 to 31 bits (4 KiB to 2 GiB)",
            Self::TooWide => "offset and levels together have more than 64 bits",
        })
    }
}

impl std::error::Error for LayoutError {}

impl Layout {
    /// A layout whose tables hold exactly their entries; `index_bits` from the leaf to the root.
    ///
    /// # Errors
    /// When no hardware could have it.
    pub fn new(page_offset_bits: u32, index_bits: &[u32], entry_bytes: u64) -> Result<Self, LayoutError> {
        if index_bits.is_empty() {
            return Err(LayoutError::NoLevel);
        }
        if !(12..=31).contains(&page_offset_bits) {
            return Err(LayoutError::PageBits);
        }
        if index_bits.iter().any(|bits| !(1..=MOST_INDEX_BITS).contains(bits)) {
            return Err(LayoutError::IndexBits);
        }
        if !(1..=MOST_ENTRY_BYTES).contains(&entry_bytes) {
            return Err(LayoutError::EntryBytes);
        }
        let all = index_bits.iter().try_fold(page_offset_bits, |sum, bits| sum.checked_add(*bits));
        if all.is_none_or(|bits| bits > 64) {
            return Err(LayoutError::TooWide);
        }
        let levels =
            index_bits.iter().map(|bits| Level { index_bits: *bits, table_bytes: entry_bytes << bits }).collect();
        Ok(Self { page_offset_bits, levels, entry_bytes })
    }

    /// From the leaf to the root.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Bytes of an entry.
    pub const fn entry_bytes(&self) -> u64 {
        self.entry_bytes
    }

    /// Bytes that one entry of the leaf maps.
    pub const fn page_bytes(&self) -> u64 {
        1 << self.page_offset_bits
    }

    /// Bits of an address.
    pub fn address_bits(&self) -> u32 {
        self.shift(self.levels.len())
    }

    /// The root can change its size: it does where there are two levels, and only there.
    pub fn root_is_resizable(&self) -> bool {
        self.levels.len() == 2
    }

    /// Takes an address apart; null when it has more bits than the layout.
    pub fn split(&self, address: u64) -> Option<Place> {
        if right(address, self.address_bits()) != 0 {
            return None;
        }
        let index = |level: usize| right(address, self.shift(level)) & mask(self.levels[level].index_bits);
        let indices = (0..self.levels.len()).map(index).collect();
        Some(Place { indices, offset_bytes: address & mask(self.page_offset_bits) })
    }

    /// The way back; null when an index or the offset has more bits than its place.
    pub fn join(&self, place: &Place) -> Option<u64> {
        if place.indices.len() != self.levels.len() || right(place.offset_bytes, self.page_offset_bits) != 0 {
            return None;
        }
        let parts = place.indices.iter().zip(&self.levels).enumerate();
        parts.into_iter().try_fold(place.offset_bytes, |address, (level, (index, own))| {
            (right(*index, own.index_bits) == 0).then(|| address | index << self.shift(level))
        })
    }

    /// Tables for ranges of addresses, given as first and last byte, in rising order and apart from each other.
    pub fn tables(&self, ranges: &[(u64, u64)]) -> Vec<LevelTables> {
        let last = ranges.last().map(|(_, last)| *last);
        (0..self.levels.len())
            .map(|level| {
                let root = level + 1 == self.levels.len();
                let tables = if root { u64::from(last.is_some()) } else { distinct(ranges, self.shift(level + 1)) };
                let bytes = match last {
                    Some(last) if root && self.root_is_resizable() => RootTable::up_to(self, last).bytes,
                    _ => tables.saturating_mul(self.levels[level].table_bytes),
                };
                LevelTables { level: level as u32, entries: distinct(ranges, self.shift(level)), tables, bytes }
            })
            .collect()
    }

    /// Where the index of a level begins; behind the last level, where the address ends.
    pub(super) fn shift(&self, level: usize) -> u32 {
        self.page_offset_bits + self.levels[..level].iter().map(|own| own.index_bits).sum::<u32>()
    }
}

/// How many units of two to the power of `shift` bytes the ranges touch.
fn distinct(ranges: &[(u64, u64)], shift: u32) -> u64 {
    let mut seen: Option<u64> = None;
    let mut count = 0_u64;
    for (first, last) in ranges {
        let (mut first, last) = (right(*first, shift), right(*last, shift));
        if let Some(seen) = seen {
            first = first.max(seen.saturating_add(1));
        }
        if first <= last {
            count += last - first + 1;
            seen = Some(last);
        }
    }
    count
}

/// Shifts that may be as wide as the number.
pub(super) fn right(value: u64, bits: u32) -> u64 {
    value.checked_shr(bits).unwrap_or(0)
}

fn mask(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}
