//! Logs made by hand: the values that a parser would have read, not lines.

use wire::{
    BATCH_SCHEMA, Batch, Event, Fields, Flaw, FlawKind, Kind, Level, LogFacts, Luid, Observation, Process, Reason,
    Segment, Value,
};

/// A log with one placement record.
#[derive(Clone)]
pub struct Sample {
    pub name: &'static str,
    pub started: Option<&'static str>,
    pub exe: &'static str,
    pub shape: &'static str,
    pub split: u64,
    pub reasons: &'static [&'static str],
    pub render: &'static str,
    pub scanout: &'static str,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            name: "a.log",
            started: Some("2026-09-14T12:00:00"),
            exe: "MyViewer.exe",
            shape: "wp.g2.on_render",
            split: 0,
            reasons: &["killed_by_env"],
            render: "NVIDIA GeForce RTX 3080 Laptop GPU",
            scanout: "Intel(R) Iris(R) Xe Graphics",
        }
    }
}

impl Sample {
    /// The placement record, at byte 100 of 200.
    pub fn placement(&self) -> Event {
        let luid = |name: &str| Luid(name.len() as u64 + 1);
        let reasons = self.reasons.iter().map(|token| Reason::new(token)).collect();
        let fields = [
            ("render.name", Value::Text(self.render.to_owned())),
            ("render.luid", Value::Luid(luid(self.render))),
            ("scanout.name", Value::Text(self.scanout.to_owned())),
            ("scanout.luid", Value::Luid(luid(self.scanout))),
            ("reasons", Value::Reasons(reasons)),
            ("split", Value::Uint(self.split)),
            ("generation", Value::Uint(2)),
        ];
        event(100, 12, Kind::Placement, self.shape, &fields)
    }

    pub fn facts(&self) -> LogFacts {
        let started = self.started.map(str::to_owned);
        let process = Some(Process { exe: self.exe.to_owned(), pid: 7, started });
        LogFacts { process, ..LogFacts::default() }
    }

    /// The whole log in one piece.
    pub fn segment(&self) -> Segment {
        Segment {
            log: log_id(self.name),
            file: self.name.to_owned(),
            start: 0,
            end: 200,
            facts: self.facts(),
            observations: vec![Observation::Event(self.placement())],
            ..Segment::default()
        }
    }
}

/// An event with these values.
pub fn event(offset: u64, line: u64, kind: Kind, shape: &'static str, values: &[(&'static str, Value)]) -> Event {
    let mut fields = Fields::new();
    for (name, value) in values {
        fields.push(*name, value.clone());
    }
    Event {
        offset,
        line,
        time: Some("2026-09-14 12:00:01.370".to_owned()),
        level: Level::Warn,
        function: None,
        shape: shape.into(),
        kind,
        hint: None,
        fields,
        spelling: Vec::new(),
    }
}

pub fn flaw(offset: u64, line: u64, kind: FlawKind) -> Observation {
    Observation::Flaw(Flaw { offset, line, kind, marker: None, hint: None })
}

/// A machine's id from a small number.
pub fn machine(number: u32) -> String {
    format!("{number:032x}")
}

/// A log's id from its name.
pub fn log_id(name: &str) -> String {
    let sum = name.bytes().fold(7_u128, |sum, byte| sum.wrapping_mul(0x0100_0193).wrapping_add(u128::from(byte)));
    format!("{sum:032x}")
}

pub fn batch(machine_number: u32, segments: Vec<Segment>) -> Batch {
    Batch {
        schema: BATCH_SCHEMA.to_owned(),
        machine: machine(machine_number),
        agent: "test".to_owned(),
        segments,
        ..Batch::default()
    }
}
