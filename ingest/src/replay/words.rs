//! What an answer of the resolver means, in sentences and short words that `replay` and `explain` share.

use wire::{Cost, Crossing, Path, Policy, Reason, Replay, Split};

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

/// `1.0 GB/s, 33 % of every frame's time`.
pub fn cost(cost: Cost) -> String {
    format!("{:.1} GB/s, {:.0} % of a frame's time", cost.bytes_per_second as f64 / 1e9, cost.frame_share * 100.0)
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

/// The answer in one or two sentences.
pub fn sentence(answer: &Replay) -> String {
    let name = |name: Option<&str>| name.unwrap_or("a GPU that cannot be told").to_owned();
    let render = name(answer.render.as_ref().map(|own| own.name.as_str()));
    let scanout = name(answer.scanout.as_ref().map(|own| own.name.as_str()));
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
            "An app that renders through the service prints no placement line; ask for path service.".to_owned()
        }
        (Split::Unknown, _) => "It cannot be told, because facts are missing (below).".to_owned(),
    }
}
