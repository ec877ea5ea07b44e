//! How surfaces become pages and page tables on a GPU (the address model of WDDM 2.0; issue 8).
//!
//! [`Layout`] takes an address apart into its indices, level by level, and counts tables; [`AddressSpace`] lays surfaces out for
//! one process on one adapter; [`RootTable`] is the root that grows and shrinks where there are two levels; [`Sharing`] says
//! what several adapters cost.

mod layout;
mod root;
mod space;

pub use layout::{Layout, LayoutError, Level, Place};
pub use root::{Resize, RootTable};
pub use space::{AddressSpace, Mapping, PageSize, Sharing};

/// System memory is always kept in pages of this size.
pub const PAGE_4K_BYTES: u64 = 4096;
/// Memory of an adapter can be kept in pages of this size.
pub const PAGE_64K_BYTES: u64 = 65536;

/// The next multiple of `unit`; stays at the largest one that fits.
pub fn round_up(bytes: u64, unit: u64) -> u64 {
    bytes.checked_next_multiple_of(unit.max(1)).unwrap_or(u64::MAX - u64::MAX % unit.max(1))
}
