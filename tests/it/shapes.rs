//! Every shape of the vocabulary in a log of its own: `scan` knows the record, and the table of shapes in `docs/` is
//! what the program knows.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use parser::vocabulary::{self, Row};
use serde_json::Value;
use tests::agent::scan_json;

/// A record as the runtime prints it.
struct Sample {
    id: String,
    record: String,
}

fn samples() -> Vec<Sample> {
    let file = repository().join("fixtures/shapes/samples.json");
    let samples: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(file).expect("the samples are in the repository"))
            .expect("a JSON list");
    let text = |sample: &Value, key: &str| sample[key].as_str().map(str::to_owned);
    samples
        .iter()
        .map(|sample| {
            let level = text(sample, "level").expect("a sample has a level");
            let function = text(sample, "function").map_or_else(String::new, |function| format!("[{function}] "));
            let body = text(sample, "body").expect("a sample has a body");
            let record = format!("[2026-09-14 12:00:00.137] [{level:5}] {function}{body}");
            Sample { id: text(sample, "id").expect("a sample has a shape"), record }
        })
        .collect()
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in the repository")
}

#[test]
fn scan_knows_a_log_of_every_shape() {
    let samples = samples();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (number, Sample { record, .. }) in samples.iter().enumerate() {
        let name = format!("DisplayXR_Shape.exe.{number}_2026-09-14_12-00-00.log");
        let log = format!(
            "=== DisplayXR Log Started ===\r\nLog file: C:\\{name}\r\nProcess: Shape.exe (PID {number})\r\n\
             Timestamp: 2026-09-14 12:00:00\r\n============================\r\n\r\n{}\r\n\r\n=== DisplayXR Log Ended ===\r\n",
            record.replace('\n', "\r\n"),
        );
        fs::write(folder.path().join(name), log).expect("a writable folder");
    }
    let objects = scan_json(folder.path());
    assert_eq!(objects.len(), samples.len());
    for object in objects {
        let number = object["process"]["pid"].as_u64().expect("the header names the process");
        let sample = &samples[usize::try_from(number).expect("a few hundred samples")];
        let counts = &object["counts"];
        let told = (&counts["records"], &counts["events"], &counts["unrecognised"]);
        assert_eq!(told, (&1.into(), &1.into(), &0.into()), "{}: {object}", sample.id);
        assert_eq!(object["end"], "footer", "{}", sample.id);
    }
}

/// Writes `docs/shapes.md` anew; `tests/run` fails when that changes it.
#[test]
fn every_shape_has_a_sample_that_reads_as_that_shape() {
    let mut table = String::from(
        "# Record shapes\n\n\
         Every record of the runtime with a format of its own: the event that it becomes, who prints it, since and until\n\
         which build or change, and the values that are read from it. Written by the test `shapes` from the tables in\n\
         `parser/src/vocabulary/`; edit those. Values in brackets are fixed by the wording.\n\n\
         | shape | event | level | functions | since | until | path | values | meaning |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let samples = samples();
    let rows = &vocabulary::rows()[..vocabulary::FORMATS];
    assert_eq!(samples.len(), rows.len(), "one sample a shape");
    for row in rows {
        let sample = samples.iter().find(|sample| sample.id == row.shape.id);
        let sample = sample.unwrap_or_else(|| panic!("{} has no sample", row.shape.id));
        let event = read(&sample.record);
        assert_eq!(event["shape"], row.shape.id, "{}", sample.record);
        writeln!(table, "{}", line(row, &event)).expect("a string can grow");
    }
    fs::write(repository().join("docs/shapes.md"), table).expect("the folder docs can be written");
}

/// The one event of a record.
fn read(record: &str) -> Value {
    let mut events = Vec::new();
    let mut sink = |observation| match observation {
        wire::Observation::Event(event) => events.push(serde_json::to_value(event).expect("an event is JSON")),
        wire::Observation::Flaw(flaw) => panic!("{record}: {flaw:?}"),
    };
    let mut reader = parser::LogReader::new();
    reader.feed(record.as_bytes(), &mut sink);
    reader.finish(&mut sink);
    assert_eq!(events.len(), 1, "{record}");
    events.remove(0)
}

fn line(row: &Row, event: &Value) -> String {
    let shape = row.shape;
    let or_dash = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
    let functions: Vec<_> =
        shape.functions.split(' ').filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect();
    let values: Vec<_> = row.template.conversions().map(|(name, ..)| format!("`{name}`")).collect();
    let fixed: Vec<_> = shape.fixed.iter().map(|(name, _)| format!("[`{name}`]")).collect();
    let path = shape.hint.map_or("–", |hint| hint.path.as_str());
    let kind = event["kind"].as_str().unwrap_or_default();
    format!(
        "| `{}` | {kind} | {} | {} | {} | {} | {path} | {} | {} |",
        shape.id,
        shape.level.in_file().trim_end(),
        or_dash(&functions.join(" ")),
        or_dash(shape.since),
        or_dash(shape.until),
        or_dash(&[values, fixed].concat().join(" ")),
        shape.meaning,
    )
}
