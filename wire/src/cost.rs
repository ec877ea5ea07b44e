//! What crossing costs, as `weavewatch cost` answers it (issue 8): bytes, time, memory, and what another way would cost.
//!
//! A number that is not known in full is a [`Span`], one that is not known at all is null: nothing is made up.

mod span;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use span::Span;

use crate::Crossing;

/// Name and version of the cost object.
pub const COST_SCHEMA: &str = "weavewatch.cost/1";

/// Words that are nearly always one of a fixed list.
type Words = Cow<'static, str>;

/// The answer of `weavewatch cost`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CostReport {
    /// [`COST_SCHEMA`].
    pub schema: Words,
    /// The file as it was named.
    pub source: String,
    /// Every number that went in, with who told it.
    pub inputs: Vec<CostInput>,
    /// Numbers that would make the answer narrower, by the names of `inputs`.
    pub missing: Vec<Words>,
    /// What the log says that crossed; for a machine, what the rules expect.
    pub crossing: Crossing,
    /// What the log's own counters say; null without any.
    pub measured: Option<MeasuredCost>,
    /// Every way of getting pictures to the panel.
    pub placements: Vec<PlacementCost>,
    /// What bridge, deposit and shared surfaces hold; empty when the panel's size is not known.
    pub surfaces: Vec<SurfaceMemory>,
    /// Page tables for those surfaces at their largest, an address space each; empty unless a layout was given.
    pub page_tables: Vec<PageTables>,
    /// Ways to use all adapters; null unless asked for.
    pub strategies: Option<Strategies>,
    /// The answer in a sentence.
    pub conclusion: String,
}

/// One number that the model was given.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CostInput {
    /// Such as `refresh_hz`: the unit stands in the name.
    pub name: Words,
    /// Lower bound.
    pub low: f64,
    /// Upper bound; null where there is none.
    pub high: Option<f64>,
    /// Who told it.
    pub source: CostSource,
    /// The line of the log that told it.
    pub line: Option<u64>,
}

/// Who told a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The command line.
    Given,
    /// The log.
    Log,
    /// The machine file, or what stood for one.
    Machine,
    /// The reference laptop, because somebody asked for its numbers.
    Reference,
    /// Nobody: these are the bounds of what is possible.
    Bounds,
}

/// Ways of getting pictures to the panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// One adapter does all.
    Local,
    /// The split: one atlas crosses per rendered frame.
    AtlasPerFrame,
    /// The woven frame crosses with every present, in one copy.
    EveryPresentOneCopy,
    /// The same, through a staging copy.
    EveryPresentTwoCopies,
    /// OpenGL interop reads a surface of the other adapter in place.
    GlInteropShare,
    /// OpenGL interop copies it over and back.
    GlInteropCopy,
}

/// What one way costs on the bus.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlacementCost {
    /// Which way.
    pub placement: Way,
    /// True for the way that the log says.
    pub happened: bool,
    /// `measured` where counters of the log overrule the estimate, else `estimated`.
    pub basis: Words,
    /// Copies that cross, per picture.
    pub copies: u32,
    /// Bytes that cross, per picture.
    pub bytes_per_frame: Option<Span<u64>>,
    /// Pictures that cross, per second.
    pub frames_per_second: Option<Span<f64>>,
    /// Bytes that cross, per second.
    pub bytes_per_second: Option<Span<f64>>,
    /// What the link must carry so that every refresh gets its picture, bytes per second.
    pub needed_bytes_per_second: Option<Span<f64>>,
    /// Time on the link, per picture.
    pub copy_ms: Option<Span<f64>>,
    /// Part of a refresh period that the copy takes; above 1 it cannot keep up.
    pub frame_share: Option<Span<f64>>,
    /// The link carries every refresh; null when that cannot be told.
    pub holds: Option<bool>,
    /// The same in words.
    pub verdict: String,
}

/// What the counters of a log say, all sessions together.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MeasuredCost {
    /// `[RENDER]` windows with counters of the bridge.
    pub windows: u64,
    /// What they cover.
    pub seconds: f64,
    /// Bytes of `xb_kb` together; a kb is 1,024 bytes.
    pub bridge_bytes: u64,
    /// The slowest and the fastest window, bytes per second.
    pub bytes_per_second: Option<Span<f64>>,
    /// Frames that entered the bridge (`ing_direct` + `ing_staged`), per second, slowest and fastest window.
    pub frames_per_second: Option<Span<f64>>,
    /// Bytes per such frame, least and most of a window.
    pub bytes_per_frame: Option<Span<u64>>,
    /// Part of those frames that took the staged way: one copy more, on the render adapter.
    pub staged_share: Option<f64>,
    /// Planes of the bridge.
    pub planes: Vec<MeasuredPlane>,
    /// Planes that the fold had no room for.
    pub planes_left_out: u64,
    /// What the bridge said that it moved when it throttled, the most of it, bytes per second: the link carries this.
    pub link_at_least_bytes_per_second: Option<f64>,
    /// Set-up of stage A, least and most, once a session.
    pub setup_ms: Option<Span<f64>>,
    /// The bridge's part of it.
    pub bridge_setup_ms: Option<Span<f64>>,
    /// The service's average time for a client's frame, least and most of a window, microseconds.
    pub client_render_us: Option<Span<u64>>,
    /// Its average wait, microseconds.
    pub wait_us: Option<Span<u64>>,
}

/// One plane of the bridge, or its side band.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MeasuredPlane {
    /// As printed; the side band is `sideband`.
    pub plane: String,
    /// A kb is 1,024 bytes.
    pub bytes: u64,
    /// Pictures that were copied.
    pub copies: u64,
    /// Pictures that had not changed.
    pub skips: u64,
    /// A window said that the plane runs at half rate.
    pub half_rate: bool,
}

/// Memory of one kind of surface.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SurfaceMemory {
    /// Such as `bridge ring`.
    pub surface: Words,
    /// Adapters that map it, by role: `render`, `scanout`.
    pub mapped_by: Vec<Words>,
    /// `render`, `scanout` or `system`: whose memory holds it.
    pub held_by: Words,
    /// How many there are.
    pub count: Span<u64>,
    /// Bytes of one, with its rows as long as the hardware wants them.
    pub bytes_each: Span<u64>,
    /// All of them in whole pages of 4 KiB.
    pub in_4k_pages_bytes: Span<u64>,
    /// All of them in whole pages of 64 KiB.
    pub in_64k_pages_bytes: Span<u64>,
    /// What rounding to 64 KiB wastes beyond the bytes themselves.
    pub waste_64k_bytes: Span<u64>,
}

/// Page tables for a list of surfaces in one address space.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageTables {
    /// Whose address space it is: `render`, `scanout`, or `render, scanout` of linked adapters.
    pub role: Words,
    /// `linked` or `separate`.
    pub sharing: Words,
    /// From the leaf (0) to the root.
    pub levels: Vec<LevelTables>,
    /// All tables of one address space.
    pub bytes: u64,
    /// Of every adapter that maps the surfaces.
    pub bytes_on_all_adapters: u64,
    /// Tables whose content is kept once for all adapters: the mirrored root of linked adapters.
    pub mirrored_bytes: u64,
}

/// One level of the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LevelTables {
    /// 0 is the leaf.
    pub level: u32,
    /// Entries that are in use.
    pub entries: u64,
    /// Tables that hold them.
    pub tables: u64,
    /// Bytes of those tables.
    pub bytes: u64,
}

/// Ways to use all adapters of a machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Strategies {
    /// Strongest first, with the place in enumeration order.
    pub adapters: Vec<StrategyAdapter>,
    /// All of them, in a fixed order.
    pub strategies: Vec<StrategyCost>,
    /// The cheapest that keeps the refresh rate; null when none is known to.
    pub cheapest: Option<Words>,
    /// Why that one, or what is missing to tell.
    pub because: String,
    /// Where none is known to: the same with the reference laptop's numbers for what is not told.
    pub on_reference: Option<Cheapest>,
}

/// One answer to which way is the cheapest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cheapest {
    /// The cheapest that keeps the refresh rate; null when none is known to.
    pub cheapest: Option<Words>,
    /// Why.
    pub because: String,
}

/// One adapter as a strategy sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StrategyAdapter {
    /// In enumeration order, from 0: its bit in a device mask.
    pub index: u32,
    /// DXGI's description.
    pub name: String,
    /// From 1, the strongest; null when it is left out or cannot be ranked.
    pub rank: Option<u32>,
    /// Drives the panel.
    pub scanout: bool,
    /// Why it takes no part.
    pub excluded: Option<Words>,
}

/// One way to use the adapters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StrategyCost {
    /// Such as `split_weave`.
    pub strategy: Words,
    /// Adapters that take part, as a hexadecimal number; bit 0 is the first in enumeration order. Null when it cannot be told.
    pub device_mask: Option<String>,
    /// Which adapter does what.
    pub work: Vec<StrategyWork>,
    /// Bytes that cross, on average per frame.
    pub bytes_per_frame: Option<Span<u64>>,
    /// Bytes that cross, per second.
    pub bytes_per_second: Option<Span<f64>>,
    /// Copies across, per frame.
    pub copies_per_frame: Option<Span<f64>>,
    /// Places where one adapter waits for another, per frame.
    pub sync_points_per_frame: Option<u32>,
    /// Frames between rendering and the panel, beyond what one adapter needs.
    pub added_latency_frames: Option<Span<f64>>,
    /// What its surfaces hold in whole 64 KiB pages, by adapter index; the scene's own resources are not in it.
    pub memory: Vec<StrategyMemory>,
    /// Adapters that hold a copy of the scene's own resources.
    pub scene_copies: Option<u32>,
    /// Part of a refresh period that the links are busy.
    pub frame_share: Option<Span<f64>>,
    /// It keeps the refresh rate; null when that cannot be told.
    pub keeps: Option<bool>,
    /// The same in words, with what it depends on.
    pub verdict: String,
}

/// What one adapter does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StrategyWork {
    /// In enumeration order, from 0.
    pub adapter: u32,
    /// Such as `renders`, `weaves and presents`.
    pub does: Words,
}

/// What one adapter holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StrategyMemory {
    /// In enumeration order, from 0; null for system memory that adapters share.
    pub adapter: Option<u32>,
    /// In whole 64 KiB pages; in system memory in whole 4 KiB pages.
    pub bytes: Span<u64>,
}
