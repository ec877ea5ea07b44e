//! What the runtime prints stays as it is: every fixture says the same before and after.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use parser::{LogReader, vocabulary};
use regex::Regex;
use wire::{Level, Luid, Observation, ReasonFacts, Segment, Value};

use super::redactor;
use crate::{Counts, Policy, Redactor, words};

/// Every log under `fixtures`, and the output of the command line tool.
fn logs() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![root];
    let mut logs = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the fixtures can be listed") {
            let path = entry.expect("the fixtures can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "log" || ending == "txt") {
                let bytes = fs::read(&path).expect("a fixture can be read");
                logs.push((path, bytes));
            }
        }
    }
    assert!(logs.len() > 100, "only {} fixtures were found", logs.len());
    logs
}

fn read(bytes: &[u8]) -> Segment {
    let mut segment = Segment::default();
    let mut reader = LogReader::new();
    let mut sink = |observation| segment.observations.push(observation);
    reader.feed(bytes, &mut sink);
    segment.facts = reader.finish(&mut sink);
    segment
}

/// What a verdict is made of: kinds, functions, adapters with their ids, monitors, tokens, counts.
fn essence(segment: &Segment) -> Vec<String> {
    segment
        .observations
        .iter()
        .map(|observation| match observation {
            Observation::Flaw(flaw) => format!("{:?} {:?} {:?}", flaw.kind, flaw.marker, flaw.hint),
            Observation::Event(event) => {
                let fields = event.fields.iter().filter(|(_, value)| {
                    !matches!(value, Value::Text(text) if text.contains(['\\', '/', '<'])) || monitor(value)
                });
                format!(
                    "{:?} {:?} {} {:?} {:?}",
                    event.kind,
                    event.function,
                    event.shape,
                    event.hint,
                    fields.collect::<Vec<_>>()
                )
            }
        })
        .collect()
}

fn monitor(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.contains("DISPLAY"))
}

#[test]
fn every_fixture_says_the_same_as_a_segment_and_as_lines() {
    for (path, bytes) in logs() {
        let before = read(&bytes);
        let mut segment = before.clone();
        redactor().segment(&mut segment);
        assert_eq!(essence(&segment), essence(&before), "{}", path.display());

        // Half of a file of two bytes a letter cannot be one of bytes: its reader decodes it before it cuts lines.
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            continue;
        }
        let mut counts = Counts::default();
        let redactor = redactor();
        let lines: Vec<u8> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| redactor.line(line, &mut counts).into_owned())
            .collect();
        let after = read(&lines);
        assert_eq!(essence(&after), essence(&before), "{}", path.display());
        assert_eq!((counts.emails, counts.secrets), (0, 0), "{}", path.display());
        assert_eq!(after.facts.end, before.facts.end);
        assert_eq!(after.facts.counts.records, before.facts.counts.records, "{}", path.display());
    }
}

#[test]
fn a_machine_and_a_person_called_like_a_word_of_a_record_change_nothing() {
    let words = vocabulary_words();
    let policy = |names: Vec<String>| Policy { hosts: names.clone(), users: names, ..Policy::default() };
    let redactor = Redactor::new(policy(words.into_iter().collect()));
    for (path, bytes) in logs() {
        let before = read(&bytes);
        let mut segment = before.clone();
        redactor.segment(&mut segment);
        assert_eq!(essence(&segment), essence(&before), "{}", path.display());
    }
}

#[test]
fn every_word_of_the_vocabulary_and_of_adapters_in_fixtures_is_known() {
    let missing: Vec<_> = vocabulary_words().into_iter().filter(|word| !words::is_ours(word)).collect();
    assert!(missing.is_empty(), "add to src/words.txt: {}", missing.join(" "));
}

/// Words of record formats, functions, field names, ids, fixed values, tokens, and of the adapters in the fixtures.
fn vocabulary_words() -> BTreeSet<String> {
    let conversion = Regex::new(r"%[-+ #0-9.]*(?:hh|ll|h|l|z)?[a-zA-Z]").expect("it is one");
    let mut text = String::new();
    let mut push = |more: &str| {
        text.push(' ');
        text.push_str(&conversion.replace_all(more, " "));
    };
    for row in vocabulary::rows() {
        let shape = row.shape;
        [shape.format, shape.functions, shape.names, shape.id].into_iter().for_each(&mut push);
        for (name, fixed) in shape.fixed {
            push(name);
            if let Value::Text(word) = fixed.value() {
                push(&word);
            }
        }
    }
    for facts in ReasonFacts::ALL {
        push(facts.token);
    }
    for level in [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Raw, Level::Oxr] {
        push(level.in_file());
    }
    for (_, bytes) in logs() {
        for observation in read(&bytes).observations {
            let Observation::Event(event) = observation else { continue };
            for (name, value) in event.fields.iter() {
                if let (true, Value::Text(adapter)) = (
                    name.ends_with("adapter.name") || name.ends_with("render.name") || name.ends_with("scanout.name"),
                    value,
                ) {
                    push(adapter);
                }
            }
        }
    }
    text.to_lowercase()
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_')
        .map(|word| word.trim_matches(['-', '_']).to_owned())
        .filter(|word| word.len() >= 3 && word.parse::<Luid>().is_err())
        .collect()
}
