//! What every way of getting pictures to the panel puts on the bus, and whether the link carries it at the refresh rate.
//!
//! A way that presents from the wrong adapter sends the woven frame at every refresh; a split sends one atlas per rendered
//! frame. Counters of a log overrule the estimate of the split, which is the only way that has counters.

use std::borrow::Cow;

use wire::{Cost, Crossing, MeasuredCost, PlacementCost, Rect, Span, Way};

use super::frame::REFERENCE_REFRESH_HZ;
use super::{Frame, Pixels, words};

/// Every way, cheapest first as a rule. `happened` is what a log says of itself, with OpenGL interop beside it.
pub fn placements(
    frame: &Frame,
    measured: Option<&MeasuredCost>,
    happened: Option<Crossing>,
    interop: bool,
) -> Vec<PlacementCost> {
    const WAYS: [Way; 6] = [
        Way::Local,
        Way::AtlasPerFrame,
        Way::EveryPresentOneCopy,
        Way::EveryPresentTwoCopies,
        Way::GlInteropShare,
        Way::GlInteropCopy,
    ];
    let is_it = |way| match way {
        Way::Local => happened == Some(Crossing::None),
        Way::AtlasPerFrame => happened == Some(Crossing::AtlasPerFrame),
        Way::EveryPresentOneCopy => happened == Some(Crossing::EveryPresent),
        Way::GlInteropShare => interop,
        // Which way the system copies is told by no record, so the least that it can be is marked.
        Way::EveryPresentTwoCopies | Way::GlInteropCopy => false,
    };
    WAYS.into_iter()
        .map(|way| {
            let measured = measured.filter(|_| way == Way::AtlasPerFrame);
            PlacementCost { happened: is_it(way), ..cost(frame, way, measured) }
        })
        .collect()
}

/// What the reference laptop's link would be asked for: the `cost` of a replay (contract section 5). Null when it is not
/// known what crosses, or how large the panel is.
pub fn on_reference(crossing: Crossing, panel: Option<Rect>) -> Option<Cost> {
    let way = match crossing {
        Crossing::None => Way::Local,
        Crossing::AtlasPerFrame => Way::AtlasPerFrame,
        Crossing::EveryPresent => Way::EveryPresentOneCopy,
        Crossing::Unknown => return None,
    };
    let panel_px = panel.map(|own| Pixels { width: own.width, height: own.height });
    let cost = cost(&Frame { panel_px, ..Frame::default() }.on_reference(), way, None);
    let bytes_per_second = cost.bytes_per_frame?.high.saturating_mul(REFERENCE_REFRESH_HZ);
    Some(Cost { bytes_per_second, frame_share: cost.frame_share?.high })
}

fn cost(frame: &Frame, way: Way, measured: Option<&MeasuredCost>) -> PlacementCost {
    let woven = frame.woven_bytes();
    let (copies, estimate, per_second) = match way {
        Way::Local => (0, Some(Span::exact(0)), frame.refresh_hz.or(Some(Span::exact(0.0)))),
        Way::AtlasPerFrame => (1, frame.atlas_bytes(), frame.rendered_or_less()),
        Way::EveryPresentOneCopy => (1, woven, frame.refresh_hz),
        Way::EveryPresentTwoCopies => (2, woven, frame.refresh_hz),
        Way::GlInteropShare => (1, woven, frame.rendered_or_less()),
        Way::GlInteropCopy => (2, woven, frame.rendered_or_less()),
    };
    let mut bytes_per_frame = estimate.map(|own| own.times(Span::exact(u64::from(copies))));
    let mut frames_per_second = per_second;
    let mut bytes_per_second = None;
    let mut basis = "estimated";
    if let Some(measured) = measured.filter(|own| own.windows > 0) {
        basis = "measured";
        bytes_per_frame = measured.bytes_per_frame.or(bytes_per_frame);
        frames_per_second = measured.frames_per_second.or(frames_per_second);
        bytes_per_second = measured.bytes_per_second;
    }
    let nothing = bytes_per_frame == Some(Span::exact(0));
    let rate = |per_second: Option<Span<f64>>| match (bytes_per_frame, per_second) {
        _ if nothing => Some(Span::exact(0.0)),
        (Some(bytes), Some(per_second)) => Some(bytes.real().times(per_second)),
        _ => None,
    };
    bytes_per_second = bytes_per_second.or_else(|| rate(frames_per_second));
    let needed = rate(frame.refresh_hz);
    let over_link = |bytes: Option<Span<f64>>| bytes.zip(frame.link_bytes_per_s).and_then(|(own, link)| own.over(link));
    let seconds = if nothing { Some(Span::exact(0.0)) } else { over_link(bytes_per_frame.map(Span::real)) };
    let share = if nothing { Some(Span::exact(0.0)) } else { over_link(needed) };
    let holds = share.and_then(|own| own.is_at_most(1.0));
    let mut cost = PlacementCost {
        placement: way,
        happened: false,
        basis: Cow::Borrowed(basis),
        copies,
        bytes_per_frame,
        frames_per_second,
        bytes_per_second,
        needed_bytes_per_second: needed,
        copy_ms: seconds.map(|own| own.times(Span::exact(1000.0))),
        frame_share: share,
        holds,
        verdict: String::new(),
    };
    cost.verdict = verdict(frame, &cost);
    cost
}

fn verdict(frame: &Frame, cost: &PlacementCost) -> String {
    if cost.bytes_per_frame == Some(Span::exact(0)) {
        return "nothing crosses".to_owned();
    }
    if cost.bytes_per_frame.is_none() {
        return "cannot be told without the panel's size".to_owned();
    }
    let Some(refresh) = frame.refresh_hz else {
        return "cannot be told without the refresh rate".to_owned();
    };
    let hz = words::hz(Some(refresh));
    let (Some(copy), Some(share)) = (cost.copy_ms, cost.frame_share) else {
        let needed = words::rate(cost.needed_bytes_per_second);
        return format!("holds {hz} where the link carries {needed}; what it carries is not told");
    };
    let of_frame =
        format!("{} of {}, {}", words::ms(Some(copy)), words::ms(frame.budget_ms()), words::percent(Some(share)));
    match cost.holds {
        Some(true) => format!("holds {hz} on this link: {of_frame}"),
        Some(false) => format!("cannot hold {hz} on this link: {of_frame}"),
        None => format!("may not hold {hz} on this link: {of_frame}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANEL: Pixels = Pixels { width: 3840, height: 2160 };

    fn row(rows: &[PlacementCost], way: Way) -> &PlacementCost {
        rows.iter().find(|own| own.placement == way).expect("every way has its row")
    }

    #[test]
    fn the_reference_laptop_reads_as_the_design_says() {
        let frame = Frame { panel_px: Some(PANEL), ..Frame::default() }.on_reference();
        let rows = placements(&frame, None, Some(Crossing::EveryPresent), false);
        let woven = row(&rows, Way::EveryPresentOneCopy);
        assert!(woven.happened && woven.holds == Some(true));
        assert_eq!(woven.verdict, "holds 60 Hz on this link: 10.9 ms of 16.7 ms, 65 %");
        assert_eq!(
            (words::bytes(woven.bytes_per_frame), words::rate(woven.bytes_per_second)),
            ("33.2 MB".into(), "2.0 GB/s".into())
        );
        let atlas = row(&rows, Way::AtlasPerFrame);
        assert_eq!(words::bytes(atlas.bytes_per_frame), "16.6 MB");
        assert_eq!(atlas.bytes_per_second, Some(Span::exact(995_328_000.0)));
        let twice = row(&rows, Way::EveryPresentTwoCopies);
        assert_eq!((twice.holds, twice.bytes_per_frame), (Some(false), Some(Span::exact(66_355_200))));
        assert!(twice.verdict.starts_with("cannot hold 60 Hz on this link: 21.8 ms of 16.7 ms"), "{}", twice.verdict);
        assert_eq!(row(&rows, Way::Local).verdict, "nothing crosses");
    }

    #[test]
    fn a_4k_panel_costs_what_the_reference_machine_measured() {
        let panel = Some(Rect { left: 0, top: 0, width: 3840, height: 2160 });
        let woven = on_reference(Crossing::EveryPresent, panel).expect("the panel is known");
        assert_eq!(woven.bytes_per_second, 33_177_600 * 60);
        assert!((woven.frame_share * 16.67 - 10.9).abs() < 0.1, "{woven:?}");
        let atlas = on_reference(Crossing::AtlasPerFrame, panel).expect("the panel is known");
        assert_eq!(atlas.bytes_per_second * 2, woven.bytes_per_second);
        assert_eq!(on_reference(Crossing::None, None).map(|cost| cost.bytes_per_second), Some(0));
        assert_eq!(on_reference(Crossing::EveryPresent, None), None);
    }

    #[test]
    fn what_is_missing_is_named_and_nothing_is_made_up() {
        let frame = Frame { panel_px: Some(PANEL), bytes_per_pixel: Some(4), ..Frame::default() };
        let woven = |frame: &Frame| row(&placements(frame, None, None, false), Way::EveryPresentOneCopy).clone();
        let told = woven(&Frame::default());
        assert_eq!((told.bytes_per_second, told.verdict.as_str()), (None, "cannot be told without the panel's size"));
        assert_eq!(woven(&frame).verdict, "cannot be told without the refresh rate");
        let at_60 = Frame { refresh_hz: Some(Span::exact(60.0)), ..frame };
        assert_eq!(woven(&at_60).verdict, "holds 60 Hz where the link carries 2.0 GB/s; what it carries is not told");
        assert_eq!((woven(&at_60).frame_share, woven(&at_60).holds), (None, None));
        let wide = Frame { link_bytes_per_s: Some(Span::between(1.52e9, 3.04e9)), ..at_60 };
        assert_eq!(woven(&wide).verdict, "may not hold 60 Hz on this link: 10.9 to 21.8 ms of 16.7 ms, 65 to 131 %");
        let at_least = Frame { link_bytes_per_s: Some(Span { low: 2.31e9, high: f64::INFINITY }), ..at_60 };
        assert_eq!(woven(&at_least).holds, Some(true), "it carried more than is needed");
    }

    #[test]
    fn what_was_measured_overrules_the_estimate() {
        let frame = Frame { panel_px: Some(PANEL), ..Frame::default() }.on_reference();
        let measured = MeasuredCost {
            windows: 2,
            seconds: 20.0,
            bytes_per_second: Some(Span::between(4e8, 5e8)),
            bytes_per_frame: Some(Span::exact(8_294_400)),
            frames_per_second: Some(Span::between(48.2, 60.0)),
            ..MeasuredCost::default()
        };
        let rows = placements(&frame, Some(&measured), Some(Crossing::AtlasPerFrame), false);
        let atlas = row(&rows, Way::AtlasPerFrame);
        assert_eq!((atlas.basis.as_ref(), atlas.bytes_per_second), ("measured", measured.bytes_per_second));
        assert_eq!(atlas.copy_ms.map(|own| (own.high * 10.0).round()), Some(27.0));
        assert_eq!(row(&rows, Way::EveryPresentOneCopy).basis, "estimated");
    }
}
