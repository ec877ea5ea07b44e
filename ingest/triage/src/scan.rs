//! One log to its scan object (contract section 3).

use std::io::{self, Read};

use resolver::Examiner;
use wire::ScanReport;

use crate::reading;

/// Reads one log and says what it tells; `buffer` is only working space. An error means that the report ends where
/// reading did.
pub fn report(contents: &mut dyn Read, name: String, buffer: &mut [u8]) -> (ScanReport, Option<io::Error>) {
    let mut examiner = Examiner::new();
    let reading =
        reading::read(contents, reading::base_name(&name), buffer, &mut |observation| examiner.push(&observation));
    let judgement = examiner.finish(&reading.facts).judgement;
    let facts = reading.facts;
    (ScanReport::new(name, facts.process, facts.end, facts.counts, judgement), reading.error)
}
