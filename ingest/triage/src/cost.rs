//! What crossing costs in a log or on a machine, gathered from everything that tells a number ([`CostReport`]) and laid out
//! for people ([`page`]).
//!
//! A number that somebody gives wins over the log, the log over the machine. What nobody tells is an interval or unknown,
//! unless the reference laptop's numbers are asked for; every number says who told it.

mod inputs;
mod page;
mod tables;

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Result;
use resolver::cost::{Machinery, Measure, Rings, Surface, in_crossing, placements, strategies, words};
use resolver::replay::{Told, replay};
use wire::{
    COST_SCHEMA, CostReport, CostSource, Crossing, Machine, Observation, Path, Policy, Ranked, Strategies, Way,
};

use crate::explain::Dossier;
use crate::one::Found;

pub use inputs::Given;
pub use page::{measured_facts, page, told_by, way};
pub use tables::Paging;

/// What somebody wants to know beside the cost itself.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Numbers that somebody gives.
    pub given: Given,
    /// Take the reference laptop's numbers for what is not told.
    pub reference: bool,
    /// Compare ways to use all adapters.
    pub strategies: bool,
    /// How long an adapter takes for a whole frame, by its place in enumeration order, milliseconds.
    pub frame_ms: BTreeMap<u32, f64>,
    /// Bytes a pixel that one pass hands to the next on another adapter.
    pub pass_bytes_per_pixel: Option<u64>,
    /// How many instances of the strongest adapter to pretend; 0 and 1 are the adapter alone.
    pub virtual_instances: u32,
    /// Page tables to count.
    pub paging: Option<Paging>,
}

/// A log's cost, with what a reader should know of the way it was read.
pub struct LogCost {
    /// The answer.
    pub report: CostReport,
    /// In sentences.
    pub notes: Vec<String>,
    /// Why reading stopped early.
    pub error: Option<std::io::Error>,
}

/// The cost of a log: `read` reads it and hands every observation on.
///
/// # Errors
/// Those of `read`.
pub fn of_log(asked: &Asked, read: impl FnOnce(&mut dyn FnMut(Observation)) -> Result<Found>) -> Result<LogCost> {
    let dossier = Dossier::gather(read)?;
    Ok(LogCost { report: of_dossier(asked, &dossier), notes: dossier.notes, error: dossier.error })
}

/// The cost of a log that is known already.
pub fn of_dossier(asked: &Asked, dossier: &Dossier) -> CostReport {
    let log = &dossier.report;
    let source = Source {
        name: log.file.clone(),
        told: &dossier.told,
        panel: CostSource::Log,
        crossing: log.verdict.crossing,
        interop: log.verdict.interop_crossing,
        path: log.path,
        policy: dossier.policy,
    };
    report(asked, &source, Some(&dossier.measure))
}

/// The cost of what the rules expect on a machine; `name` is what the answer calls it.
pub fn of_machine(asked: &Asked, told: &Told, name: String, path: Path, policy: Policy) -> CostReport {
    let answer = replay(&told.machine, path, policy);
    // A scanout adapter without an interop verdict of its own: the replay says whether OpenGL's picture crosses.
    let interop = answer.interop.as_ref().is_some_and(|own| own.crossing);
    let crossing = answer.crossing;
    report(asked, &Source { name, told, panel: CostSource::Machine, crossing, interop, path, policy }, None)
}

/// Where the answer comes from.
struct Source<'a> {
    name: String,
    told: &'a Told,
    /// Who tells the panel's size.
    panel: CostSource,
    crossing: Crossing,
    interop: bool,
    path: Path,
    policy: Policy,
}

fn report(asked: &Asked, source: &Source<'_>, measure: Option<&Measure>) -> CostReport {
    let inputs = inputs::gather(asked, source.told.machine.panel, source.panel, measure);
    let frame = &inputs.frame;
    let measured = measure.and_then(|own| own.cost.clone());
    let placements = placements(frame, measured.as_ref(), Some(source.crossing), source.interop);
    let rings = measure.map(Rings::from).unwrap_or_default();
    let surfaces = in_crossing(frame, &rings, source.crossing);
    let mut report = CostReport {
        schema: Cow::Borrowed(COST_SCHEMA),
        source: source.name.clone(),
        inputs: inputs.list,
        missing: inputs.missing.into_iter().map(Cow::Borrowed).collect(),
        crossing: source.crossing,
        measured,
        placements,
        page_tables: asked.paging.as_ref().map(|own| own.tables(&surfaces)).unwrap_or_default(),
        surfaces: surfaces.iter().map(Surface::memory).collect(),
        strategies: asked.strategies.then(|| compare(asked, frame, source)),
        conclusion: String::new(),
    };
    report.conclusion = conclusion(&report);
    report
}

fn compare(asked: &Asked, frame: &resolver::cost::Frame, source: &Source<'_>) -> Strategies {
    let machine = with_instances(&source.told.machine, asked.virtual_instances, source.path, source.policy);
    let answer = replay(&machine, source.path, source.policy);
    let scanout = answer.scanout.as_ref().and_then(|scanout| {
        let is = |own: &&Ranked| match (own.luid, scanout.luid) {
            (Some(own), Some(luid)) => own == luid,
            _ => own.name == scanout.name,
        };
        // A bare name that two adapters have says nothing.
        let mut found = answer.ranking.iter().filter(is);
        found.next().filter(|_| found.next().is_none()).map(|own| own.index)
    });
    let machinery = Machinery {
        ranking: &answer.ranking,
        scanout,
        frame_ms: &asked.frame_ms,
        pass_bytes_per_pixel: asked.pass_bytes_per_pixel,
    };
    strategies(frame, machinery)
}

/// The machine with instances of its strongest adapter behind the others, each with a LUID that nobody has.
fn with_instances(machine: &Machine, instances: u32, path: Path, policy: Policy) -> Machine {
    let mut machine = machine.clone();
    let ranking = replay(&machine, path, policy).ranking;
    let Some(strongest) = ranking.iter().find(|own| own.rank == Some(1)) else { return machine };
    let Some(adapter) = machine.adapters.get(strongest.index as usize).cloned() else { return machine };
    for number in 1..instances {
        let mut instance = adapter.clone();
        instance.name = format!("{} (virtual {number})", adapter.name);
        let highest = machine.adapters.iter().filter_map(|own| own.luid).map(|own| own.0).max().unwrap_or(0);
        instance.luid = highest.checked_add(1).map(wire::Luid);
        machine.adapters.push(instance);
    }
    machine
}

fn conclusion(report: &CostReport) -> String {
    let cost = match report.placements.iter().find(|own| own.happened && own.placement != Way::GlInteropShare) {
        Some(own) if own.placement == Way::Local => match report.measured.as_ref().and_then(|own| own.bytes_per_second)
        {
            // A split engages on one adapter too, and then its bridge has counters all the same.
            Some(rate) => format!("Nothing crosses: the {} of the bridge stay on one GPU.", words::rate(Some(rate))),
            None => "Nothing crosses.".to_owned(),
        },
        Some(own) => {
            let what = way(own.placement);
            let rate = page::moved(own);
            format!("{what}: {rate}{}.", own.verdict)
        }
        None => "What crosses cannot be told; the table has every way.".to_owned(),
    };
    let Some(strategies) = &report.strategies else { return cost };
    let cheapest = match (&strategies.cheapest, &strategies.on_reference) {
        (Some(own), _) => format!("Cheapest that keeps the refresh rate: {own}; {}.", strategies.because),
        (None, Some(wire::Cheapest { cheapest: Some(own), because })) => format!(
            "No way is named by what is told ({}). With the reference laptop's numbers for the rest the cheapest that keeps \
             the refresh rate is {own}; {because}.",
            strategies.because
        ),
        (None, _) => format!("No way is named: {}.", strategies.because),
    };
    format!("{cost} {cheapest}")
}
