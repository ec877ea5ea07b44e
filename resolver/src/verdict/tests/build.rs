//! A small language for logs: each line of a script is one event, its line number is its place in the script.

use std::borrow::Cow;

use wire::{
    Event, Fields, Flaw, FlawKind, Judgement, Kind, Level, LogFacts, Luid, Observation, Path, PathHint, Reason, Value,
};

use crate::Judge;

/// The discrete GPU of the scripts.
pub(super) const DGPU: (&str, u64) = ("NVIDIA GeForce RTX 4080 Laptop GPU", 0x15f3a);
/// The integrated GPU, which drives the panel.
pub(super) const IGPU: (&str, u64) = ("Intel(R) Iris(R) Xe Graphics", 0x13c07);

/// Judges a script; `finish` sees facts of an empty log.
pub(super) fn judge(script: &[Observation]) -> Judgement {
    let mut judge = Judge::new();
    for observation in &numbered(script) {
        judge.push(observation);
    }
    judge.finish(&LogFacts::default())
}

/// Gives each observation its place as line number.
pub(super) fn numbered(script: &[Observation]) -> Vec<Observation> {
    let mut script = script.to_vec();
    for (index, observation) in script.iter_mut().enumerate() {
        let at = index as u64 + 1;
        match observation {
            Observation::Event(event) => (event.line, event.offset) = (at, at * 100),
            Observation::Flaw(flaw) => (flaw.line, flaw.offset) = (at, at * 100),
        }
    }
    script
}

/// `code@line` of every finding but the two on silence, which say nothing in a script without a file.
pub(super) fn codes(judgement: &Judgement) -> Vec<String> {
    let told = judgement.findings.iter().filter(|finding| finding.line.is_some());
    told.map(|finding| format!("{}@{}", finding.code, finding.line.expect("it was filtered"))).collect()
}

/// The verdict in one line: `split crossing [reasons] basis line`, then `retired`, `killed`, `interop` where true.
pub(super) fn say(judgement: &Judgement) -> String {
    let verdict = &judgement.verdict;
    let reasons: Vec<_> = verdict.reasons.iter().map(Reason::as_str).collect();
    let line = verdict.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let mut said = format!(
        "{} {} [{}] {} {line}",
        verdict.split.as_str(),
        verdict.crossing.as_str(),
        reasons.join(","),
        verdict.basis.as_str()
    );
    for (flag, word) in
        [(verdict.retired, " retired"), (verdict.killed, " killed"), (verdict.interop_crossing, " interop")]
    {
        if flag {
            said.push_str(word);
        }
    }
    said
}

/// An event of this kind with these values.
pub(super) fn event(kind: Kind, values: Vec<(&'static str, Value)>) -> Event {
    let mut fields = Fields::new();
    for (name, value) in values {
        fields.push(name, value);
    }
    Event {
        offset: 0,
        line: 0,
        time: None,
        level: Level::Warn,
        function: None,
        shape: Cow::Borrowed("x"),
        kind,
        hint: None,
        fields,
        spelling: Vec::new(),
    }
}

/// An event without values.
pub(super) fn plain(kind: Kind) -> Observation {
    Observation::Event(event(kind, Vec::new()))
}

/// The same event, which tells a path.
pub(super) fn hinting(observation: Observation, path: Path, named: bool) -> Observation {
    match observation {
        Observation::Event(event) => Observation::Event(Event { hint: Some(PathHint { path, named }), ..event }),
        flaw @ Observation::Flaw(_) => flaw,
    }
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn placement(render: Option<(&str, u64)>, scanout: Option<(&str, u64)>, reasons: &str, generation: u64) -> Observation {
    let mut values = Vec::new();
    for (name, luid, adapter) in [("render.name", "render.luid", render), ("scanout.name", "scanout.luid", scanout)] {
        if let Some((adapter, id)) = adapter {
            values.push((name, text(adapter)));
            values.push((luid, Value::Luid(Luid(id))));
        }
    }
    let engaged = reasons == "split=1";
    if !engaged && generation == 2 {
        values.push(("reasons", Value::Reasons(Reason::list(reasons))));
    }
    values.push(("split", Value::Uint(u64::from(engaged))));
    values.push(("generation", Value::Uint(generation)));
    Observation::Event(event(Kind::Placement, values))
}

/// A G2 line: render on the discrete GPU, panel on the integrated one; `split=1` or the reasons.
pub(super) fn full(reasons: &str) -> Observation {
    placement(Some(DGPU), Some(IGPU), reasons, 2)
}

/// A G2 line with one adapter on both sides.
pub(super) fn same(reasons: &str) -> Observation {
    placement(Some(IGPU), Some(IGPU), reasons, 2)
}

/// A G2 line that knows one side at most.
pub(super) fn half(render: Option<(&str, u64)>, scanout: Option<(&str, u64)>, reasons: &str) -> Observation {
    placement(render, scanout, reasons, 2)
}

/// A G1 line: engaged or not, without reasons.
pub(super) fn old(render: (&str, u64), scanout: (&str, u64), engaged: bool) -> Observation {
    placement(Some(render), Some(scanout), if engaged { "split=1" } else { "" }, 1)
}

/// A full record whose body was lost.
pub(super) fn unreadable() -> Observation {
    plain(Kind::PlacementUnreadable)
}

/// `weave placement: CHANGED`.
pub(super) fn changed(reasons: &str) -> Observation {
    let values = vec![
        ("reasons", Value::Reasons(Reason::list(reasons))),
        ("split", Value::Uint(0)),
        ("generation", Value::Uint(2)),
    ];
    Observation::Event(event(Kind::PlacementChanged, values))
}

/// A record with a `cause`: `DISABLED`, `RETIRED`, `refused`.
pub(super) fn cause(kind: Kind, cause: &str) -> Observation {
    Observation::Event(event(kind, vec![("cause", text(cause))]))
}

/// `[RENDER] split=N xb_kb=… xb_degraded=…`.
pub(super) fn window(split: i64, degraded: i64) -> Observation {
    let values =
        vec![("split", Value::Int(split)), ("xb_kb", Value::Uint(291_600)), ("xb_degraded", Value::Int(degraded))];
    Observation::Event(event(Kind::RenderSplit, values))
}

/// `[RENDER] split=0 reason=…`.
pub(super) fn render_off(reasons: &str) -> Observation {
    let values = vec![("reasons", Value::Reasons(Reason::list(reasons))), ("split", Value::Uint(0))];
    Observation::Event(event(Kind::RenderOff, values))
}

/// A record with text values.
pub(super) fn texts(kind: Kind, values: &[(&'static str, &str)]) -> Observation {
    Observation::Event(event(kind, values.iter().map(|&(name, value)| (name, text(value))).collect()))
}

/// `DisplayXR runtime vA.B.C`.
pub(super) fn runtime(major: u64, minor: u64, patch: u64, build: &str) -> Observation {
    let values = vec![
        ("major", Value::Uint(major)),
        ("minor", Value::Uint(minor)),
        ("patch", Value::Uint(patch)),
        ("build", text(build)),
    ];
    Observation::Event(event(Kind::RuntimeVersion, values))
}

/// A record of this shape.
pub(super) fn shaped(kind: Kind, shape: &'static str) -> Observation {
    Observation::Event(Event { shape: Cow::Borrowed(shape), ..event(kind, Vec::new()) })
}

/// A damaged record.
pub(super) fn flaw(kind: FlawKind, marker: Option<&'static str>) -> Observation {
    Observation::Flaw(Flaw { offset: 0, line: 0, kind, marker: marker.map(Cow::Borrowed), hint: None })
}
