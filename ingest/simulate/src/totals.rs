//! The totals of a fleet, added up from the truth of its logs: what `summary` of a server must answer for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wire::{Crossing, Split};

use crate::truth::Truth;

/// Totals of a fleet, or of a part of it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// [`wire::TOTALS_SCHEMA`].
    pub schema: String,
    /// Size of all logs.
    pub bytes: u64,
    /// All logs.
    pub total: Count,
    /// By path.
    pub path: BTreeMap<String, Count>,
    /// By version of the runtime, as the logs tell it; those that tell none are left out.
    pub runtime: BTreeMap<String, Count>,
    /// By reason token; a log with two counts in both.
    pub reason: BTreeMap<String, Count>,
    /// By kind of machine.
    pub kind: BTreeMap<String, Count>,
    /// Logs with at least one of each finding.
    pub findings: BTreeMap<String, u64>,
    /// Logs with each kind of damage.
    pub mutations: BTreeMap<String, u64>,
}

/// Logs and what became of them (contract section 4, `summary`).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Count {
    /// Logs.
    pub logs: u64,
    /// Distinct machines.
    pub machines: u64,
    /// By the verdict's `split`.
    pub split: BySplit,
    /// By its `crossing`.
    pub crossing: ByCrossing,
    /// Interop crosses.
    pub interop_crossing: u64,
    /// A setting switched the split off.
    pub killed: u64,
    /// Taken back.
    pub retired: u64,
    /// The placement line is not the last word.
    pub corrected: u64,
}

/// Logs by `split`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BySplit {
    /// The split ran.
    pub engaged: u64,
    /// It did not.
    pub off: u64,
    /// Nobody can tell.
    pub unknown: u64,
}

/// Logs by `crossing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ByCrossing {
    /// Nothing crosses.
    pub none: u64,
    /// An atlas a frame.
    pub atlas_per_frame: u64,
    /// Every present.
    pub every_present: u64,
    /// Nobody can tell.
    pub unknown: u64,
}

impl Totals {
    /// Nothing so far.
    pub fn new() -> Self {
        Self { schema: wire::TOTALS_SCHEMA.to_owned(), ..Self::default() }
    }

    /// Adds all logs of one machine.
    pub fn add_machine(&mut self, logs: &[Truth]) {
        let mut own = Self::default();
        for truth in logs {
            own.add_own(truth);
        }
        self.merge(own);
    }

    /// Adds a log to the totals of its machine, which counts once in each group that one of its logs is in.
    pub fn add_own(&mut self, truth: &Truth) {
        self.bytes += truth.bytes;
        self.total.add(truth);
        self.path.entry(truth.path.as_str().to_owned()).or_default().add(truth);
        self.kind.entry(truth.cohort.kind.clone()).or_default().add(truth);
        if let Some(version) = &truth.version {
            self.runtime.entry(version.clone()).or_default().add(truth);
        }
        let mut tokens: Vec<_> = truth.verdict.reasons.iter().map(wire::Reason::as_str).collect();
        tokens.sort_unstable();
        tokens.dedup();
        for token in tokens {
            self.reason.entry(token.to_owned()).or_default().add(truth);
        }
        let mut codes: Vec<_> = truth.findings.iter().map(|due| due.code.as_ref()).collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            *self.findings.entry(code.to_owned()).or_default() += 1;
        }
        if let Some(mutation) = &truth.mutation {
            *self.mutations.entry(mutation.clone().into_owned()).or_default() += 1;
        }
    }

    /// Adds the totals of another machine: in every group that it is in, one more.
    pub fn merge(&mut self, own: Self) {
        self.bytes += own.bytes;
        self.total.merge(&own.total);
        let groups = [
            (&mut self.path, own.path),
            (&mut self.runtime, own.runtime),
            (&mut self.reason, own.reason),
            (&mut self.kind, own.kind),
        ];
        for (all, part) in groups {
            for (key, count) in part {
                all.entry(key).or_default().merge(&count);
            }
        }
        for (all, part) in [(&mut self.findings, own.findings), (&mut self.mutations, own.mutations)] {
            for (key, count) in part {
                *all.entry(key).or_default() += count;
            }
        }
    }
}

impl Count {
    fn add(&mut self, truth: &Truth) {
        let verdict = &truth.verdict;
        self.logs += 1;
        self.machines = 1;
        *match verdict.split {
            Split::Engaged => &mut self.split.engaged,
            Split::Off => &mut self.split.off,
            Split::Unknown => &mut self.split.unknown,
        } += 1;
        *match verdict.crossing {
            Crossing::None => &mut self.crossing.none,
            Crossing::AtlasPerFrame => &mut self.crossing.atlas_per_frame,
            Crossing::EveryPresent => &mut self.crossing.every_present,
            Crossing::Unknown => &mut self.crossing.unknown,
        } += 1;
        self.interop_crossing += u64::from(verdict.interop_crossing);
        self.killed += u64::from(verdict.killed);
        self.retired += u64::from(verdict.retired);
        self.corrected += u64::from(verdict.basis == wire::Basis::Corrected);
    }

    const fn merge(&mut self, own: &Self) {
        self.logs += own.logs;
        self.machines += own.machines;
        self.split.engaged += own.split.engaged;
        self.split.off += own.split.off;
        self.split.unknown += own.split.unknown;
        self.crossing.none += own.crossing.none;
        self.crossing.atlas_per_frame += own.crossing.atlas_per_frame;
        self.crossing.every_present += own.crossing.every_present;
        self.crossing.unknown += own.crossing.unknown;
        self.interop_crossing += own.interop_crossing;
        self.killed += own.killed;
        self.retired += own.retired;
        self.corrected += own.corrected;
    }
}
