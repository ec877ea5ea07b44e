//! What an answer of the resolver means, in sentences and short words that `replay` and `explain` share.

use wire::{Advice, Agreement, Comparison, Cost, Crossing, Luid, Path, Policy, Reason, Replay, Split};

/// `an in-process Direct3D 11 app`.
pub const fn who(path: Path) -> &'static str {
    match path {
        Path::D3d11 => "a D3D11 app",
        Path::D3d12 => "a D3D12 app",
        Path::Vulkan => "a Vulkan app",
        Path::OpenGl => "an OpenGL app",
        Path::Service => "the compositor service",
        Path::IpcClient => "an app that renders through the service",
        Path::Unknown => "a session of unknown kind",
    }
}

/// Which rules were asked.
pub const fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Document => "document: the adapter-selection document (no split on Vulkan, equal adapters decline)",
        Policy::Adr039 => "adr039: the newest code (Vulkan splits, in-process sessions engage on one adapter too)",
    }
}

/// How the rules compare with the log.
pub fn agreement(comparison: &Comparison) -> String {
    match comparison.result {
        Agreement::Agrees => "Agrees: the documented rules give the same line.".to_owned(),
        Agreement::Disagrees => {
            let rule = comparison.rule.as_deref().unwrap_or("line");
            format!("Disagrees at rule {rule}: {}.", comparison.because.as_deref().unwrap_or("the lines differ"))
        }
        Agreement::CannotTell => {
            let missing: Vec<_> = comparison.missing.iter().map(|own| fact(own)).collect();
            let because = comparison.because.as_ref().map(|own| format!(" ({own})")).unwrap_or_default();
            format!("Cannot tell{because}. Missing: {}.", missing.join(", "))
        }
    }
}

/// What stands in place of questions, where a log asks none.
pub const fn nothing(result: Agreement) -> &'static str {
    match result {
        Agreement::Disagrees => {
            "Nothing of the PC: this log shows nothing to repair. But the documented rules expect another line (below): \
             ask whoever keeps the rules or the runtime."
        }
        Agreement::Agrees | Agreement::CannotTell => "Nothing: this log shows nothing to repair.",
    }
}

/// `1.0 GB/s, 33 % of every frame's time`.
pub fn cost(cost: Cost) -> String {
    format!("{:.1} GB/s, {:.0} % of a frame's time", cost.bytes_per_second as f64 / 1e9, cost.frame_share * 100.0)
}

/// A fact in words, with the name that programs use behind it.
pub fn fact(fact: &str) -> String {
    let words = match fact {
        "placement" => "a placement line",
        "path" => "which compositor wrote the log",
        "monitors" => "what the scanout resolver found",
        "adapters" => "which GPUs the PC has",
        "panel" => "whether the plug-in reports the panel's size",
        "session.device_luid" => "which GPU the app's device is on",
        "session.hwnd" => "whether the session has a window",
        "session.shared_texture" => "whether it presents through a shared texture",
        "session.timeline_semaphore" => "whether the app's Vulkan device has timeline semaphores",
        "session.dp_accepts_scanout" => "whether the display plug-in weaves on the panel's GPU",
        "session.stage_a_ok" => "whether setting up the device on the panel's GPU worked",
        "session.legacy_standalone" => "whether the service runs in its legacy mode",
        "session.unsupported_layers" => "whether the app draws layers that the split cannot carry",
        "session.presenter" => "how the service's client presents",
        "settings.DXR_WEAVE_ON_SCANOUT" => "the value of DXR_WEAVE_ON_SCANOUT",
        _ => return fact.to_owned(),
    };
    format!("{words} ({fact})")
}

/// What a replay takes for granted where a fact is not told.
pub fn usual(fact: &str) -> &str {
    match fact {
        "session.device_luid" => "the app renders on the GPU that the runtime suggests",
        "session.hwnd" => "the session has a window",
        "session.shared_texture" => "it presents into that window",
        "session.timeline_semaphore" => "the app's Vulkan device has timeline semaphores",
        "session.dp_accepts_scanout" => "the display plug-in weaves on the panel's GPU",
        "session.stage_a_ok" => "setting up the device on the panel's GPU works",
        "session.legacy_standalone" => "the service runs in its usual mode",
        "session.unsupported_layers" => "the app draws no layers that the split cannot carry",
        "settings.DXR_WEAVE_ON_SCANOUT" => "nobody set the kill switch DXR_WEAVE_ON_SCANOUT",
        other => other,
    }
}

/// One change that helps, and what then happens.
pub fn advice(own: &Advice) -> String {
    let mut chars = own.change.text.chars();
    let text: String = chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default();
    format!("{text}. Then {}.", own.outcome)
}

/// What a reason means, with its token behind it.
pub fn reason(tokens: &str) -> String {
    let meanings: Vec<_> = Reason::list(tokens).iter().map(meaning).collect();
    meanings.join(" ")
}

fn meaning(reason: &Reason) -> String {
    match reason {
        Reason::Known(facts) => format!("{} ({})", facts.meaning.trim_end_matches('.'), facts.token) + ".",
        Reason::Other(token) => format!("This version does not know the reason '{token}'."),
    }
}

/// An adapter by name and LUID, so far as they are told.
pub type Named<'a> = Option<(&'a str, Option<Luid>)>;

/// The names of both adapters; twins get their LUIDs behind the name, because a sentence about them says nothing else.
pub fn apart(render: Named<'_>, scanout: Named<'_>) -> [Option<String>; 2] {
    let twins =
        matches!((render, scanout), (Some(render), Some(scanout)) if render.0 == scanout.0 && render.1 != scanout.1);
    [render, scanout].map(|own| {
        own.map(|(name, luid)| match luid {
            Some(luid) if twins => format!("{name} (LUID {luid})"),
            _ => name.to_owned(),
        })
    })
}

/// The answer in one or two sentences.
pub fn sentence(answer: &Replay) -> String {
    let names = apart(
        answer.render.as_ref().map(|own| (own.name.as_str(), own.luid)),
        answer.scanout.as_ref().map(|own| (own.name.as_str(), own.luid)),
    );
    let [render, scanout] = names.map(|name| name.unwrap_or_else(|| "a GPU that cannot be told".to_owned()));
    match (answer.split, answer.crossing) {
        (Split::Engaged, Crossing::None) => {
            format!("The split engages on one GPU: {render} renders, weaves and drives the panel; nothing crosses.")
        }
        (Split::Engaged, _) => format!(
            "The split engages: {render} renders, {scanout} weaves and drives the panel, and one atlas crosses per rendered frame."
        ),
        (Split::Off, crossing) => {
            let tokens = answer.reason.as_deref().unwrap_or("unknown");
            let taken_back = if answer.retired { " It engages first and is then taken back." } else { "" };
            let what = match crossing {
                Crossing::None => format!("{render} renders, weaves and drives the panel; nothing crosses."),
                Crossing::EveryPresent => {
                    format!(
                        "{render} renders and weaves, and every present crosses to {scanout}, which drives the panel."
                    )
                }
                Crossing::AtlasPerFrame | Crossing::Unknown => "What crosses cannot be told.".to_owned(),
            };
            format!("No split: {} {what}{taken_back}", reason(tokens))
        }
        (Split::Unknown, _) if answer.path == Path::IpcClient => {
            "An app that renders through the service prints no placement line: the service does.".to_owned()
        }
        (Split::Unknown, _) => "It cannot be told, because facts are missing (below).".to_owned(),
    }
}
