//! Batches made by hand, piece by piece of a log: what an agent would send, without an agent's pace.

use wire::{
    BATCH_SCHEMA, Batch, Event, Fields, Kind, Level, LogFacts, Luid, Observation, Process, Reason, Segment, Value,
};

/// Bytes of a piece.
const PIECE_BYTES: u64 = 600;

/// One batch of `machine`: of its log `log` the piece `piece`, which holds one placement record. The last piece decides.
pub fn piece(machine: u32, log: u32, piece: u64, engaged: bool) -> Batch {
    let start = piece * PIECE_BYTES;
    let process = Process { exe: "Viewer.exe".to_owned(), pid: log, started: Some("2026-09-14T12:00:00".to_owned()) };
    let mut facts = LogFacts { process: Some(process), ..LogFacts::default() };
    let pieces = piece + 1;
    let counts = &mut facts.counts;
    (counts.bytes, counts.lines, counts.records, counts.events) = (pieces * PIECE_BYTES, pieces * 7, pieces, pieces);
    let segment = Segment {
        log: format!("{log:032x}"),
        file: format!("DisplayXR_Viewer.exe.{log}_2026-09-14_12-00-00.log"),
        start,
        end: start + PIECE_BYTES,
        facts,
        observations: vec![Observation::Event(placement(start + 280, pieces * 7, engaged))],
        ..Segment::default()
    };
    Batch {
        schema: BATCH_SCHEMA.to_owned(),
        machine: format!("{machine:032x}"),
        agent: "test".to_owned(),
        segments: vec![segment],
        ..Batch::default()
    }
}

/// What a full placement record says: engaged, or killed by a setting.
pub fn placement_fields(engaged: bool) -> Fields {
    let mut fields = Fields::new();
    fields.push("render.name", Value::Text("NVIDIA GeForce RTX 4080 Laptop GPU".to_owned()));
    fields.push("render.luid", Value::Luid(Luid(0x15f3a)));
    fields.push("scanout.name", Value::Text("Intel(R) Iris(R) Xe Graphics".to_owned()));
    fields.push("scanout.luid", Value::Luid(Luid(0x13c07)));
    let reasons = if engaged { Vec::new() } else { vec![Reason::new("killed_by_env")] };
    fields.push("reasons", Value::Reasons(reasons));
    fields.push("split", Value::Uint(u64::from(engaged)));
    fields.push("generation", Value::Uint(2));
    fields
}

fn placement(offset: u64, line: u64, engaged: bool) -> Event {
    Event {
        offset,
        line,
        time: Some("2026-09-14 12:00:01.370".to_owned()),
        level: Level::Warn,
        function: Some("d3d_log_weave_placement".to_owned()),
        shape: if engaged { "wp.g2.on_scanout".into() } else { "wp.g2.on_render".into() },
        kind: Kind::Placement,
        hint: None,
        fields: placement_fields(engaged),
        spelling: Vec::new(),
    }
}
