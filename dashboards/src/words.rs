//! The contract's words as people read them: a label, a meaning and, where one fits, the mark of an outcome.

use wire::{Basis, Crossing, Path, Reason, ReasonFacts, Split};

use crate::Outcome;
use crate::query::NOT_TOLD;

/// A key of a group, or a value of a filter, in words.
pub(crate) struct Word {
    /// Short; may be text from a log.
    pub(crate) label: String,
    /// A clause; empty where the label says it all.
    pub(crate) meaning: &'static str,
    /// The outcome that the word stands for.
    pub(crate) mark: Option<Outcome>,
    /// The label is a name or token from a log, not our word.
    pub(crate) verbatim: bool,
}

impl Word {
    const fn ours(label: String, meaning: &'static str, mark: Option<Outcome>) -> Self {
        Self { label, meaning, mark, verbatim: false }
    }
}

/// The words for `value` of the filter `name`; a value that this build does not know stands for itself.
pub(crate) fn word(name: &str, value: &str) -> Word {
    let known = match name {
        _ if value == NOT_TOLD => Some(Word::ours("Not told".to_owned(), "the logs do not say", None)),
        "outcome" => Outcome::from_word(value)
            .map(|outcome| Word::ours(outcome.label().to_owned(), outcome.meaning(), Some(outcome))),
        "split" => {
            [Split::Engaged, Split::Off, Split::Unknown].into_iter().find(|split| split.as_str() == value).map(split)
        }
        "crossing" => [Crossing::None, Crossing::AtlasPerFrame, Crossing::EveryPresent, Crossing::Unknown]
            .into_iter()
            .find(|crossing| crossing.as_str() == value)
            .map(crossing),
        "path" => Path::ALL
            .into_iter()
            .find(|path| path.as_str() == value)
            .map(|known| Word::ours(path(known).to_owned(), path_meaning(known), None)),
        "reason" => Some(reason(value)),
        _ => None,
    };
    known.unwrap_or_else(|| Word { label: value.to_owned(), meaning: "", mark: None, verbatim: true })
}

fn split(split: Split) -> Word {
    match split {
        Split::Engaged => {
            Word::ours("Engaged".to_owned(), "the weave ran on the GPU that drives the panel", Some(Outcome::Engaged))
        }
        Split::Off => Word::ours("Off".to_owned(), "the weave ran on the GPU that the app renders on", None),
        Split::Unknown => Word::ours("Unknown".to_owned(), "nothing readable tells", Some(Outcome::Unknown)),
    }
}

fn crossing(crossing: Crossing) -> Word {
    let (label, meaning, mark) = match crossing {
        Crossing::None => ("Nothing", "one GPU renders and drives the panel", Outcome::Local),
        Crossing::AtlasPerFrame => {
            ("Atlas per frame", "the split carries it over, once per rendered frame", Outcome::Engaged)
        }
        Crossing::EveryPresent => ("Every present", "without a split, whatever the reason", Outcome::Crossing),
        Crossing::Unknown => ("Unknown", "one of the two GPUs is not known", Outcome::Unknown),
    };
    Word::ours(label.to_owned(), meaning, Some(mark))
}

fn reason(token: &str) -> Word {
    let meaning = ReasonFacts::ALL
        .iter()
        .find(|facts| facts.token == token)
        .map_or("A token that this build of Weavewatch does not know.", |facts| facts.meaning);
    let mark = match token {
        "killed_by_env" => Some(Outcome::Killed),
        "same_adapter" => Some(Outcome::Local),
        "stage_a_failed" | "dp_refused_scanout" => Some(Outcome::TakenBack),
        _ => None,
    };
    Word { label: token.to_owned(), meaning, mark, verbatim: true }
}

/// A compositor's name.
pub(crate) const fn path(path: Path) -> &'static str {
    match path {
        Path::Service => "Service",
        Path::OpenGl => "OpenGL",
        Path::D3d12 => "D3D12",
        Path::D3d11 => "D3D11",
        Path::Vulkan => "Vulkan",
        Path::IpcClient => "IPC client",
        Path::Unknown => "Unknown",
    }
}

const fn path_meaning(path: Path) -> &'static str {
    match path {
        Path::Service => "the D3D11 compositor service",
        Path::OpenGl | Path::D3d12 | Path::D3d11 | Path::Vulkan => "in the app's own process",
        Path::IpcClient => "renders through the service, so it prints no placement line",
        Path::Unknown => "no record tells which compositor wrote the log",
    }
}

/// How sure a verdict is, as a sentence about its source.
pub(crate) const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Stated => "as its placement line states",
        Basis::Corrected => "other records overrule its placement line",
        Basis::Inferred => "no readable placement line; other records decide",
        Basis::Absent => "nothing in the log decides",
    }
}

/// Why, as the clause behind "because"; an unknown token yields none.
pub(crate) fn because(reason: &Reason) -> Option<&'static str> {
    Some(match reason.as_str() {
        "killed_by_env" => "the split was switched off by a setting",
        "same_adapter" => "both are one GPU",
        "scanout_unresolvable" => "the runtime could not tell which GPU drives the panel",
        "render_unresolvable" => "the runtime could not tell which GPU the app renders on",
        "no_hwnd" => "the session has no window to present into",
        "shared_texture_session" => "the app presents through a shared texture, which must stay on its own GPU",
        "no_panel_dimensions" => "the display plug-in reported a panel of zero size",
        "legacy_standalone" => "the service runs in its legacy stand-alone mode",
        "api_unsupported" => "this build has no split for the app's graphics API",
        "presenter_ineligible" => "the client presents its own pictures",
        "weave_on_ingest" => "the weave follows that client onto the GPU it renders on",
        "stage_a_failed" => "setting up the device on the panel's GPU failed",
        "dp_refused_scanout" => "the display plug-in declined to weave on the panel's GPU",
        "layers_unsupported" => "the app used layers that this build cannot carry across",
        "authored_mask" => "the app draws its own mask, which this machine cannot carry across GPUs",
        "no_timeline_semaphore" => "the app's Vulkan device has no timeline semaphores",
        "unknown" => "the runtime gave no reason",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_token_has_its_clause() {
        for facts in ReasonFacts::ALL {
            let clause = because(&Reason::new(facts.token)).expect(facts.token);
            assert!(!clause.ends_with('.') && !clause.is_empty());
            assert_eq!(word("reason", facts.token).meaning, facts.meaning);
        }
        assert_eq!(because(&Reason::new("brand_new")), None);
        assert!(word("reason", "brand_new").meaning.contains("does not know"));
    }

    #[test]
    fn every_word_of_the_contract_has_a_label_of_ours() {
        let words = [
            ("split", vec!["engaged", "off", "unknown"]),
            ("crossing", vec!["none", "atlas_per_frame", "every_present", "unknown"]),
            ("path", Path::ALL.map(Path::as_str).to_vec()),
            ("outcome", Outcome::ALL.map(Outcome::as_str).to_vec()),
        ];
        for (name, values) in words {
            for value in values {
                let word = word(name, value);
                assert!(!word.verbatim && !word.meaning.is_empty(), "{name}={value}");
            }
        }
        assert!(word("split", "sideways").verbatim && word("render", "engaged").verbatim);
    }
}
