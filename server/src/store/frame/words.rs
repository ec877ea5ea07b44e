//! The values that logs have, numbered: each is kept once, however many logs have it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::{Row, TEXTS};
use crate::store::columns::{NUMBERS, Numbers};

/// Stands for a text or a situation that is not told; those that are told are numbered from 1.
pub const NOT_TOLD: u32 = 0;

/// Values, numbered from 0.
#[derive(Clone, Debug)]
pub struct Numbered<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

/// All values of a frame.
#[derive(Clone, Debug)]
pub struct Words {
    /// Ids of machines.
    pub machines: Numbered<Arc<str>>,
    /// By slot, behind [`NOT_TOLD`].
    pub texts: [Numbered<Arc<str>>; TEXTS],
    /// Ids of situations, behind [`NOT_TOLD`].
    pub situations: Numbered<i64>,
    /// Reason tokens.
    pub tokens: Numbered<Arc<str>>,
    /// The sets of tokens that logs have, each in the order of the numbers; 0 is the empty one.
    pub reasons: Numbered<Vec<u32>>,
    /// What a log adds to each of [`NUMBERS`].
    pub verdicts: Numbered<Numbers>,
}

/// A log before its values are numbers.
pub struct Told<'a> {
    /// As `logs.started_s` has it.
    pub started_s: i64,
    /// By slot.
    pub texts: [Option<&'a str>; TEXTS],
    /// The id of its situation.
    pub situation: Option<i64>,
    /// What it adds to each of [`NUMBERS`].
    pub numbers: Numbers,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    /// The number of a value that is there.
    pub fn number<Q>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.numbers.get(value).copied()
    }

    /// The number of a value, which is added when it is not there.
    pub fn add<Q>(&mut self, value: &Q) -> u32
    where
        T: Borrow<Q> + for<'a> From<&'a Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.number(value).unwrap_or_else(|| self.push(T::from(value)))
    }

    fn push(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).expect("fewer values than logs, and fewer logs than 4 billion");
        self.values.push(value.clone());
        self.numbers.insert(value, next);
        next
    }

    /// All values, in the order of their numbers.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

impl Default for Words {
    fn default() -> Self {
        let mut reasons = Numbered::default();
        reasons.push(Vec::new());
        Self {
            machines: Numbered::default(),
            texts: std::array::from_fn(|_| Numbered::default()),
            situations: Numbered::default(),
            tokens: Numbered::default(),
            reasons,
            verdicts: Numbered::default(),
        }
    }
}

impl Words {
    /// The number of a text that some log has.
    pub fn text(&self, slot: usize, value: Option<&str>) -> Option<u32> {
        value.map_or(Some(NOT_TOLD), |value| self.texts[slot].number(value).map(|number| number + 1))
    }

    /// A log in numbers, without reasons; `None` when one of its values is new.
    pub fn row(&self, told: &Told<'_>) -> Option<Row> {
        let mut texts = [NOT_TOLD; TEXTS];
        for (slot, (number, text)) in texts.iter_mut().zip(told.texts).enumerate() {
            *number = self.text(slot, text)?;
        }
        let situation = match told.situation {
            Some(id) => self.situations.number(&id)? + 1,
            None => NOT_TOLD,
        };
        let verdict = self.verdicts.number(&told.numbers)?;
        Some(Row { started_s: told.started_s, situation, reasons: 0, verdict, texts })
    }

    /// Takes the values of a log that are new.
    pub fn learn(&mut self, told: &Told<'_>) {
        for (texts, text) in self.texts.iter_mut().zip(told.texts) {
            if let Some(text) = text {
                texts.add(text);
            }
        }
        if let Some(id) = told.situation.filter(|id| self.situations.number(id).is_none()) {
            self.situations.push(id);
        }
        if self.verdicts.number(&told.numbers).is_none() {
            self.verdicts.push(told.numbers);
        }
    }

    /// The set of reasons with one more; `None` when the token or the set is new.
    pub fn with_reason(&self, set: u32, token: &str) -> Option<u32> {
        self.reasons.number(&self.joined(set, self.tokens.number(token)?))
    }

    /// Takes a token, and the set with it.
    pub fn learn_reason(&mut self, set: u32, token: &str) -> u32 {
        let token = self.tokens.add(token);
        let joined = self.joined(set, token);
        self.reasons.number(&joined).unwrap_or_else(|| self.reasons.push(joined))
    }

    fn joined(&self, set: u32, token: u32) -> Vec<u32> {
        let mut tokens = self.reasons.values()[set as usize].clone();
        if let Err(place) = tokens.binary_search(&token) {
            tokens.insert(place, token);
        }
        tokens
    }
}

/// Where a number stands in [`NUMBERS`].
pub fn place(name: &str) -> usize {
    NUMBERS.iter().position(|own| *own == name).expect("a name of the list")
}
