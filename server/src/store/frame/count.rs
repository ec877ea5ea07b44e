//! How picked logs are counted: one pass, whatever they are grouped by.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Dimension, Picked, slot};
use crate::store::columns::{NUMBERS, Numbers};
use crate::store::rollups::Sums;
use crate::store::summary::{Group, Totals};

/// Up to so many possible keys have a place each, 4 MiB in all; more are looked up by their key.
const MOST_PLACES: u64 = 1 << 20;

impl Picked {
    /// The groups, in no order; without a dimension the total alone.
    pub fn counts(&self, group_by: &[Dimension]) -> Vec<Group> {
        let columns = self.columns(group_by);
        let mut groups = Groups::new(columns.iter().map(|own| own.size).fold(1, u64::saturating_mul));
        if columns.is_empty() {
            groups.at(0);
        }
        let words = self.words();
        for (machine, row) in self.rows() {
            let numbers = &words.verdicts.values()[row.verdict as usize];
            let (mut key, mut reason_step) = (0_u64, None);
            for Column { dimension, slot, step, .. } in &columns {
                let number = match (slot, dimension) {
                    (Some(slot), _) => row.texts[*slot],
                    (None, Dimension::Machine) => machine,
                    (None, _) => {
                        reason_step = Some(*step);
                        continue;
                    }
                };
                key = key.wrapping_add(step.wrapping_mul(u64::from(number)));
            }
            let tokens = reason_step.map(|step| (step, words.reasons.values()[row.reasons as usize].as_slice()));
            match tokens {
                // A log with several reasons is in several groups.
                Some((step, tokens @ [_, ..])) => {
                    for token in tokens {
                        groups.add(key.wrapping_add(step.wrapping_mul(u64::from(*token) + 1)), machine, numbers);
                    }
                }
                _ => groups.add(key, machine, numbers),
            }
        }
        let group =
            |(key, found): (u64, Found)| Group { key: self.told(&columns, key), totals: Totals::from(found.sums) };
        groups.found.into_iter().map(group).collect()
    }

    /// Where the numbers of a key come from, the one that counts least first.
    fn columns(&self, group_by: &[Dimension]) -> Vec<Column> {
        let words = self.words();
        let mut step = 1_u64;
        let column = |dimension: &Dimension| {
            let slot = slot(*dimension);
            let size = match (slot, dimension) {
                (Some(slot), _) => words.texts[slot].len() + 1,
                (None, Dimension::Machine) => words.machines.len().max(1),
                (None, _) => words.tokens.len() + 1,
            };
            let own = Column { dimension: *dimension, slot, size: size as u64, step };
            step = step.wrapping_mul(own.size);
            own
        };
        group_by.iter().map(column).collect()
    }

    /// The key in words.
    fn told(&self, columns: &[Column], mut key: u64) -> Map<String, Value> {
        let words = self.words();
        let mut told = Map::new();
        for Column { dimension, slot, size, .. } in columns {
            let number = (key % size) as usize;
            key /= size;
            let value = match (slot, dimension) {
                (Some(slot), _) => number.checked_sub(1).map(|number| &words.texts[*slot].values()[number]),
                (None, Dimension::Machine) => words.machines.values().get(number),
                (None, _) => number.checked_sub(1).map(|number| &words.tokens.values()[number]),
            };
            let value = value.map_or(Value::Null, |value| Value::String(value.to_string()));
            told.insert(dimension.as_str().to_owned(), value);
        }
        told
    }
}

/// A dimension of a key.
struct Column {
    dimension: Dimension,
    slot: Option<usize>,
    /// How many values it has, the one for logs that do not tell included.
    size: u64,
    /// What the next value adds to a key.
    step: u64,
}

/// The numbers of one group, and the machine that was counted last.
struct Found {
    sums: Sums,
    last: Option<u32>,
}

/// Groups under way.
struct Groups {
    found: Vec<(u64, Found)>,
    /// Where the group of a key is, one behind; 0: nowhere yet. Empty when there are too many keys.
    places: Vec<u32>,
    by_key: HashMap<u64, u32>,
}

impl Groups {
    fn new(keys: u64) -> Self {
        let places = if keys <= MOST_PLACES { vec![0; keys as usize] } else { Vec::new() };
        Self { found: Vec::new(), places, by_key: HashMap::new() }
    }

    fn at(&mut self, key: u64) -> &mut Found {
        let place = match self.places.get_mut(key as usize) {
            Some(place) => place,
            None => self.by_key.entry(key).or_default(),
        };
        if *place == 0 {
            self.found.push((key, Found { sums: Sums::default(), last: None }));
            *place = u32::try_from(self.found.len()).expect("fewer groups than logs");
        }
        &mut self.found[*place as usize - 1].1
    }

    fn add(&mut self, key: u64, machine: u32, numbers: &Numbers) {
        let found = self.at(key);
        for (sum, number) in found.sums.iter_mut().zip(numbers) {
            *sum += number;
        }
        if found.last != Some(machine) {
            found.last = Some(machine);
            found.sums[NUMBERS.len()] += 1;
        }
    }
}
