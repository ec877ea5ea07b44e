//! Collecting findings: one for each code and subject, at the first line where it occurs, with the number of times.
//!
//! A log can repeat a record a million times and invent a new token in each, so subjects are counted and capped.
//! Which record or verdict is worth a finding stands in `records` and `verdicts`.

mod records;
mod verdicts;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use wire::{Finding, Reason};

use super::code::Code;

/// Distinct subjects of one code that are told one by one; more of them are a sign of damage, not of more news.
const SUBJECTS_PER_CODE: usize = 24;

/// Characters of a printed value that a message shows.
const QUOTED_CHARS: usize = 80;

/// What was found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    seen: BTreeMap<(Code, String), Seen>,
    subjects: BTreeMap<Code, usize>,
}

#[derive(Clone, Debug)]
struct Seen {
    line: Option<u64>,
    message: String,
    times: u64,
}

impl Findings {
    /// Adds a finding. Findings of one code and subject become one, which keeps the lowest line and its message.
    pub(crate) fn note(&mut self, code: Code, line: Option<u64>, subject: &str, message: impl FnOnce() -> String) {
        let key = (code, clip(subject));
        if self.seen.contains_key(&key) {
            return self.merge(key, line, message);
        }
        let subjects = self.subjects.entry(code).or_default();
        if *subjects < SUBJECTS_PER_CODE {
            *subjects += 1;
            return self.merge(key, line, message);
        }
        let code = code.as_str();
        self.merge((Code::EvidenceOmitted, code.to_owned()), line, || {
            format!("More than {SUBJECTS_PER_CODE} different {code} findings; the others are left out.")
        });
    }

    /// By line; those without a line last; on one line in the order of the table.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let mut findings: Vec<_> = self.seen.into_iter().collect();
        findings.sort_by_key(|((code, _), seen)| (seen.line.is_none(), seen.line, *code));
        findings
            .into_iter()
            .map(|((code, _), seen)| Finding {
                code: code.as_str().to_owned(),
                severity: code.severity(),
                line: seen.line,
                message: match seen.times {
                    1 => seen.message,
                    times => format!("{} Seen {times} times.", seen.message),
                },
            })
            .collect()
    }

    fn merge(&mut self, key: (Code, String), line: Option<u64>, message: impl FnOnce() -> String) {
        match self.seen.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(Seen { line, message: message(), times: 1 });
            }
            Entry::Occupied(entry) => {
                let seen = entry.into_mut();
                seen.times += 1;
                if line < seen.line {
                    seen.line = line;
                    seen.message = message();
                }
            }
        }
    }
}

/// A printed value for a message: short, and without control characters. Whoever shows it still escapes it.
fn quote(value: &str) -> String {
    let mut quoted = String::new();
    for (index, character) in value.chars().enumerate() {
        if index == QUOTED_CHARS {
            quoted.push('…');
            break;
        }
        if character.is_control() {
            quoted.extend(character.escape_unicode());
        } else {
            quoted.push(character);
        }
    }
    quoted
}

/// ` (reason a,b)`, or nothing.
fn because(reasons: &[Reason]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let words: Vec<_> = reasons.iter().take(4).map(|reason| quote(reason.as_str())).collect();
    format!(" (reason {})", words.join(","))
}

/// A subject is a key, so two that differ only far behind count as one.
fn clip(subject: &str) -> String {
    subject.chars().take(4 * QUOTED_CHARS).collect()
}
