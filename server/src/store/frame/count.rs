//! How picked logs are counted: one pass, whatever they are grouped by.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Dimension, Picked, Row, slot};
use crate::store::columns::{NUMBERS, Numbers};
use crate::store::rollups::Sums;
use crate::store::summary::{Group, Totals};

/// Up to so many possible keys have a place each, 4 MiB in all; more are looked up by their key.
const MOST_PLACES: u64 = 1 << 20;

impl Picked {
    /// The groups, in no order; without a dimension the total alone.
    pub fn counts(&self, group_by: &[Dimension]) -> Vec<Group> {
        let mut groups = Groups::new(self.sizes(group_by));
        if group_by.is_empty() {
            groups.at(0);
        }
        for (machine, row) in self.rows() {
            let numbers = &self.words().verdicts.values()[row.verdict as usize];
            self.keys(group_by, machine, row, &mut |key| groups.add(key, machine, numbers));
        }
        let group =
            |(key, found): (u64, Found)| Group { key: self.told(group_by, key), totals: Totals::from(found.sums) };
        groups.found.into_iter().map(group).collect()
    }

    /// How many keys are possible.
    fn sizes(&self, group_by: &[Dimension]) -> u64 {
        group_by.iter().map(|dimension| self.size(*dimension)).fold(1, u64::saturating_mul)
    }

    /// How many values a dimension has, the one for logs that do not tell included.
    fn size(&self, dimension: Dimension) -> u64 {
        let words = self.words();
        let size = match (slot(dimension), dimension) {
            (Some(slot), _) => words.texts[slot].len() + 1,
            (None, Dimension::Machine) => words.machines.len().max(1),
            (None, _) => words.tokens.len() + 1,
        };
        size as u64
    }

    /// Calls with each key that a log has: one, but for logs with several reasons.
    fn keys(&self, group_by: &[Dimension], machine: u32, row: &Row, take: &mut dyn FnMut(u64)) {
        let (mut key, mut reason_step) = (0_u64, None);
        let mut step = 1_u64;
        for dimension in group_by {
            match (slot(*dimension), dimension) {
                (Some(slot), _) => key = key.wrapping_add(step.wrapping_mul(u64::from(row.texts[slot]))),
                (None, Dimension::Machine) => key = key.wrapping_add(step.wrapping_mul(u64::from(machine))),
                (None, _) => reason_step = Some(step),
            }
            step = step.wrapping_mul(self.size(*dimension));
        }
        let Some(step) = reason_step else { return take(key) };
        let set = &self.words().reasons.values()[row.reasons as usize];
        if set.is_empty() {
            take(key);
        }
        for token in set {
            take(key.wrapping_add(step.wrapping_mul(u64::from(*token) + 1)));
        }
    }

    /// The key in words.
    fn told(&self, group_by: &[Dimension], mut key: u64) -> Map<String, Value> {
        let words = self.words();
        let mut told = Map::new();
        for dimension in group_by {
            let size = self.size(*dimension);
            let number = (key % size) as usize;
            key /= size;
            let value = match (slot(*dimension), dimension) {
                (Some(slot), _) => number.checked_sub(1).map(|number| &words.texts[slot].values()[number]),
                (None, Dimension::Machine) => words.machines.values().get(number),
                (None, _) => number.checked_sub(1).map(|number| &words.tokens.values()[number]),
            };
            let value = value.map_or(Value::Null, |value| Value::String(value.to_string()));
            told.insert(dimension.as_str().to_owned(), value);
        }
        told
    }
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
