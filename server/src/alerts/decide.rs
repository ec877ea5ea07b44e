//! From what rules found, and what was so before, to what is so now and who is told. Pure: no clock, no database.

use jiff::{SignedDuration, Timestamp};

use super::findings::{Finding, Judgement};
use super::rules::Rule;
use crate::store::{AlertKind, AlertRow};
use crate::text;

/// Subjects of one rule that may be above its limit at a time: who invents builds in his logs fills no mailbox.
pub const MOST_ABOVE: usize = 50;

/// What becomes of one subject.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// The row is so, and this is told of it.
    Keep(AlertRow, Option<AlertKind>),
    /// Nothing is left to remember.
    Forget(AlertRow),
}

/// The steps of a rule, only for what changes. `before` has its rows.
pub fn decide(rule: &Rule, before: &[AlertRow], findings: &[Finding], now: Timestamp) -> Vec<(Step, Option<Finding>)> {
    let mut above = before.iter().filter(|row| row.above).count();
    let mut steps = Vec::new();
    for finding in findings {
        let row = before.iter().find(|row| row.subject == finding.subject);
        let is_above = finding.judgement == Judgement::Above;
        if row.is_none_or(|row| !row.above) && is_above {
            if above >= MOST_ABOVE {
                continue;
            }
            above += 1;
        }
        // A rule that watches everything together has its row from the start; of many subjects those are kept that say something.
        if row.is_some() || is_above || finding.subject.is_none() {
            steps.extend(step(rule, row, Some(finding), now).map(|step| (step, Some(finding.clone()))));
        }
    }
    let is_seen = |row: &AlertRow| findings.iter().any(|finding| finding.subject == row.subject);
    for row in before.iter().filter(|row| !is_seen(row)) {
        steps.extend(step(rule, Some(row), None, now).map(|step| (step, None)));
    }
    steps
}

fn step(rule: &Rule, before: Option<&AlertRow>, finding: Option<&Finding>, now: Timestamp) -> Option<Step> {
    let at = text::timestamp(now);
    let is_above = finding.is_some_and(|finding| finding.judgement == Judgement::Above);
    let mut row = before.cloned().unwrap_or_else(|| AlertRow {
        rule: rule.name.clone(),
        subject: finding.and_then(|finding| finding.subject.clone()),
        since: at.clone(),
        ..AlertRow::default()
    });
    row.counted = finding.map_or(0, |finding| finding.counted);
    row.logs = finding.map_or(0, |finding| finding.logs);
    row.machines = finding.and_then(|finding| finding.machines);
    if row.above != is_above {
        row.above = is_above;
        row.since.clone_from(&at);
    }
    let is_cool = row.alarmed.as_deref().and_then(|time| time.parse::<Timestamp>().ok()).is_none_or(|alarmed| {
        // A clock that was set back must not keep everybody waiting.
        let passed = now.duration_since(alarmed);
        passed >= rule.cool_down || passed < SignedDuration::ZERO
    });
    let kind = match (is_above, row.told) {
        (true, told) if is_cool => {
            row.told = true;
            row.alarmed = Some(at);
            Some(if told { AlertKind::Reminder } else { AlertKind::Alarm })
        }
        (false, true) => {
            row.told = false;
            Some(AlertKind::Resolved)
        }
        _ => None,
    };
    if kind.is_none() && finding.is_none() && is_cool && !row.above {
        return Some(Step::Forget(row));
    }
    if kind.is_none() && before == Some(&row) { None } else { Some(Step::Keep(row, kind)) }
}
