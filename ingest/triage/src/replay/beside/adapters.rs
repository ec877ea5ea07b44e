//! Which adapter of a file is which adapter of the log, and what the file adds to it.

use wire::{Luid, Machine, MachineAdapter};

use super::Beside;

/// More names than a PC has cards for tell nothing.
const NAMES_MAX: usize = 8;

/// The LUIDs of a file in the words of the log.
#[derive(Debug, Default)]
pub struct Joined {
    /// Of adapters that both have: the file's, the log's.
    pairs: Vec<(Luid, Luid)>,
    /// Those of the log.
    taken: Vec<Luid>,
}

impl Joined {
    /// The log's LUID; `None` where the file's means another adapter in the log.
    pub fn luid(&self, own: Luid) -> Option<Luid> {
        let paired = self.pairs.iter().find(|(from, _)| *from == own).map(|(_, to)| *to);
        paired.or_else(|| (!self.taken.contains(&own)).then_some(own))
    }
}

/// Fills what the log leaves open of its adapters, and takes the file's list where the log has none of its own. `None` when
/// the file is of another PC.
pub fn join(log: &mut Machine, own: &Machine, beside: &mut Beside) -> Option<Joined> {
    let pairs = pair(&log.adapters, &own.adapters);
    if !log.adapters.is_empty() && !own.adapters.is_empty() && pairs.iter().all(Option::is_none) {
        let file = beside.name();
        let note = format!("{file} is of another PC: it has none of the log's GPUs, so nothing is taken from it.");
        beside.notes.push(note);
        return None;
    }
    // A ranking in the log went through all adapters; names alone come from here and there, in no order.
    let complete = log.adapters.iter().any(|adapter| adapter.dedicated_vram_mib.is_some());
    let mut joined = Joined { pairs: Vec::new(), taken: log.adapters.iter().filter_map(|own| own.luid).collect() };
    let both = || log.adapters.iter().zip(&pairs).filter_map(|(said, at)| Some((said, own.adapters.get((*at)?)?)));
    joined.pairs.extend(both().filter_map(|(said, from)| from.luid.zip(said.luid)));
    let other_boot = joined.pairs.iter().any(|(from, to)| from != to);
    if other_boot {
        let file = beside.name();
        let note = format!("{file} is of another boot: its LUIDs are other ones, so adapters are joined by name.");
        beside.notes.push(note);
    }
    let same_boot = !other_boot && !joined.pairs.is_empty();
    for (adapter, from) in log.adapters.iter_mut().zip(&pairs).filter_map(|(said, at)| Some((said, (*at)?))) {
        fill(adapter, &own.adapters[from], same_boot, beside);
    }
    let extra: Vec<usize> = (0..own.adapters.len()).filter(|at| !pairs.contains(&Some(*at))).collect();
    if complete {
        let names = extra.iter().map(|at| &own.adapters[*at]).filter(|adapter| adapter.software != Some(true));
        let mut names: Vec<String> = names.map(|adapter| format!("'{}'", adapter.name)).collect();
        if let Some(more @ 1..) = names.len().checked_sub(NAMES_MAX) {
            names.truncate(NAMES_MAX);
            names.push(format!("and {more} more"));
        }
        if !names.is_empty() {
            let (file, names) = (beside.name(), names.join(", "));
            let note = format!("{file} lists GPUs that the log does not: {names}. The log wins.");
            beside.notes.push(note);
        }
    } else if !own.adapters.is_empty() {
        let mut mine: Vec<_> = std::mem::take(&mut log.adapters).into_iter().map(Some).collect();
        for (at, from) in own.adapters.iter().enumerate() {
            let place = pairs.iter().position(|own| *own == Some(at));
            let known = place.and_then(|place| mine[place].take());
            let luid = from.luid.and_then(|luid| joined.luid(luid));
            log.adapters.push(known.unwrap_or_else(|| MachineAdapter { luid, ..from.clone() }));
        }
        log.adapters.extend(mine.into_iter().flatten());
        beside.told("which GPUs the PC has, and in which order");
    }
    Some(joined)
}

/// For each adapter of the log its place in the file: the same LUID and name; then the same name, where both have equally
/// many of it, because twins stand in the same order.
fn pair(log: &[MachineAdapter], own: &[MachineAdapter]) -> Vec<Option<usize>> {
    let real = |name: &str| !name.starts_with('<');
    let mut pairs: Vec<Option<usize>> = log
        .iter()
        .map(|said| {
            let same = |from: &MachineAdapter| {
                said.luid.is_some()
                    && from.luid == said.luid
                    && (from.name == said.name || !real(&from.name) || !real(&said.name))
            };
            own.iter().position(same)
        })
        .collect();
    for at in 0..log.len() {
        let name = &log[at].name;
        if pairs[at].is_some() || !real(name) {
            continue;
        }
        let left: Vec<usize> = (0..log.len()).filter(|at| pairs[*at].is_none() && log[*at].name == *name).collect();
        let free: Vec<usize> =
            (0..own.len()).filter(|at| own[*at].name == *name && !pairs.contains(&Some(*at))).collect();
        if left.len() == free.len() {
            left.into_iter().zip(free).for_each(|(at, from)| pairs[at] = Some(from));
        }
    }
    pairs
}

/// What the log states stays. A LUID is only worth something in its own boot.
fn fill(said: &mut MachineAdapter, from: &MachineAdapter, same_boot: bool, beside: &mut Beside) {
    let before = said.clone();
    if let (Some(log), Some(own)) = (said.dedicated_vram_mib, from.dedicated_vram_mib)
        && log != own
    {
        beside.differs(&format!("The memory of '{}'", said.name), &format!("{log} MiB"), &format!("{own} MiB"));
    }
    // The log never tells the type of a Vulkan device.
    if said.vulkan_type.as_deref().is_none_or(|kind| kind == "unknown")
        && from.vulkan_type.as_deref() != Some("unknown")
    {
        said.vulkan_type.clone_from(&from.vulkan_type);
    }
    if same_boot {
        said.luid = said.luid.or(from.luid);
    }
    said.vendor_id = said.vendor_id.or(from.vendor_id);
    said.device_id = said.device_id.or(from.device_id);
    said.dedicated_vram_mib = said.dedicated_vram_mib.or(from.dedicated_vram_mib);
    said.software = said.software.or(from.software);
    said.remote = said.remote.or(from.remote);
    if said.feature_level.is_none() {
        said.feature_level.clone_from(&from.feature_level);
    }
    if *said != before {
        beside.told(format!("more about '{}'", said.name));
    }
}
