//! What is known of the pictures that a session makes: their sizes, their rate, and the link that they cross.
//!
//! A woven frame is the panel; an atlas holds the views that are rendered for it. The reference laptop of the design has a
//! 4K panel at 60 Hz with four bytes a pixel, a side-by-side atlas of half the panel's pixels, and a cross-adapter heap that
//! copies 3.04 GB/s.

use wire::Span;

/// Formats of swap chains: 8 and 10 bits a channel are four bytes a pixel, half floats are eight.
pub const BYTES_PER_PIXEL_BOUNDS: Span<u64> = Span { low: 4, high: 8 };
/// The reference laptop's refresh rate, in whole hertz.
pub const REFERENCE_REFRESH_HZ: u64 = 60;
/// What the reference laptop's cross-adapter heap copies, bytes per second.
pub const REFERENCE_LINK_BYTES_PER_S: f64 = 3.04e9;
/// Four bytes a pixel, as the reference laptop's formats have.
const REFERENCE_BYTES_PER_PIXEL: u64 = 4;

/// A size in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pixels {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// What is known of the pictures and their way; null is not known.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Frame {
    /// The 3D panel.
    pub panel_px: Option<Pixels>,
    /// The atlas as it is rendered.
    pub atlas_px: Option<Pixels>,
    /// The largest atlas that the display asks for, where that alone is told.
    pub atlas_at_most_px: Option<Pixels>,
    /// Views that the atlas holds.
    pub views: Option<u32>,
    /// Bytes a pixel, of atlas and woven frame.
    pub bytes_per_pixel: Option<u64>,
    /// Refresh rate of the panel.
    pub refresh_hz: Option<Span<f64>>,
    /// Frames that the app renders per second; at most the refresh rate.
    pub rendered_hz: Option<Span<f64>>,
    /// What the link between the adapters carries, bytes per second. Without an upper bound where a log says only what it
    /// carried at least.
    pub link_bytes_per_s: Option<Span<f64>>,
    /// Bytes of the planes that cross beside the atlas, per picture.
    pub planes_bytes: Span<u64>,
}

impl Pixels {
    /// How many there are.
    pub const fn count(self) -> u64 {
        self.width as u64 * self.height as u64
    }
}

impl Frame {
    /// The frame with the numbers of the reference laptop for all that is not known but the panel's size.
    #[must_use]
    pub fn on_reference(self) -> Self {
        let refresh_hz = self.refresh_hz.unwrap_or(Span::exact(REFERENCE_REFRESH_HZ as f64));
        let half = |panel: Pixels| match panel.height % 2 {
            0 => Pixels { height: panel.height / 2, ..panel },
            _ => Pixels { width: panel.width / 2, ..panel },
        };
        Self {
            bytes_per_pixel: self.bytes_per_pixel.or(Some(REFERENCE_BYTES_PER_PIXEL)),
            atlas_px: self.atlas_px.or_else(|| self.panel_px.map(half)),
            refresh_hz: Some(refresh_hz),
            rendered_hz: Some(self.rendered_hz.unwrap_or(refresh_hz)),
            link_bytes_per_s: Some(self.link_bytes_per_s.unwrap_or(Span::exact(REFERENCE_LINK_BYTES_PER_S))),
            ..self
        }
    }

    /// Bytes a pixel, or the bounds of the usual formats.
    pub fn pixel_bytes(&self) -> Span<u64> {
        self.bytes_per_pixel.map_or(BYTES_PER_PIXEL_BOUNDS, Span::exact)
    }

    /// Pixels of the atlas. Where its size is not told it is between half of the panel, two views of half the panel's width
    /// and half its height, and the largest one that the display asks for or else the panel, for which the bridge is made.
    pub fn atlas_pixels(&self) -> Option<Span<u64>> {
        if let Some(atlas) = self.atlas_px {
            return Some(Span::exact(atlas.count()));
        }
        let panel = self.panel_px?.count();
        let most = self.atlas_at_most_px.map_or(panel, Pixels::count);
        Some(Span::between(most.min(panel / 2), most))
    }

    /// Bytes of an atlas, with the planes beside it.
    pub fn atlas_bytes(&self) -> Option<Span<u64>> {
        Some(self.atlas_pixels()?.times(self.pixel_bytes()).plus(self.planes_bytes))
    }

    /// Bytes of a woven frame.
    pub fn woven_bytes(&self) -> Option<Span<u64>> {
        Some(Span::exact(self.panel_px?.count()).times(self.pixel_bytes()))
    }

    /// Bytes of one view of the atlas.
    pub fn view_bytes(&self) -> Option<Span<u64>> {
        let views = u64::from(self.views?).max(1);
        let atlas = self.atlas_pixels()?.times(self.pixel_bytes());
        Some(Span { low: atlas.low / views, high: atlas.high / views })
    }

    /// Frames that the app renders per second: at most the refresh rate where the rate itself is not known.
    pub fn rendered_or_less(&self) -> Option<Span<f64>> {
        self.rendered_hz.or_else(|| self.refresh_hz.map(|hz| Span { low: 0.0, high: hz.high }))
    }

    /// How long the panel shows one picture, milliseconds.
    pub fn budget_ms(&self) -> Option<Span<f64>> {
        Span::exact(1000.0).over(self.refresh_hz?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANEL: Pixels = Pixels { width: 3840, height: 2160 };

    #[test]
    fn what_is_not_told_is_an_interval_or_unknown() {
        let frame = Frame { panel_px: Some(PANEL), ..Frame::default() };
        assert_eq!(frame.woven_bytes(), Some(Span { low: 33_177_600, high: 66_355_200 }));
        assert_eq!(frame.atlas_bytes(), Some(Span { low: 16_588_800, high: 66_355_200 }));
        assert_eq!(Frame::default().atlas_bytes().or(Frame::default().woven_bytes()), None);
        assert_eq!((frame.view_bytes(), frame.budget_ms(), frame.rendered_or_less()), (None, None, None));
        let told = Frame { atlas_at_most_px: Some(Pixels { width: 1920, height: 1080 }), ..frame };
        assert_eq!(told.atlas_pixels(), Some(Span::exact(1920 * 1080)), "no larger than the display asks for");
    }

    #[test]
    fn the_reference_fills_only_what_is_open() {
        let told = Frame {
            panel_px: Some(PANEL),
            refresh_hz: Some(Span::exact(120.0)),
            views: Some(2),
            bytes_per_pixel: Some(8),
            ..Frame::default()
        };
        let filled = told.on_reference();
        assert_eq!((filled.refresh_hz, filled.rendered_hz), (told.refresh_hz, told.refresh_hz));
        assert_eq!(filled.view_bytes(), Some(Span::exact(16_588_800)));
        assert_eq!(filled.link_bytes_per_s, Some(Span::exact(REFERENCE_LINK_BYTES_PER_S)));
        assert_eq!(Frame::default().on_reference().woven_bytes(), None, "the panel is nobody's default");
    }
}
