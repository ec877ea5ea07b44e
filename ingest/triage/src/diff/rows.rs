//! What is compared between two logs, in the order in which the runtime decides: what comes first explains what follows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wire::{Outcome, Settings};

use crate::explain::timeline::Entry;
use crate::explain::{Dossier, causes};

/// One aspect of both logs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// What is compared.
    pub aspect: &'static str,
    /// Of the first log; null where it tells nothing.
    pub a: Option<String>,
    /// Of the second one.
    pub b: Option<String>,
}

impl Row {
    /// True when both logs say the same, or both nothing.
    pub fn is_same(&self) -> bool {
        self.a == self.b
    }

    /// True for what the PC and the build are, and not for what they made of a session.
    pub fn is_identity(&self) -> bool {
        IDENTITY.contains(&self.aspect)
    }
}

/// Aspects of the PC, the build, its settings and the program.
const IDENTITY: [&str; 11] = [
    "Runtime",
    "Build",
    "Generation",
    "Display plug-in",
    "Display",
    "GPUs",
    "Panel's GPU",
    "Settings seen",
    "Suggested GPU",
    "Process",
    "Compositor",
];

/// Where the two logs part for the first time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Parting {
    /// The first record of the first log that the second one does not have there; null when it has ended.
    pub a: Option<Record>,
    /// The same of the second log.
    pub b: Option<Record>,
}

/// The records that one log has and the other has not, anywhere.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Alone {
    /// Of the first log.
    pub a: Vec<Record>,
    /// Of the second one.
    pub b: Vec<Record>,
}

/// A record of the evidence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Record {
    /// Its line.
    pub line: u64,
    /// What it means.
    pub meaning: String,
    /// What it says.
    pub text: Option<String>,
}

/// Every aspect, causes before consequences.
pub fn rows(a: &Dossier, b: &Dossier) -> Vec<Row> {
    let row = |aspect, tell: fn(&Dossier) -> Option<String>| Row { aspect, a: tell(a), b: tell(b) };
    vec![
        row("Runtime", |own| own.report.runtime.version.clone()),
        row("Build", |own| own.report.runtime.build.clone()),
        row("Generation", |own| own.report.runtime.generation.map(|own| own.as_str().to_owned())),
        row("Display plug-in", |own| own.seen.plugin.clone()),
        row("Display", |own| own.seen.display.clone()),
        row("GPUs", gpus),
        row("Panel's GPU", |own| own.report.verdict.scanout.as_ref().map(|own| own.name.clone())),
        row("Settings seen", settings),
        row("Suggested GPU", |own| {
            own.answer.ranking.iter().find(|ranked| ranked.rank == Some(1)).map(|ranked| ranked.name.clone())
        }),
        row("Process", |own| own.report.process.as_ref().map(|own| own.exe.clone())),
        row("Compositor", |own| Some(own.report.path.as_str().to_owned())),
        row("Render GPU", |own| own.report.verdict.render.as_ref().map(|own| own.name.clone())),
        row("Reasons", reasons),
        row("Cause", |own| causes::best(&own.causes).map(|cause| cause.text.clone())),
        row("Split", |own| Some(own.report.verdict.split.as_str().to_owned())),
        row("Retired", |own| Some(yes(own.report.verdict.retired))),
        row("Crossing", |own| Some(own.report.verdict.crossing.as_str().to_owned())),
        row("Interop crosses", |own| Some(yes(own.report.verdict.interop_crossing))),
        row("Verdict", |own| Some(Outcome::of(&own.report.verdict).label().to_owned())),
        row("Verdict is", |own| Some(own.report.verdict.basis.as_str().to_owned())),
        row("Replay", |own| Some(own.comparison.result.as_str().to_owned())),
        row("Findings", findings),
        row("Log ends with", |own| {
            Some(if own.report.end == wire::End::Footer { "its footer" } else { "no footer" }.to_owned())
        }),
    ]
}

/// The first place where the records differ, by shape and values. LUIDs, handles, numbers and times do not count, and a GPU
/// is its role, because two PCs name it differently.
pub fn parting(a: &Dossier, b: &Dossier) -> Option<Parting> {
    let (a, b) = (decisions(a), decisions(b));
    let at = (0..a.len().max(b.len()))
        .find(|at| a.get(*at).map(|(likeness, _)| likeness) != b.get(*at).map(|(likeness, _)| likeness))?;
    Some(Parting { a: a.get(at).map(|own| record(own.1)), b: b.get(at).map(|own| record(own.1)) })
}

/// By the same measure, whatever the order: one more record at the start of a log hides nothing behind it.
pub fn alone(a: &Dossier, b: &Dossier) -> Alone {
    let (a, b) = (decisions(a), decisions(b));
    Alone { a: left(&a, &b), b: left(&b, &a) }
}

/// The records of `own` that `other` has not, or has less often.
fn left(own: &[(String, &Entry)], other: &[(String, &Entry)]) -> Vec<Record> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (likeness, _) in other {
        *counts.entry(likeness).or_default() += 1;
    }
    let missing = |(likeness, _): &&(String, &Entry)| match counts.get_mut(likeness.as_str()) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    };
    own.iter().filter(missing).map(|(_, entry)| record(entry)).collect()
}

fn record(entry: &Entry) -> Record {
    Record { line: entry.line, meaning: entry.meaning.clone(), text: entry.text.clone() }
}

/// What decides, each with its likeness.
fn decisions(dossier: &Dossier) -> Vec<(String, &Entry)> {
    let verdict = &dossier.report.verdict;
    let mut roles: Vec<_> = [(&verdict.render, "<render>"), (&verdict.scanout, "<panel>")]
        .into_iter()
        .filter_map(|(adapter, role)| Some((adapter.as_ref()?.name.as_str(), role)))
        .filter(|(name, _)| !name.is_empty())
        .collect();
    // A name may be a part of the other one.
    roles.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let by_role = |entry: &Entry| {
        roles.iter().fold(entry.likeness.clone(), |likeness, (name, role)| likeness.replace(name, role))
    };
    let entries = dossier.timeline.entries().iter();
    entries.filter(|entry| !entry.is_background()).map(|entry| (by_role(entry), entry)).collect()
}

fn yes(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

/// By name and memory, in enumeration order.
fn gpus(dossier: &Dossier) -> Option<String> {
    let gpus: Vec<_> = dossier
        .answer
        .ranking
        .iter()
        .map(|own| match own.dedicated_vram_mib {
            Some(mib) => format!("{} ({mib} MiB)", own.name),
            None => own.name.clone(),
        })
        .collect();
    (!gpus.is_empty()).then(|| gpus.join(", "))
}

fn settings(dossier: &Dossier) -> Option<String> {
    let Settings { env, user, machine } = &dossier.told.machine.settings;
    let told: Vec<_> = [(env, "environment"), (user, "user"), (machine, "machine")]
        .into_iter()
        .flat_map(|(store, whose)| store.iter().map(move |(name, value)| format!("{name}='{value}' ({whose})")))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn reasons(dossier: &Dossier) -> Option<String> {
    let reasons: Vec<_> = dossier.report.verdict.reasons.iter().map(wire::Reason::as_str).collect();
    (!reasons.is_empty()).then(|| reasons.join(","))
}

fn findings(dossier: &Dossier) -> Option<String> {
    let codes: BTreeSet<_> = dossier.report.findings.iter().map(|own| own.code.as_str()).collect();
    (!codes.is_empty()).then(|| codes.into_iter().collect::<Vec<_>>().join(", "))
}
