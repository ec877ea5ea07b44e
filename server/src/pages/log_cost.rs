//! What crossing cost in a log, for its page: the same answer as `weavewatch cost` without any number of ours.

use dashboards::{CostRow, Costs};
use resolver::cost::words;
use triage::cost::{Asked, measured_facts, of_dossier, told_by, way};
use triage::explain::Dossier;
use wire::{Crossing, Way};

/// The table of the page.
pub(super) fn costs(dossier: &Dossier) -> Costs {
    let report = of_dossier(&Asked::default(), dossier);
    let expected = match dossier.answer.crossing {
        Crossing::None => Some(Way::Local),
        Crossing::AtlasPerFrame => Some(Way::AtlasPerFrame),
        Crossing::EveryPresent => Some(Way::EveryPresentOneCopy),
        Crossing::Unknown => None,
    };
    let rows = report.placements.iter().map(|own| CostRow {
        way: way(own.placement),
        happened: own.happened,
        expected: expected == Some(own.placement),
        per_picture: words::bytes(own.bytes_per_frame),
        per_second: words::rate(own.bytes_per_second),
        frame_share: words::percent(own.frame_share),
        verdict: own.verdict.clone(),
    });
    Costs {
        rows: rows.collect(),
        measured: report.measured.as_ref().map(measured_facts).unwrap_or_default(),
        inputs: report.inputs.iter().map(|own| (own.name.to_string(), told_by(own))).collect(),
        conclusion: report.conclusion,
    }
}
