//! Ways to share the work among all adapters of a machine, side by side, and the cheapest that keeps the refresh rate.
//!
//! Adapters are ranked by the runtime's own rule (dedicated memory, then type, then place), which is what its descriptor
//! says of strength. Who renders today is taken to render in time there: what is asked is the price of crossing. How long
//! another adapter would take is not known unless somebody says it, and then a way that needs it is open, not refused.

mod keeps;
mod plans;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use wire::{Cheapest, Ranked, Span, Strategies, StrategyAdapter, StrategyCost, StrategyMemory, StrategyWork};

use super::memory::{PAGE_4K_BYTES, PAGE_64K_BYTES, round_up};
use super::{Frame, words};
use crate::mask;
use keeps::Keeping;
use plans::{Plan, plans};

/// What the strategies need to know beside the frame.
#[derive(Clone, Copy, Debug)]
pub struct Machinery<'a> {
    /// Every adapter with its place in the ranking, as a replay lists them.
    pub ranking: &'a [Ranked],
    /// Place in enumeration order of the adapter that drives the panel.
    pub scanout: Option<u32>,
    /// How long an adapter takes for a whole frame, by its place in enumeration order, milliseconds.
    pub frame_ms: &'a BTreeMap<u32, f64>,
    /// Bytes a pixel that one pass hands to the next on another adapter.
    pub pass_bytes_per_pixel: Option<u64>,
}

/// Compares them all.
pub fn strategies(frame: &Frame, machinery: Machinery<'_>) -> Strategies {
    let Machinery { ranking, scanout, .. } = machinery;
    let mut adapters: Vec<_> = ranking
        .iter()
        .map(|own| StrategyAdapter {
            index: own.index,
            name: own.name.clone(),
            rank: own.rank,
            scanout: scanout == Some(own.index),
            excluded: own.excluded.clone(),
        })
        .collect();
    adapters.sort_by_key(|own| (own.rank.is_none(), own.rank, own.index));
    let strategies: Vec<_> = plans(frame, machinery).into_iter().map(|plan| cost(frame, machinery, plan)).collect();
    let (named, because) = cheapest(frame, &strategies);
    let filled = frame.on_reference();
    let on_reference = (filled != *frame && named.is_none()).then(|| {
        let strategies: Vec<_> =
            plans(&filled, machinery).into_iter().map(|plan| cost(&filled, machinery, plan)).collect();
        let (cheapest, because) = cheapest(&filled, &strategies);
        Cheapest { cheapest, because }
    });
    Strategies { adapters, strategies, cheapest: named, because, on_reference }
}

fn cost(frame: &Frame, machinery: Machinery<'_>, plan: Plan) -> StrategyCost {
    let Keeping { frame_share, keeps, verdict } = keeps::keeps(frame, machinery, &plan);
    let rate = if plan.per_present { frame.refresh_hz } else { frame.rendered_or_less() };
    let bytes_per_second = match plan.bytes_per_frame {
        Some(own) if own == Span::exact(0) => Some(Span::exact(0.0)),
        own => own.zip(rate).map(|(own, rate)| own.real().times(rate)),
    };
    let memory = plan.memory.iter().filter_map(|(adapter, bytes)| {
        let page = if adapter.is_some() { PAGE_64K_BYTES } else { PAGE_4K_BYTES };
        let bytes = Span { low: round_up(bytes.low, page), high: round_up(bytes.high, page) };
        (bytes.high > 0).then_some(StrategyMemory { adapter: *adapter, bytes })
    });
    StrategyCost {
        strategy: Cow::Borrowed(plan.strategy),
        device_mask: plan
            .takes_part()
            .map(|own| mask::of(machinery.ranking.len(), own.into_iter().map(|own| own as usize))),
        memory: memory.collect(),
        work: plan
            .work
            .into_iter()
            .map(|(adapter, does)| StrategyWork { adapter, does: Cow::Borrowed(does) })
            .collect(),
        bytes_per_frame: plan.bytes_per_frame,
        bytes_per_second,
        copies_per_frame: plan.copies_per_frame,
        sync_points_per_frame: plan.sync_points_per_frame,
        added_latency_frames: plan.added_latency_frames,
        scene_copies: plan.scene_copies,
        frame_share,
        keeps,
        verdict,
    }
}

/// Fewest bytes across at worst, then fewest copies, least latency, least memory; the order of the list decides the rest.
fn cheapest(frame: &Frame, strategies: &[StrategyCost]) -> (Option<Cow<'static, str>>, String) {
    let Some(refresh) = frame.refresh_hz else {
        return (None, "the refresh rate is not told, so no way can be known to keep it".to_owned());
    };
    let hz = words::hz(Some(refresh));
    let price = |own: &StrategyCost| {
        let most = |span: Option<Span<f64>>| span.map_or(f64::INFINITY, |own| own.high);
        let memory = own.memory.iter().fold(0_u64, |sum, own| sum.saturating_add(own.bytes.high));
        [most(own.bytes_per_second), most(own.copies_per_frame), most(own.added_latency_frames), memory as f64]
    };
    let order = |one: &&StrategyCost, other: &&StrategyCost| {
        let pairs = price(one).into_iter().zip(price(other));
        pairs.map(|(one, other)| one.total_cmp(&other)).find(|own| own.is_ne()).unwrap_or(Ordering::Equal)
    };
    match strategies.iter().filter(|own| own.keeps == Some(true)).min_by(order) {
        Some(own) => {
            let what = if own.bytes_per_second == Some(Span::exact(0.0)) {
                "nothing crosses".to_owned()
            } else {
                format!("{} cross", words::rate(own.bytes_per_second))
            };
            (Some(own.strategy.clone()), format!("of the ways that are known to keep {hz} it moves the least: {what}"))
        }
        None if strategies.iter().all(|own| own.keeps == Some(false)) => (None, format!("no way keeps {hz}")),
        None => (None, format!("no way is known to keep {hz}; each says what is missing")),
    }
}
