//! What holds in every world, however it is wired and set.
//!
//! Nothing here asks the resolver: the laws are stated on the machine and the answer, and the line is read back by the
//! program's own parser.

use std::collections::HashMap;

use parser::LogReader;
use wire::{Crossing, Kind, Luid, Machine, Observation, Path, Placement, Policy, Reason, Replay, Split};

/// What a line says when it is read.
type Read = (bool, Vec<Reason>, Option<Luid>, Option<Luid>);

/// The laws, with the lines that were read before: there are few of them.
#[derive(Default)]
pub struct Laws {
    read: HashMap<String, Read>,
}

impl Laws {
    /// Panics with the world on the first law that does not hold.
    pub fn check(&mut self, machine: &Machine, answer: &Replay) {
        let fail = |law: &str| -> ! { panic!("{law}\n{machine:#?}\n{answer:#?}") };
        if answer.split == Split::Engaged
            && answer.policy == Policy::Document
            && answer.crossing != Crossing::AtlasPerFrame
        {
            fail("`engaged` implies different adapters under `document`");
        }
        if (answer.split == Split::Off) != answer.reason.is_some() {
            fail("exactly a split that is off has a reason");
        }
        if answer.retired && (answer.path != Path::D3d12 || answer.split != Split::Off) {
            fail("only D3D12 retires, and then the split is off");
        }
        if (answer.path == Path::OpenGl) && (answer.split != Split::Off || answer.interop.is_none()) {
            fail("OpenGL never splits");
        }
        let refused = answer.overrides.iter().filter(|own| own.honoured == Some(false)).count();
        if refused != answer.warnings.len() {
            fail("every override that is not followed is one warning, and nothing else is");
        }
        if answer.missing.is_empty() == (answer.split == Split::Unknown) {
            fail("with every fact told, only a device that nobody knows leaves a split unknown");
        }
        if let Some(luid) = forced(machine, answer)
            && answer.render.as_ref().and_then(|render| render.luid) != Some(luid)
        {
            fail("a forced and honoured D3D override is what renders");
        }
        match &answer.line {
            None if answer.split == Split::Unknown => {}
            None => fail("a decided session has a line"),
            Some(line) => {
                if self.read(line) != expected(answer) {
                    fail("the line parses back to what the masking rules give");
                }
            }
        }
    }

    fn read(&mut self, line: &str) -> Read {
        if let Some(read) = self.read.get(line) {
            return read.clone();
        }
        let read = parse(line);
        self.read.insert(line.to_owned(), read.clone());
        read
    }
}

/// Where the accepted D3D override puts the session, on the paths that follow it.
fn forced(machine: &Machine, answer: &Replay) -> Option<Luid> {
    let follows = matches!(answer.path, Path::D3d11 | Path::D3d12 | Path::Service);
    let own = answer.overrides.iter().find(|own| own.name == "DXR_D3D_FORCE_GPU" && own.honoured == Some(true))?;
    if !follows || machine.session.device_luid.is_some() {
        return None;
    }
    let usable = |own: &&wire::MachineAdapter| {
        own.software == Some(false) && own.remote == Some(false) && own.feature_level.as_deref() != Some("10_1")
    };
    let usable = || machine.adapters.iter().filter(usable);
    let memory = |own: &&wire::MachineAdapter| own.dedicated_vram_mib.expect("every world tells it");
    let found = match own.value.as_str() {
        "scanout" => return Some(answer.scanout.as_ref().expect("it was honoured").luid.expect("worlds tell LUIDs")),
        // Of equals the first: `min_by_key` gives the first, `max_by_key` the last.
        "igpu" | "integrated" => usable().min_by_key(memory),
        "dgpu" | "discrete" => usable().rev().max_by_key(memory),
        number => machine
            .adapters
            .get(number.parse::<usize>().expect("only numbers are left"))
            .filter(|own| usable().any(|other| other == *own)),
    };
    Some(found.expect("it was honoured").luid.expect("worlds tell LUIDs"))
}

/// Scanout unresolved before render unknown before equal adapters before the split before the reason.
fn expected(answer: &Replay) -> Read {
    let reasons = |words: &str| Reason::list(words);
    let own = answer.reason.as_deref().unwrap_or("unknown");
    if answer.retired || own == "presenter_ineligible,weave_on_ingest" {
        return (false, reasons(own), None, None);
    }
    let render = answer.render.as_ref().and_then(|render| render.luid);
    let scanout = answer.scanout.as_ref().and_then(|scanout| scanout.luid);
    let (split, words) = match (render, scanout) {
        (_, None) => (false, reasons("scanout_unresolvable")),
        (None, Some(_)) => (false, reasons(own)),
        (Some(render), Some(scanout)) if render == scanout => (false, reasons("same_adapter")),
        _ if answer.split == Split::Engaged => (true, Vec::new()),
        _ => (false, reasons(own)),
    };
    (split, words, render, scanout)
}

/// The line as a record of a log, read by the parser.
fn parse(line: &str) -> Read {
    let function =
        if line.starts_with("[pipeline]") { "init_client_render_resources" } else { "d3d_log_weave_placement" };
    let function = if line.contains("CHANGED") { "d3d12_split_retire" } else { function };
    let log = format!(
        "=== DisplayXR Log Started ===\nLog file: x\nProcess: a.exe (PID 1)\nTimestamp: 2026-09-14 12:00:00\n\
         ============================\n\n[2026-09-14 12:00:01.370] [WARN ] [{function}] {line}\n"
    );
    let mut events = Vec::new();
    let mut reader = LogReader::new();
    let mut keep = |observation: Observation| events.push(observation);
    reader.feed(log.as_bytes(), &mut keep);
    reader.finish(&mut keep);
    let [Observation::Event(event)] = events.as_slice() else { panic!("one record: {line}\n{events:?}") };
    assert!(event.spelling.is_empty(), "not the runtime's own spelling: {line}");
    if event.kind == Kind::Presenter {
        return (false, event.fields.reasons("reasons").expect("a presenter's reasons").to_vec(), None, None);
    }
    let placement = Placement::from_event(event).unwrap_or_else(|| panic!("a placement: {line}"));
    let luid = |adapter: Option<wire::Adapter>| adapter.map(|adapter| adapter.luid);
    (placement.split == Split::Engaged, placement.reasons, luid(placement.render), luid(placement.scanout))
}
