//! The logs of a fleet in columns, in memory: what questions are answered from that the roll-ups cannot tell, because they
//! have several dimensions, a flag or a time of day.
//!
//! Pure; `frames.rs` reads it from the database and keeps it in step. A log is one line of the processor's cache: a number for each of
//! its values, by [`Words`]. Logs stand machine by machine, so that a distinct machine is counted by comparing with the
//! machine before, and a machine whose logs changed is replaced alone. A [`Frame`] is cheap to clone and never changes, so
//! all parts of a page count the same moment.

mod count;
mod words;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use super::filter::{Dimension, Filter, Property};
pub use words::{Told, Words};

/// Dimensions whose value is one text of the log itself.
const TEXTS: usize = 11;
/// The slot of [`Dimension::Outcome`].
pub const OUTCOME: usize = 9;
/// The slot of [`Dimension::Cohort`].
pub const COHORT: usize = 10;

/// One log.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As `logs.started_s` has it.
    pub started_s: i64,
    /// By [`Words::situations`], behind [`words::NOT_TOLD`].
    pub situation: u32,
    /// By [`Words::reasons`].
    pub reasons: u32,
    /// By [`Words::verdicts`].
    pub verdict: u32,
    /// By [`Words::texts`], behind [`words::NOT_TOLD`], each where [`slot`] says.
    pub texts: [u32; TEXTS],
}

/// All logs of one moment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// What the numbers stand for.
    pub words: Arc<Words>,
    /// By the numbers of machines.
    pub machines: Arc<Vec<Arc<[Row]>>>,
}

/// Logs of a frame.
#[derive(Debug)]
pub struct Picked {
    frame: Frame,
    /// Machine and place among its logs, in that order.
    rows: Vec<(u32, u32)>,
}

/// Where a dimension stands in [`Row::texts`]; `None` for a log's machine and its reasons.
pub const fn slot(dimension: Dimension) -> Option<usize> {
    Some(match dimension {
        Dimension::Machine | Dimension::Reason => return None,
        Dimension::Day => 0,
        Dimension::Path => 1,
        Dimension::Render => 2,
        Dimension::Scanout => 3,
        Dimension::GpuPair => 4,
        Dimension::Runtime => 5,
        Dimension::Exe => 6,
        Dimension::Split => 7,
        Dimension::Crossing => 8,
        Dimension::Outcome => OUTCOME,
        Dimension::Cohort => COHORT,
    })
}

impl Frame {
    /// How many logs it holds.
    pub fn logs(&self) -> usize {
        self.machines.iter().map(|rows| rows.len()).sum()
    }

    /// Whether a filter asks for nothing but what is in columns.
    pub const fn tells(filter: &Filter) -> bool {
        !filter.asks_for_unknown()
    }

    /// The logs that a filter lets through of which [`Frame::tells`].
    pub fn picked(&self, filter: &Filter) -> Picked {
        let test = Test::of(filter, &self.words);
        let mut rows = Vec::new();
        for (machine, logs) in (0..).zip(self.machines.iter()) {
            if test.machines.as_ref().is_some_and(|machines| !machines.contains(&machine)) {
                continue;
            }
            rows.extend((0..).zip(logs.iter()).filter(|(_, log)| test.passes(log)).map(|(place, _)| (machine, place)));
        }
        Picked { frame: self.clone(), rows }
    }
}

impl Picked {
    /// Each log with the number of its machine.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &Row)> {
        self.rows.iter().map(|(machine, place)| (*machine, &self.frame.machines[*machine as usize][*place as usize]))
    }

    /// The machines that have one of the logs, by their numbers.
    pub fn machines(&self) -> impl Iterator<Item = u32> {
        self.rows.chunk_by(|(one, _), (other, _)| one == other).map(|rows| rows[0].0)
    }

    /// Machine and start of the logs that started last, at most so many and with others that started with the last of them;
    /// `to` is the first moment that is meant, the logs of which do not count.
    pub fn newest(&self, to: Option<i64>, most: usize) -> Vec<(u32, i64)> {
        let mut all: Vec<_> = self.rows().map(|(machine, row)| (machine, row.started_s)).collect();
        all.retain(|(_, started_s)| to.is_none_or(|to| *started_s <= to));
        let of_to = all.iter().filter(|(_, started_s)| Some(*started_s) == to).count();
        let most = most + of_to;
        if all.len() > most {
            let (.., (_, last), _) = all.select_nth_unstable_by_key(most, |(_, started_s)| Reverse(*started_s));
            let last = *last;
            all.retain(|(_, started_s)| *started_s >= last);
        }
        all
    }

    /// What its numbers stand for.
    pub fn words(&self) -> &Words {
        &self.frame.words
    }
}

/// A filter in numbers: of each thing that is asked for, which numbers pass.
struct Test {
    texts: Vec<(usize, Vec<bool>)>,
    machines: Option<HashSet<u32>>,
    reasons: Option<Vec<bool>>,
    verdicts: Option<Vec<bool>>,
    situations: Option<Vec<bool>>,
    from_s: Option<i64>,
    to_s: Option<i64>,
}

impl Test {
    fn of(filter: &Filter, words: &Words) -> Self {
        let mut test = Self {
            texts: Vec::new(),
            machines: None,
            reasons: None,
            verdicts: None,
            situations: None,
            from_s: filter.from.map(super::moment::Moment::start_s),
            to_s: filter.to.map(super::moment::Moment::end_s),
        };
        for (dimension, values) in &filter.values {
            match slot(*dimension) {
                Some(slot) => {
                    let mut passes = vec![false; words.texts[slot].len() + 1];
                    for number in values.iter().filter_map(|value| words.text(slot, value.as_deref())) {
                        passes[number as usize] = true;
                    }
                    test.texts.push((slot, passes));
                }
                None if *dimension == Dimension::Machine => {
                    let ids = values.iter().flatten();
                    test.machines = Some(ids.filter_map(|id| words.machines.number(id.as_str())).collect());
                }
                None => {
                    let has = |token: &u32| {
                        values.iter().flatten().any(|own| words.tokens.number(own.as_str()) == Some(*token))
                    };
                    let passes = |set: &Vec<u32>| set.iter().any(has) || set.is_empty() && values.contains(&None);
                    test.reasons = Some(words.reasons.values().iter().map(passes).collect());
                }
            }
        }
        let flags = [("killed", filter.killed), ("retired", filter.retired)];
        let mut wanted: Vec<_> = flags.iter().filter_map(|(name, flag)| Some((words::place(name), (*flag)?))).collect();
        wanted.extend(filter.property.map(|property| match property {
            Property::InteropCrossing => (words::place("interop_crossing"), true),
            Property::Corrected => (words::place("corrected"), true),
        }));
        if !wanted.is_empty() {
            let passes =
                |numbers: &super::columns::Numbers| wanted.iter().all(|(place, flag)| (numbers[*place] == 1) == *flag);
            test.verdicts = Some(words.verdicts.values().iter().map(passes).collect());
        }
        if !filter.situations.is_empty() {
            let told = words.situations.values().iter().map(|id| filter.situations.contains(id));
            test.situations = Some(std::iter::once(false).chain(told).collect());
        }
        test
    }

    fn passes(&self, log: &Row) -> bool {
        let in_list = |list: &Option<Vec<bool>>, number: u32| list.as_ref().is_none_or(|list| list[number as usize]);
        self.texts.iter().all(|(slot, passes)| passes[log.texts[*slot] as usize])
            && in_list(&self.verdicts, log.verdict)
            && in_list(&self.reasons, log.reasons)
            && in_list(&self.situations, log.situation)
            && self.from_s.is_none_or(|from| log.started_s >= from)
            // A log that tells no day is before no time.
            && self.to_s.is_none_or(|to| log.started_s < to && log.texts[0] != words::NOT_TOLD)
    }
}
