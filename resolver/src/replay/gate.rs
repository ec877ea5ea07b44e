//! May the split engage? One refusal after the other, in the exact order of each path (vocabulary section 3, contract
//! section 5); the first that refuses decides. What is found only after engaging takes the split back.

use std::borrow::Cow;

use wire::{Machine, Path, Policy, Split};

use super::kill::{self, Kill};
use super::scanout;
use super::settings::{self, SPLIT_SAME_ADAPTER, WEAVE_ON_SCANOUT};
use super::trace::Trace;

/// A question that can refuse a split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Somebody switched the split off.
    Kill,
    /// The graphics API has no split.
    Api,
    /// The service runs in its legacy mode.
    Legacy,
    /// The Vulkan device has no timeline semaphores.
    Timeline,
    /// The session has no window.
    Window,
    /// It presents through a shared texture.
    SharedTexture,
    /// The plug-in reports no size.
    PanelSize,
    /// The device could not be identified.
    Render,
    /// The panel's adapter could not be found.
    Scanout,
    /// Both are one adapter.
    SameAdapter,
    /// The device on the panel's adapter could not be set up.
    StageA,
    /// The plug-in weaves elsewhere only.
    DisplayProcessor,
    /// The app draws layers that the split cannot carry.
    Layers,
    /// The client of the service presents by itself.
    Presenter,
}

/// The gate lets the session through.
pub const PASSED: &str = "passed";
/// The gate refuses.
pub const REFUSED: &str = "refused";
/// A fact is missing.
pub const UNKNOWN: &str = "unknown";
/// ADR-039: equal adapters, and engaged all the same.
pub const SHARED: &str = "passed on one adapter";
/// The reason of a client that presents by itself.
pub const PRESENTER_REASON: &str = "presenter_ineligible,weave_on_ingest";

impl Gate {
    /// The name under which the rule is reported.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Api => "gate.api_unsupported",
            Self::Legacy => "gate.legacy_standalone",
            Self::Timeline => "gate.no_timeline_semaphore",
            Self::Window => "gate.no_hwnd",
            Self::SharedTexture => "gate.shared_texture_session",
            Self::PanelSize => "gate.no_panel_dimensions",
            Self::Render => "gate.render_unresolvable",
            Self::Scanout => "gate.scanout_unresolvable",
            Self::SameAdapter => "gate.same_adapter",
            Self::StageA => "gate.stage_a_failed",
            Self::DisplayProcessor => "gate.dp_refused_scanout",
            Self::Layers => "gate.layers_unsupported",
            Self::Presenter => "gate.presenter_ineligible",
        }
    }

    /// The runtime's token.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Kill => "killed_by_env",
            Self::Api => "api_unsupported",
            Self::Legacy => "legacy_standalone",
            Self::Timeline => "no_timeline_semaphore",
            Self::Window => "no_hwnd",
            Self::SharedTexture => "shared_texture_session",
            Self::PanelSize => "no_panel_dimensions",
            Self::Render => "render_unresolvable",
            Self::Scanout => "scanout_unresolvable",
            Self::SameAdapter => "same_adapter",
            Self::StageA => "stage_a_failed",
            Self::DisplayProcessor => "dp_refused_scanout",
            Self::Layers => "layers_unsupported",
            Self::Presenter => PRESENTER_REASON,
        }
    }
}

/// The gates of a path before it engages, in their order.
pub const fn before(path: Path, policy: Policy) -> &'static [Gate] {
    match (path, policy) {
        (Path::D3d11, _) => &[
            Gate::Kill,
            Gate::Window,
            Gate::SharedTexture,
            Gate::Render,
            Gate::Scanout,
            Gate::SameAdapter,
            Gate::StageA,
            Gate::DisplayProcessor,
        ],
        (Path::D3d12, _) => &[
            Gate::Kill,
            Gate::Window,
            Gate::SharedTexture,
            Gate::PanelSize,
            Gate::Scanout,
            Gate::SameAdapter,
            Gate::StageA,
        ],
        (Path::Vulkan, Policy::Adr039) => &[
            Gate::Kill,
            Gate::Timeline,
            Gate::Window,
            Gate::SharedTexture,
            Gate::PanelSize,
            Gate::Render,
            Gate::Scanout,
            Gate::SameAdapter,
            Gate::StageA,
            Gate::DisplayProcessor,
        ],
        (Path::Service, _) => {
            &[Gate::Kill, Gate::Legacy, Gate::PanelSize, Gate::Scanout, Gate::SameAdapter, Gate::StageA]
        }
        (Path::Vulkan, Policy::Document) | (Path::OpenGl, _) => &[Gate::Api],
        (Path::IpcClient | Path::Unknown, _) => &[],
    }
}

/// What takes an engaged split back, or answers for a client of the service.
pub const fn after(path: Path, policy: Policy) -> &'static [Gate] {
    match (path, policy) {
        (Path::D3d12, Policy::Document) => &[Gate::DisplayProcessor, Gate::Layers],
        (Path::D3d12, Policy::Adr039) => &[Gate::DisplayProcessor],
        (Path::Service, _) => &[Gate::Presenter],
        _ => &[],
    }
}

/// What the gates need to know beside the machine.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The compositor.
    pub path: Path,
    /// The set of rules.
    pub policy: Policy,
    /// The app's device: null when it cannot be told, false when nobody could identify it.
    pub render: Option<bool>,
    /// The panel's adapter was found; null when that cannot be told.
    pub scanout: Option<bool>,
    /// Both are one adapter; null when that cannot be told.
    pub same: Option<bool>,
}

/// How the gates ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// In the end.
    pub split: Split,
    /// The token before the line masks it.
    pub reason: Option<&'static str>,
    /// Engaged, then taken back.
    pub retired: bool,
    /// A client's presenter was refused, not the service's split.
    pub presenter: bool,
    /// Stage A was tried.
    pub reached_stage_a: bool,
}

enum Answer {
    Passed(&'static str),
    Refused,
    Unknown,
}

/// Asks the gates in order.
pub fn decide(machine: &Machine, facts: Facts, trace: &mut Trace) -> Decision {
    let mut reached_stage_a = false;
    let end =
        |split, reason, reached_stage_a| Decision { split, reason, retired: false, presenter: false, reached_stage_a };
    for gate in before(facts.path, facts.policy) {
        reached_stage_a |= *gate == Gate::StageA;
        match ask(*gate, machine, facts, trace) {
            Answer::Passed(words) => trace.note(gate.rule(), words),
            Answer::Refused => {
                trace.note(gate.rule(), if *gate == Gate::Kill { Kill::Killed.as_str() } else { REFUSED });
                return end(Split::Off, Some(gate.token()), reached_stage_a);
            }
            Answer::Unknown => {
                trace.note(gate.rule(), UNKNOWN);
                return end(Split::Unknown, None, reached_stage_a);
            }
        }
    }
    for gate in after(facts.path, facts.policy) {
        if let Answer::Refused = ask(*gate, machine, facts, trace) {
            trace.note(gate.rule(), REFUSED);
            let presenter = *gate == Gate::Presenter;
            return Decision { retired: !presenter, presenter, ..end(Split::Off, Some(gate.token()), reached_stage_a) };
        }
        trace.note(gate.rule(), PASSED);
    }
    end(Split::Engaged, None, reached_stage_a)
}

fn ask(gate: Gate, machine: &Machine, facts: Facts, trace: &mut Trace) -> Answer {
    let session = &machine.session;
    let refuse_if = |refused| if refused { Answer::Refused } else { Answer::Passed(PASSED) };
    match gate {
        Gate::Kill => {
            let (lookup, setting) = settings::look_up(&machine.settings, WEAVE_ON_SCANOUT);
            trace.note("settings.DXR_WEAVE_ON_SCANOUT", lookup.as_str());
            match kill::ask(facts.path, setting.map(|setting| setting.value)) {
                Kill::Killed => Answer::Refused,
                Kill::Allowed => Answer::Passed(Kill::Allowed.as_str()),
            }
        }
        Gate::Api => Answer::Refused,
        Gate::Legacy => {
            refuse_if(session.legacy_standalone || settings::flag(&machine.settings, settings::LEGACY_STANDALONE))
        }
        Gate::Timeline => refuse_if(!session.timeline_semaphore),
        Gate::Window => refuse_if(!session.hwnd),
        Gate::SharedTexture => refuse_if(session.shared_texture),
        Gate::PanelSize => scanout::size_told(machine).map_or(Answer::Unknown, |known| refuse_if(!known)),
        Gate::Render => facts.render.map_or(Answer::Unknown, |known| refuse_if(!known)),
        Gate::Scanout => facts.scanout.map_or(Answer::Unknown, |found| refuse_if(!found)),
        Gate::SameAdapter => match facts.same {
            None => Answer::Unknown,
            Some(false) => Answer::Passed(PASSED),
            Some(true) if one_adapter_engages(machine, facts, trace) => Answer::Passed(SHARED),
            Some(true) => Answer::Refused,
        },
        // The runtime's own test hooks; their values start with 1 (vocabulary section 5).
        Gate::StageA => refuse_if(!session.stage_a_ok || hook(machine, settings::FAIL_STAGE_A)),
        Gate::DisplayProcessor => refuse_if(!session.dp_accepts_scanout || hook(machine, settings::REFUSE_DP)),
        Gate::Layers => refuse_if(session.unsupported_layers),
        Gate::Presenter => refuse_if(matches!(session.presenter.as_str(), "CLIENT_TEXTURE" | "SELF")),
    }
}

/// ADR-039: in-process sessions engage on one adapter unless the setting starts with 0. The service never does.
fn one_adapter_engages(machine: &Machine, facts: Facts, trace: &mut Trace) -> bool {
    if facts.policy != Policy::Adr039 || facts.path == Path::Service {
        return false;
    }
    let (lookup, setting) = settings::look_up(&machine.settings, SPLIT_SAME_ADAPTER);
    trace.note("settings.DXR_SPLIT_SAME_ADAPTER", lookup.as_str());
    !setting.is_some_and(|setting| setting.value.starts_with('0'))
}

fn hook(machine: &Machine, name: &str) -> bool {
    !machine.settings.env.is_empty()
        && settings::value(&machine.settings, name).is_some_and(|value| value.starts_with('1'))
}

/// True when something on this path depends on the fact, as [`Told::missing`](super::Told) names facts: what no gate of the
/// path asks for may be left open there.
pub fn depends_on(path: Path, policy: Policy, fact: &str) -> bool {
    let asked = || before(path, policy).iter().chain(after(path, policy)).filter_map(|gate| fact_of(gate.token()));
    match fact {
        "session.device_luid" => !matches!(path, Path::OpenGl | Path::IpcClient | Path::Unknown),
        _ if fact.starts_with("session.") || fact_of("killed_by_env").is_some_and(|kill| kill == fact) => {
            asked().any(|own| own == fact)
        }
        _ => true,
    }
}

/// The session fact or setting that a token speaks of; null for tokens that speak of adapters.
pub fn fact_of(token: &str) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(match token.split(',').next()? {
        "killed_by_env" => "settings.DXR_WEAVE_ON_SCANOUT",
        "legacy_standalone" => "session.legacy_standalone",
        "no_timeline_semaphore" => "session.timeline_semaphore",
        "no_hwnd" => "session.hwnd",
        "shared_texture_session" => "session.shared_texture",
        "no_panel_dimensions" => "panel",
        "stage_a_failed" => "session.stage_a_ok",
        "dp_refused_scanout" => "session.dp_accepts_scanout",
        "layers_unsupported" | "authored_mask" => "session.unsupported_layers",
        "presenter_ineligible" | "weave_on_ingest" => "session.presenter",
        _ => return None,
    }))
}
