//! What each way does: who renders, what crosses, who waits for whom. One function a way, in the order of the table.
//!
//! Latency counts frames between rendering and the panel beyond a single adapter. The reference laptop shows a present that
//! crosses after 42 ms and one from next to the panel after 16 ms, so the OS's copy costs one to two frames at 60 Hz; a bridge
//! costs up to one, because its ring may be a frame behind.

use wire::Span;

use super::Machinery;
use crate::cost::Frame;

/// Rings have two or three textures.
const RING: Span<u64> = Span { low: 2, high: 3 };
/// Direct3D renders into at most eight targets at once; a pass hands over one of them at least, and depth with it.
const MOST_TARGETS: u64 = 8;
const DEPTH_BYTES_PER_PIXEL: u64 = 4;

/// One way, before anybody asked whether it keeps the rate.
pub(super) struct Plan {
    pub(super) strategy: &'static str,
    /// Adapters with what they do, in the order of the work; empty where it cannot be told, or is impossible.
    pub(super) work: Vec<(u32, &'static str)>,
    pub(super) bytes_per_frame: Option<Span<u64>>,
    /// It crosses with every present, else with every rendered frame.
    pub(super) per_present: bool,
    pub(super) copies_per_frame: Option<Span<f64>>,
    pub(super) sync_points_per_frame: Option<u32>,
    pub(super) added_latency_frames: Option<Span<f64>>,
    /// By adapter; null is system memory.
    pub(super) memory: Vec<(Option<u32>, Span<u64>)>,
    pub(super) scene_copies: Option<u32>,
    /// Links that the bytes may be spread over.
    pub(super) links: u32,
    pub(super) rendering: Rendering,
}

/// Who must render how much of each frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Rendering {
    /// One adapter renders all, as today.
    AsToday(u32),
    /// One adapter that does not render today renders all.
    Elsewhere(u32),
    /// Each of them renders whole frames in turn.
    InTurn(Vec<u32>),
    /// Each renders a part of every frame, as large as it can manage.
    Balanced(Vec<u32>),
    /// Each renders a part of every frame that somebody cuts.
    Cut(Vec<u32>),
    /// It needs more adapters than there are.
    TooFew,
    /// Roles are not known.
    Unknown,
}

impl Plan {
    /// Adapters that take part; null where it cannot be told.
    pub(super) fn takes_part(&self) -> Option<Vec<u32>> {
        (!self.work.is_empty()).then(|| self.work.iter().map(|(adapter, _)| *adapter).collect())
    }

    fn open(strategy: &'static str, rendering: Rendering) -> Self {
        Self {
            strategy,
            work: Vec::new(),
            bytes_per_frame: None,
            per_present: false,
            copies_per_frame: None,
            sync_points_per_frame: None,
            added_latency_frames: None,
            memory: Vec::new(),
            scene_copies: None,
            links: 1,
            rendering,
        }
    }

    /// One adapter does all.
    fn alone(strategy: &'static str, adapter: u32, rendering: Rendering, sizes: &Sizes) -> Self {
        Self {
            work: vec![(adapter, "renders, weaves and presents")],
            bytes_per_frame: Some(Span::exact(0)),
            copies_per_frame: Some(Span::exact(0.0)),
            sync_points_per_frame: Some(0),
            added_latency_frames: Some(Span::exact(0.0)),
            memory: vec![(Some(adapter), sizes.atlas().plus(sizes.woven().times(RING)))],
            scene_copies: Some(1),
            ..Self::open(strategy, rendering)
        }
    }
}

/// Sizes of a frame's pictures; what is not known counts as nothing in sums of memory and is null where bytes cross.
struct Sizes {
    atlas: Option<Span<u64>>,
    woven: Option<Span<u64>>,
    /// What one pass hands to the next.
    pass: Option<Span<u64>>,
}

impl Sizes {
    fn of(frame: &Frame, pass_bytes_per_pixel: Option<u64>) -> Self {
        let target = frame.pixel_bytes();
        let each = pass_bytes_per_pixel.map_or(
            Span { low: target.low + DEPTH_BYTES_PER_PIXEL, high: target.high * MOST_TARGETS + DEPTH_BYTES_PER_PIXEL },
            Span::exact,
        );
        let pass = frame.atlas_pixels().map(|own| own.times(each));
        Self { atlas: frame.atlas_bytes(), woven: frame.woven_bytes(), pass }
    }

    fn atlas(&self) -> Span<u64> {
        self.atlas.unwrap_or_default()
    }

    fn woven(&self) -> Span<u64> {
        self.woven.unwrap_or_default()
    }
}

/// All of them.
pub(super) fn plans(frame: &Frame, machinery: Machinery<'_>) -> [Plan; 6] {
    let sizes = Sizes::of(frame, machinery.pass_bytes_per_pixel);
    let mut ranked: Vec<_> =
        machinery.ranking.iter().filter_map(|own| own.rank.map(|rank| (rank, own.index))).collect();
    ranked.sort_unstable();
    let ranked: Vec<u32> = ranked.into_iter().map(|(_, index)| index).collect();
    let (Some(render), Some(scanout)) = (ranked.first().copied(), machinery.scanout) else {
        return NAMES.map(|name| Plan::open(name, Rendering::Unknown));
    };
    [
        on_render(render, scanout, &sizes),
        Plan::alone(
            NAMES[1],
            scanout,
            if render == scanout { Rendering::AsToday(render) } else { Rendering::Elsewhere(scanout) },
            &sizes,
        ),
        split_weave(render, scanout, &sizes),
        pass_per_device(&ranked, scanout, &sizes),
        alternate_frames(&ranked, scanout, &sizes),
        split_frames(&ranked, scanout, &sizes),
    ]
}

const NAMES: [&str; 6] = [
    "everything_on_render",
    "everything_on_scanout",
    "split_weave",
    "pass_per_device",
    "alternate_frames",
    "split_frames",
];

fn on_render(render: u32, scanout: u32, sizes: &Sizes) -> Plan {
    if render == scanout {
        return Plan::alone(NAMES[0], render, Rendering::AsToday(render), sizes);
    }
    Plan {
        work: vec![(render, "renders and weaves"), (scanout, "shows what crossed")],
        bytes_per_frame: sizes.woven,
        per_present: true,
        // The least that it can be; through a staging copy it is twice that (`Way::EveryPresentTwoCopies`).
        copies_per_frame: Some(Span::exact(1.0)),
        sync_points_per_frame: Some(1),
        added_latency_frames: Some(Span { low: 1.0, high: 2.0 }),
        memory: vec![
            (Some(render), sizes.atlas().plus(sizes.woven().times(RING))),
            (None, sizes.woven().times(Span { low: 1, high: 2 })),
        ],
        scene_copies: Some(1),
        ..Plan::open(NAMES[0], Rendering::AsToday(render))
    }
}

fn split_weave(render: u32, scanout: u32, sizes: &Sizes) -> Plan {
    if render == scanout {
        return Plan::alone(NAMES[2], render, Rendering::AsToday(render), sizes);
    }
    Plan {
        work: vec![(render, "renders"), (scanout, "weaves and presents")],
        bytes_per_frame: sizes.atlas,
        copies_per_frame: Some(Span::exact(1.0)),
        // Into the bridge and out of it.
        sync_points_per_frame: Some(2),
        added_latency_frames: Some(Span { low: 0.0, high: 1.0 }),
        memory: vec![
            (Some(render), sizes.atlas()),
            (None, sizes.atlas().times(RING)),
            (Some(scanout), sizes.atlas().plus(sizes.woven()).times(RING)),
        ],
        scene_copies: Some(1),
        ..Plan::open(NAMES[2], Rendering::AsToday(render))
    }
}

/// The first passes run on the strongest adapter that does not drive the panel, the rest next to the panel.
fn pass_per_device(ranked: &[u32], scanout: u32, sizes: &Sizes) -> Plan {
    let Some(first) = ranked.iter().copied().find(|own| *own != scanout) else {
        return Plan::open(NAMES[3], Rendering::TooFew);
    };
    let pass = sizes.pass.unwrap_or_default();
    Plan {
        work: vec![(first, "runs the first passes"), (scanout, "runs the other passes, weaves and presents")],
        bytes_per_frame: sizes.pass,
        copies_per_frame: Some(Span::exact(1.0)),
        sync_points_per_frame: Some(2),
        added_latency_frames: Some(Span { low: 0.0, high: 1.0 }),
        memory: vec![
            (Some(first), pass),
            (None, pass.times(RING)),
            (Some(scanout), pass.plus(sizes.atlas()).plus(sizes.woven().times(RING))),
        ],
        scene_copies: Some(2),
        ..Plan::open(NAMES[3], Rendering::Cut(vec![first, scanout]))
    }
}

/// Every adapter renders whole frames in turn, and the panel's adapter weaves them all.
fn alternate_frames(ranked: &[u32], scanout: u32, sizes: &Sizes) -> Plan {
    let others: Vec<_> = ranked.iter().copied().filter(|own| *own != scanout).collect();
    let count = ranked.len() as u64;
    if count < 2 {
        return Plan::open(NAMES[4], Rendering::TooFew);
    }
    let across = others.len() as u64;
    let average = |own: Span<u64>| Span { low: part(own.low, across, count), high: part(own.high, across, count) };
    Plan {
        work: work(ranked, scanout, "renders every frame in its turn"),
        bytes_per_frame: sizes.atlas.map(average),
        copies_per_frame: Some(Span::exact(across as f64 / count as f64)),
        sync_points_per_frame: Some(2),
        // Each takes as many refresh periods for its frame as there are adapters; what crosses may be one behind.
        added_latency_frames: Some(Span { low: (count - 1) as f64, high: count as f64 }),
        memory: shared_out(&others, scanout, sizes.atlas(), sizes),
        scene_copies: Some(count as u32),
        links: others.len() as u32,
        ..Plan::open(NAMES[4], Rendering::InTurn(ranked.to_vec()))
    }
}

/// Every adapter renders its region of every frame.
fn split_frames(ranked: &[u32], scanout: u32, sizes: &Sizes) -> Plan {
    let others: Vec<_> = ranked.iter().copied().filter(|own| *own != scanout).collect();
    let count = ranked.len() as u64;
    if count < 2 {
        return Plan::open(NAMES[5], Rendering::TooFew);
    }
    let across = others.len() as u64;
    // Regions follow the load, so an adapter's may be anything; together those of the others are no more than the atlas.
    let regions = |own: Span<u64>| Span { low: part(own.low, across, count), high: own.high };
    Plan {
        work: work(ranked, scanout, "renders its region of every frame"),
        bytes_per_frame: sizes.atlas.map(regions),
        copies_per_frame: Some(Span::exact(across as f64)),
        sync_points_per_frame: Some(2 * across as u32),
        added_latency_frames: Some(Span { low: 0.0, high: 1.0 }),
        memory: shared_out(&others, scanout, sizes.atlas(), sizes),
        scene_copies: Some(count as u32),
        links: others.len() as u32,
        ..Plan::open(NAMES[5], Rendering::Balanced(ranked.to_vec()))
    }
}

fn work(ranked: &[u32], scanout: u32, does: &'static str) -> Vec<(u32, &'static str)> {
    let mut work: Vec<_> = ranked.iter().map(|own| (*own, does)).collect();
    work.push((scanout, "weaves and presents"));
    work
}

/// Every other adapter has a target and a ring across, the panel's one has room for all of them.
fn shared_out(others: &[u32], scanout: u32, target: Span<u64>, sizes: &Sizes) -> Vec<(Option<u32>, Span<u64>)> {
    let rings = target.times(RING).times(Span::exact(others.len() as u64));
    let mut memory: Vec<_> = others.iter().map(|own| (Some(*own), target)).collect();
    memory.push((None, rings));
    memory.push((Some(scanout), target.plus(rings).plus(sizes.woven().times(RING))));
    memory
}

fn part(bytes: u64, of: u64, all: u64) -> u64 {
    (u128::from(bytes) * u128::from(of) / u128::from(all.max(1))) as u64
}
