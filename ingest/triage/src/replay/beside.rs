//! A log with saved files beside it: what the log leaves open, a machine file or the tool's output may tell.
//!
//! The log wins for what it states, because it was there; what a file says otherwise is told in words. LUIDs are valid within
//! one boot and a file may be of another one, so adapters are joined by LUID and name, else by name, and the LUIDs of a file
//! are translated to those of the log.

mod adapters;

use std::borrow::Cow;

use resolver::replay::{Told, replay};
use wire::{Generation, Luid, Machine, Path, Placement, Policy, Settings, Split};

use self::adapters::Joined;
use super::source::{Kind, Source};
use crate::reading::base_name;

/// The kill switch, as facts are named.
const KILL: &str = "settings.DXR_WEAVE_ON_SCANOUT";

/// Settings that a rule reads; the others are kept and not worth a word.
const RULED: [&str; 6] = [
    "DXR_D3D_FORCE_GPU",
    "DXR_VK_FORCE_GPU",
    "DXR_WEAVE_ON_SCANOUT",
    "DXR_SPLIT_SAME_ADAPTER",
    "DXR_SPLIT_INGRESS",
    "DXR_VK_DEPOSIT",
];

/// What a file added.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Beside {
    /// As it was given.
    pub file: String,
    /// Which kind of file it is, in words.
    pub kind: &'static str,
    /// What was taken from it, in words; empty when the log knew it all.
    pub told: Vec<String>,
    /// Where it says something else than the log, and what else there is to know, in sentences.
    pub notes: Vec<String>,
}

/// What a log says of its last session.
#[derive(Clone, Copy)]
pub struct Observed<'a> {
    /// The compositor.
    pub path: Path,
    /// The rules that it is compared under.
    pub policy: Policy,
    /// Its last placement record.
    pub placement: Option<&'a Placement>,
}

/// Adds to `log` what it leaves open and `source` tells.
pub fn add(log: &mut Told, source: &Source, file: &str, observed: Observed<'_>) -> Beside {
    let mut beside =
        Beside { file: file.to_owned(), kind: source.kind.as_str(), told: Vec::new(), notes: source.notes.clone() };
    let Some(joined) = adapters::join(&mut log.machine, &source.told.machine, &mut beside) else { return beside };
    scanout(log, source, &joined, observed, &mut beside);
    settings(log, &source.told, observed, &mut beside);
    // Another log's session is not this one's.
    if source.kind == Kind::MachineFile {
        session(log, &source.told, &joined, &mut beside);
    }
    let known = !log.machine.adapters.is_empty();
    log.missing.retain(|fact| !(known && fact == "adapters"));
    beside
}

impl Beside {
    /// Without its folders, for sentences.
    pub fn name(&self) -> &str {
        base_name(&self.file)
    }

    fn told(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.told.contains(&what) {
            self.told.push(what);
        }
    }

    fn differs(&mut self, what: &str, log: &str, own: &str) {
        let file = self.name();
        self.notes.push(format!("{what}: the log says {log}, {file} says {own}. The log wins."));
    }
}

/// Which adapter drives the panel, and where the panel is.
fn scanout(log: &mut Told, source: &Source, joined: &Joined, observed: Observed<'_>, beside: &mut Beside) {
    let own = &source.told.machine;
    let name = |machine: &Machine| replay(machine, observed.path, observed.policy).scanout.map(|scanout| scanout.name);
    let tells = !source.told.missing.iter().any(|fact| fact == "monitors");
    if log.missing.iter().any(|fact| fact == "monitors") {
        if tells {
            log.machine.told_scanout.clone_from(&own.told_scanout);
            log.machine.monitors.clone_from(&own.monitors);
            if own.panel.is_some() {
                log.machine.panel = own.panel;
            }
            log.machine.dxgi &= own.dxgi;
            translate(&mut log.machine, joined);
            log.missing.retain(|fact| fact != "monitors");
            beside.told(match name(own) {
                Some(name) => format!("the panel's GPU ('{name}')"),
                None => "that no GPU was found to drive the panel".to_owned(),
            });
        }
        return;
    }
    let words = |name: Option<String>| name.map_or("that none was found".to_owned(), |name| format!("'{name}'"));
    let (said, found) = (name(&log.machine), name(own));
    // `<not enumerated>` is no name.
    let other = |a: &Option<String>, b: &Option<String>| {
        a != b && ![a, b].into_iter().flatten().any(|own| own.starts_with('<'))
    };
    if tells && other(&said, &found) {
        beside.differs("The panel's GPU", &words(said), &words(found));
    }
    if let (Some(told), Some(panel)) = (&log.machine.told_scanout, own.panel)
        && log.machine.panel.is_none()
        && !told.is_open()
    {
        log.machine.panel = Some(panel);
        beside.told("the panel's size");
    }
}

/// A file's LUIDs become the log's.
fn translate(machine: &mut Machine, joined: &Joined) {
    if let Some(told) = &mut machine.told_scanout {
        told.luid = told.luid.and_then(|luid| joined.luid(luid));
    }
    for monitor in &mut machine.monitors {
        monitor.path_luid = monitor.path_luid.and_then(|luid| joined.luid(luid));
        let claimed: Vec<Luid> = monitor.enumerated_by.iter().filter_map(|luid| joined.luid(*luid)).collect();
        monitor.enumerated_by = claimed;
    }
}

fn settings(log: &mut Told, own: &Told, observed: Observed<'_>, beside: &mut Beside) {
    let before = log.machine.settings.clone();
    let stores = |settings: &Settings| {
        let Settings { env, user, machine } = settings.clone();
        [("environment", env), ("user", user), ("machine", machine)]
    };
    let mut added = Vec::new();
    for (whose, store) in stores(&own.machine.settings) {
        for (name, value) in store {
            let told = stores(&before).into_iter().find_map(|(from, store)| Some((from, store.get(&name)?.clone())));
            match told {
                Some((_, said)) if said == value => {}
                Some((from, said)) => {
                    beside.differs(&name, &format!("'{said}' ({from})"), &format!("'{value}' ({whose})"));
                }
                None => {
                    let settings = &mut log.machine.settings;
                    let target = match whose {
                        "environment" => &mut settings.env,
                        "user" => &mut settings.user,
                        _ => &mut settings.machine,
                    };
                    target.insert(name.clone(), value.clone());
                    if RULED.contains(&name.as_str()) {
                        added.push(format!("{name}='{value}' ({whose})"));
                    }
                }
            }
        }
    }
    let tells_kill = !own.missing.iter().any(|fact| fact == KILL);
    let open = log.missing.iter().any(|fact| fact == KILL);
    // Builds of the first generation read the variable the other way round, and the rules are those of later ones.
    let old = observed.placement.is_some_and(|own| own.generation == Generation::G1);
    if tells_kill && open && !old && !contradicts(log, observed, beside) {
        if !added.iter().any(|words| words.starts_with("DXR_WEAVE_ON_SCANOUT=")) {
            added.push("that DXR_WEAVE_ON_SCANOUT is not set".to_owned());
        }
        log.missing.retain(|fact| fact != KILL);
    } else if open {
        // Whether the split was switched off is what the log states; how it was set is all that a file can add.
        log.machine.settings.env = without_kill(&log.machine.settings.env, &before.env);
        log.machine.settings.user = without_kill(&log.machine.settings.user, &before.user);
        log.machine.settings.machine = without_kill(&log.machine.settings.machine, &before.machine);
        added.retain(|words| !words.starts_with("DXR_WEAVE_ON_SCANOUT="));
    }
    for words in added {
        beside.told(words);
    }
}

type Store = std::collections::BTreeMap<String, String>;

fn without_kill(store: &Store, before: &Store) -> Store {
    let kept = |name: &String| name != "DXR_WEAVE_ON_SCANOUT" || before.contains_key(name);
    store.iter().filter(|(name, _)| kept(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The log tells by its reason, or by its split, whether the kill switch was set; a file of another time may differ.
fn contradicts(log: &Told, observed: Observed<'_>, beside: &mut Beside) -> bool {
    let Some(placement) = observed.placement else { return false };
    let killed = placement.reasons.iter().any(|reason| reason.as_str() == "killed_by_env");
    if !killed && placement.split != Split::Engaged {
        return false;
    }
    let answer = replay(&log.machine, observed.path, Policy::Adr039);
    // Null where another rule refuses before this one is asked.
    let kills = answer.rules.iter().find(|own| own.rule == "kill").map(|own| own.outcome == "killed");
    match (killed, kills) {
        (true, Some(false)) => {
            beside.differs("DXR_WEAVE_ON_SCANOUT", "that it switched the split off", "that it does not");
            true
        }
        (false, Some(true)) => {
            beside.differs("DXR_WEAVE_ON_SCANOUT", "that the split ran", "that it is switched off");
            true
        }
        _ => false,
    }
}

/// What somebody wrote of the session.
fn session(log: &mut Told, own: &Told, joined: &Joined, beside: &mut Beside) {
    let (session, from) = (&mut log.machine.session, &own.machine.session);
    let mut told = Vec::new();
    let open: Vec<Cow<'static, str>> = log.missing.iter().filter(|fact| !own.missing.contains(fact)).cloned().collect();
    for fact in open {
        match fact.as_ref() {
            "session.hwnd" => session.hwnd = from.hwnd,
            "session.shared_texture" => session.shared_texture = from.shared_texture,
            "session.timeline_semaphore" => session.timeline_semaphore = from.timeline_semaphore,
            "session.dp_accepts_scanout" => session.dp_accepts_scanout = from.dp_accepts_scanout,
            "session.stage_a_ok" => session.stage_a_ok = from.stage_a_ok,
            "session.legacy_standalone" => session.legacy_standalone = from.legacy_standalone,
            "session.unsupported_layers" => session.unsupported_layers = from.unsupported_layers,
            "session.device_luid" => match from.device_luid.and_then(|luid| joined.luid(luid)) {
                Some(luid) => session.device_luid = Some(luid),
                None => continue,
            },
            _ => continue,
        }
        told.push(fact);
    }
    log.missing.retain(|fact| !told.contains(fact));
    let names: Vec<_> = told.iter().map(|fact| fact.trim_start_matches("session.")).collect();
    if !names.is_empty() {
        beside.told(format!("of the session: {}", names.join(", ")));
    }
}
