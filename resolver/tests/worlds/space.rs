//! All small worlds, numbered: machines of up to three adapters and two monitors, times settings, paths and policies.
//!
//! A *place* is what is wired: adapters, monitors, what claims what. On each place stand [`PER_PLACE`] worlds that differ
//! in settings, session, path and policy. The number of a world is its place's number times that, plus its own.

use resolver::replay::{GATES, replay};
use wire::{Luid, Machine, MachineAdapter, Monitor, Path, Policy, Rect, Replay};

use crate::laws::Laws;

/// Dedicated memory in MiB, software, remote, feature level.
const KINDS: [(u64, bool, bool, &str); 6] = [
    (0, true, false, "12_1"),
    (128, false, false, "12_1"),
    (512, false, false, "12_0"),
    (8018, false, false, "12_1"),
    (8018, false, true, "12_1"),
    (512, false, false, "10_1"),
];

/// Unset, empty, every keyword, numbers inside and outside the list, a blank, another case.
const OVERRIDES: [Option<&str>; 12] = [
    None,
    Some(""),
    Some("scanout"),
    Some("igpu"),
    Some("integrated"),
    Some("dgpu"),
    Some("discrete"),
    Some("0"),
    Some("1"),
    Some("2"),
    Some("scanout "),
    Some("iGPU"),
];

/// Unset, empty, and values on which the two idioms agree or differ.
const KILLS: [Option<&str>; 9] =
    [None, Some(""), Some("0"), Some("off"), Some("Off"), Some("false"), Some("nope"), Some("0 "), Some("1")];

/// One fact of the session changed at a time.
const FLAGS: usize = 13;
/// The overrides under which the flags are tried.
const FLAG_OVERRIDES: [usize; 3] = [0, 2, 8];

const PATHS_AND_POLICIES: usize = GATES.len() * Policy::ALL.len();
const SETTINGS: usize = OVERRIDES.len() * KILLS.len();

/// Worlds on one place.
pub const PER_PLACE: usize = (SETTINGS + FLAGS * FLAG_OVERRIDES.len()) * PATHS_AND_POLICIES;

/// LUIDs of the world, and of the same world with other LUIDs in another numeric order.
const LUID_BASE: [u64; 2] = [0xa000, 0xb000];
/// A LUID that no adapter has; the middle, so that turning the order round leaves it.
const FOREIGN: u64 = 5;

/// What is wired.
#[derive(Clone, Copy)]
pub struct Place {
    kinds: [usize; 3],
    adapters: usize,
    monitors: usize,
    path: usize,
    claims: usize,
}

/// Every place, in order.
pub fn places() -> Vec<Place> {
    let mut places = Vec::new();
    for adapters in 0..=3_usize {
        for mut code in 0..KINDS.len().pow(adapters as u32) {
            let mut kinds = [0; 3];
            for kind in &mut kinds[..adapters] {
                *kind = code % KINDS.len();
                code /= KINDS.len();
            }
            places.push(Place { kinds, adapters, monitors: 0, path: 0, claims: 0 });
            for monitors in 1..=2 {
                for path in 0..4 {
                    for claims in 0..1 << adapters {
                        places.push(Place { kinds, adapters, monitors, path, claims });
                    }
                }
            }
        }
    }
    places
}

/// Visits the worlds of a share of the places (`share` of `shares`) whose number is a multiple of `stride`; gives their count.
pub fn visit(places: &[Place], share: usize, shares: usize, stride: usize, laws: &mut Laws) -> u64 {
    let mut visited = 0;
    for (number, place) in places.iter().enumerate().skip(share).step_by(shares) {
        let first = number * PER_PLACE;
        let mut own = (stride - first % stride) % stride;
        if own >= PER_PLACE {
            continue;
        }
        let mut machines = LUID_BASE.map(|base| build(*place, base));
        while own < PER_PLACE {
            let (path, policy) = set(&mut machines, own);
            let answer = replay(&machines[0], path, policy);
            let again = replay(&machines[0], path, policy);
            assert!(answer == again, "not deterministic: {:?}", machines[0]);
            let mut renumbered = replay(&machines[1], path, policy);
            back(&mut renumbered);
            assert!(answer == renumbered, "LUIDs matter: {:?}\n{answer:?}\n{renumbered:?}", machines[0]);
            laws.check(&machines[0], &answer);
            visited += 1;
            own += stride;
        }
    }
    visited
}

fn luid(base: u64, index: u64) -> Luid {
    Luid(base + if base == LUID_BASE[0] { index } else { 2 * FOREIGN - index })
}

fn build(place: Place, base: u64) -> Machine {
    let adapter = |index: usize| {
        let (vram, software, remote, level) = KINDS[place.kinds[index]];
        MachineAdapter {
            name: format!("Adapter kind {}", place.kinds[index]),
            luid: Some(luid(base, index as u64 + 1)),
            vendor_id: Some(if vram > 128 { 0x10de } else { 0x8086 }),
            device_id: Some(1),
            dedicated_vram_mib: Some(vram),
            software: Some(software),
            remote: Some(remote),
            feature_level: Some(level.to_owned()),
            vulkan_type: (!software).then(|| if vram > 128 { "discrete" } else { "integrated" }.to_owned()),
        }
    };
    let mut machine = Machine::new((0..place.adapters).map(adapter).collect());
    let own = |index: usize| luid(base, index as u64 + 1);
    let rect = |left| Rect { left, top: 0, width: 3840, height: 2160 };
    let panels_own = Monitor {
        gdi_name: "panel".to_owned(),
        rect: rect(0),
        path_luid: match (place.path, place.adapters) {
            (0, _) => None,
            (1, 1..) => Some(own(0)),
            (2, 1..) => Some(own(place.adapters - 1)),
            _ => Some(luid(base, FOREIGN)),
        },
        enumerated_by: (0..place.adapters).filter(|index| place.claims >> index & 1 == 1).map(own).collect(),
    };
    machine.panel = Some(rect(0));
    machine.monitors = match place.monitors {
        0 => Vec::new(),
        1 => vec![panels_own],
        // The panel hangs beside the primary monitor, where the service does not look.
        _ => {
            machine.panel = Some(rect(3840));
            let first = (place.adapters > 0).then(|| own(0));
            let primary = Monitor { rect: rect(0), path_luid: first, enumerated_by: Vec::new(), ..panels_own.clone() };
            vec![primary, Monitor { rect: rect(3840), ..panels_own }]
        }
    };
    machine
}

/// Puts the settings and the session of a world into its machines.
fn set(machines: &mut [Machine; 2], own: usize) -> (Path, Policy) {
    let path = GATES[own % GATES.len()];
    let policy = Policy::ALL[own / GATES.len() % Policy::ALL.len()];
    let rest = own / PATHS_AND_POLICIES;
    let (forced, kill, flag) = if rest < SETTINGS {
        (rest % OVERRIDES.len(), rest / OVERRIDES.len(), None)
    } else {
        let rest = rest - SETTINGS;
        (FLAG_OVERRIDES[rest % FLAG_OVERRIDES.len()], 0, Some(rest / FLAG_OVERRIDES.len()))
    };
    for (machine, base) in machines.iter_mut().zip(LUID_BASE) {
        machine.settings = wire::Settings::default();
        machine.session = wire::SessionFacts::default();
        if let Some(value) = OVERRIDES[forced] {
            // Stores take turns with the environment, so that provenance is tried as well.
            let stores = [&mut machine.settings.env, &mut machine.settings.user, &mut machine.settings.machine];
            let store = stores.into_iter().nth((forced + 2) % 3).expect("there are three");
            store.insert("DXR_D3D_FORCE_GPU".to_owned(), value.to_owned());
            store.insert("DXR_VK_FORCE_GPU".to_owned(), value.to_owned());
        }
        if let Some(value) = KILLS[kill] {
            machine.settings.env.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), value.to_owned());
        }
        if let Some(flag) = flag {
            raise(machine, base, flag);
        }
    }
    (path, policy)
}

fn raise(machine: &mut Machine, base: u64, flag: usize) {
    let session = &mut machine.session;
    match flag {
        0 => session.hwnd = false,
        1 => session.shared_texture = true,
        2 => session.timeline_semaphore = false,
        3 => session.dp_accepts_scanout = false,
        4 => session.stage_a_ok = false,
        5 => "CLIENT_TEXTURE".clone_into(&mut session.presenter),
        6 => "SELF".clone_into(&mut session.presenter),
        7 => session.legacy_standalone = true,
        8 => session.unsupported_layers = true,
        9 => session.device_luid = Some(luid(base, 2)),
        10 => session.gl_luid = Some(luid(base, 1)),
        11 => session.gl_luid = Some(luid(base, FOREIGN)),
        _ => {
            machine.settings.env.insert("DXR_SPLIT_SAME_ADAPTER".to_owned(), "0".to_owned());
        }
    }
}

/// Gives a renumbered answer the LUIDs of the first world back.
fn back(answer: &mut Replay) {
    let number = |luid: &mut Option<Luid>| {
        if let Some(luid) = luid {
            luid.0 = LUID_BASE[0] + 2 * FOREIGN - (luid.0 - LUID_BASE[1]);
        }
    };
    answer.render.iter_mut().for_each(|render| number(&mut render.luid));
    answer.scanout.iter_mut().for_each(|scanout| number(&mut scanout.luid));
    answer.interop.iter_mut().for_each(|interop| number(&mut interop.luid));
    answer.ranking.iter_mut().for_each(|ranked| number(&mut ranked.luid));
    answer.line.iter_mut().for_each(words);
    if let Some(gl) = &mut answer.gl {
        gl.lines.iter_mut().for_each(words);
    }
    if let Some(deposit) = &mut answer.deposit {
        deposit.lines.iter_mut().for_each(words);
    }
    if let Some(service) = &mut answer.service {
        service.placement.iter_mut().for_each(words);
        service.ingest.iter_mut().for_each(|ingest| number(&mut ingest.luid));
    }
}

/// The same in a printed line: `0000b00X` for `0000a00Y`.
fn words(line: &mut String) {
    let mut bytes = std::mem::take(line).into_bytes();
    for at in 0..bytes.len().saturating_sub(7) {
        if bytes[at..].starts_with(b"0000b00") {
            bytes[at + 4] = b'a';
            let digit = (bytes[at + 7] as char).to_digit(16).expect("a LUID's digit");
            bytes[at + 7] = char::from_digit(2 * FOREIGN as u32 - digit, 16).expect("below sixteen") as u8;
        }
    }
    *line = String::from_utf8(bytes).expect("digits for digits");
}
