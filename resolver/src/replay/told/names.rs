//! Which LUID belongs to which adapter: candidate records give names without ids, other records give both.
//!
//! A name of one adapter with one LUID is joined. Twins share their name, so only two things tell them apart: the ranking's
//! own answer names the LUID of its winner, and what is left over belongs together when it is one of each.

use std::collections::BTreeMap;

use wire::{Event, Kind, Luid, Machine, MachineAdapter};

use crate::replay::render::{self, Choice, Words};

/// Pairs of fields that tell an adapter's name and id together. Spelt out, because every event is asked for all of them.
const NAMED: [(&str, &str); 4] = [
    ("adapter.name", "adapter.luid"),
    ("render.name", "render.luid"),
    ("scanout.name", "scanout.luid"),
    ("suggested.name", "suggested.luid"),
];
/// Names kept for the join. More than a machine can have; a hostile log must not grow the memory.
const NAMES_MAX: usize = 256;
/// LUIDs kept of one name, for the same reason.
const TWINS_MAX: usize = 16;

/// What the records of a log tell of names and LUIDs.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: BTreeMap<String, Vec<Luid>>,
    /// What the ranking chose, where no setting forced it.
    winner: Option<Luid>,
}

impl Names {
    /// The next event, in file order.
    pub fn learn(&mut self, event: &Event) {
        let fields = &event.fields;
        for (name, luid) in NAMED {
            let name = fields.text(name).filter(|name| !name.starts_with('<'));
            if let (Some(name), Some(luid)) = (name, fields.luid(luid).filter(|luid| !luid.is_zero())) {
                self.add(name, luid);
            }
        }
        if matches!(event.kind, Kind::RenderChoice | Kind::Ingest)
            && fields.text("provenance").is_some_and(is_of_ranking)
        {
            self.winner = fields.luid("adapter.luid").filter(|luid| !luid.is_zero()).or(self.winner);
        }
    }

    /// Gives the adapters of a machine their LUIDs; a machine without adapters gets all that were named.
    pub fn join(self, machine: &mut Machine) {
        if machine.adapters.is_empty() {
            let named = |(name, luids): (String, Vec<Luid>)| {
                luids.into_iter().map(move |luid| MachineAdapter::new(&name, Some(luid)))
            };
            machine.adapters = self.known.into_iter().flat_map(named).collect();
            return;
        }
        for (name, luids) in &self.known {
            if let ([index], [luid]) = (places(machine, name).as_slice(), luids.as_slice()) {
                machine.adapters[*index].luid = Some(*luid);
            }
        }
        self.join_winner(machine);
        for (name, luids) in &self.known {
            let places = places(machine, name);
            let taken = |luid: &Luid| places.iter().any(|index| machine.adapters[*index].luid == Some(*luid));
            let open: Vec<_> = places.iter().filter(|index| machine.adapters[**index].luid.is_none()).collect();
            let left: Vec<_> = luids.iter().filter(|luid| !taken(luid)).collect();
            if let (true, [index], [luid]) = (places.len() == luids.len(), open.as_slice(), left.as_slice()) {
                machine.adapters[**index].luid = Some(**luid);
            }
        }
    }

    /// Only where the ranking can be made again from what the log tells, and nothing else has that LUID.
    fn join_winner(&self, machine: &mut Machine) {
        let Some(luid) = self.winner.filter(|luid| machine.adapters.iter().all(|own| own.luid != Some(*luid))) else {
            return;
        };
        let Choice::Adapter(index, _) = render::rank(machine).choice else { return };
        let adapter = &mut machine.adapters[index];
        let another = self.known.iter().any(|(name, luids)| *name != adapter.name && luids.contains(&luid));
        let crowd = self.known.get(&adapter.name).map_or(0, Vec::len);
        if adapter.luid.is_none() && !another {
            let name = adapter.name.clone();
            if crowd <= places(machine, &name).len() {
                machine.adapters[index].luid = Some(luid);
            }
        }
    }

    fn add(&mut self, name: &str, luid: Luid) {
        let room = self.known.len() < NAMES_MAX;
        match self.known.get_mut(name) {
            Some(luids) if !luids.contains(&luid) && luids.len() < TWINS_MAX => luids.push(luid),
            None if room => {
                self.known.insert(name.to_owned(), vec![luid]);
            }
            _ => {}
        }
    }
}

fn places(machine: &Machine, name: &str) -> Vec<usize> {
    machine.adapters.iter().enumerate().filter(|(_, own)| own.name == name).map(|(index, _)| index).collect()
}

/// A forced choice says nothing of the ranking.
fn is_of_ranking(words: &str) -> bool {
    [Words::OnlyCandidate, Words::MostVram, Words::AdapterType, Words::LowestIndex]
        .iter()
        .any(|own| own.as_str() == words)
}
