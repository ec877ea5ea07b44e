//! Does a way keep the refresh rate? The links must carry what crosses, and whoever renders must be done in time.

use wire::Span;

use super::Machinery;
use super::plans::{Plan, Rendering};
use crate::cost::{Frame, words};

/// The answer, with its number and its words.
pub(super) struct Keeping {
    pub(super) frame_share: Option<Span<f64>>,
    pub(super) keeps: Option<bool>,
    pub(super) verdict: String,
}

/// Asks both.
pub(super) fn keeps(frame: &Frame, machinery: Machinery<'_>, plan: &Plan) -> Keeping {
    let open = |keeps, verdict: &str| Keeping { frame_share: None, keeps, verdict: verdict.to_owned() };
    match plan.rendering {
        Rendering::TooFew => return open(Some(false), "needs two adapters; virtual instances let you try it on one"),
        Rendering::Unknown => {
            return open(None, "cannot be told: which adapters render and which drives the panel is not known");
        }
        _ => {}
    }
    let Some(refresh) = frame.refresh_hz else {
        return open(None, "cannot be told without the refresh rate");
    };
    let Some(bytes) = plan.bytes_per_frame else {
        return open(None, "cannot be told without the panel's size");
    };
    let hz = words::hz(Some(refresh));
    let share = share(frame, refresh, bytes, plan.links);
    let (in_time, rendering) = rendering(frame, machinery, &plan.rendering);
    let on_link = share.and_then(|own| own.is_at_most(1.0));
    let keeps = match (on_link, in_time) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    let link = match (bytes == Span::exact(0), share) {
        (true, _) => "nothing crosses".to_owned(),
        (false, Some(share)) => format!("the link is busy {} of the time", words::percent(Some(share))),
        (false, None) => {
            let needed = bytes.real().times(refresh);
            format!("the link must carry {}, and what it carries is not told", words::rate(Some(needed)))
        }
    };
    let word = match keeps {
        Some(true) => "keeps",
        Some(false) => "cannot keep",
        None => "may keep",
    };
    Keeping { frame_share: share, keeps, verdict: format!("{word} {hz}: {link}; {rendering}") }
}

/// Bytes that may be spread over several links are on one of them at worst.
fn share(frame: &Frame, refresh: Span<f64>, bytes: Span<u64>, links: u32) -> Option<Span<f64>> {
    if bytes == Span::exact(0) {
        return Some(Span::exact(0.0));
    }
    let all = bytes.real().times(refresh).over(frame.link_bytes_per_s?)?;
    Some(Span { low: all.low / f64::from(links.max(1)), high: all.high })
}

/// Whether rendering is done in time, and the words for it.
fn rendering(frame: &Frame, machinery: Machinery<'_>, rendering: &Rendering) -> (Option<bool>, String) {
    let (adapters, elsewhere): (&[u32], bool) = match rendering {
        Rendering::AsToday(adapter) => (std::slice::from_ref(adapter), false),
        Rendering::Elsewhere(adapter) => (std::slice::from_ref(adapter), true),
        Rendering::InTurn(adapters) | Rendering::Balanced(adapters) | Rendering::Cut(adapters) => (adapters, true),
        Rendering::TooFew | Rendering::Unknown => return (None, String::new()),
    };
    let name = |adapter: u32| {
        let own = machinery.ranking.iter().find(|own| own.index == adapter);
        format!("GPU {adapter}{}", own.map(|own| format!(" ({})", own.name)).unwrap_or_default())
    };
    let told: Vec<f64> = adapters.iter().filter_map(|own| machinery.frame_ms.get(own).copied()).collect();
    if told.len() < adapters.len() {
        if !elsewhere {
            return (Some(true), format!("{} renders as today", name(adapters[0])));
        }
        let open: Vec<_> =
            adapters.iter().filter(|own| !machinery.frame_ms.contains_key(own)).map(|own| name(*own)).collect();
        return (None, format!("how long a frame takes is not told of {}", open.join(", ")));
    }
    let together = 1.0 / told.iter().map(|ms| 1.0 / ms).sum::<f64>();
    let slowest = told.iter().copied().fold(0.0, f64::max);
    let takes = match rendering {
        Rendering::InTurn(_) => Span::exact(slowest / told.len() as f64),
        Rendering::Balanced(_) => Span::exact(together),
        Rendering::Cut(_) => Span { low: together, high: slowest },
        _ => Span::exact(slowest),
    };
    let within = frame.budget_ms().and_then(|budget| {
        if takes.high <= budget.low {
            Some(true)
        } else if takes.low > budget.high {
            Some(false)
        } else {
            None
        }
    });
    let ways = if adapters.len() == 1 { name(adapters[0]) } else { "together they".to_owned() };
    let verb = if adapters.len() == 1 { "takes" } else { "take" };
    let budget = words::ms(frame.budget_ms());
    (within, format!("{ways} {verb} {} of {budget} a frame", words::ms(Some(takes))))
}
