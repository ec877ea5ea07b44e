//! The object that `explain --format json` prints: the scan object, then timeline, replay and advice (contract section 3).

use serde::Serialize;
use wire::{Advice, Comparison, Policy, Replay, ScanReport};

use super::dossier::Dossier;
use super::timeline::Entry;
use crate::replay::beside::Beside;

/// The whole object.
#[derive(Serialize)]
pub struct Explained<'a> {
    #[serde(flatten)]
    report: &'a ScanReport,
    timeline: &'a [Entry],
    replay: Replayed<'a>,
    advice: &'a [Advice],
    /// Not in the contract: the same words as for people.
    summary: String,
    questions: Vec<String>,
    caveats: Vec<String>,
    /// Files of `--machine`; left out without any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    beside: &'a [Beside],
}

/// Expected beside observed.
#[derive(Serialize)]
struct Replayed<'a> {
    policy: Policy,
    answer: &'a Replay,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl<'a> From<&'a Dossier> for Explained<'a> {
    fn from(dossier: &'a Dossier) -> Self {
        Self {
            report: &dossier.report,
            timeline: dossier.timeline.entries(),
            replay: Replayed { policy: dossier.policy, answer: &dossier.answer, comparison: &dossier.comparison },
            advice: &dossier.advice,
            summary: super::verdict::sentence(dossier),
            questions: super::questions::questions(dossier),
            caveats: super::caveats::caveats(dossier),
            beside: &dossier.beside,
        }
    }
}
