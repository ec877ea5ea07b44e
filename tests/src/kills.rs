//! The kill run: is everything that the server acknowledged there, once, after it has died many times?
//!
//! Four senders post batches of 1,000 events without pause while the server is killed (SIGKILL) behind acknowledgements and
//! started again at once. A sender posts a batch again until it is acknowledged, so nothing may be missing in the end, and
//! what was stored before a death that swallowed the answer must not be there twice.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use wire::{BATCH_SCHEMA, Batch, Event, Fields, Kind, Level, LogFacts, Observation, Process, Segment, Value};

use crate::batches::placement_fields;
use crate::http::Http;
use crate::random::Random;
use crate::server::{Database, Server};
use crate::torture::port;

const SENDERS: u64 = 4;
/// Events in a batch.
const EVENTS: u64 = 1_000;
/// Bytes of a log for each of them.
const EVENT_BYTES: u64 = 100;
/// A log comes in so many batches; each begins with the last record of the one before, as an agent sends them.
const BATCHES_OF_A_LOG: u64 = 3;
/// Longer than a server takes to start or to answer on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// What was done, and what there was in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How often the server was killed.
    pub kills: u64,
    /// Batches that were acknowledged.
    pub acknowledged: u64,
    /// Posts that got no acknowledgement and were repeated.
    pub repeated: u64,
    /// Events that are there, each once.
    pub events: u64,
    /// From the first start to the last check.
    pub took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, acknowledged, repeated, events, took } = self;
        write!(
            f,
            "{kills} SIGKILLs, {acknowledged} batches acknowledged, {repeated} posts repeated, {events} events there once, \
             verify found nothing; {} s",
            took.as_secs()
        )
    }
}

/// Kills the server of an empty database so many times.
///
/// # Panics
/// When something is lost, doubled or counted wrongly, or the server ends by itself.
pub fn run(database: &Database, kills: u64) -> Outcome {
    let begin = Instant::now();
    let mut random = Random::new(Random::fresh_seed());
    let token = database.token("agent");
    let port = port(&mut random);
    let url = format!("http://127.0.0.1:{port}");
    let (stop, acknowledged, repeated) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let mut server = Server::begin(database, port);
    let sent: Vec<u64> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let http = Http::new(&url, Some(&token));
                let (stop, acknowledged, repeated) = (&stop, &acknowledged, &repeated);
                scope.spawn(move || {
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        repeated.fetch_add(post(&http, &batch(sender, number)), Ordering::Relaxed);
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                        number += 1;
                    }
                    number
                })
            })
            .collect();
        for _ in 0..kills {
            // Behind an acknowledgement of this life, at any point of what comes next.
            let before = acknowledged.load(Ordering::Relaxed);
            let patience = Instant::now() + PATIENCE;
            while acknowledged.load(Ordering::Relaxed) <= before {
                assert!(Instant::now() < patience && server.runs(), "no acknowledgement any more");
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(random.below(60)));
            server.kill_now();
            server = Server::begin(database, port);
        }
        stop.store(true, Ordering::Relaxed);
        senders.into_iter().map(|sender| sender.join().expect("a sender says what is wrong")).collect()
    });
    server.kill();
    let events = check(database, &sent);
    database.command(&["verify"]).with_code(0);
    Outcome {
        kills,
        acknowledged: acknowledged.into_inner(),
        repeated: repeated.into_inner(),
        events,
        took: begin.elapsed(),
    }
}

/// Posts until it is acknowledged, and answers how often it was not.
fn post(http: &Http, batch: &Json) -> u64 {
    let patience = Instant::now() + PATIENCE;
    let mut repeated = 0;
    loop {
        if let Some(answer) = http.offer("/api/v1/ingest", batch)
            && answer.status == 200
        {
            let ack = answer.json();
            assert_eq!((&ack["accepted"], &ack["refused"]), (&Json::from(1), &serde_json::json!([])), "{ack}");
            return repeated;
        }
        assert!(Instant::now() < patience, "a batch is never acknowledged");
        repeated += 1;
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Every event of every batch that was acknowledged, and nothing else, once. Answers how many.
fn check(database: &Database, sent: &[u64]) -> u64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("events.csv");
    let name = file.to_str().expect("UTF-8");
    database.command(&["export", "--table", "events", "--format", "csv", name]).with_code(0);
    let text = std::fs::read_to_string(&file).expect("CSV is UTF-8");
    // Machine and offset of every row; the columns in front of the body hold neither commas nor quotes.
    let mut found: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<_> = line.splitn(4, ',').collect();
        let [log, machine, offset, _] = cells[..] else { panic!("{line}") };
        let offset = offset.parse().expect("a number");
        found.entry((machine.to_owned(), log.to_owned())).or_default().push(offset);
    }
    let mut events = 0;
    let mut logs = 0;
    for (sender, batches) in (0..).zip(sent) {
        let machine = machine(sender);
        let own: Vec<_> = found.iter().filter(|((of, _), _)| *of == machine).map(|(_, offsets)| offsets).collect();
        logs += own.len();
        let mut counts: Vec<u64> = own.iter().map(|offsets| offsets.len() as u64).collect();
        counts.sort_unstable();
        // All logs are whole but the last one.
        let mut expected = vec![last_offset(BATCHES_OF_A_LOG - 1); (batches / BATCHES_OF_A_LOG) as usize];
        let rest = batches % BATCHES_OF_A_LOG;
        expected.extend((rest > 0).then(|| last_offset(rest - 1)));
        expected.sort_unstable();
        let expected: Vec<u64> = expected.into_iter().map(|last| last / EVENT_BYTES + 1).collect();
        assert_eq!(counts, expected, "{batches} batches of {machine} were acknowledged");
        for offsets in own {
            assert!(
                offsets.iter().copied().eq((0..offsets.len() as u64).map(|place| place * EVENT_BYTES)),
                "{offsets:?}"
            );
            events += offsets.len() as u64;
        }
    }
    assert_eq!(logs, found.len(), "logs that nobody sent");
    events
}

fn machine(sender: u64) -> String {
    format!("{:032x}", sender + 1)
}

/// Where the first record of a batch stands; it is the last one of the batch before.
const fn first_offset(part: u64) -> u64 {
    part * (EVENTS - 1) * EVENT_BYTES
}

const fn last_offset(part: u64) -> u64 {
    first_offset(part) + (EVENTS - 1) * EVENT_BYTES
}

/// The batch with this number of a sender: the next part of a log.
fn batch(sender: u64, number: u64) -> Json {
    let (log, part) = (number / BATCHES_OF_A_LOG, number % BATCHES_OF_A_LOG);
    let (start, end) = (first_offset(part), last_offset(part) + EVENT_BYTES);
    let started = Some("2026-09-14T12:00:00".to_owned());
    let process = Some(Process { exe: "Viewer.exe".to_owned(), pid: log as u32, started });
    let mut facts = LogFacts { process, ..LogFacts::default() };
    (facts.counts.bytes, facts.counts.events) = (end, end / EVENT_BYTES);
    let segment = Segment {
        log: format!("{log:032x}"),
        file: format!("DisplayXR_Viewer.exe.{log}_2026-09-14_12-00-00.log"),
        start,
        end,
        facts,
        observations: (start / EVENT_BYTES..end / EVENT_BYTES).map(event).collect(),
        ..Segment::default()
    };
    let batch = Batch {
        schema: BATCH_SCHEMA.to_owned(),
        machine: machine(sender),
        agent: "test".to_owned(),
        segments: vec![segment],
        ..Batch::default()
    };
    serde_json::to_value(batch).expect("a batch is JSON")
}

/// The record with this number of a log: placement first, then counters.
fn event(place: u64) -> Observation {
    let placement = place == 0;
    let fields = if placement {
        placement_fields(false)
    } else {
        let mut fields = Fields::new();
        fields.push("fps", Value::Decimal(format!("{}.5", 30 + place % 31)));
        fields.push("frame", Value::Uint(place * 7_919));
        fields
    };
    Observation::Event(Event {
        offset: place * EVENT_BYTES,
        line: place + 1,
        time: Some(format!("2026-09-14 12:{:02}:{:02}.370", place / 60 % 60, place % 60)),
        level: Level::Warn,
        function: None,
        shape: if placement { "wp.g2.on_render" } else { "win.render" }.into(),
        kind: if placement { Kind::Placement } else { Kind::Window },
        hint: None,
        fields,
        spelling: Vec::new(),
    })
}
