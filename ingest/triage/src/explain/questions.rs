//! What to ask next: the questions that would settle the case, the most useful one first.

use std::borrow::Cow;

use wire::{Crossing, Generation, InputKind, Path, Reason, Split};

use super::causes;
use super::dossier::Dossier;

/// What a finding leaves to ask, the gravest first.
const OF_FINDINGS: [(&str, &str); 15] = [
    (
        "device_removed",
        "Which driver version is installed, and does the event log of Windows name the GPU that was lost?",
    ),
    ("bridge_degraded", "Did the panel freeze at that line? Which driver versions do the two GPUs have?"),
    (
        "override_not_honoured",
        "Is the setting's value spelled exactly, without a blank at its end? `displayxr-cli perf list` shows it.",
    ),
    ("client_crossing_override", "Who set DXR_D3D_FORCE_GPU for this client, and is it still wanted?"),
    ("ingest_forced", "Who forced the service's GPU, and do its clients carry the same setting?"),
    ("gl_interop_crossing", "Can the app be pinned to the panel's GPU in the graphics settings of Windows?"),
    ("vk_suggested_gpu_missing", "Which GPUs does `vulkaninfo --summary` list, and is the suggested one among them?"),
    ("plugin_fallback", "Is the display plug-in built for this runtime, and which one is in use now?"),
    ("unknown_reason_token", "Which build printed the new token? Ask the runtime's engineers what it means."),
    ("unrecognised_shape", "Which build printed the new record? Send the line so that it can be learned."),
    (
        "replay_mismatch",
        "Was something changed between the start of the process and the session: a cable, a driver, a setting?",
    ),
    ("empty_body", "Does a GPU have a name that is not Latin? `displayxr-cli info --json` shows it."),
    ("truncated_record", "Was the log copied while the process was writing? Copy it again."),
    ("spliced_record", "Do several processes write into this log?"),
    ("no_footer", "Did the process crash, was it ended by hand, or does it still run?"),
];

/// What one finding leaves to ask.
pub fn of_finding(code: &str) -> Option<&'static str> {
    OF_FINDINGS.iter().find(|(own, _)| *own == code).map(|(_, question)| *question)
}

/// The questions in order, none twice.
pub fn questions(dossier: &Dossier) -> Vec<String> {
    let report = &dossier.report;
    let mut questions = Vec::new();
    let mut ask = |question: String| {
        if !questions.contains(&question) {
            questions.push(question);
        }
    };
    if report.verdict.split == Split::Unknown && (report.path == Path::IpcClient || dossier.seen.service_mode) {
        ask("What does the service's log of the same time say? Run `weavewatch explain` on the newest \
             DisplayXR_displayxr-service.exe.*.log beside this one."
            .to_owned());
    } else if report.verdict.split == Split::Unknown {
        ask("Is there a log in which a session began? Start the app, wait until the panel shows it, and take the newest log."
            .to_owned());
    }
    if dossier.seen.presenter.is_some() {
        ask("Which client presents its own pictures (the last `[pipeline] presenter=` record names its window), and can it let the \
             service present into its window instead?"
            .to_owned());
    }
    let has = |token: &str| report.verdict.reasons.iter().any(|reason| reason.as_str() == token);
    if let Some(cause) = causes::best(&dossier.causes).filter(|_| has("stage_a_failed")) {
        ask(format!(
            "What is behind the failed step on line {}? Does it still fail with the newest driver of the panel's GPU?",
            cause.line
        ));
    }
    let old = report.runtime.generation == Some(Generation::G1);
    if old && report.verdict.crossing == Crossing::EveryPresent {
        ask("Can the PC get a build from v2.13 on, which splits without being asked? With this one, is \
             DXR_WEAVE_ON_SCANOUT=1 set?"
            .to_owned());
    }
    if has("api_unsupported") {
        let question = match report.path {
            Path::OpenGl => "Can the app be pinned to the panel's GPU in the graphics settings of Windows?",
            Path::Vulkan => "Is the build older than the Vulkan split, and can the PC get a newer one?",
            _ => "Which build is it? One between two releases may lack the split of this compositor.",
        };
        ask(question.to_owned());
    }
    let kill_is_told =
        !dossier.beside.is_empty() && !dossier.told.missing.iter().any(|fact| fact == "settings.DXR_WEAVE_ON_SCANOUT");
    for reason in &report.verdict.reasons {
        match reason {
            Reason::Known(facts) if facts.token == "stage_a_failed" && !dossier.causes.is_empty() => {}
            Reason::Known(facts) if facts.token == "api_unsupported" => {}
            // A file beside the log names the source.
            Reason::Known(facts) if facts.token == "killed_by_env" && kill_is_told => {
                ask("Who set DXR_WEAVE_ON_SCANOUT there, and is it still wanted?".to_owned());
            }
            Reason::Known(facts) if !facts.ask.starts_with("Nothing") => ask(facts.ask.to_owned()),
            Reason::Known(_) | Reason::Other(_) => {}
        }
    }
    for reason in dossier.masked().map(|(_, reasons)| reasons).unwrap_or_default() {
        match reason {
            Reason::Known(facts) if !facts.ask.starts_with("Nothing") => ask(facts.ask.to_owned()),
            Reason::Known(_) | Reason::Other(_) => {}
        }
    }
    // The comparison says itself that a newer build prints these, so nothing has to have changed on the PC.
    let printed = || dossier.observed.iter().flat_map(|own| &own.reasons);
    let newer = printed().any(|own| !own.is_known() || ["unknown", "authored_mask"].contains(&own.as_str()));
    for (code, question) in OF_FINDINGS {
        // What was captured or pasted has no footer by nature.
        let captured = code == "no_footer" && dossier.input != InputKind::Log;
        let explained = captured || code == "replay_mismatch" && (old || newer);
        if !explained && report.findings.iter().any(|finding| finding.code == code) {
            ask(question.to_owned());
        }
    }
    let of_the_pc = |fact: &Cow<'static, str>| fact == "monitors" || fact == "panel" || fact.starts_with("adapters");
    if dossier.comparison.missing.iter().any(of_the_pc) && dossier.beside.is_empty() {
        ask("What does `displayxr-cli info` say on this PC? It tells the adapters and the panel that this log leaves open: \
             save it, and explain the log with `--machine FILE`."
            .to_owned());
    }
    questions
}
