//! What crossing costs: what logs measure, and strategies for machines with one to four adapters.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use parser::LogReader;
use proptest::prelude::*;
use resolver::cost::{Frame, Machinery, Measure, MeasureFold, Pixels, placements, strategies, words};
use wire::{Crossing, Ranked, Span, Strategies, StrategyCost, Way};

const PANEL: Pixels = Pixels { width: 3840, height: 2160 };

fn measured(log: &[u8]) -> Measure {
    let mut fold = MeasureFold::default();
    let mut reader = LogReader::new();
    reader.feed(log, &mut |observation| fold.push(&observation));
    reader.finish(&mut |observation| fold.push(&observation));
    fold.finish()
}

fn of_lines(bodies: &[&str]) -> Measure {
    let lines: Vec<_> =
        bodies.iter().map(|body| format!("[2026-09-14 12:00:01.370] [WARN ] [emit] {body}\n")).collect();
    measured(lines.concat().as_bytes())
}

fn logs() -> Vec<PathBuf> {
    let folder = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok");
    let entries = fs::read_dir(folder).expect("the fixtures are there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    paths.filter(|path| path.extension().is_some_and(|own| own == "log")).collect()
}

#[test]
fn counters_of_a_log_become_rates_with_bounds() {
    let measure = of_lines(&[
        "XR_DXR_display_info (iface=acme-3d): display=0.6000 x 0.3375 m, nominal=(0.0000, 0.1000, 0.6000) m, scale=0.5000 x \
         0.5000, pixels=3840x2160, atlas=3840x2160",
        "Display refresh rate: 60.00 Hz (frame period 16.67 ms)",
        "Null-compositor frame pacing: 75.00 Hz",
        "d3d11 xbridge: cross-adapter ring 3840x2160 rowPitch=15360 heap=33177600 bytes x3",
        "d3d11 xbridge: egress ring x3 at 3840x1080 on the scanout adapter (content-sized), rebuild #1 (#918)",
        "[RENDER] split=1 xb_kb=9720000 xb_degraded=0 no_slot=0 out_crop=0 ingress=adaptive ing_direct=596 ing_staged=4 \
         ing_rebind=3 ing_churn=0 ing_leak=0 window_s=10",
        "[RENDER] split=1 xb_kb=4860000 xb_degraded=0 no_slot=0 out_crop=0 ingress=adaptive ing_direct=300 ing_staged=0 \
         ing_rebind=3 ing_churn=0 ing_leak=0 window_s=10",
        "[RENDER] split=0 xb_kb=10 xb_degraded=0 pipe_dev_rebind=1 flat_skip=0 maskpub_skip=0 no_slot=0 out_crop=0 \
         window_s=10",
        "[RENDER] plane=Local2D kb=8100 copies=3 skips=595 half_rate=0 window_s=10",
        "[RENDER] plane=Local2D kb=8100 copies=3 skips=595 half_rate=1 window_s=10",
        "[RENDER] sideband copies=3 skips=595 kb=120 window_s=10",
        "d3d11 xbridge: transport measured 2.31 GB/s over the last second (planes 1.12 GB/s), above the 2.0 GB/s acceptance \
         gate — latching the Local2D plane to HALF RATE until the transport settles. The split stays on (#918 Phase 2a)",
        "#918 output-device split: stage A took 98.4 ms (bridge 40.1 ms, active=1)",
        "[RENDER] capture_renders=0 capture_avg_us=0 client_renders=598 client_skips=2 client_avg_us=1432 wait_avg_us=88 \
         window_s=10",
    ]);
    let cost = measure.cost.as_ref().expect("there are windows");
    assert_eq!((cost.windows, cost.seconds), (2, 20.0), "a window without a split has no rate");
    assert_eq!(cost.bridge_bytes, (9_720_000 + 4_860_000 + 10) * 1024);
    assert_eq!(cost.bytes_per_frame, Some(Span::exact(16_588_800)), "a side-by-side atlas");
    assert_eq!(cost.frames_per_second, Some(Span { low: 30.0, high: 60.0 }));
    let rate = cost.bytes_per_second.expect("there are windows");
    let planes = f64::from(16_200 + 120) * 1024.0 / 20.0;
    assert_eq!(rate, Span { low: 497_664_000.0, high: 995_328_000.0 + planes });
    assert_eq!(cost.staged_share, Some(4.0 / 900.0));
    let names: Vec<_> = cost.planes.iter().map(|own| (own.plane.as_str(), own.copies, own.half_rate)).collect();
    assert_eq!(names, [("Local2D", 6, true), ("sideband", 3, false)]);
    assert_eq!(cost.link_at_least_bytes_per_second, Some(2.31e9));
    assert_eq!((cost.setup_ms, cost.bridge_setup_ms), (Some(Span::exact(98.4)), Some(Span::exact(40.1))));
    assert_eq!((cost.client_render_us, cost.wait_us), (Some(Span::exact(1432)), Some(Span::exact(88))));

    assert_eq!(measure.refresh_hz.map(|own| own.value), Some(60.0), "a pace without a display is no refresh rate");
    assert_eq!(measure.bytes_per_pixel.map(|own| (own.value, own.line)), Some((4, 4)));
    assert_eq!(measure.atlas_px.map(|own| own.value), Some(Pixels { width: 3840, height: 1080 }));
    let frame = measure.fill(Frame { panel_px: Some(PANEL), ..Frame::default() });
    let rows = placements(&frame, measure.cost.as_ref(), Some(Crossing::AtlasPerFrame), false);
    let atlas = rows.iter().find(|own| own.happened).expect("the log says what happened");
    assert_eq!((atlas.placement, atlas.basis.as_ref()), (Way::AtlasPerFrame, "measured"));
    assert_eq!(atlas.holds, Some(true), "the link carried more than that: {}", atlas.verdict);
}

#[test]
fn the_last_layout_is_the_atlas() {
    let measure = of_lines(&[
        "#918: layout generation 1 — 2x1 tiles of 1920x1080 (#918 R1)",
        "d3d11 xbridge: egress ring x3 at 3840x2160 on the scanout adapter (content-sized), rebuild #1 (#918)",
        "#918: layout generation 2 — 4x2 tiles of 960x540 (#918 R1)",
    ]);
    assert_eq!(measure.atlas_px.map(|own| (own.value, own.line)), Some((Pixels { width: 3840, height: 1080 }, 3)));
    assert_eq!(measure.views.map(|own| own.value), Some(8));
    assert_eq!(measure.cost, None, "nothing was counted");
}

#[test]
fn every_fixture_folds_and_hostile_numbers_do_no_harm() {
    let counted = logs().iter().filter(|path| measured(&fs::read(path).expect("it is a file")).cost.is_some()).count();
    assert!(counted >= 10, "{counted} logs have counters");
    let measure = of_lines(&[
        "[RENDER] split=1 xb_kb=18446744073709551615 xb_degraded=0 ing_direct=18446744073709551615 ing_staged=9 window_s=-1",
        "[RENDER] split=1 xb_kb=9223372036854775807 xb_degraded=0 ing_direct=9223372036854775807 ing_staged=9 window_s=0",
        "[RENDER] split=1 xb_kb=5 xb_degraded=0 ing_direct=0 ing_staged=0 window_s=10",
        "Display refresh rate: -inf Hz (frame period nan ms)",
        "#918: layout generation 1 — 4294967295x4294967295 tiles of 4294967295x4294967295 (#918 R1)",
        "d3d11 xbridge: cross-adapter ring 0x0 rowPitch=0 heap=0 bytes x0",
        "d3d11 xbridge: cross-adapter ring 4294967295x4294967295 rowPitch=4294967295 heap=18446744073709551615 bytes x2147483647",
    ]);
    assert_eq!((measure.refresh_hz, measure.atlas_px), (None, None));
    let frame = measure.fill(Frame { panel_px: Some(PANEL), ..Frame::default() }).on_reference();
    assert_eq!(placements(&frame, measure.cost.as_ref(), None, false).len(), 6);
}

fn ranked(count: u32) -> Vec<Ranked> {
    (0..count)
        .map(|index| Ranked {
            index,
            name: format!("Card {index}"),
            luid: None,
            dedicated_vram_mib: None,
            kind: None,
            rank: Some(index + 1),
            excluded: None,
        })
        .collect()
}

fn compare(frame: &Frame, ranking: &[Ranked], scanout: Option<u32>, frame_ms: &[(u32, f64)]) -> Strategies {
    let frame_ms: BTreeMap<u32, f64> = frame_ms.iter().copied().collect();
    strategies(frame, Machinery { ranking, scanout, frame_ms: &frame_ms, pass_bytes_per_pixel: None })
}

fn of<'a>(all: &'a Strategies, name: &str) -> &'a StrategyCost {
    all.strategies.iter().find(|own| own.strategy == name).expect("every way has its row")
}

fn reference() -> Frame {
    Frame { panel_px: Some(PANEL), ..Frame::default() }.on_reference()
}

#[test]
fn on_a_hybrid_pc_the_split_is_the_cheapest_that_is_known_to_keep_the_rate() {
    let all = compare(&reference(), &ranked(2), Some(1), &[]);
    assert_eq!(all.cheapest.as_deref(), Some("split_weave"), "{}", all.because);
    let (render, split) = (of(&all, "everything_on_render"), of(&all, "split_weave"));
    assert_eq!((render.keeps, split.keeps), (Some(true), Some(true)));
    assert_eq!(
        (words::bytes(render.bytes_per_frame), words::bytes(split.bytes_per_frame)),
        ("33.2 MB".into(), "16.6 MB".into())
    );
    assert_eq!((render.sync_points_per_frame, split.sync_points_per_frame), (Some(1), Some(2)));
    assert_eq!(split.device_mask.as_deref(), Some("0x3"));
    let scanout = of(&all, "everything_on_scanout");
    assert_eq!((scanout.keeps, scanout.device_mask.as_deref()), (None, Some("0x2")));
    assert!(scanout.verdict.contains("not told of GPU 1 (Card 1)"), "{}", scanout.verdict);
    // Once it is known that the panel's GPU is fast enough, nothing needs to cross.
    let told = compare(&reference(), &ranked(2), Some(1), &[(1, 12.0)]);
    assert_eq!(told.cheapest.as_deref(), Some("everything_on_scanout"));
    let slow = compare(&reference(), &ranked(2), Some(1), &[(1, 25.0)]);
    assert_eq!(
        (of(&slow, "everything_on_scanout").keeps, slow.cheapest.as_deref()),
        (Some(false), Some("split_weave"))
    );
}

#[test]
fn a_narrow_link_cannot_hold_the_rate() {
    let narrow = Frame { link_bytes_per_s: Some(Span::exact(0.9e9)), ..reference() };
    let all = compare(&narrow, &ranked(2), Some(1), &[(1, 25.0)]);
    assert_eq!(of(&all, "split_weave").keeps, Some(false));
    assert_eq!(
        (all.cheapest, all.because.as_str()),
        (None, "no way is known to keep 60 Hz; each says what is missing")
    );
    let all = compare(&narrow, &ranked(2), Some(1), &[(0, 10.0), (1, 12.0)]);
    assert_eq!(all.cheapest.as_deref(), Some("everything_on_scanout"));
}

#[test]
fn several_adapters_share_frames() {
    let all = compare(&reference(), &ranked(4), Some(2), &[(0, 30.0), (1, 40.0), (2, 60.0), (3, 66.0)]);
    let turn = of(&all, "alternate_frames");
    assert_eq!((turn.bytes_per_frame, turn.scene_copies), (Some(Span::exact(16_588_800 * 3 / 4)), Some(4)));
    assert_eq!(turn.keeps, Some(true), "66 ms in four turns: {}", turn.verdict);
    assert_eq!(turn.added_latency_frames, Some(Span { low: 3.0, high: 4.0 }));
    let regions = of(&all, "split_frames");
    assert_eq!((regions.sync_points_per_frame, regions.copies_per_frame), (Some(6), Some(Span::exact(3.0))));
    assert_eq!(regions.keeps, Some(true), "11 ms together: {}", regions.verdict);
    assert_eq!((turn.device_mask.as_deref(), regions.device_mask.as_deref()), (Some("0xf"), Some("0xf")));
    assert_eq!(of(&all, "everything_on_render").keeps, Some(false), "30 ms are too long");
    assert_eq!(all.cheapest.as_deref(), Some("alternate_frames"), "{}", all.because);
    let system = regions.memory.iter().find(|own| own.adapter.is_none()).expect("rings lie in system memory");
    assert_eq!(system.bytes, Span { low: 2 * 3 * 16_588_800, high: 3 * 3 * 16_588_800 });
}

#[test]
fn one_adapter_has_nothing_to_share_and_unknown_roles_nothing_to_say() {
    let all = compare(&reference(), &ranked(1), Some(0), &[]);
    assert_eq!(all.cheapest.as_deref(), Some("everything_on_render"));
    assert_eq!(of(&all, "split_weave").bytes_per_frame, Some(Span::exact(0)));
    assert_eq!((of(&all, "split_frames").keeps, of(&all, "split_frames").device_mask.as_deref()), (Some(false), None));
    for all in [compare(&reference(), &ranked(2), None, &[]), compare(&reference(), &[], Some(0), &[])] {
        assert!(
            all.cheapest.is_none()
                && all.strategies.iter().all(|own| own.keeps.is_none() && own.bytes_per_frame.is_none())
        );
    }
    let told = compare(&Frame { panel_px: Some(PANEL), ..Frame::default() }, &ranked(2), Some(1), &[]);
    assert_eq!(
        (&told.cheapest, told.because.as_str()),
        (&None, "the refresh rate is not told, so no way can be known to keep it")
    );
    let on_reference = told.on_reference.as_ref().and_then(|own| own.cheapest.as_deref());
    assert_eq!(on_reference, Some("split_weave"), "that is told apart from what the machine says");
    assert_eq!(of(&told, "split_weave").bytes_per_frame, Some(Span { low: 16_588_800, high: 66_355_200 }));
}

fn narrower(one: Option<Span<f64>>, other: Option<Span<f64>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.low >= other.low * (1.0 - 1e-9) && one.high <= other.high * (1.0 + 1e-9),
        (_, None) => true,
        (None, Some(_)) => false,
    }
}

proptest! {
    /// Knowing more never moves an answer out of the interval that was given before, and never turns a yes into a no.
    #[test]
    fn a_fact_only_narrows_the_answer(
        width in 1_u32..8000, height in 1_u32..5000, part in 0.5_f64..=1.0, each in 4_u64..=8,
        hz in 30.0_f64..240.0, link in 1e8_f64..2e10, adapters in 1_u32..5, scanout in 0_u32..5,
    ) {
        let panel_px = Some(Pixels { width, height });
        let open = Frame {
            panel_px,
            refresh_hz: Some(Span { low: hz * 0.9, high: hz * 1.1 }),
            link_bytes_per_s: Some(Span { low: link / 2.0, high: link * 2.0 }),
            ..Frame::default()
        };
        let atlas = Pixels { width, height: ((f64::from(height) * part).ceil() as i64).try_into().unwrap_or(height) };
        let told = Frame {
            atlas_px: Some(atlas),
            bytes_per_pixel: Some(each),
            refresh_hz: Some(Span::exact(hz)),
            rendered_hz: Some(Span::exact(hz)),
            link_bytes_per_s: Some(Span::exact(link)),
            ..open
        };
        for (wide, narrow) in placements(&open, None, None, false).iter().zip(&placements(&told, None, None, false)) {
            prop_assert!(narrower(narrow.bytes_per_second, wide.bytes_per_second), "{:?} {:?}", wide, narrow);
            prop_assert!(narrower(narrow.frame_share, wide.frame_share), "{:?} {:?}", wide, narrow);
            prop_assert!(wide.holds.is_none() || wide.holds == narrow.holds, "{:?} {:?}", wide, narrow);
        }
        let scanout = Some(scanout % adapters);
        let (wide, narrow) = (compare(&open, &ranked(adapters), scanout, &[]), compare(&told, &ranked(adapters), scanout, &[]));
        for (wide, narrow) in wide.strategies.iter().zip(&narrow.strategies) {
            prop_assert!(narrower(narrow.frame_share, wide.frame_share), "{:?} {:?}", wide, narrow);
            prop_assert!(wide.keeps.is_none() || wide.keeps == narrow.keeps, "{:?} {:?}", wide, narrow);
        }
    }
}
