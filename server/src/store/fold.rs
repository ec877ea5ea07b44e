//! What the records of a log come to so far, kept in memory, so that a log that grows is not folded from its first record
//! with every new one.
//!
//! The last record is held back: an agent sends it again with the next range, because it may have grown. The memory is a
//! shortcut only. Whoever finds nothing in it, or something of another revision of the log, folds what is stored.

use std::sync::{Mutex, PoisonError};

use resolver::cost::{Measure, MeasureFold};
use resolver::{Examination, Examiner};
use wire::{LogFacts, Observation};

use super::bodies::offset;
use super::drift::Drift;
use crate::lately::Lately;

/// Logs that are remembered; each open log of a fleet of some hundred machines.
const LOGS: usize = 4_096;
/// What they may take.
const BYTES: usize = 64 << 20;
/// An empty fold.
const EMPTY_BYTES: usize = 4 << 10;

/// The observations of a log, in order, up to some offset.
#[derive(Clone, Default)]
pub struct Fold {
    /// Has seen all but the last record.
    examiner: Examiner,
    /// As well.
    drift: Drift,
    /// As well.
    measure: Box<MeasureFold>,
    /// What is told of the last record.
    last: Vec<Observation>,
    /// How many the examiner has seen.
    seen: i64,
}

/// The folds of logs that may grow, the newest used last.
pub struct Folds(Mutex<Lately<String, Held>>);

impl Default for Folds {
    fn default() -> Self {
        Self(Mutex::new(Lately::new(LOGS, BYTES)))
    }
}

/// The fold of a log in one of its states.
pub struct Held {
    /// As in `logs`.
    pub revision: i64,
    /// All that is stored of the log then.
    pub fold: Fold,
    /// How long the report is as JSON.
    pub report_bytes: usize,
}

impl Fold {
    /// Takes the next observations, by offset. Those of one record come together.
    pub fn take(&mut self, observations: &[Observation]) {
        let Some(newest) = observations.last().map(Observation::offset) else { return };
        self.push_last();
        let (sure, last) = observations.split_at(observations.partition_point(|one| one.offset() < newest));
        for observation in sure {
            self.push(observation);
        }
        self.seen += number(sure.len());
        self.last = last.to_vec();
    }

    /// Goes on at `start`, from where everything is told anew; false when that lies too far back.
    pub fn rewind(&mut self, start: i64) -> bool {
        match self.last.first().map(offset) {
            Some(last) if start == last => self.last.clear(),
            Some(last) => return start > last,
            None => return self.seen == 0,
        }
        true
    }

    /// How many observations there are.
    pub fn events(&self) -> i64 {
        self.seen + number(self.last.len())
    }

    /// What the log tells when it ends here, the words in it that nobody knows, and what it measured.
    pub fn examine(mut self, facts: &LogFacts) -> (Examination, Drift, Box<Measure>) {
        self.push_last();
        (self.examiner.finish(facts), self.drift, Box::new(self.measure.finish()))
    }

    fn push(&mut self, observation: &Observation) {
        self.examiner.push(observation);
        self.drift.take(observation);
        self.measure.push(observation);
    }

    fn push_last(&mut self) {
        for observation in std::mem::take(&mut self.last) {
            self.push(&observation);
            self.seen += 1;
        }
    }
}

impl Held {
    /// About what it takes: what an examiner remembers is what it will report.
    fn size_bytes(&self) -> usize {
        let last = serde_json::to_vec(&self.fold.last).map_or(0, |json| json.len());
        EMPTY_BYTES + 2 * (self.report_bytes + last) + self.fold.drift.size_bytes()
    }
}

impl Folds {
    /// Takes out the fold of a log, if it is there and of this revision.
    pub fn take(&self, log: &str, revision: i64) -> Option<Fold> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(log).filter(|held| held.revision == revision).map(|held| held.fold)
    }

    /// Remembers the fold of a log.
    pub fn keep(&self, log: String, held: Held) {
        let size_bytes = held.size_bytes();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(log, held, size_bytes);
    }
}

impl std::fmt::Debug for Folds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Folds({} logs, {} bytes)", kept.by_key.len(), kept.size_bytes)
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use wire::{Flaw, FlawKind};

    use super::*;

    fn held(report_bytes: usize) -> Held {
        Held { revision: 7, fold: Fold::default(), report_bytes }
    }

    fn flaw(offset: u64) -> Observation {
        Observation::Flaw(Flaw { offset, line: offset + 1, kind: FlawKind::Spliced, marker: None, hint: None })
    }

    #[test]
    fn a_fold_goes_on_at_its_last_record_or_behind() {
        let mut fold = Fold::default();
        assert!(fold.rewind(0), "nothing is folded yet");
        fold.take(&[flaw(3), flaw(5), flaw(5)]);
        assert_eq!(fold.events(), 3);
        assert!(!fold.clone().rewind(4));
        let (mut again, mut behind) = (fold.clone(), fold);
        assert!(again.rewind(5) && behind.rewind(6));
        again.take(&[flaw(5), flaw(9)]);
        behind.take(&[flaw(9)]);
        assert_eq!((again.events(), behind.events()), (3, 4));
        let found = |fold: Fold| fold.examine(&LogFacts::default()).0.judgement.findings.len();
        assert_eq!((found(again.clone()), found(Fold::default())), (found(behind), 2));
        assert!(again.rewind(9));
        assert!(!again.rewind(9), "the record in front is folded already");
    }

    #[test]
    fn the_folds_that_were_used_last_are_kept() {
        let folds = Folds::default();
        for log in 0..LOGS + 10 {
            folds.keep(log.to_string(), held(100));
        }
        assert!(folds.take("9", 7).is_none());
        assert!(folds.take("10", 6).is_none(), "of another revision");
        assert!(folds.take("10", 7).is_none(), "it was taken out");
        assert!(folds.take("11", 7).is_some());
        folds.keep("large".to_owned(), held(BYTES));
        assert!(folds.take("large", 7).is_none());
        for log in 0..20 {
            folds.keep(format!("large {log}"), held(BYTES / 20));
        }
        assert!(folds.take("large 19", 7).is_some() && folds.take("12", 7).is_none(), "{folds:?}");
    }
}
