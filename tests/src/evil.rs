//! A fleet of which somebody hostile chose every name: logs of the fixtures in which adapters, programs, files, reason tokens
//! and everything that agents say are names made to break a page.

use std::collections::BTreeMap;
use std::path::Path;

use parser::LogReader;
use wire::{BATCH_SCHEMA, Batch, Heartbeat, LogFacts, Loss, Observation, Process, Segment};

/// What a script that got in leaves behind, in an expression that is true while none did.
pub const UNTOUCHED: &str = "window.gotIn === undefined";

/// The names: markup, 4,000 letters without a blank, marks that turn the direction of text, emoji, quotes.
pub fn names() -> [String; 5] {
    [
        "<script>window.gotIn=1</script></script><img src=x onerror=\"window.gotIn=1\">".to_owned(),
        "W".repeat(4_000),
        "\u{202e}gpj.reweiV\u{2066}שלום עולם\u{2069}\u{200f}.exe".to_owned(),
        "🖥️💥🏳️‍🌈👩‍👩‍👧‍👦 显卡 \u{1f469}\u{200d}\u{1f680}".to_owned(),
        "My \"Viewer\" '</td>`${window.gotIn=1}` onmouseover=\"window.gotIn=1\".exe".to_owned(),
    ]
}

/// One machine for each name, with logs that cross, are killed, engage, force a GPU and say what nobody knows.
pub fn batches() -> Vec<Batch> {
    let logs =
        ["d3d11_killed_by_env", "d3d11_split_engaged", "g1_d3d11_on_render", "service_forced_and_device_removed"];
    let machines = names().into_iter().zip(1_u32..).map(|(name, machine)| {
        let mut segments: Vec<_> =
            logs.iter().zip(1..).map(|(log, number)| segment(machine, number, &text(log, &name), &name)).collect();
        let token = text("d3d11_killed_by_env", &name).replace("killed_by_env", &token(&name));
        segments.push(segment(machine, 9, &token, &name));
        let losses = vec![Loss { log: None, file: None, reason: name.clone(), bytes: 7, events: 9 }];
        let heartbeat = Heartbeat {
            queue_bytes: 9,
            lag_s: 5,
            slowed: Some(name.clone()),
            dropped: BTreeMap::from([(name.clone(), 3)]),
            config: BTreeMap::from([(name.clone(), name.clone())]),
            ..Heartbeat::default()
        };
        Batch {
            schema: BATCH_SCHEMA.to_owned(),
            machine: format!("{machine:032x}"),
            agent: name,
            segments,
            heartbeat: Some(heartbeat),
            losses,
        }
    });
    machines.collect()
}

/// A log of the fixtures with other names.
///
/// # Panics
/// When there is no such fixture.
pub fn text(log: &str, name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fixtures/logs/ok/{log}.log"));
    let text = std::fs::read_to_string(file).expect("a fixture");
    let own = |gpu: &str| format!("{name} {gpu}");
    let gpus = ["NVIDIA GeForce RTX 3080 Laptop GPU", "Intel(R) UHD Graphics"];
    gpus.into_iter().fold(text, |text, gpu| text.replace(gpu, &own(gpu)))
}

/// A reason token holds neither blanks nor commas.
fn token(name: &str) -> String {
    name.chars().filter(|letter| !" ,()".contains(*letter)).collect()
}

fn segment(machine: u32, number: u64, text: &str, name: &str) -> Segment {
    let mut observations: Vec<Observation> = Vec::new();
    let mut reader = LogReader::new();
    reader.feed(text.as_bytes(), &mut |observation| observations.push(observation));
    let facts = reader.finish(&mut |observation| observations.push(observation));
    let process = Process { exe: name.to_owned(), pid: 7, started: Some(format!("2026-09-1{}T12:00:00", number % 10)) };
    Segment {
        log: format!("{:032x}", u64::from(machine) << 8 | number),
        file: format!("DisplayXR_{name}.7_2026-09-14_12-00-00.log"),
        start: 0,
        end: text.len() as u64,
        facts: LogFacts { process: Some(process), ..facts },
        observations,
        ..Segment::default()
    }
}
