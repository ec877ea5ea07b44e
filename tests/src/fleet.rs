//! The fleet run: does a server that real agents filled with a simulated fleet count exactly what is true of it, in its API and
//! on its pages?
//!
//! `weavewatch simulate` makes the logs of every machine and the truth about them; an agent of each machine's own uploads its
//! folder, several at a time. Then every number of the front page, and of the tables by path, runtime and reason, has to be the
//! number of the truth, and `verify` has to find nothing. `tests/fleet` is the long form.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use wire::{Outcome as Word, Verdict};

use crate::agent::upload;
use crate::http::Http;
use crate::program::run as program;
use crate::server::{Database, Server};

/// What is compared, in the API and on pages: the logs of a group count in it once.
const DIMENSIONS: [&str; 3] = ["path", "runtime", "reason"];
/// How addresses ask for logs that do not tell it.
const UNTOLD: &str = "null";

/// What is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Machines, each with about 20 logs in 30 days.
    pub machines: u64,
    /// Days.
    pub days: u32,
    /// The same seed makes the same bytes.
    pub seed: u64,
    /// Agents that run at the same time.
    pub agents: usize,
}

/// The fleet of the demo that tests start: small, and its story is in it.
pub const DEMO: Plan = Plan { machines: 40, days: 30, seed: 2, agents: 1 };

/// What went through, once everything was compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Machines with at least one log.
    pub machines: u64,
    /// Logs.
    pub logs: u64,
    /// Events that the server was sent.
    pub events: u64,
    /// Bodies of the uploads, as they were sent.
    pub wire_bytes: u64,
    /// The database file with its indexes, after a checkpoint; none for PostgreSQL.
    pub disk_bytes: Option<u64>,
    /// Making the logs.
    pub making: Duration,
    /// From the first agent's start to the last one's end.
    pub uploading: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machines, logs, events, wire_bytes, .. } = self;
        let each = |bytes: u64| bytes as f64 / *events as f64;
        write!(
            f,
            "{machines} machines, {logs} logs, {events} events: API, pages and verify agree with the truth; made in {} s, \
             uploaded in {} s; {wire_bytes} bytes on the wire, {:.1} an event",
            self.making.as_secs(),
            self.uploading.as_secs(),
            each(*wire_bytes)
        )?;
        self.disk_bytes.map_or(Ok(()), |bytes| write!(f, "; {bytes} bytes on disk, {:.1} an event", each(bytes)))
    }
}

/// Makes a fleet, has it uploaded to a server of this empty database, and compares.
///
/// # Panics
/// When a number is not the true one, or a program fails.
pub fn run(database: &Database, plan: &Plan) -> Outcome {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fleet = folder.path().join("fleet");
    let begin = Instant::now();
    simulate(plan, &fleet);
    let making = begin.elapsed();

    let server = Server::start(database);
    let token = database.token("agent");
    let begin = Instant::now();
    upload_all(&machines(&fleet), plan.agents, &|machine| {
        // Each machine has an agent of its own, with a memory of its own.
        let state = tempfile::tempdir().expect("a temporary folder");
        upload(machine, &server.url, &token, state.path()).with_code(0);
    });
    let uploading = begin.elapsed();

    let http = server.http(&database.token("reader"));
    let truth = agrees(&http, &fleet);
    let metrics = http.get("/metrics").body;
    drop(http);

    server.kill();
    // It also folds the write-ahead log into the file.
    let verified = database.command(&["verify"]);
    verified.with_code(0);
    Outcome {
        machines: truth.all.machines.len() as u64,
        logs: truth.all.logs,
        events: counter(&metrics, "weavewatch_ingest_events_total"),
        wire_bytes: counter(&metrics, "weavewatch_ingest_bytes_total"),
        disk_bytes: database.file_bytes(),
        making,
        uploading,
    }
}

/// Makes the logs of a fleet in a new folder, with the truth beside them.
///
/// # Panics
/// When the program fails.
pub fn simulate(plan: &Plan, out: &Path) {
    let numbers = [("--machines", plan.machines), ("--days", plan.days.into()), ("--seed", plan.seed)];
    let mut arguments: Vec<OsString> = vec!["simulate".into(), "--out".into(), out.into()];
    arguments.extend(numbers.into_iter().flat_map(|(name, number)| [name.into(), number.to_string().into()]));
    program("weavewatch", arguments).with_code(0);
}

/// Calls `each` for every machine, on so many threads; the first that fails ends all.
fn upload_all(machines: &[PathBuf], threads: usize, each: &(impl Fn(&Path) + Sync)) {
    let rest = Mutex::new(machines.iter());
    let next = || rest.lock().ok()?.next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(machine) = next() {
                    each(machine);
                }
            });
        }
    });
}

/// The folders of its machines.
///
/// # Panics
/// When there is no such folder.
pub fn machines(fleet: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fleet).expect("the fleet was made").map(|entry| entry.expect("readable").path());
    entries.filter(|path| path.is_dir()).collect()
}

/// Holds every number of a server against the truth in the folder of the fleet that is in it.
///
/// # Panics
/// When one is another.
#[track_caller]
pub fn agrees(http: &Http, fleet: &Path) -> Truth {
    let totals: Value = serde_json::from_str(&text(&fleet.join("totals.json"))).expect("totals are JSON");
    the_api_agrees(http, &totals);
    let truth = Truth::read(&truths(fleet));
    the_pages_agree(http, &truth);
    truth
}

/// The truth of each log (`weavewatch.truth/1`).
///
/// # Panics
/// When the folder is no fleet.
pub fn truths(fleet: &Path) -> Vec<Value> {
    let lines = text(&fleet.join("truth.jsonl"));
    lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[track_caller]
fn the_api_agrees(http: &Http, totals: &Value) {
    assert_eq!(counts(&http.get("/api/v1/summary").json()["total"]), totals["total"]);
    for dimension in DIMENSIONS {
        let expected = totals[dimension].as_object().expect("totals by key");
        let answer = http.get(&format!("/api/v1/summary?group_by={dimension}")).json();
        let groups = answer["groups"].as_array().expect("a list of groups").iter();
        let told: Vec<_> =
            groups.filter_map(|group| Some((group["key"][dimension].as_str()?, counts(group)))).collect();
        assert_eq!(told.len(), expected.len(), "{dimension}");
        for (key, count) in told {
            assert_eq!(Some(&count), expected.get(key), "{dimension} {key}");
        }
    }
}

/// The counts without what follows from them.
fn counts(group: &Value) -> Value {
    let mut counts = group.clone();
    if let Some(fields) = counts.as_object_mut() {
        fields.retain(|name, _| name != "shares" && name != "key");
    }
    counts
}

/// What is true of some logs, by what pages count.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Group {
    logs: u64,
    machines: BTreeSet<String>,
    /// Logs and machines by outcome, in the order of [`Word::ALL`].
    outcomes: [(u64, BTreeSet<String>); 6],
}

impl Group {
    fn add(&mut self, machine: &str, outcome: Word) {
        self.logs += 1;
        self.machines.insert(machine.to_owned());
        let at = Word::ALL.iter().position(|own| *own == outcome).expect("one of all");
        self.outcomes[at].0 += 1;
        self.outcomes[at].1.insert(machine.to_owned());
    }

    fn of(&self, outcome: Word) -> (u64, u64) {
        let at = Word::ALL.iter().position(|own| *own == outcome).expect("one of all");
        (self.outcomes[at].0, self.outcomes[at].1.len() as u64)
    }

    /// The first cells of its row: logs, machines, logs by outcome.
    fn cells(&self) -> Vec<u64> {
        [self.logs, self.machines.len() as u64].into_iter().chain(self.outcomes.iter().map(|own| own.0)).collect()
    }
}

/// What is true of the fleet.
#[derive(Debug, Default)]
pub struct Truth {
    all: Group,
    /// By dimension and key.
    groups: BTreeMap<&'static str, BTreeMap<String, Group>>,
}

impl Truth {
    fn read(logs: &[Value]) -> Self {
        let mut truth = Self::default();
        for log in logs {
            let verdict: Verdict = serde_json::from_value(log["verdict"].clone()).expect("a verdict");
            let outcome = Word::of(&verdict);
            let machine = log["machine"].as_str().expect("a log has a machine");
            truth.all.add(machine, outcome);
            let mut reasons: BTreeSet<_> = verdict.reasons.iter().map(|reason| reason.as_str().to_owned()).collect();
            if reasons.is_empty() {
                reasons.insert(UNTOLD.to_owned());
            }
            let one = |name: &str| log[name].as_str().unwrap_or(UNTOLD).to_owned();
            let keys = [("path", one("path")), ("runtime", one("version"))].into_iter();
            for (dimension, key) in keys.chain(reasons.into_iter().map(|reason| ("reason", reason))) {
                truth.groups.entry(dimension).or_default().entry(key).or_default().add(machine, outcome);
            }
        }
        truth
    }
}

#[track_caller]
fn the_pages_agree(http: &Http, truth: &Truth) {
    let page = html(http, "/");
    let (_, headline) = page.split_once("<ul class=\"headline\">").expect("the front page has its numbers");
    let numbers: Vec<&str> = headline.split("</ul>").next().unwrap_or_default().split("<li>").skip(1).collect();
    assert_eq!(numbers.len(), 5, "{numbers:?}");
    let (logs, machines) = (truth.all.logs, truth.all.machines.len() as u64);
    assert_eq!(number(&between(numbers[0], "<strong>", "</strong>")), logs);
    assert_eq!(number(&between(numbers[1], "<strong>", "</strong>")), machines);
    for (said, outcome) in numbers[2..].iter().zip([Word::Engaged, Word::Killed, Word::Crossing]) {
        let below: Vec<_> =
            said.split("<b>").skip(1).map(|part| plain(part.split("</b>").next().unwrap_or(part))).collect();
        let (own_logs, own_machines) = truth.all.of(outcome);
        let expected = [(own_logs, logs, " logs"), (own_machines, machines, " machines")];
        for (text, (count, of, word)) in below.iter().zip(expected) {
            let (first, rest) = text.split_once(" of ").unwrap_or_else(|| panic!("{text:?}"));
            let (second, _) = rest.split_once(word).unwrap_or_else(|| panic!("{text:?}"));
            assert_eq!((number(first), number(second)), (count, of), "{} {word}", outcome.as_str());
        }
    }
    for dimension in DIMENSIONS {
        let page = html(http, &format!("/explore?group_by={dimension}"));
        // The picture's own table comes first, the page's is the last.
        let (_, table) = page.rsplit_once("<table class=\"grid\">").expect("the page has a table");
        let mut found = BTreeMap::new();
        for row in table.split("<tr data-row>").skip(1) {
            let key = row.split_once(&format!("href=\"/logs?{dimension}=")).map(|(_, key)| key);
            let key = key.unwrap_or_else(|| panic!("a row leads to its logs: {row}"));
            let key = key.split(['"', '&']).next().unwrap_or_default().to_owned();
            let cells = row.split("<td class=\"num\">").skip(1).take(8);
            found.insert(key, cells.map(|cell| number(&plain(cell.split("</td>").next().unwrap_or(cell)))).collect());
        }
        let expected: BTreeMap<String, Vec<u64>> =
            truth.groups[dimension].iter().map(|(key, group)| (key.clone(), group.cells())).collect();
        assert_eq!(found, expected, "{dimension}");
    }
}

#[track_caller]
fn html(http: &Http, path: &str) -> String {
    let answer = http.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

fn between(text: &str, before: &str, behind: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split(behind).next().unwrap_or(rest).to_owned()
}

/// The text without its tags.
fn plain(html: &str) -> String {
    let parts = html.split('<').enumerate();
    parts.map(|(at, part)| if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) }).collect()
}

/// A count as pages write it.
#[track_caller]
fn number(text: &str) -> u64 {
    text.replace(',', "").trim().parse().unwrap_or_else(|_| panic!("{text:?} is no count"))
}

/// A counter without labels.
#[track_caller]
fn counter(metrics: &str, name: &str) -> u64 {
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name}"))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the fleet was made")
}
