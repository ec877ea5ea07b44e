//! A machine with an agent: its logs, its state, the agent as a process, and what of its logs a server has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use wire::Observation;

use crate::common::{Run, run, weavewatch};
use crate::server::{Answer, Request, Server};

/// Longer than anything takes here; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_mins(2);

/// A log folder with a state folder beside it.
pub struct Machine {
    folder: TempDir,
}

impl Machine {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("logs")).expect("the folder is writable");
        fs::create_dir(folder.path().join("state")).expect("the folder is writable");
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// A log of this many events, so that their sum is the truth.
    pub fn write(&self, name: &str, events: usize) {
        fs::write(self.path().join("logs").join(name), log(events)).expect("the folder is writable");
    }

    /// The agent's configuration: no limits, and what else is said.
    pub fn configure(&self, server: &str, more: &str) {
        let text = format!(
            "dirs = ['logs']\nstate = 'state'\nserver = '{server}'\ntoken = 'secret-token'\ncpu_percent = 0\n\
             memory_mib = 0\nbatch_age_s = 0\n{more}\n"
        );
        fs::write(self.path().join("agent.toml"), text).expect("the folder is writable");
    }

    /// Runs a command of the agent with its configuration.
    pub fn run(&self, args: &[&str]) -> Run {
        run(self.path(), &[args, &["--config", "agent.toml"]].concat())
    }

    /// `watch --once`.
    pub fn once(&self) -> Run {
        self.run(&["watch", "--once"])
    }

    /// What `status` says; its ledger closes whenever it is asked.
    pub fn status(&self) -> Value {
        let run = self.run(&["status", "--format", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let status: Value = serde_json::from_str(&run.stdout).expect("it is JSON");
        let number = |name: &str| status["ledger"][name].as_u64().expect("it is a number");
        let sum = |name: &str| -> u64 {
            let parts = status["ledger"][name].as_object().expect("it is an object").values();
            parts.map(|part| part.as_u64().expect("it is a number")).sum()
        };
        assert_eq!(number("bytes_read"), number("bytes_in_records") + sum("bytes_skipped"), "{status}");
        assert_eq!(number("records"), number("events") + number("ignored") + number("unrecognised"), "{status}");
        assert_eq!(number("events"), number("queued") + number("acknowledged") + sum("dropped"), "{status}");
        status
    }

    /// Asks until the status is as wanted.
    pub fn wait(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.status();
            if wanted(&status) {
                return status;
            }
            assert!(Instant::now() < until, "{what}: {status:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until so many events are acknowledged and nothing waits.
    pub fn wait_for(&self, acknowledged: u64) -> Value {
        let all = |status: &Value| status["ledger"]["acknowledged"] == acknowledged && status["queue"]["bytes"] == 0;
        self.wait(&format!("{acknowledged} events acknowledged"), all)
    }

    /// Starts the agent.
    pub fn start(&self) -> Agent {
        let said = self.path().join("said.txt");
        let stderr = fs::File::create(&said).expect("the folder is writable");
        let mut command = weavewatch(self.path());
        command.args(["watch", "--config", "agent.toml"]).stdout(Stdio::null()).stderr(stderr);
        Agent { child: command.spawn().expect("the program starts"), said }
    }
}

/// A running agent; it goes with the test.
pub struct Agent {
    child: Child,
    said: PathBuf,
}

impl Agent {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said on stderr.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.said).expect("it was made")
    }

    /// Ends it without asking.
    pub fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Asks it to end, as a service manager does; tells how it ended and how long that took.
    pub fn stop(mut self) -> (ExitStatus, Duration) {
        let asked = Instant::now();
        let kill = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        assert!(kill.expect("there is such a program").success());
        while asked.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return (status, asked.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end: {}", self.said());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A log of so many events.
pub fn log(events: usize) -> String {
    let mut text = "=== DisplayXR Log Started ===\r\nLog file: C:\\x\\A.exe.log\r\nProcess: A.exe (PID 7)\r\n\
                    Timestamp: 2026-09-14 12:00:00\r\n============================\r\n\r\n"
        .to_owned();
    for number in 0..events {
        let (minute, second, milli) = (number / 60_000 % 60, number / 1000 % 60, number % 1000);
        let written = write!(
            text,
            "[2026-09-14 12:{minute:02}:{second:02}.{milli:03}] [WARN ] [d3d_log_weave_placement] weave placement: \
             render='NVIDIA GeForce RTX 4080 Laptop GPU' LUID=00000000:00015f3a, panel scanout='Intel(R) Iris(R) Xe \
             Graphics' LUID=00000000:00013c07 — weave/present on the SCANOUT adapter (split=1) (#918)\r\n"
        );
        written.expect("a string takes everything");
    }
    text + "\r\n=== DisplayXR Log Ended ===\r\n"
}

/// What a server has: by file, the places of its events. A place that comes twice is one event.
#[derive(Default)]
pub struct Arrived {
    events: BTreeMap<String, BTreeSet<u64>>,
    /// Requests with segments.
    pub batches: usize,
    /// Events, as often as they came.
    pub came: u64,
}

impl Arrived {
    /// Takes note of what the server took since the last call.
    pub fn of(requests: impl IntoIterator<Item = Request>) -> Self {
        let mut arrived = Self::default();
        requests.into_iter().for_each(|request| arrived.add(&request));
        arrived
    }

    pub fn add(&mut self, request: &Request) {
        self.batches += usize::from(!request.batch.segments.is_empty());
        for segment in &request.batch.segments {
            let events = self.events.entry(segment.file.clone()).or_default();
            for observation in &segment.observations {
                if matches!(observation, Observation::Event(_)) {
                    self.came += 1;
                    events.insert(observation.offset());
                }
            }
        }
    }

    /// Different events.
    pub fn events(&self) -> u64 {
        self.events.values().map(|events| events.len() as u64).sum()
    }

    pub fn files(&self) -> Vec<&str> {
        self.events.keys().map(String::as_str).collect()
    }
}

/// A server that takes everything.
pub fn kind_server() -> Server {
    Server::with(Answer::accept)
}
