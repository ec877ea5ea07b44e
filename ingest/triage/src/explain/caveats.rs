//! What a reader must keep in mind: how old the build is, what a line hides, what could not be checked.

use std::borrow::Cow;

use resolver::replay::depends_on;
use wire::{Agreement, Basis, End, Generation, InputKind, Reason, Split};

use super::dossier::Dossier;
use crate::replay::words;

/// In the order of weight.
pub fn caveats(dossier: &Dossier) -> Vec<String> {
    let report = &dossier.report;
    let verdict = &report.verdict;
    let mut caveats = dossier.notes.clone();
    caveats.extend(dossier.beside.iter().flat_map(|beside| beside.notes.iter().cloned()));
    let mut say = |words: &str| caveats.push(words.to_owned());
    if let Some(error) = &dossier.error {
        say(&format!("Reading broke off after {} bytes: {error}. What stands before is told.", report.counts.bytes));
    }
    match report.runtime.generation {
        Some(Generation::G0) => {
            say("Generation G0: this build is older than the placement line, so its silence means nothing.");
        }
        Some(Generation::G1) => say(
            "Generation G1: this build splits only where DXR_WEAVE_ON_SCANOUT=1 asks for it, and its line gives no reason. \
             The replay follows the rules of later builds, in which the split is on by default.",
        ),
        Some(Generation::G2) => {}
        None => say("Nothing tells how old the build is."),
    }
    match verdict.basis {
        Basis::Corrected => say(
            "The placement line alone says something else: its wording can hide a split on one GPU, or lack the record that \
             takes a split back. Other records of the same session are the stronger evidence.",
        ),
        Basis::Inferred => say("No placement line can be read, so the verdict rests on other records alone."),
        Basis::Stated | Basis::Absent => {}
    }
    let has = |token: &str| verdict.reasons.iter().any(|reason| reason.as_str() == token);
    let why = if has("same_adapter") { "Equal GPUs mask" } else { "An unresolved panel masks" };
    if let Some((line, reasons)) = dossier.masked() {
        let told: Vec<_> = reasons.iter().map(Reason::as_str).collect();
        say(&format!(
            "{why} every other reason on the placement line; line {line} tells what refused the split: {}",
            words::reason(&told.join(","))
        ));
    } else if has("same_adapter") || has("scanout_unresolvable") {
        say(&format!(
            "{why} every other reason: the split may have been refused for something else first, such as a kill."
        ));
    }
    let kill = "settings.DXR_WEAVE_ON_SCANOUT";
    let is_kill = |reason: &Reason| reason.as_str() == "killed_by_env";
    let kill_is_masked = dossier.masked().is_some_and(|(_, reasons)| reasons.iter().any(is_kill));
    if (verdict.killed || kill_is_masked)
        && (dossier.beside.is_empty() || dossier.told.missing.iter().any(|fact| fact == kill))
    {
        say(
            "The log does not say who set the kill switch: environment, user settings and machine settings look the same in it.",
        );
    }
    if !dossier.seen.info && dossier.input == InputKind::Log && report.counts.events > 0 {
        say("No record of level INFO is there, so the resolvers' own records are hidden or were never written.");
    }
    if report.end == End::Missing && dossier.input == InputKind::Log {
        say("The log has no footer: what happened after its last line is not known.");
    }
    let counts = &report.counts;
    let damaged = counts.truncated + counts.spliced + counts.empty_bodies + counts.unrecognised;
    if damaged > 0 {
        say(&format!("{damaged} of {} records are damaged or in unknown words; they could say more.", counts.records));
    }
    if dossier.timeline.omitted() > 0 {
        say(&format!("{} further records are not in the timeline.", dossier.timeline.omitted()));
    }
    // Where both say the same for the same reason, what the log leaves open has changed nothing.
    let masked = has("same_adapter") || has("scanout_unresolvable");
    let matters = match dossier.comparison.result {
        Agreement::Agrees => masked && verdict.split == Split::Off,
        Agreement::Disagrees => true,
        Agreement::CannotTell => false,
    };
    // That a kill is set is told, though not by whom.
    let asked = |fact: &&Cow<'static, str>| {
        depends_on(report.path, dossier.policy, fact) && !(kill_is_masked && fact.as_ref() == kill)
    };
    let open: Vec<_> = dossier.told.missing.iter().filter(asked).map(|fact| words::usual(fact)).collect();
    if !open.is_empty() && matters {
        let who = match &dossier.beside[..] {
            [] => "The log does not tell these".to_owned(),
            [only] => format!("Neither the log nor {} tells these", only.name()),
            _ => "Neither the log nor the files beside it tell these".to_owned(),
        };
        say(&format!("{who}, so the replay takes what is usual: {}.", open.join("; ")));
    }
    caveats
}
