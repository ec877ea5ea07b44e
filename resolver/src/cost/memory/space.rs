//! One process on one adapter has one address space: surfaces lie in it one behind the other, each on whole pages.
//!
//! Where an adapter keeps its memory in pages of 64 KiB, every surface takes whole ones, and a layout whose leaf has pages of
//! 4 KiB maps each of them with sixteen entries.

use wire::{LevelTables, PageTables};

use super::layout::Layout;
use super::{PAGE_4K_BYTES, PAGE_64K_BYTES};

/// How an adapter keeps a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageSize {
    /// System memory always, an adapter's own where its driver says so.
    Small4K,
    /// An adapter's own memory where its driver says so.
    Large64K,
}

impl PageSize {
    /// In bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Small4K => PAGE_4K_BYTES,
            Self::Large64K => PAGE_64K_BYTES,
        }
    }
}

/// Whether adapters share their tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Every adapter has an address space of its own for the process.
    Separate,
    /// Linked adapters: the root is mirrored, with one content at one physical address on each; lower tables are each
    /// adapter's own, because they map peers differently.
    Linked,
}

/// One surface in an address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Its first byte.
    pub address: u64,
    /// Whole pages.
    pub bytes: u64,
    /// Of those, what the surface does not fill.
    pub waste_bytes: u64,
}

/// The address space of a process on an adapter.
#[derive(Clone, Debug)]
pub struct AddressSpace {
    layout: Layout,
    next: u64,
    ranges: Vec<(u64, u64)>,
}

impl AddressSpace {
    /// Empty, from `base` on.
    pub const fn new(layout: Layout, base: u64) -> Self {
        Self { layout, next: base, ranges: Vec::new() }
    }

    /// Maps a surface behind those that are there; null when the space is full. Nothing takes no room.
    pub fn map(&mut self, bytes: u64, pages: PageSize) -> Option<Mapping> {
        // No page is smaller than the layout's own, and a large one starts where the layout's bits say so.
        let unit = pages.bytes().max(self.layout.page_bytes());
        let address = self.next.checked_next_multiple_of(unit)?;
        let whole = bytes.checked_next_multiple_of(unit)?;
        if whole == 0 {
            return Some(Mapping { address, bytes: 0, waste_bytes: 0 });
        }
        let last = address.checked_add(whole - 1)?;
        self.layout.split(last)?;
        self.next = last.saturating_add(1);
        self.ranges.push((address, last));
        Some(Mapping { address, bytes: whole, waste_bytes: whole - bytes })
    }

    /// Its tables, level by level.
    pub fn tables(&self) -> Vec<LevelTables> {
        self.layout.tables(&self.ranges)
    }

    /// The same on `adapters` adapters, whose role is what the answer is called by.
    pub fn on_adapters(&self, role: &'static str, adapters: u64, sharing: Sharing) -> PageTables {
        let levels = self.tables();
        let bytes = levels.iter().fold(0_u64, |sum, own| sum.saturating_add(own.bytes));
        let root = levels.last().map_or(0, |own| own.bytes);
        let (word, mirrored_bytes) = match sharing {
            Sharing::Separate => ("separate", 0),
            Sharing::Linked => ("linked", root),
        };
        PageTables {
            role: role.into(),
            sharing: word.into(),
            levels,
            bytes,
            bytes_on_all_adapters: bytes.saturating_mul(adapters),
            mirrored_bytes,
        }
    }
}
