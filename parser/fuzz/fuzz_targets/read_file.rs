//! The whole file reader on any bytes: it ends, its sums close, chunks do not matter, what it tells survives JSON, and
//! what is a placement prints back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parser::LogReader;
use wire::{Event, InputKind, Kind, LogFacts, Observation};

fn read(input: &[u8], chunk_size: usize) -> (Vec<Observation>, LogFacts) {
    let mut found = Vec::new();
    let mut sink = |observation| found.push(observation);
    let mut reader = LogReader::new();
    for chunk in input.chunks(chunk_size) {
        reader.feed(chunk, &mut sink);
    }
    let facts = reader.finish(&mut sink);
    (found, facts)
}

fuzz_target!(|input: &[u8]| {
    let (found, facts) = read(input, input.len().max(1));
    let counts = facts.counts;
    assert_eq!(counts.bytes, input.len() as u64);
    assert_eq!(counts.records, counts.events + counts.ignored + counts.unrecognised);
    let chunk_size = 1 + usize::from(input.first().copied().unwrap_or(0));
    let (found_again, facts_again) = read(input, chunk_size);
    assert_eq!((&found, &facts), (&found_again, &facts_again), "chunks of {chunk_size}");
    let mut judge = resolver::Judge::new();
    for observation in &found {
        judge.push(observation);
        if let Observation::Event(event) = observation {
            let json = serde_json::to_string(event).expect("an event is JSON");
            let back: Event = serde_json::from_str(&json).expect("it was just written");
            assert_eq!(&back, event);
            if matches!(event.kind, Kind::Placement | Kind::PlacementChanged) {
                let body = parser::format::body(&back).expect("placements keep every value");
                assert!(facts.input != InputKind::Log || is_utf16(input) || contains(input, &body), "{event:?}");
            }
        }
    }
    let verdict = judge.finish(&facts).verdict;
    assert!(!verdict.killed || verdict.reasons.iter().any(|reason| reason.as_str() == "killed_by_env"));
});

fn is_utf16(input: &[u8]) -> bool {
    input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff")
}

fn contains(input: &[u8], body: &[u8]) -> bool {
    input.windows(body.len().max(1)).any(|window| window == body)
}
