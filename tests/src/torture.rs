//! The torture run: does everything that was logged arrive once, whatever is killed when?
//!
//! Several writers fill a folder and do to logs what happens to logs, a real agent follows it, a real server stores it, and
//! both are killed (SIGKILL) by turns at random times and started again at once. Then everything comes to rest and is
//! compared with what the writers know they wrote (`truth`).
//!
//! A seed brings back the choices and the times of the kills, not the order in which the processes come to run.

mod content;
mod truth;
mod writer;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::http::Http;
use crate::program::{Running, command, run as run_program};
use crate::random::Random;
use crate::server::{Database, Server};
use content::Content;
pub use truth::Sums;

const WRITERS: u64 = 4;
/// Longer than the last upload takes on a busy machine.
const FLUSH_S: &str = "300";

/// How long and how hard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// SIGKILLs in all: half of them for the agent, half for the server.
    pub kills: u64,
    /// They are spread evenly at random over this time.
    pub duration: Duration,
    /// Brings back the choices.
    pub seed: u64,
}

/// What was done, and what there was in the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What was asked for.
    pub plan: Plan,
    /// SIGKILLs for agent and server.
    pub killed: [u64; 2],
    /// From the first start to the last check.
    pub took: Duration,
    /// What agent and server have.
    pub sums: Sums,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, killed: [agent, server], took, sums } = self;
        write!(
            f,
            "seed {:#x}: {} SIGKILLs ({agent} agent, {server} server) in {} s; {sums}; {} s in all",
            plan.seed,
            agent + server,
            plan.duration.as_secs(),
            took.as_secs()
        )
    }
}

/// Where everything lies. After a failure it stays there, to be looked at.
struct Scene {
    folder: Option<tempfile::TempDir>,
    seed: u64,
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take().filter(|_| std::thread::panicking()) {
            eprintln!("seed {:#x}: logs and state are left in {}", self.seed, folder.keep().display());
        }
    }
}

/// Ends the writers, also when something is wrong.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a plan against an empty database.
///
/// # Panics
/// When something is lost, doubled or left open, or a program ends by itself.
pub fn run(database: &Database, plan: &Plan) -> Outcome {
    let begin = Instant::now();
    let mut random = Random::new(plan.seed);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_owned();
    let _scene = Scene { folder: Some(folder), seed: plan.seed };
    let logs = path.join("logs");
    std::fs::create_dir(&logs).expect("a writable folder");
    let port = port(&mut random);
    let url = format!("http://127.0.0.1:{port}");
    let agent = Agent::configured(&path, &logs, &url, &database.token("agent"));
    let reader = database.token("reader");

    let mut killed = [0; 2];
    let stop = AtomicBool::new(false);
    let mut programs = [agent.start(), Server::begin(database, port)];
    let contents: Vec<Content> = std::thread::scope(|scope| {
        let end = End(&stop);
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let (random, http) = (Random::new(random.next()), Http::new(&url, Some(&reader)));
                let (logs, stop) = (&logs, &stop);
                scope.spawn(move || writer::write(logs, number, random, &http, stop))
            })
            .collect();
        // A writer that ended says why when it is asked below.
        let failed = || writers.iter().any(std::thread::ScopedJoinHandle::is_finished);
        for (number, at) in times(plan, &mut random).into_iter().enumerate() {
            std::thread::sleep(at.saturating_sub(begin.elapsed()));
            if failed() {
                break;
            }
            let which = number % 2;
            kill(&mut programs[which], || if which == 0 { agent.start() } else { Server::begin(database, port) });
            killed[which] += 1;
        }
        if !failed() {
            std::thread::sleep(plan.duration.saturating_sub(begin.elapsed()));
        }
        drop(end);
        writers.into_iter().flat_map(|writer| writer.join().expect("a writer says what is wrong")).collect()
    });

    wait_for(&Http::new(&url, Some(&reader)));
    let [mut watching, server] = programs;
    agent.run("flush", &["--timeout", FLUSH_S]).with_code(0);
    assert!(watching.runs(), "the agent ended by itself: {:?}", watching.wait());
    watching.kill();
    // Nobody writes any more: what has no newline yet is taken as it is.
    agent.run("flush", &[]).with_code(0);
    let status = agent.run("status", &["--format", "json"]);
    let status: Value = serde_json::from_str(&status.with_code(0).stdout).expect("status is JSON");
    // A new connection: the server closes one that rests as long as all this took.
    let http = Http::new(&url, Some(&reader));
    let sums = truth::compare(&http, &status, &contents, &path.join("truth"));
    server.kill();
    Outcome { plan: *plan, killed, took: begin.elapsed(), sums }
}

/// The agent's command line.
struct Agent {
    config: PathBuf,
}

impl Agent {
    fn configured(folder: &Path, logs: &Path, url: &str, token: &str) -> Self {
        let config = folder.join("weavewatch.toml");
        let text = format!(
            "dirs = ['{}']\nstate = '{}'\nserver = '{url}'\ntoken = '{token}'\n\
             poll_s = 1\nbatch_age_s = 0\nheartbeat_s = 1\ncpu_percent = 0\n",
            logs.display(),
            folder.join("state").display()
        );
        std::fs::write(&config, text).expect("a writable folder");
        Self { config }
    }

    fn command(&self, name: &str) -> Command {
        let mut command = command("weavewatch");
        command.arg(name).arg("--config").arg(&self.config);
        command
    }

    fn start(&self) -> Running {
        Running::start(self.command("watch"))
    }

    fn run(&self, name: &str, more: &[&str]) -> crate::program::Finished {
        let mut arguments: Vec<OsString> = vec![name.into(), "--config".into(), self.config.clone().into()];
        arguments.extend(more.iter().map(OsString::from));
        run_program("weavewatch", arguments)
    }
}

/// Kills a program, wherever it is in its work, and starts it again at once.
fn kill(program: &mut Running, again: impl FnOnce() -> Running) {
    let runs = program.runs();
    // The old one must be gone before the new one asks for its lock or its port.
    let finished = program.kill_now();
    assert!(runs, "a program ended by itself: {finished:?}");
    *program = again();
}

/// When to kill: each time is as likely as any other.
fn times(plan: &Plan, random: &mut Random) -> Vec<Duration> {
    let most_ms = u64::try_from(plan.duration.as_millis()).unwrap_or(u64::MAX).max(1);
    let mut times: Vec<_> = (0..plan.kills).map(|_| Duration::from_millis(random.below(most_ms))).collect();
    times.sort_unstable();
    times
}

/// A free port below those that a system gives away by itself: nobody takes it while the server is dead.
pub(crate) fn port(random: &mut Random) -> u16 {
    loop {
        let port = 10_000 + random.below(20_000) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn wait_for(http: &Http) {
    let patience = Instant::now() + Duration::from_mins(2);
    while http.ask("/readyz").is_none_or(|answer| answer.status != 200) {
        assert!(Instant::now() < patience, "the server does not get ready");
        std::thread::sleep(Duration::from_millis(50));
    }
}
