//! What a log's row says beside its verdict: columns that copy it, and what the log tells of its PC; and under which keys a
//! log counts.
//!
//! Pure. A log counts once for all logs and once for each value of each dimension; the spellings are those of
//! `migrations/0005_rollups.sql`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use sqlx::Row;
use sqlx::any::AnyRow;
use wire::ScanReport;

use super::{Dimension, learned};
use crate::text;

/// The default of `logs.started_s`: sorts behind every real start.
pub const NO_START_S: i64 = -1_000_000_000_000;

/// The columns of `rollups` that hold numbers, in the order of [`Numbers`]; `machines` stands behind them.
pub const NUMBERS: [&str; 18] = [
    "logs",
    "split_engaged",
    "split_off",
    "split_unknown",
    "crossing_none",
    "crossing_atlas_per_frame",
    "crossing_every_present",
    "crossing_unknown",
    "interop_crossing",
    "killed",
    "retired",
    "corrected",
    "outcome_engaged",
    "outcome_local",
    "outcome_crossing",
    "outcome_killed",
    "outcome_taken_back",
    "outcome_unknown",
];

/// One number for each of [`NUMBERS`].
pub type Numbers = [i64; NUMBERS.len()];

/// Dimension and value as `rollups` spells them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The dimension's word, `''` for all logs.
    pub dimension: &'static str,
    /// See [`spelled`].
    pub value: String,
}

/// The columns of a log that copy its verdict and what it tells of its PC, by their names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    pub started_s: i64,
    pub day: Option<String>,
    pub exe: Option<String>,
    pub runtime: Option<String>,
    pub path: String,
    pub split: String,
    pub crossing: String,
    pub interop_crossing: i64,
    pub killed: i64,
    pub retired: i64,
    pub basis: String,
    pub outcome: String,
    pub render: Option<String>,
    pub scanout: Option<String>,
    pub gpu_pair: Option<String>,
    pub topology: Option<i64>,
    pub cohort: Option<String>,
    pub situation: Option<i64>,
    pub settings: Option<String>,
    /// The rows of `log_reasons`.
    pub tokens: BTreeSet<String>,
}

/// How a log counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Local day of the start.
    pub day: Option<Date>,
    /// Each of them counts the log once.
    pub keys: BTreeSet<Key>,
    /// 1 where the log has the property.
    pub numbers: Numbers,
}

impl Columns {
    /// What [`Columns::read`] wants to find in a row of the logs `l`.
    pub const SELECTED: &str = "l.started_s, l.day, l.exe, l.runtime, l.path, l.split, l.crossing, l.interop_crossing, \
                                l.killed, l.retired, l.basis, l.outcome, l.render, l.scanout, l.gpu_pair, \
                                l.topology, l.cohort, l.situation, l.settings";

    /// Of a verdict, and what the log tells.
    pub fn of(report: &ScanReport, told: &learned::Facts) -> Self {
        let verdict = &report.verdict;
        let started = report.process.as_ref().and_then(|process| process.started.as_deref()).and_then(text::local_time);
        let name = |adapter: &Option<wire::Adapter>| adapter.as_ref().map(|adapter| text::for_column(&adapter.name));
        let (render, scanout) = (name(&verdict.render), name(&verdict.scanout));
        let runtime = report.runtime.version.as_ref().or(report.runtime.build.as_ref());
        Self {
            started_s: started.map_or(NO_START_S, text::seconds),
            day: started.map(|time| time.date().to_string()),
            exe: report.process.as_ref().map(|process| text::for_column(&process.exe)),
            runtime: runtime.map(|text| text::for_column(text)),
            path: report.path.as_str().to_owned(),
            split: verdict.split.as_str().to_owned(),
            crossing: verdict.crossing.as_str().to_owned(),
            interop_crossing: i64::from(verdict.interop_crossing),
            killed: i64::from(verdict.killed),
            retired: i64::from(verdict.retired),
            basis: verdict.basis.as_str().to_owned(),
            outcome: wire::Outcome::of(verdict).as_str().to_owned(),
            gpu_pair: render.as_ref().zip(scanout.as_ref()).map(|(render, scanout)| format!("{render} → {scanout}")),
            render,
            scanout,
            topology: Some(told.topology.0),
            cohort: told.cohort.as_ref().map(|cohort| cohort.id.clone()),
            situation: Some(told.situation.0),
            settings: told.settings.clone(),
            // A hostile record can hold thousands of tokens, and the same one again.
            tokens: verdict.reasons.iter().map(|reason| text::for_column(reason.as_str())).collect(),
        }
    }

    /// Of a stored row.
    pub fn read(row: &AnyRow, tokens: BTreeSet<String>) -> sqlx::Result<Self> {
        Ok(Self {
            started_s: row.try_get("started_s")?,
            day: row.try_get("day")?,
            exe: row.try_get("exe")?,
            runtime: row.try_get("runtime")?,
            path: row.try_get("path")?,
            split: row.try_get("split")?,
            crossing: row.try_get("crossing")?,
            interop_crossing: row.try_get("interop_crossing")?,
            killed: row.try_get("killed")?,
            retired: row.try_get("retired")?,
            basis: row.try_get("basis")?,
            outcome: row.try_get("outcome")?,
            render: row.try_get("render")?,
            scanout: row.try_get("scanout")?,
            gpu_pair: row.try_get("gpu_pair")?,
            topology: row.try_get("topology")?,
            cohort: row.try_get("cohort")?,
            situation: row.try_get("situation")?,
            settings: row.try_get("settings")?,
            tokens,
        })
    }

    /// How a log of this machine counts.
    pub fn counted(&self, machine: &str) -> Counted {
        let mut keys = BTreeSet::from([Key { dimension: "", value: spelled(None) }]);
        for dimension in Dimension::ALL {
            let value = match dimension {
                // A column of the roll-ups, not a key.
                Dimension::Day => continue,
                Dimension::Reason => {
                    let tokens = self.tokens.iter().map(|token| Key::of(dimension, Some(token)));
                    keys.extend(tokens);
                    if self.tokens.is_empty() {
                        keys.insert(Key::of(dimension, None));
                    }
                    continue;
                }
                Dimension::Machine => Some(machine),
                Dimension::Path => Some(self.path.as_str()),
                Dimension::Split => Some(self.split.as_str()),
                Dimension::Crossing => Some(self.crossing.as_str()),
                Dimension::Outcome => Some(self.outcome.as_str()),
                Dimension::Render => self.render.as_deref(),
                Dimension::Scanout => self.scanout.as_deref(),
                Dimension::GpuPair => self.gpu_pair.as_deref(),
                Dimension::Runtime => self.runtime.as_deref(),
                Dimension::Exe => self.exe.as_deref(),
                Dimension::Cohort => self.cohort.as_deref(),
            };
            keys.insert(Key::of(dimension, value));
        }
        let verdict = Verdict {
            split: &self.split,
            crossing: &self.crossing,
            outcome: &self.outcome,
            interop_crossing: self.interop_crossing,
            killed: self.killed,
            retired: self.retired,
            basis: &self.basis,
        };
        Counted { day: self.day.as_deref().and_then(|day| day.parse().ok()), keys, numbers: numbers(&verdict) }
    }

    /// Names and contents, for comparing: a person reads them.
    pub fn cells(&self) -> BTreeMap<&'static str, Option<String>> {
        let some = |text: &str| Some(text.to_owned());
        let id = |id: Option<i64>| id.map(|id| id.to_string());
        BTreeMap::from([
            ("started_s", Some(self.started_s.to_string())),
            ("day", self.day.clone()),
            ("exe", self.exe.clone()),
            ("runtime", self.runtime.clone()),
            ("path", some(&self.path)),
            ("split", some(&self.split)),
            ("crossing", some(&self.crossing)),
            ("interop_crossing", Some(self.interop_crossing.to_string())),
            ("killed", Some(self.killed.to_string())),
            ("retired", Some(self.retired.to_string())),
            ("basis", some(&self.basis)),
            ("outcome", some(&self.outcome)),
            ("render", self.render.clone()),
            ("scanout", self.scanout.clone()),
            ("gpu_pair", self.gpu_pair.clone()),
            ("topology", id(self.topology)),
            ("cohort", self.cohort.clone()),
            ("situation", id(self.situation)),
            ("settings", self.settings.clone()),
            ("reasons", Some(self.tokens.iter().cloned().collect::<Vec<_>>().join(","))),
        ])
    }
}

impl Key {
    fn of(dimension: Dimension, value: Option<&str>) -> Self {
        Self { dimension: dimension.as_str(), value: spelled(value) }
    }
}

/// The columns of a log by which it counts.
pub struct Verdict<'a> {
    pub split: &'a str,
    pub crossing: &'a str,
    pub outcome: &'a str,
    pub interop_crossing: i64,
    pub killed: i64,
    pub retired: i64,
    pub basis: &'a str,
}

/// 1 for each of [`NUMBERS`] that counts the log.
pub fn numbers(verdict: &Verdict<'_>) -> Numbers {
    let split = |word| i64::from(verdict.split == word);
    let crossing = |word| i64::from(verdict.crossing == word);
    let outcome = |word| i64::from(verdict.outcome == word);
    [
        1,
        split("engaged"),
        split("off"),
        split("unknown"),
        crossing("none"),
        crossing("atlas_per_frame"),
        crossing("every_present"),
        crossing("unknown"),
        i64::from(verdict.interop_crossing == 1),
        i64::from(verdict.killed == 1),
        i64::from(verdict.retired == 1),
        i64::from(verdict.basis == "corrected"),
        outcome("engaged"),
        outcome("local"),
        outcome("crossing"),
        outcome("killed"),
        outcome("taken_back"),
        outcome("unknown"),
    ]
}

/// A value as `rollups` spells it, so that no real one reads as not told.
pub fn spelled(value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!("={value}"))
}

/// The way back.
pub fn read(spelled: &str) -> Option<String> {
    spelled.strip_prefix('=').map(str::to_owned)
}
