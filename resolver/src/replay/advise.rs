//! What to try: the smallest changes under which the replay becomes good, found by asking the resolver again.
//!
//! Good is a split that engages, or one adapter for everything, and no crossing interop. Steps are tried alone first, then
//! in twos and threes; the first size that helps is the answer. Removing a setting comes before adding one, that before a
//! change of the session, that before a change of the wiring.

use wire::{
    Advice, Change, Crossing, Machine, Path, Placement, Policy, Replay, Settings, Source, Split, ToldScanout, Unset,
};

use super::replay;
use super::scanout;
use super::settings::{
    D3D_FORCE_GPU, FAIL_STAGE_A, LEGACY_STANDALONE, REFUSE_DP, SPLIT_SAME_ADAPTER, VK_FORCE_GPU, WEAVE_ON_SCANOUT,
};
use super::told::{Switch, Told};

/// More would be no advice.
const ADVICE_MAX: usize = 8;
const STEPS_MAX: usize = 3;

/// Variables whose removal can help.
const REMOVABLE: [&str; 7] =
    [WEAVE_ON_SCANOUT, D3D_FORCE_GPU, VK_FORCE_GPU, SPLIT_SAME_ADAPTER, LEGACY_STANDALONE, FAIL_STAGE_A, REFUSE_DP];

/// One thing to change.
#[derive(Clone, Debug)]
enum Step {
    Remove(&'static str, Source),
    /// The kill switch is set somewhere; a log does not tell where.
    FindKill,
    Set(&'static str, &'static str),
    Session(&'static str, &'static str, &'static str),
    Report,
    Wire(usize),
}

/// Smallest first; empty when the replay is good already, or when nothing helps.
pub fn advise(machine: &Machine, path: Path, policy: Policy) -> Vec<Advice> {
    search(machine, path, policy, Switch::Named)
}

/// The same for a log: what its placement says of the session counts as a fact, although the log does not tell who set it.
pub fn advise_on_log(told: &Told, observed: &Placement, path: Path, policy: Policy) -> Vec<Advice> {
    let (machine, switch) = told.as_observed(observed);
    search(&machine, path, policy, switch)
}

fn search(machine: &Machine, path: Path, policy: Policy, switch: Switch) -> Vec<Advice> {
    let answer = replay(machine, path, policy);
    if is_good(&answer) {
        return Vec::new();
    }
    let steps = steps(machine, path, &answer, switch);
    let mut advice = Vec::new();
    for size in 1..=STEPS_MAX {
        combine(&steps, size, &mut Vec::new(), &mut |chosen| {
            if advice.len() == ADVICE_MAX {
                return;
            }
            let mut changed = machine.clone();
            let mut change = Change::default();
            for step in chosen {
                step.apply(&mut changed, &mut change);
            }
            let then = replay(&changed, path, policy);
            if is_good(&then) {
                change.text = chosen.iter().map(|step| step.words(machine)).collect::<Vec<_>>().join(", and ");
                advice.push(Advice { change, outcome: outcome(&then) });
            }
        });
        if !advice.is_empty() {
            break;
        }
    }
    advice
}

fn is_good(answer: &Replay) -> bool {
    let interop = answer.interop.as_ref().is_some_and(|interop| interop.crossing);
    ends_well(answer.split, answer.crossing, interop)
}

/// The split engages or one adapter does everything, and no interop crosses.
pub(super) fn ends_well(split: Split, crossing: Crossing, interop_crossing: bool) -> bool {
    !interop_crossing && (split == Split::Engaged || crossing == Crossing::None)
}

/// Every step that could matter here, cheapest first.
fn steps(machine: &Machine, path: Path, answer: &Replay, switch: Switch) -> Vec<Step> {
    let mut steps = Vec::new();
    if switch == Switch::SetSomewhere {
        steps.push(Step::FindKill);
    }
    for name in REMOVABLE {
        for (source, store) in stores(&machine.settings) {
            if store.contains_key(name) && (switch == Switch::Named || name != WEAVE_ON_SCANOUT) {
                steps.push(Step::Remove(name, source));
            }
        }
    }
    steps.push(Step::Set(WEAVE_ON_SCANOUT, "1"));
    match path {
        Path::Vulkan => steps.push(Step::Set(VK_FORCE_GPU, "scanout")),
        Path::D3d11 | Path::D3d12 | Path::Service => steps.push(Step::Set(D3D_FORCE_GPU, "scanout")),
        Path::OpenGl | Path::IpcClient | Path::Unknown => {}
    }
    let session = &machine.session;
    let flags = [
        (!session.hwnd, "hwnd", "true", "give the session a window"),
        (session.shared_texture, "shared_texture", "false", "present into a window and not through a shared texture"),
        (
            !session.timeline_semaphore,
            "timeline_semaphore",
            "true",
            "enable VK_KHR_timeline_semaphore in the app's device",
        ),
        (session.legacy_standalone, "legacy_standalone", "false", "start the service without its legacy mode"),
        (
            !session.stage_a_ok,
            "stage_a_ok",
            "true",
            "repair the set-up of the device on the panel's GPU; the log names the cause",
        ),
        (
            !session.dp_accepts_scanout,
            "dp_accepts_scanout",
            "true",
            "use a display plug-in that weaves on the panel's GPU",
        ),
        (
            session.unsupported_layers,
            "unsupported_layers",
            "false",
            "do without the layers that the split cannot carry",
        ),
        (
            matches!(session.presenter.as_str(), "CLIENT_TEXTURE" | "SELF"),
            "presenter",
            "APP_HWND",
            "let the service present into the app's window",
        ),
        (
            session.device_luid.is_some(),
            "device_luid",
            "null",
            "let the app render on the GPU that the runtime suggests",
        ),
        (
            path == Path::OpenGl && answer.scanout.as_ref().is_some_and(|own| own.luid.is_some()),
            "gl_luid",
            "scanout",
            "pin the app to the panel's GPU in the graphics settings of Windows",
        ),
    ];
    for (wanted, fact, value, words) in flags {
        if wanted {
            steps.push(Step::Session(fact, value, words));
        }
    }
    if !scanout::has_size(machine) && !machine.monitors.is_empty() {
        steps.push(Step::Report);
    }
    let renders = answer.render.as_ref().and_then(|render| render.luid);
    if let Some(index) = machine.adapters.iter().position(|own| own.luid.is_some() && own.luid == renders)
        && machine.adapters[index].software != Some(true)
    {
        steps.push(Step::Wire(index));
    }
    steps
}

fn stores(settings: &Settings) -> [(Source, &std::collections::BTreeMap<String, String>); 3] {
    [(Source::Env, &settings.env), (Source::User, &settings.user), (Source::Machine, &settings.machine)]
}

/// Every choice of `size` steps, in order.
fn combine<'a>(steps: &'a [Step], size: usize, chosen: &mut Vec<&'a Step>, visit: &mut dyn FnMut(&[&'a Step])) {
    if size == 0 {
        return visit(chosen);
    }
    for (at, step) in steps.iter().enumerate() {
        chosen.push(step);
        combine(&steps[at + 1..], size - 1, chosen, visit);
        chosen.pop();
    }
}

impl Step {
    fn apply(&self, machine: &mut Machine, change: &mut Change) {
        let settings = &mut machine.settings;
        let session = &mut machine.session;
        match self {
            Self::Remove(name, source) => {
                let store = match source {
                    Source::Env => &mut settings.env,
                    Source::User => &mut settings.user,
                    Source::Machine => &mut settings.machine,
                };
                store.remove(*name);
                change.unset.push(Unset { name: (*name).to_owned(), source: Some(*source) });
            }
            Self::FindKill => {
                for store in [&mut settings.env, &mut settings.user, &mut settings.machine] {
                    store.remove(WEAVE_ON_SCANOUT);
                }
                change.unset.push(Unset { name: WEAVE_ON_SCANOUT.to_owned(), source: None });
            }
            Self::Set(name, value) => {
                settings.env.insert((*name).to_owned(), (*value).to_owned());
                change.set.insert((*name).to_owned(), (*value).to_owned());
            }
            Self::Session(fact, value, _) => {
                match *fact {
                    "hwnd" => session.hwnd = true,
                    "shared_texture" => session.shared_texture = false,
                    "timeline_semaphore" => session.timeline_semaphore = true,
                    "legacy_standalone" => session.legacy_standalone = false,
                    "stage_a_ok" => session.stage_a_ok = true,
                    "dp_accepts_scanout" => session.dp_accepts_scanout = true,
                    "unsupported_layers" => session.unsupported_layers = false,
                    "presenter" => (*value).clone_into(&mut session.presenter),
                    "device_luid" => session.device_luid = None,
                    _ => {
                        let scanout = scanout::resolve(machine, false).gpu;
                        machine.session.gl_luid = scanout.and_then(|gpu| gpu.luid(machine));
                    }
                }
                change.session.insert((*fact).to_owned(), (*value).to_owned());
            }
            Self::Report => {
                machine.panel = machine.monitors.first().map(|monitor| monitor.rect);
                change.wiring = Some("the display plug-in reports the panel".to_owned());
            }
            Self::Wire(index) => {
                let adapter = &machine.adapters[*index];
                let (name, luid) = (adapter.name.clone(), adapter.luid);
                change.wiring = Some(format!("panel on '{name}'"));
                machine.told_scanout = Some(ToldScanout { name, luid, via: None });
            }
        }
    }

    fn words(&self, machine: &Machine) -> String {
        match self {
            Self::Remove(name, Source::Env) => format!("remove {name} from the environment"),
            Self::Remove(name, Source::User) => format!("remove {name} from the user's settings"),
            Self::Remove(name, Source::Machine) => format!("remove {name} from the machine's settings"),
            Self::FindKill => format!(
                "remove {WEAVE_ON_SCANOUT} where it is set: environment, user's or machine's settings \
                 (`displayxr-cli perf list` names the source)"
            ),
            Self::Set(name, value) => format!("set {name}={value} in the environment"),
            Self::Session(_, _, words) => (*words).to_owned(),
            Self::Report => "install or enable the plug-in that reports where the panel is".to_owned(),
            Self::Wire(index) => {
                let name = machine.adapters.get(*index).map_or("the app's GPU", |own| own.name.as_str());
                format!("connect the panel to '{name}'")
            }
        }
    }
}

fn outcome(answer: &Replay) -> String {
    let name = answer.scanout.as_ref().map_or("the panel's GPU", |own| own.name.as_str());
    if answer.crossing == Crossing::None {
        format!("render and panel share '{name}': nothing crosses")
    } else {
        format!("the split engages: the weave runs on '{name}', and one atlas a frame crosses")
    }
}
