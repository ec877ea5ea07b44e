//! Page tables for the surfaces of a crossing: an address space for each adapter, or one that linked adapters share.

use resolver::cost::Surface;
use resolver::cost::memory::{AddressSpace, Layout, PageSize, Sharing};
use wire::PageTables;

/// More surfaces than these are no ring of textures.
const MOST_SURFACES: u64 = 64;

/// How the adapters keep their memory.
#[derive(Clone, Debug)]
pub struct Paging {
    /// Levels and bits.
    pub layout: Layout,
    /// Pages of the adapters' own memory; system memory has 4 KiB.
    pub pages: PageSize,
    /// Whether both adapters are linked.
    pub sharing: Sharing,
}

impl Paging {
    /// Tables for surfaces at their largest. A space that has no room for them has no tables.
    pub fn tables(&self, surfaces: &[Surface]) -> Vec<PageTables> {
        let space = |role: &str| {
            let mut space = AddressSpace::new(self.layout.clone(), 0);
            let mapped = surfaces.iter().filter(|own| role.is_empty() || own.mapped_by.contains(&role));
            for own in mapped {
                let pages = if own.held_by == "system" { PageSize::Small4K } else { self.pages };
                for _ in 0..own.count.high.min(MOST_SURFACES) {
                    space.map(own.bytes.high, pages)?;
                }
            }
            Some(space)
        };
        if surfaces.is_empty() {
            return Vec::new();
        }
        match self.sharing {
            Sharing::Linked => {
                space("").map(|own| own.on_adapters("render, scanout", 2, self.sharing)).into_iter().collect()
            }
            Sharing::Separate => ["render", "scanout"]
                .into_iter()
                .filter_map(|role| space(role).map(|own| own.on_adapters(role, 1, self.sharing)))
                .collect(),
        }
    }
}
