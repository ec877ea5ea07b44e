//! Two kinds of silence: no placement line, and no footer. Why a line is missing is told from the evidence at hand
//! (contract section 3); "seen nowhere" is not the same as "did not happen".

use wire::{End, Event, Flaw, FlawKind, InputKind, Kind, Level, LogFacts, Path};

use super::code::Code;
use super::findings::Findings;
use super::generation::BuildMarks;

/// What may explain a missing placement line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Silence {
    events: u64,
    warnings: u64,
    empty_bodies: u64,
    service_mode: bool,
}

impl Silence {
    /// Takes the next event.
    pub(crate) fn event(&mut self, event: &Event) {
        self.events += 1;
        self.warnings += u64::from(event.level == Level::Warn);
        self.service_mode |= event.kind == Kind::ServiceMode;
    }

    /// Takes the next flaw.
    pub(crate) fn flaw(&mut self, flaw: &Flaw) {
        self.empty_bodies += u64::from(flaw.kind == FlawKind::EmptyBody);
    }
}

/// Adds `no_placement` and `no_footer` where they apply. Output of `displayxr-cli` has neither by nature.
pub(crate) fn note(silence: &Silence, build: &BuildMarks, path: Path, facts: &LogFacts, findings: &mut Findings) {
    if facts.input == InputKind::Cli {
        return;
    }
    if !build.placement_seen() {
        findings
            .note(Code::NoPlacement, None, "", || format!("No placement line: {}", why(silence, build, path, facts)));
    }
    if facts.end == End::Missing {
        findings.note(Code::NoFooter, None, "", || match facts.input {
            InputKind::Log => {
                "The log does not end with its footer: the process crashed, was ended, or still runs.".to_owned()
            }
            InputKind::Bare => "There is no footer, time or process, as it is a pasted line and no log.".to_owned(),
            _ => "There is no footer, as a capture of the runtime's output has none.".to_owned(),
        });
    }
}

/// The likeliest reason first.
fn why(silence: &Silence, build: &BuildMarks, path: Path, facts: &LogFacts) -> String {
    let records = facts.counts.records;
    if path == Path::IpcClient || silence.service_mode {
        return "the app renders through the service, whose log carries the line.".to_owned();
    }
    if silence.empty_bodies > 0 {
        let count = silence.empty_bodies;
        return format!(
            "{count} of {records} records lost their text to a name that could not be printed; it may be among them."
        );
    }
    if build.predates_placement() {
        let version = build.version().map(|version| format!(" ({version})")).unwrap_or_default();
        return format!("the build{version} is older than the line, which came after v2.8.0.");
    }
    if records == 0 {
        return "the log holds no records at all.".to_owned();
    }
    if silence.warnings == 0 {
        return format!(
            "none of the {} records that are understood has the level WARN; XRT_LOG=error would hide the line.",
            silence.events
        );
    }
    if facts.end == End::Missing {
        return format!("the log stops after {records} records, perhaps before a session began.");
    }
    format!("{records} records and none says that a session began.")
}
