//! Which surfaces a way to the panel needs beside those of a single adapter, how large they are, and who holds and maps them.
//!
//! A ring whose length no log tells has two or three textures, as those that logs tell. Textures that adapters share lie in
//! system memory with rows of whole 256 bytes, as Direct3D wants them.

use std::borrow::Cow;

use wire::{Crossing, Span, SurfaceMemory};

use super::measured::{Laid, Measure};
use super::memory::{PAGE_4K_BYTES, PAGE_64K_BYTES, round_up};
use super::{Frame, Pixels};

/// Rings that no log tells the length of.
const RING_BOUNDS: Span<u64> = Span { low: 2, high: 3 };
/// Direct3D's rows of a texture that is copied across.
const ROW_PITCH_BYTES: u64 = 256;

/// What a log tells of the bridge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rings {
    /// In the cross-adapter heap.
    pub bridge: Option<Laid>,
    /// On the panel's adapter.
    pub egress: Option<Laid>,
    /// On the app's adapter.
    pub deposit: Option<Laid>,
}

impl From<&Measure> for Rings {
    fn from(measure: &Measure) -> Self {
        Self { bridge: measure.bridge, egress: measure.egress, deposit: measure.deposit }
    }
}

/// One kind of surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surface {
    /// Such as `bridge ring`.
    pub name: &'static str,
    /// Bytes of one.
    pub bytes: Span<u64>,
    /// How many there are.
    pub count: Span<u64>,
    /// `render`, `scanout` or `system`.
    pub held_by: &'static str,
    /// Roles of the adapters that map it.
    pub mapped_by: &'static [&'static str],
}

impl Surface {
    /// With its pages. System memory is kept in pages of 4 KiB whatever an adapter does, so only its own is rounded further.
    pub fn memory(&self) -> SurfaceMemory {
        let in_pages = |page: u64| {
            let whole = |bytes: u64| round_up(bytes, page);
            Span { low: whole(self.bytes.low), high: whole(self.bytes.high) }.times(self.count)
        };
        let (small, large) =
            (in_pages(PAGE_4K_BYTES), in_pages(if self.held_by == "system" { PAGE_4K_BYTES } else { PAGE_64K_BYTES }));
        let waste =
            |bytes: u64, count: u64| round_up(bytes, PAGE_64K_BYTES).saturating_sub(bytes).saturating_mul(count);
        let waste = match self.held_by {
            "system" => Span::exact(0),
            // Bytes that are bounds leave the waste open: any part of a page.
            _ if !self.bytes.is_exact() => Span { low: 0, high: (PAGE_64K_BYTES - 1).saturating_mul(self.count.high) },
            _ => Span::between(waste(self.bytes.low, self.count.low), waste(self.bytes.high, self.count.high)),
        };
        SurfaceMemory {
            surface: Cow::Borrowed(self.name),
            mapped_by: self.mapped_by.iter().copied().map(Cow::Borrowed).collect(),
            held_by: Cow::Borrowed(self.held_by),
            count: self.count,
            bytes_each: self.bytes,
            in_4k_pages_bytes: small,
            in_64k_pages_bytes: large,
            waste_64k_bytes: waste,
        }
    }
}

/// The surfaces of a crossing; empty where nothing crosses or no size is known.
pub fn in_crossing(frame: &Frame, rings: &Rings, crossing: Crossing) -> Vec<Surface> {
    const BOTH: &[&str] = &["render", "scanout"];
    let atlas = frame.atlas_px.map(|px| texture(frame, px)).or_else(|| {
        let (pixels, each) = (frame.atlas_pixels()?, frame.pixel_bytes());
        Some(pixels.times(each))
    });
    let mut surfaces = Vec::new();
    let mut add = |name, ring: Option<Laid>, untold: Option<Span<u64>>, held_by, mapped_by| {
        let told = ring.map(|own| own.bytes.map_or_else(|| texture(frame, own.px), Span::exact));
        if let Some(bytes) = told.or(untold) {
            let count = ring.and_then(|own| own.count).map_or(RING_BOUNDS, Span::exact);
            surfaces.push(Surface { name, bytes, count, held_by, mapped_by });
        }
    };
    match crossing {
        Crossing::AtlasPerFrame => {
            // Vulkan's, and the re-route of heavy D3D12: without a record of it there is none.
            add("deposit ring", rings.deposit, None, "render", &["render"]);
            add("bridge ring", rings.bridge, atlas, "system", BOTH);
            add("egress ring", rings.egress, atlas, "scanout", &["scanout"]);
        }
        Crossing::EveryPresent => {
            let woven = frame.panel_px.map(|px| texture(frame, px));
            add("swap chain", None, woven, "render", &["render"]);
            add("present surface", None, woven, "system", BOTH);
        }
        Crossing::None | Crossing::Unknown => {}
    }
    surfaces
}

fn texture(frame: &Frame, px: Pixels) -> Span<u64> {
    let each = frame.pixel_bytes();
    let of = |bytes: u64| {
        round_up(u64::from(px.width).saturating_mul(bytes), ROW_PITCH_BYTES).saturating_mul(u64::from(px.height))
    };
    Span { low: of(each.low), high: of(each.high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_tells_of_its_rings_is_taken_and_the_rest_bounded() {
        let px = Pixels { width: 3840, height: 2160 };
        let frame = Frame { panel_px: Some(px), bytes_per_pixel: Some(4), ..Frame::default() };
        let bridge = Some(Laid { px, bytes: Some(33_177_600), count: Some(3) });
        let told = in_crossing(&frame, &Rings { bridge, ..Rings::default() }, Crossing::AtlasPerFrame);
        let memory: Vec<_> = told.iter().map(Surface::memory).collect();
        assert_eq!(memory.len(), 2, "no deposit is told");
        assert_eq!(memory[0].in_4k_pages_bytes, Span::exact(99_532_800));
        assert_eq!(
            (memory[0].in_64k_pages_bytes, memory[0].waste_64k_bytes),
            (memory[0].in_4k_pages_bytes, Span::exact(0))
        );
        assert_eq!(memory[1].bytes_each, Span { low: 16_588_800, high: 33_177_600 });
        assert_eq!(memory[1].in_64k_pages_bytes, Span { low: 2 * 254 * 65536, high: 3 * 507 * 65536 });
        assert!(in_crossing(&frame, &Rings::default(), Crossing::Unknown).is_empty());
        let odd = Frame { panel_px: Some(Pixels { width: 1001, height: 7 }), ..frame };
        let presented = in_crossing(&odd, &Rings::default(), Crossing::EveryPresent);
        assert_eq!(presented[0].bytes, Span::exact(4096 * 7), "rows are whole 256 bytes");
    }
}
