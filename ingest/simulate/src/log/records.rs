//! Records of ours as a log takes them: what each means for the findings that are due, and what the session is about.

use wire::Adapter;

use super::{Ended, Log};
use crate::writer::Record;

impl Log<'_> {
    /// A finding is due at this line; of several with one subject the first counts.
    pub(crate) fn note(&mut self, code: &'static str, subject: &str, line: u64) {
        let first = self.due.entry((code, subject.to_owned())).or_insert(Some(line));
        *first = (*first).min(Some(line));
    }

    pub(super) fn note_log(&mut self, code: &'static str) {
        self.due.insert((code, String::new()), None);
    }

    /// Writes a record of ours, and notes what its loss would mean.
    pub(crate) fn put(&mut self, record: Record) -> u64 {
        const ENGAGING: [&str; 8] = [
            "s11.adr039",
            "s11.active",
            "ssv.active",
            "s12.active",
            "s12.adr039",
            "s12.reroute_active",
            "svk.adr039",
            "svk.active",
        ];
        const TAKING_BACK: [&str; 5] = ["s11.disabled", "ssv.disabled", "s12.disabled", "s12.retired", "svk.retired"];
        let shape = record.shape();
        let lost = record.is_unprintable();
        let line = self.w.put(record);
        if lost {
            let placement = shape.starts_with("wp.g2");
            self.evidence.lost |= placement;
            self.note("empty_body", if placement { "weave placement:" } else { "" }, line);
        } else if ENGAGING.contains(&shape) {
            self.evidence.engaging = Some(line);
            self.evidence.ran = true;
        }
        if TAKING_BACK.contains(&shape) || shape == "svk.disabled" || shape == "wp.changed" {
            self.evidence.engaging = None;
            self.evidence.bridging = None;
            self.evidence.ran &= matches!(shape, "s12.retired" | "svk.retired" | "wp.changed");
        }
        line
    }

    /// An adapter as verdicts name it.
    pub(crate) fn adapter(&self, at: usize) -> Option<Adapter> {
        let own = self.adapters.get(at)?;
        Some(Adapter { name: own.name.clone(), luid: own.luid? })
    }

    /// A name among those that this session prints cannot be printed.
    pub(crate) fn is_unprintable(&self) -> bool {
        let beyond =
            |at: usize| self.adapters.get(at).is_some_and(|own| own.name.chars().any(|letter| letter > '\u{ff}'));
        beyond(self.render) || self.scanout.is_some_and(beyond)
    }

    /// The build prints `(#1000)` records (v2.7.0).
    pub(crate) fn has_issue_1000(&self) -> bool {
        let mut numbers = self.build.version.split('.').map(|number| number.parse().unwrap_or(0_u32));
        (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) >= (2, 7)
    }

    /// The placement line says another scanout adapter than the resolver before it.
    pub(crate) fn contradicts(&mut self, ended: Ended) -> Ended {
        self.mismatch = ended.line;
        ended
    }
}
