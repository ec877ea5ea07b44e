//! What the service decides before any client comes: its ingest adapter, and who has to cross because it was forced (the
//! document, "Where each variable consumes it"; ADR-037 section 7; vocabulary 9.1 and 9.4).

use std::borrow::Cow;

use wire::{Machine, ReplayRender, ServiceAnswer};

use super::gpu::Gpu;
use super::render::{Choice, Provenance, Ranking};
use super::trace::{Trace, outcomes};

outcomes! {
    /// Where clients have to be.
    Ingest {
        /// By the ranking.
        Ranked => "by the ranking",
        /// An override put it there, and an ordinary client is there too.
        Forced => "forced, clients share it",
        /// An override put it there, and an ordinary client is elsewhere.
        ForcedAcross => "forced, unforced clients cross",
        /// Nothing survived.
        Unresolved => "unresolved",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

/// `choice` is the resolver's, overrides included; null when nothing survived.
pub fn answer(
    machine: &Machine,
    ranking: &Ranking,
    choice: Option<(Gpu, Option<Provenance>)>,
    trace: &mut Trace,
) -> ServiceAnswer {
    let forced = matches!(choice, Some((_, Some(Provenance::Forced(..)))));
    let cross = match (choice, ranking.choice) {
        _ if !forced => Some(false),
        // An ordinary client is where the ranking alone would put it.
        (Some((ingest, _)), Choice::Adapter(index, _)) => ingest.same_as(Gpu::Listed(index), machine).map(|same| !same),
        _ => None,
    };
    let outcome = match (choice, cross) {
        (None, _) if ranking.choice == Choice::Unresolved => Ingest::Unresolved,
        (Some(_), _) if !forced => Ingest::Ranked,
        (Some(_), Some(false)) => Ingest::Forced,
        (Some(_), Some(true)) => Ingest::ForcedAcross,
        _ => Ingest::Unknown,
    };
    trace.note("service.ingest", outcome.as_str());
    let lines = match (choice, outcome) {
        (Some((_, Some(provenance))), _) if forced => vec![format!(
            "ADR-037 §7: the service INGEST device was FORCED by DXR_D3D_FORCE_GPU ({}). Clients that do not carry the \
             same override will ingest ACROSS adapters — intended for measurement, proceeding (#1153)",
            provenance.as_str()
        )],
        (None, Ingest::Unresolved) => vec![
            "ADR-037 service ingest adapter: UNRESOLVED (unresolved) — falling back to D3D_DRIVER_TYPE_HARDWARE (#1153)"
                .to_owned(),
        ],
        _ => Vec::new(),
    };
    let ingest = choice.map(|(gpu, provenance)| ReplayRender {
        name: gpu.name(machine).to_owned(),
        luid: gpu.luid(machine),
        provenance: provenance.map(|words| Cow::Borrowed(words.as_str())),
    });
    ServiceAnswer { ingest, forced, unforced_clients_cross: cross, placement: None, lines }
}
