//! What a crossing costs, in the numbers of the reference machine.
//!
//! A woven frame is the panel at four bytes a pixel: 3840x2160 is 33.2 MB. A side-by-side atlas is half of that, because
//! two views share the panel's width at half its height's worth of pixels: 16.6 MB. Frames come at 60 Hz, so one lasts
//! 16.7 ms. The cross-adapter heap copies 3.04 GB/s: a woven 4K frame takes 10.9 ms.

use wire::{Cost, Crossing, Rect};

const BYTES_PER_PIXEL: u64 = 4;
const FRAMES_PER_SECOND: u64 = 60;
/// Measured on the reference machine.
const COPY_BYTES_PER_SECOND: f64 = 3.04e9;

/// Null when it is not known what crosses, or how large the panel is.
pub fn of(crossing: Crossing, panel: Option<Rect>) -> Option<Cost> {
    let woven_bytes = || {
        panel.map(|rect| u64::from(rect.width).saturating_mul(u64::from(rect.height)).saturating_mul(BYTES_PER_PIXEL))
    };
    let frame_bytes = match crossing {
        Crossing::None => 0,
        Crossing::AtlasPerFrame => woven_bytes()? / 2,
        Crossing::EveryPresent => woven_bytes()?,
        Crossing::Unknown => return None,
    };
    let bytes_per_second = frame_bytes.saturating_mul(FRAMES_PER_SECOND);
    Some(Cost { bytes_per_second, frame_share: bytes_per_second as f64 / COPY_BYTES_PER_SECOND })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_4k_panel_costs_what_the_reference_machine_measured() {
        let panel = Some(Rect { left: 0, top: 0, width: 3840, height: 2160 });
        let woven = of(Crossing::EveryPresent, panel).expect("the panel is known");
        assert_eq!(woven.bytes_per_second, 33_177_600 * 60);
        assert!((woven.frame_share * 16.67 - 10.9).abs() < 0.1, "{woven:?}");
        let atlas = of(Crossing::AtlasPerFrame, panel).expect("the panel is known");
        assert_eq!(atlas.bytes_per_second * 2, woven.bytes_per_second);
        assert_eq!(of(Crossing::None, None).map(|cost| cost.bytes_per_second), Some(0));
        assert_eq!(of(Crossing::EveryPresent, None), None);
    }
}
