//! `DXR_D3D_FORCE_GPU`: every documented value, matched exactly (the document's table; vocabulary 9.1 and 11).
//!
//! A value that cannot be followed is one warning in the runtime's words and normal selection. The value is kept with its
//! blanks, because a trailing blank is the usual reason.

use wire::{Machine, Source};

use super::gpu::Gpu;
use super::render::{Keyword, Provenance, Ranking, Standing};
use super::scanout::{self, Scanout};
use super::settings::Setting;
use super::trace::outcomes;

outcomes! {
    /// What became of the value.
    D3d {
        /// Follows the panel; may name an adapter that the exclusions reject.
        Scanout => "followed: scanout",
        /// The least dedicated memory.
        Igpu => "followed: igpu",
        /// The most dedicated memory.
        Dgpu => "followed: dgpu",
        /// By number.
        Index => "followed: index",
        /// No plug-in reports the panel.
        NoDisplay => "ignored: no display info",
        /// The panel's adapter was not found.
        NoScanout => "ignored: scanout adapter unresolved",
        /// No adapter survived the exclusions.
        NoneUsable => "ignored: no usable adapter",
        /// None at that number, or one that was excluded.
        NoSuchIndex => "ignored: no usable adapter at that index",
        /// Another word, another case, a blank.
        Unrecognised => "ignored: unrecognized value",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

/// The fact that is missing where a log tells nothing of the panel.
pub const MONITORS: &str = "monitors";

/// A variable with its consequence.
pub struct Forced<O> {
    /// What became of it.
    pub outcome: O,
    /// The adapter, when it was followed.
    pub gpu: Option<(Gpu, Provenance)>,
    /// Null when a fact is missing.
    pub honoured: Option<bool>,
    /// The runtime's words, when it was not followed.
    pub warning: Option<String>,
    /// Facts that would tell.
    pub missing: Vec<std::borrow::Cow<'static, str>>,
}

impl<O> Forced<O> {
    pub fn followed(outcome: O, gpu: Gpu, source: Source, keyword: Keyword) -> Self {
        let gpu = Some((gpu, Provenance::Forced(source, keyword)));
        Self { outcome, gpu, honoured: Some(true), warning: None, missing: Vec::new() }
    }

    pub fn ignored(outcome: O, warning: String) -> Self {
        Self { outcome, gpu: None, honoured: Some(false), warning: Some(warning), missing: Vec::new() }
    }

    pub fn unknown(outcome: O, missing: Vec<std::borrow::Cow<'static, str>>) -> Self {
        Self { outcome, gpu: None, honoured: None, warning: None, missing }
    }
}

/// Follows the value, or says why not.
pub fn d3d(
    machine: &Machine,
    ranking: &Ranking,
    scanout: &Scanout,
    at_origin: bool,
    setting: Setting<'_>,
) -> Forced<D3d> {
    let Setting { value, source } = setting;
    match value {
        "scanout" => by_scanout(machine, scanout, at_origin, source),
        "igpu" | "integrated" => by_vram(machine, ranking, setting, Keyword::Igpu),
        "dgpu" | "discrete" => by_vram(machine, ranking, setting, Keyword::Dgpu),
        _ => match index(value) {
            Some(number) => by_index(ranking, setting, number),
            None => {
                Forced::ignored(D3d::Unrecognised, format!("DXR_D3D_FORCE_GPU={value}: unrecognized value — ignoring"))
            }
        },
    }
}

/// `atoi` of a value whose first character is a digit; a number beyond any list stays beyond it.
pub fn index(value: &str) -> Option<usize> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    Some(value[..digits].parse().unwrap_or(usize::MAX))
}

/// `panel WxH at X,Y` in the runtime's warnings.
pub fn panel_words(machine: &Machine, at_origin: bool) -> String {
    let (width, height, left, top) =
        scanout::panel(machine, at_origin).map_or((0, 0, 0, 0), |rect| (rect.width, rect.height, rect.left, rect.top));
    format!("panel {width}x{height} at {left},{top}")
}

fn by_scanout(machine: &Machine, scanout: &Scanout, at_origin: bool, source: Source) -> Forced<D3d> {
    match scanout.gpu {
        None if !scanout.is_told() => Forced::unknown(D3d::Unknown, vec![MONITORS.into()]),
        Some(gpu) => Forced::followed(D3d::Scanout, gpu, source, Keyword::Scanout),
        None if machine.panel.is_none() => Forced::ignored(
            D3d::NoDisplay,
            "DXR_D3D_FORCE_GPU=scanout: no display info available — ignoring".to_owned(),
        ),
        None => Forced::ignored(
            D3d::NoScanout,
            format!(
                "DXR_D3D_FORCE_GPU=scanout: could not resolve the panel's scanout adapter ({}) — ignoring",
                panel_words(machine, at_origin)
            ),
        ),
    }
}

/// The first of equals, as a strict comparison in enumeration order leaves it.
fn by_vram(machine: &Machine, ranking: &Ranking, setting: Setting<'_>, keyword: Keyword) -> Forced<D3d> {
    let Setting { value, source } = setting;
    if ranking.order.is_empty() {
        return Forced::ignored(
            D3d::NoneUsable,
            format!("DXR_D3D_FORCE_GPU={value}: no usable adapter found — ignoring"),
        );
    }
    let missing = ranking.missing(machine);
    if !missing.is_empty() {
        return Forced::unknown(D3d::Unknown, missing);
    }
    let vram = |index: &usize| machine.adapters[*index].dedicated_vram_mib;
    // The order is by memory downwards and then by index upwards: the least is the first of the last group.
    let (outcome, picked) = if keyword == Keyword::Dgpu {
        (D3d::Dgpu, ranking.order.first())
    } else {
        let least = ranking.order.last().map(vram);
        (D3d::Igpu, ranking.order.iter().find(|index| Some(vram(index)) == least))
    };
    match picked {
        Some(picked) => Forced::followed(outcome, Gpu::Listed(*picked), source, keyword),
        None => Forced::unknown(D3d::Unknown, missing),
    }
}

/// Counts in the whole enumeration; the adapter there must have survived the exclusions.
fn by_index(ranking: &Ranking, setting: Setting<'_>, number: usize) -> Forced<D3d> {
    match ranking.standings.get(number) {
        Some(Standing::Candidate) => Forced::followed(D3d::Index, Gpu::Listed(number), setting.source, Keyword::Index),
        Some(Standing::Doubtful(fact)) => {
            Forced::unknown(D3d::Unknown, vec![format!("adapters[{number}].{fact}").into()])
        }
        Some(Standing::Excluded(_)) | None => Forced::ignored(
            D3d::NoSuchIndex,
            format!("DXR_D3D_FORCE_GPU={}: no usable adapter at that index — ignoring", setting.value),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_rule_is_the_runtimes() {
        for (value, number) in [("0", Some(0)), ("12", Some(12)), ("1 ", Some(1)), ("2x", Some(2)), ("007", Some(7))] {
            assert_eq!(index(value), number, "{value:?}");
        }
        for value in ["-1", "+1", " 1", "", "x1", "scanout "] {
            assert_eq!(index(value), None, "{value:?}");
        }
        assert_eq!(index("99999999999999999999999999"), Some(usize::MAX));
    }
}
