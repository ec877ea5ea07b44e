//! The verdict in plain words: who rendered where, what was copied where, and why.

use wire::{Adapter, Basis, Crossing, Outcome, Path, Reason, Severity, Split};

use super::causes;
use super::dossier::Dossier;
use crate::replay::words;

/// One sentence, and one more for each thing that stands beside the verdict.
pub fn sentence(dossier: &Dossier) -> String {
    sentences(dossier).join(" ")
}

/// The same, the verdict first and each of the others by itself.
pub fn sentences(dossier: &Dossier) -> Vec<String> {
    let mut sentences = vec![first(dossier)];
    if let Some(cause) = causes::best(&dossier.causes) {
        let (line, text) = (cause.line, cause.text.trim_end_matches('.'));
        let verdict = &dossier.report.verdict;
        // On one GPU there was nothing that a split had to repair, and the line says nothing of the one that was tried.
        let local = (verdict.split, verdict.crossing, verdict.retired) == (Split::Off, Crossing::None, false);
        sentences.push(if local {
            format!("A split on that one GPU was tried as well and given up, by line {line}: {text}.")
        } else {
            format!("Line {line} names the cause: {text}.")
        });
    }
    let verdict = &dossier.report.verdict;
    if let Some(killer) = killer(dossier).filter(|_| verdict.killed) {
        sentences.push(format!("A file beside the log names who: {killer}."));
    }
    if (verdict.split, verdict.basis) == (Split::Engaged, Basis::Corrected) {
        sentences.push(
            "The placement line itself says split=0, because its wording hides such a split; the record named here shows that \
             it ran."
                .to_owned(),
        );
    }
    if let Some((line, _)) = &dossier.seen.presenter {
        sentences.push(format!(
            "For a client that presents its own pictures the service weaves on the client's GPU instead (line {line}); \
             what that client shows crosses to the panel."
        ));
    }
    if let Some((line, meaning)) = dossier.seen.interop.as_ref().filter(|_| dossier.report.verdict.interop_crossing) {
        sentences.push(format!(
            "Beside that, pictures cross between GPUs before the weave (line {line}): {}{}.",
            lower_first(meaning.trim_end_matches('.')),
            dossier.seen.surface.as_ref().map(|own| format!(", on {}", own.name)).unwrap_or_default()
        ));
    }
    // A split can be up and the picture be frozen or gone all the same.
    let errors = dossier.report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    sentences.extend(errors.map(|error| {
        let line = error.line.map(|line| format!("Line {line}: ")).unwrap_or_default();
        format!("{line}{}", error.message)
    }));
    sentences
}

/// The source of the kill switch that wins, where something beside the log tells it.
fn killer(dossier: &Dossier) -> Option<String> {
    const KILL: &str = "DXR_WEAVE_ON_SCANOUT";
    let settings = &dossier.told.machine.settings;
    let stores = [
        (&settings.env, "in the environment"),
        (&settings.user, "in the user's settings"),
        (&settings.machine, "in the machine's settings"),
    ];
    let told = stores.into_iter().find_map(|(store, place)| Some((store.get(KILL)?, place)));
    told.map(|(value, place)| format!("{KILL}='{value}' {place}"))
}

/// The process as a subject.
fn who(dossier: &Dossier) -> String {
    match (&dossier.report.process, dossier.report.path) {
        (Some(process), Path::Service) => format!("The service ({})", process.exe),
        (Some(process), _) => process.exe.clone(),
        (None, Path::Service) => "The service".to_owned(),
        (None, _) => "The app".to_owned(),
    }
}

fn first(dossier: &Dossier) -> String {
    let (verdict, who) = (&dossier.report.verdict, who(dossier));
    let names = words::apart(named(verdict.render.as_ref()), named(verdict.scanout.as_ref()));
    let [render, scanout] = names.each_ref().map(Option::as_deref);
    let because = because(&verdict.reasons);
    let line = verdict.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    match (verdict.split, verdict.crossing) {
        (Split::Engaged, Crossing::None) => format!(
            "Split engaged on one GPU: {who} rendered on {}, which also drives the panel, and the split wove there; nothing \
             was copied between GPUs{line}.",
            render.unwrap_or("a GPU")
        ),
        (Split::Engaged, _) => format!(
            "Split engaged: {who} rendered on {}, the weave ran on {}, and one atlas per rendered frame was copied \
             across{line}.",
            render.unwrap_or("a GPU that the log does not name"),
            scanout
                .map_or("the GPU that drives the panel".to_owned(), |name| format!("{name}, which drives the panel"))
        ),
        (Split::Off, Crossing::None) if verdict.retired => format!(
            "Split taken back: it ran at first, then {who} went back to its own path{line}{because}; it renders on {}, which \
             also drives the panel, so nothing was copied between GPUs.",
            render.unwrap_or("a GPU")
        ),
        (Split::Off, Crossing::None) => format!(
            "Nothing to split: {who} rendered and wove on {}, which also drives the panel, so nothing was copied between \
             GPUs{line}.{}",
            render.unwrap_or("a GPU"),
            if verdict.reasons.iter().all(|reason| reason.as_str() == "same_adapter") {
                String::new()
            } else {
                because
            }
        ),
        (Split::Off, Crossing::EveryPresent) => {
            let (render, scanout) = (render.unwrap_or("a GPU"), scanout.unwrap_or("another GPU"));
            let start = if verdict.retired {
                format!(
                    "Split taken back: it ran at first, and from line {} on {who} wove on {render}, the GPU it renders on",
                    verdict.line.unwrap_or_default()
                )
            } else if Outcome::of(verdict) == Outcome::TakenBack {
                format!("Split tried and given up: {who} rendered and wove on {render}")
            } else if verdict.killed {
                format!("Split switched off: {who} rendered and wove on {render}")
            } else {
                format!("No split: {who} rendered and wove on {render}")
            };
            let line = if verdict.retired { String::new() } else { line };
            format!("{start}, and every present was copied to {scanout}, which drives the panel{line}{because}.")
        }
        (Split::Off, _) => {
            let missing = match (render, scanout) {
                (None, Some(_)) => "the log does not name the GPU that the app rendered on",
                (Some(_), None) => "the log does not name the GPU that drives the panel",
                _ => "the log names neither GPU",
            };
            format!("Split off{line}{because}. What was copied cannot be told: {missing}.")
        }
        (Split::Unknown, _) if dossier.report.path == Path::IpcClient || dossier.seen.service_mode => format!(
            "This log cannot tell where the weave ran: {who} rendered through the DisplayXR service, and the service's own \
             log carries the placement line."
        ),
        (Split::Unknown, _) => {
            let why = dossier.report.findings.iter().find(|finding| finding.code == "no_placement");
            let why = why.map_or("Nothing in it that can be read decides.", |own| own.message.as_str());
            format!("This log cannot tell where the weave ran. {why}")
        }
    }
}

fn named(adapter: Option<&Adapter>) -> words::Named<'_> {
    adapter.map(|own| (own.name.as_str(), Some(own.luid)))
}

/// `, because …`, or nothing where no reason was printed.
fn because(reasons: &[Reason]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let clauses: Vec<_> = reasons
        .iter()
        .map(|reason| match reason {
            Reason::Known(facts) => format!("{} ({})", lower_first(facts.meaning.trim_end_matches('.')), facts.token),
            Reason::Other(token) => format!("of '{token}', a reason that this version does not know"),
        })
        .collect();
    format!(", because {}", clauses.join("; "))
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// What the basis of a verdict means.
pub const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Stated => "stated by the placement line",
        Basis::Corrected => "corrected: other records overrule the placement line",
        Basis::Inferred => "inferred from other records, because no placement line can be read",
        Basis::Absent => "nothing decides",
    }
}
