//! What one log put on the bus in all, what it would have been another way, and what a split saves: rates times the time that
//! the log ran (issue 8). What is not known is null; the reference laptop's numbers are used only where the frame has them.

use wire::{Crossing, MeasuredCost, PlacementCost, Span, Way};

use super::{Frame, Pixels, placements};

/// Bytes of one log, all of its time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Session {
    /// What crossed, as the log's last state has it.
    pub bus_bytes: Option<Span<f64>>,
    /// The same if the log had split.
    pub atlas_bytes: Option<Span<f64>>,
    /// The same if every present had crossed, in one copy.
    pub present_bytes: Option<Span<f64>>,
    /// What a split saves against every present: least and most. Negative where the atlas is larger. Both ways share the pixel
    /// format, the refresh rate and the time, so this is narrower than the difference of the two above.
    pub split_saves_bytes: Option<(f64, f64)>,
    /// What crossed was counted by the log, not estimated.
    pub is_measured: bool,
}

/// The bytes of a log that ended in this state and ran for this long; `seconds` null where that is not known.
pub fn session(
    frame: &Frame,
    measured: Option<&MeasuredCost>,
    crossing: Crossing,
    interop: bool,
    seconds: Option<Span<f64>>,
) -> Session {
    let rows = placements(frame, measured, Some(crossing), interop);
    let row = |way| rows.iter().find(|own| own.placement == way);
    let rate = |way| row(way).and_then(|own| own.bytes_per_second);
    let happened = match crossing {
        Crossing::None => Some(Way::Local),
        Crossing::AtlasPerFrame => Some(Way::AtlasPerFrame),
        Crossing::EveryPresent => Some(Way::EveryPresentOneCopy),
        Crossing::Unknown => None,
    };
    let beside = if interop { rate(Way::GlInteropShare).zip(rate(Way::GlInteropCopy)) } else { Some(NOTHING) };
    let bus = happened.and_then(rate).zip(beside).map(|(own, (share, copy))| Span {
        low: own.low + share.low,
        // Which way OpenGL takes is told by no record.
        high: own.high + copy.high,
    });
    let whole = |rate: Option<Span<f64>>| match (rate, seconds) {
        // However long it ran.
        (Some(rate), _) if rate.high == 0.0 => Some(Span::exact(0.0)),
        (Some(rate), Some(seconds)) => Some(rate.times(seconds)),
        _ => None,
    };
    let is_measured = happened.and_then(row).is_some_and(|own: &PlacementCost| own.basis == "measured");
    let saved = seconds.and_then(|seconds| {
        let (least, most) = saved_per_second(frame, &rows)?;
        let whole = [least * seconds.low, least * seconds.high, most * seconds.low, most * seconds.high];
        Some(bounds(whole))
    });
    Session {
        bus_bytes: whole(bus),
        atlas_bytes: whole(rate(Way::AtlasPerFrame)),
        present_bytes: whole(rate(Way::EveryPresentOneCopy)),
        split_saves_bytes: saved,
        is_measured,
    }
}

const NOTHING: (Span<f64>, Span<f64>) = (Span { low: 0.0, high: 0.0 }, Span { low: 0.0, high: 0.0 });

/// Every present less the split, bytes per second: least and most.
fn saved_per_second(frame: &Frame, rows: &[PlacementCost]) -> Option<(f64, f64)> {
    let row = |way| rows.iter().find(|own| own.placement == way);
    let (present, atlas) = (row(Way::EveryPresentOneCopy)?, row(Way::AtlasPerFrame)?);
    if atlas.basis == "measured" {
        let (present, atlas) = (present.bytes_per_second?, atlas.bytes_per_second?);
        return Some((present.low - atlas.high, present.high - atlas.low));
    }
    let panel_px = frame.panel_px.map(Pixels::count)? as f64;
    let (atlas_px, hz, pixel) = (frame.atlas_pixels()?.real(), frame.refresh_hz?, frame.pixel_bytes().real());
    let planes = frame.planes_bytes.real();
    // In each number alone the difference goes up or down throughout, so its extremes are at their bounds.
    let mut corners = Vec::new();
    for (hz, share) in [(hz.low, 0.0), (hz.low, 1.0), (hz.high, 0.0), (hz.high, 1.0)] {
        let rendered = match frame.rendered_hz {
            Some(told) => told.low + share * (told.high - told.low),
            None => share * hz,
        };
        for pixel in [pixel.low, pixel.high] {
            for (atlas_px, planes) in [(atlas_px.low, planes.low), (atlas_px.high, planes.high)] {
                corners.push(panel_px * pixel * hz - (atlas_px * pixel + planes) * rendered);
            }
        }
    }
    Some(bounds(corners))
}

fn bounds(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| (low.min(own), high.max(own)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANEL: Pixels = Pixels { width: 3840, height: 2160 };

    fn of(frame: &Frame, crossing: Crossing, seconds: Option<Span<f64>>) -> Session {
        session(frame, None, crossing, false, seconds)
    }

    #[test]
    fn a_minute_on_the_reference_laptop_is_what_the_worked_example_says() {
        let frame = Frame { panel_px: Some(PANEL), ..Frame::default() }.on_reference();
        let minute = Some(Span::exact(60.0));
        let woven = 33_177_600.0 * 60.0 * 60.0;
        let present = of(&frame, Crossing::EveryPresent, minute);
        assert_eq!((present.bus_bytes, present.is_measured), (Some(Span::exact(woven)), false));
        assert_eq!(present.split_saves_bytes, Some((woven / 2.0, woven / 2.0)));
        let split = of(&frame, Crossing::AtlasPerFrame, minute);
        assert_eq!((split.bus_bytes, split.present_bytes), (Some(Span::exact(woven / 2.0)), present.bus_bytes));
        let local = of(&frame, Crossing::None, None);
        assert_eq!((local.bus_bytes, local.present_bytes), (Some(Span::exact(0.0)), None), "however long it ran");
        assert_eq!(of(&frame, Crossing::Unknown, minute).bus_bytes, None);
        assert_eq!(of(&frame, Crossing::EveryPresent, None).bus_bytes, None, "the time is not known");
        assert_eq!(of(&Frame::default(), Crossing::EveryPresent, minute).bus_bytes, None);
    }

    #[test]
    fn what_both_ways_share_narrows_what_a_split_saves() {
        let frame = Frame { panel_px: Some(PANEL), refresh_hz: Some(Span::exact(60.0)), ..Frame::default() };
        let own = of(&frame, Crossing::EveryPresent, Some(Span::between(10.0, 20.0)));
        // Four to eight bytes a pixel; an atlas as large as the panel in every frame saves nothing, one that never comes all.
        let most = 8_294_400.0 * 8.0 * 60.0 * 20.0;
        assert_eq!(own.split_saves_bytes, Some((0.0, most)));
        let (present, atlas) = (own.present_bytes.expect("told"), own.atlas_bytes.expect("told"));
        assert!(present.low - atlas.high < 0.0, "the difference of the two says less");
    }

    #[test]
    fn counters_overrule_and_interop_comes_on_top() {
        let frame = Frame { panel_px: Some(PANEL), ..Frame::default() }.on_reference();
        let counters = MeasuredCost {
            windows: 2,
            seconds: 20.0,
            bytes_per_second: Some(Span::between(100.0, 200.0)),
            ..MeasuredCost::default()
        };
        let seconds = Some(Span::exact(10.0));
        let own = session(&frame, Some(&counters), Crossing::AtlasPerFrame, false, seconds);
        assert_eq!((own.bus_bytes, own.is_measured), (Some(Span::between(1000.0, 2000.0)), true));
        let present = 33_177_600.0 * 60.0;
        assert_eq!(own.split_saves_bytes, Some((10.0 * (present - 200.0), 10.0 * (present - 100.0))));
        let gl = session(&frame, None, Crossing::None, true, seconds);
        assert_eq!(gl.bus_bytes, Some(Span { low: 10.0 * present, high: 20.0 * present }));
    }
}
