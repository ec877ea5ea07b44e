//! What one log measured, and what it tells of the pictures: windows of counters, the bridge's rings, the panel's rate.
//!
//! A kb of the runtime is 1,024 bytes: the counters of its planes are whole multiples of a panel in that unit. Whether
//! `xb_kb` counts the planes too is told nowhere, so they widen the interval upwards. Memory does not grow with the log.

use wire::{Event, Fields, Kind, MeasuredCost, MeasuredPlane, Observation, Span};

use super::{Frame, Pixels};

/// Planes that are kept apart; the runtime has fewer than five.
const MOST_PLANES: usize = 16;
/// Windows that do not tell how long they are last so long (vocabulary section 6).
const WINDOW_S: u64 = 10;
const BYTES_PER_KB: u64 = 1024;

/// A value with the line that told it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noted<T> {
    /// What was told.
    pub value: T,
    /// 1-based.
    pub line: u64,
}

/// A ring of textures as a log tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Laid {
    /// Size of one texture.
    pub px: Pixels,
    /// Bytes of one, where the log tells them.
    pub bytes: Option<u64>,
    /// How many there are, where the log tells it.
    pub count: Option<u64>,
}

/// What a log tells of cost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measure {
    /// Counters; null without any window.
    pub cost: Option<MeasuredCost>,
    /// Refresh rate of the panel.
    pub refresh_hz: Option<Noted<f64>>,
    /// The atlas as it is rendered: the last layout, or a ring that is sized by its content.
    pub atlas_px: Option<Noted<Pixels>>,
    /// The largest atlas that the display or the deposit has room for.
    pub atlas_at_most_px: Option<Noted<Pixels>>,
    /// Views of the last layout.
    pub views: Option<Noted<u32>>,
    /// From the pitch of the bridge's rows.
    pub bytes_per_pixel: Option<Noted<u64>>,
    /// The ring in the cross-adapter heap.
    pub bridge: Option<Laid>,
    /// The ring on the panel's adapter.
    pub egress: Option<Laid>,
    /// The deposit of Vulkan or D3D12.
    pub deposit: Option<Laid>,
    /// Frames over the bridge with the time between them, all windows together; null without any.
    pub bridge_pace: Option<Pace>,
    /// Frames of the service's clients with the time that it took for them; null without any.
    pub client_pace: Option<Pace>,
    /// Local wall clock of the first record that was understood, as printed.
    pub first_time: Option<String>,
    /// The same of the newest placement record, full or `CHANGED`: from there on the log is in its last state.
    pub placed_time: Option<String>,
}

/// Frames with what they took together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pace {
    /// How many; never 0.
    pub frames: u64,
    /// All of them; 0 where the windows do not tell.
    pub bytes: u64,
    /// All of them, microseconds.
    pub us: u64,
}

/// Folds the observations of a log into a [`Measure`].
#[derive(Clone, Debug, Default)]
pub struct MeasureFold {
    measure: Measure,
    counters: MeasuredCost,
    /// Something of `counters` was told.
    counted: bool,
    frames: u64,
    staged: u64,
    layout: bool,
    bridge_pace: Pace,
    client_pace: Pace,
}

impl Pace {
    const fn add(&mut self, other: Self) {
        self.frames = self.frames.saturating_add(other.frames);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.us = self.us.saturating_add(other.us);
    }
}

impl Measure {
    /// Fills what a frame leaves open; what it holds already wins.
    #[must_use]
    pub fn fill(&self, frame: Frame) -> Frame {
        let link = self.cost.as_ref().and_then(|own| own.link_at_least_bytes_per_second);
        Frame {
            atlas_px: frame.atlas_px.or(self.atlas_px.map(|own| own.value)),
            atlas_at_most_px: frame.atlas_at_most_px.or(self.atlas_at_most_px.map(|own| own.value)),
            views: frame.views.or(self.views.map(|own| own.value)),
            bytes_per_pixel: frame.bytes_per_pixel.or(self.bytes_per_pixel.map(|own| own.value)),
            refresh_hz: frame.refresh_hz.or(self.refresh_hz.map(|own| Span::exact(own.value))),
            rendered_hz: frame.rendered_hz.or(self.cost.as_ref().and_then(|own| own.frames_per_second)),
            link_bytes_per_s: frame.link_bytes_per_s.or(link.map(|low| Span { low, high: f64::INFINITY })),
            ..frame
        }
    }
}

impl MeasureFold {
    /// The next observation, in file order.
    pub fn push(&mut self, observation: &Observation) {
        let Observation::Event(event) = observation else { return };
        let fields = &event.fields;
        if self.measure.first_time.is_none() {
            self.measure.first_time.clone_from(&event.time);
        }
        match event.kind {
            Kind::Placement | Kind::PlacementUnreadable | Kind::PlacementChanged => {
                self.measure.placed_time.clone_from(&event.time);
            }
            Kind::RenderSplit => self.window(fields),
            Kind::Window => self.part(fields),
            Kind::Display => self.display(event),
            Kind::BridgeDetail => self.bridge(event),
            Kind::SplitDetail => self.split_detail(event),
            Kind::Deposit | Kind::SplitEngaged => self.deposit(event),
            Kind::StageTook => {
                self.time(fields, "ms", |own| &mut own.setup_ms);
                self.time(fields, "bridge_ms", |own| &mut own.bridge_setup_ms);
            }
            _ => {}
        }
    }

    /// What the whole log told.
    pub fn finish(self) -> Measure {
        let Self { mut measure, mut counters, counted, frames, staged, bridge_pace, client_pace, .. } = self;
        measure.bridge_pace = Some(bridge_pace).filter(|own| own.frames > 0);
        measure.client_pace = Some(client_pace).filter(|own| own.frames > 0);
        if frames > 0 {
            counters.staged_share = Some(staged as f64 / frames as f64);
        }
        let planes: u64 = counters.planes.iter().fold(0, |sum, own| sum.saturating_add(own.bytes));
        if counters.seconds > 0.0
            && let Some(rate) = &mut counters.bytes_per_second
        {
            rate.high += planes as f64 / counters.seconds;
        }
        measure.cost = counted.then_some(counters);
        measure
    }

    /// `[RENDER] split=…` with the bridge's counters. A presenter on the render adapter moves nothing worth a rate.
    fn window(&mut self, fields: &Fields) {
        let Some(bytes) = kilobytes(fields, "xb_kb") else { return };
        self.counted = true;
        self.counters.bridge_bytes = self.counters.bridge_bytes.saturating_add(bytes);
        if fields.int("split") == Some(0) {
            return;
        }
        let told = fields.int("window_s").and_then(|own| u64::try_from(own).ok());
        let window_s = told.filter(|own| *own > 0).unwrap_or(WINDOW_S);
        let seconds = window_s as f64;
        self.counters.windows += 1;
        self.counters.seconds += seconds;
        widen(&mut self.counters.bytes_per_second, Span::exact(bytes as f64 / seconds));
        let count = |name: &str| fields.int(name).and_then(|own| u64::try_from(own).ok());
        if let (Some(direct), Some(staged)) = (count("ing_direct"), count("ing_staged")) {
            let frames = direct.saturating_add(staged);
            self.frames = self.frames.saturating_add(frames);
            self.staged = self.staged.saturating_add(staged);
            widen(&mut self.counters.frames_per_second, Span::exact(frames as f64 / seconds));
            if frames > 0 {
                self.bridge_pace.add(Pace { frames, bytes, us: window_s.saturating_mul(1_000_000) });
            }
            if let Some(each) = bytes.checked_div(frames) {
                widen(&mut self.counters.bytes_per_frame, Span { low: each, high: bytes.div_ceil(frames) });
            }
        }
    }

    /// A window of the service's renderer, of a plane, or of the side band.
    fn part(&mut self, fields: &Fields) {
        let count = |name: &str| fields.int(name).and_then(|own| u64::try_from(own).ok());
        if let (Some(bytes), Some(copies)) = (kilobytes(fields, "kb"), count("copies")) {
            let name = fields.text("plane").unwrap_or("sideband");
            self.counted = true;
            let planes = &mut self.counters.planes;
            let at = planes.iter().position(|own| own.plane == name).unwrap_or(planes.len());
            if at == MOST_PLANES {
                self.counters.planes_left_out += 1;
                return;
            }
            if at == planes.len() {
                let (bytes, copies, skips) = (0, 0, 0);
                planes.push(MeasuredPlane { plane: name.to_owned(), bytes, copies, skips, half_rate: false });
            }
            let plane = &mut planes[at];
            plane.bytes = plane.bytes.saturating_add(bytes);
            plane.copies = plane.copies.saturating_add(copies);
            plane.skips = plane.skips.saturating_add(count("skips").unwrap_or(0));
            plane.half_rate |= fields.int("half_rate").is_some_and(|own| own != 0);
        } else if let (Some(time), Some(renders @ 1..)) = (count("client_avg_us"), count("client_renders")) {
            self.counted = true;
            self.client_pace.add(Pace { frames: renders, bytes: 0, us: time.saturating_mul(renders) });
            widen(&mut self.counters.client_render_us, Span::exact(time));
            if let Some(wait) = count("wait_avg_us") {
                widen(&mut self.counters.wait_us, Span::exact(wait));
            }
        }
    }

    /// The pace of a compositor without a display has no period and is no refresh rate.
    fn display(&mut self, event: &Event) {
        if let (Some(hz), Some(_)) = (decimal(&event.fields, "hz"), decimal(&event.fields, "period_ms")) {
            self.measure.refresh_hz = Some(Noted { value: hz, line: event.line });
        }
        if let Some(px) = pixels(&event.fields, "atlas.width", "atlas.height") {
            self.at_most(px, event.line);
        }
    }

    fn bridge(&mut self, event: &Event) {
        let fields = &event.fields;
        if let Some(rate) = decimal(fields, "gb_per_s") {
            self.counted = true;
            let known = self.counters.link_at_least_bytes_per_second.unwrap_or(0.0);
            self.counters.link_at_least_bytes_per_second = Some(known.max(rate * 1e9));
        }
        let Some(px) = pixels(fields, "width", "height") else { return };
        let positive = |name: &str| fields.int(name).and_then(|own| u64::try_from(own).ok()).filter(|own| *own > 0);
        let laid = Laid { px, bytes: positive("heap_bytes"), count: positive("count") };
        if let Some(pitch) = positive("row_pitch") {
            self.measure.bridge = Some(laid);
            // Rows are as long as the pixels want, and then up to 255 bytes longer.
            let each = pitch / u64::from(px.width);
            if (1..=16).contains(&each) && pitch - each * u64::from(px.width) < 256 {
                self.measure.bytes_per_pixel = Some(Noted { value: each, line: event.line });
            }
        } else if let Some(sizing) = fields.text("sizing") {
            self.measure.egress = Some(laid);
            if sizing == "content-sized" && !self.layout {
                self.measure.atlas_px = Some(Noted { value: px, line: event.line });
            }
        }
    }

    fn split_detail(&mut self, event: &Event) {
        let fields = &event.fields;
        if event.shape == "svk.a2" {
            self.time(fields, "ms", |own| &mut own.bridge_setup_ms);
        }
        let (Some(grid), Some(tile)) = (pixels(fields, "columns", "rows"), pixels(fields, "width", "height")) else {
            return;
        };
        let sides = (grid.width.checked_mul(tile.width), grid.height.checked_mul(tile.height));
        if let ((Some(width), Some(height)), Some(views)) = (sides, grid.width.checked_mul(grid.height)) {
            self.layout = true;
            self.measure.atlas_px = Some(Noted { value: Pixels { width, height }, line: event.line });
            self.measure.views = Some(Noted { value: views, line: event.line });
        }
    }

    /// The atlas is rendered into the deposit, so it is no larger.
    fn deposit(&mut self, event: &Event) {
        let Some(px) = pixels(&event.fields, "width", "height") else { return };
        let count = event.fields.int("count").and_then(|own| u64::try_from(own).ok()).filter(|own| *own > 0);
        let count = count.or(self.measure.deposit.and_then(|own| own.count));
        self.measure.deposit = Some(Laid { px, bytes: None, count });
        self.at_most(px, event.line);
    }

    fn at_most(&mut self, px: Pixels, line: u64) {
        let known = &mut self.measure.atlas_at_most_px;
        if known.is_none_or(|own| px.count() <= own.value.count()) {
            *known = Some(Noted { value: px, line });
        }
    }

    fn time(&mut self, fields: &Fields, name: &str, of: impl FnOnce(&mut MeasuredCost) -> &mut Option<Span<f64>>) {
        if let Some(ms) = decimal(fields, name) {
            self.counted = true;
            widen(of(&mut self.counters), Span::exact(ms));
        }
    }
}

fn widen<T: Copy + PartialOrd>(known: &mut Option<Span<T>>, new: Span<T>) {
    *known = Some(known.map_or(new, |own| own.or(new)));
}

fn kilobytes(fields: &Fields, name: &str) -> Option<u64> {
    fields.int(name).and_then(|own| u64::try_from(own).ok()).map(|own| own.saturating_mul(BYTES_PER_KB))
}

/// A printed fraction that can be a rate or a time: a log may hold anything.
fn decimal(fields: &Fields, name: &str) -> Option<f64> {
    let value: f64 = fields.text(name)?.parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(value)
}

fn pixels(fields: &Fields, width: &str, height: &str) -> Option<Pixels> {
    let side = |name: &str| fields.int(name).and_then(|own| u32::try_from(own).ok()).filter(|own| *own > 0);
    Some(Pixels { width: side(width)?, height: side(height)? })
}
