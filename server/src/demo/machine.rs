//! One machine of the demo, as its agent would send it: its simulated logs, read and packed.

use anyhow::Context as _;
use parser::LogReader;
use sha2::{Digest as _, Sha256};
use simulate::{Made, Simulation};
use wire::{BATCH_SCHEMA, Batch, Segment};

use crate::text;

/// As the agent reads files: a piece at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// A machine of many days is sent in pieces.
const LOGS: usize = 100;

/// A batch, as it is sent.
pub(super) struct Packed {
    /// Logs in it.
    pub logs: u64,
    /// JSON, packed with zstd.
    pub packed: Vec<u8>,
}

/// All logs of the machine with this number.
///
/// # Errors
/// When a batch cannot be packed.
pub(super) fn packed_batches(simulation: &Simulation, index: u64) -> anyhow::Result<Vec<Packed>> {
    let mut batches = Vec::new();
    let mut segments = Vec::new();
    let mut failure = None;
    let mut flush = |machine: &str, segments: &mut Vec<Segment>| match pack(machine, std::mem::take(segments)) {
        Ok(packed) => batches.push(packed),
        Err(error) => failure = Some(error),
    };
    let mut machine = String::new();
    simulation.each_log(index, &mut |made| {
        segments.push(read(&made));
        machine = made.truth.machine;
        if segments.len() == LOGS {
            flush(&machine, &mut segments);
        }
    });
    if !segments.is_empty() {
        flush(&machine, &mut segments);
    }
    failure.map_or(Ok(batches), Err)
}

fn pack(machine: &str, segments: Vec<Segment>) -> anyhow::Result<Packed> {
    let logs = segments.len() as u64;
    let batch = Batch {
        schema: BATCH_SCHEMA.to_owned(),
        machine: id(&format!("demo machine {machine}")),
        agent: env!("CARGO_PKG_VERSION").to_owned(),
        segments,
        ..Batch::default()
    };
    let json = serde_json::to_vec(&batch).context("failed to write a batch")?;
    let packed = zstd::encode_all(json.as_slice(), 0).context("failed to pack a batch")?;
    Ok(Packed { logs, packed })
}

/// One log, read the way the agent reads it.
fn read(made: &Made) -> Segment {
    let mut observations = Vec::new();
    let mut reader = LogReader::new();
    for chunk in made.bytes.chunks(CHUNK_BYTES) {
        reader.feed(chunk, &mut |observation| observations.push(observation));
    }
    let mut facts = reader.finish(&mut |observation| observations.push(observation));
    let path = &made.truth.file;
    let file = path.rsplit('/').next().unwrap_or(path);
    facts.process = parser::file_name::merge(facts.process, file);
    Segment {
        // Its machine is part of its path, so no two have one id.
        log: id(&format!("demo log {path}")),
        file: file.to_owned(),
        start: 0,
        end: made.bytes.len() as u64,
        facts,
        observations,
        ..Segment::default()
    }
}

fn id(name: &str) -> String {
    text::hex(&Sha256::digest(name)[..16])
}
