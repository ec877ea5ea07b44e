//! What `watch --once` sends, when it sends it again, and when it does not.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wire::{Ack, BATCH_SCHEMA, Refusal};

use crate::common::{Run, log, log_name, run, weavewatch};
use crate::server::{Answer, Request, Script, Server, nobody};

/// A log folder with a state folder beside it.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("logs")).expect("the folder is writable");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the folder is writable");
    }

    fn state(&self, name: &str) -> PathBuf {
        self.folder.path().join("state").join(name)
    }

    fn watch(&self, server: &str) -> Run {
        self.watch_with(server, &[])
    }

    fn watch_with(&self, server: &str, more: &[&str]) -> Run {
        let args = ["watch", "--once", "--dir", "logs", "--server", server, "--token", "secret", "--state", "state"];
        run(self.folder.path(), &[args.as_slice(), more].concat())
    }
}

fn only(mut requests: Vec<Request>) -> Request {
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

fn always(answer: fn() -> Answer) -> Script {
    Box::new(move |_| answer())
}

#[test]
fn everything_is_sent_once_and_what_grew_from_where_it_grew() {
    let machine = Machine::new();
    let (a, b) = (log_name("A.exe", 2, "13-00-00"), log_name("B.exe", 1, "12-00-00"));
    let text = log("A.exe", 2, "split=1");
    machine.write(&a, &text);
    machine.write("not-ours.txt", "x\n");
    let server = Server::start(vec![]);

    let first = machine.watch(&server.url);
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    assert_eq!(
        first.stdout,
        "1 log: 1 sent with 2 events, 0 unchanged, 0 refused, 0 left for the next run; 1 other files\n"
    );
    let request = only(server.requests());
    assert_eq!(request.line, "POST /api/v1/ingest HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
    assert_eq!(request.header("content-encoding"), Some("zstd"));
    assert_eq!((request.batch.schema.as_str(), request.batch.machine.len()), (BATCH_SCHEMA, 32));
    let segment = &request.batch.segments[0];
    assert_eq!((segment.file.as_str(), segment.start, segment.end), (a.as_str(), 0, text.len() as u64));
    assert_eq!(
        segment.facts.process.as_ref().and_then(|process| process.started.as_deref()),
        Some("2026-09-14T13:00:00")
    );
    // Where the last record starts, which could have grown.
    let last = text.rfind("[2026").expect("the log has records") as u64;

    let again = machine.watch(&server.url);
    assert_eq!((again.code, server.requests().len()), (0, 0));
    assert!(again.stdout.contains("0 sent with 0 events, 1 unchanged"), "{}", again.stdout);

    machine.write(&b, &log("B.exe", 1, "split=1"));
    let grown = format!("{text}[2026-09-14 12:00:09.000] [WARN ] [some_function] more\r\n");
    machine.write(&a, &grown);
    assert_eq!(machine.watch(&server.url).code, 0);
    let more = only(server.requests());
    assert_eq!(more.batch.machine, request.batch.machine);
    let ranges: Vec<_> = more.batch.segments.iter().map(|segment| (segment.start, segment.end)).collect();
    assert_eq!(ranges, [(last, grown.len() as u64), (0, log("B.exe", 1, "split=1").len() as u64)]);
    assert_eq!(more.batch.segments[0].log, segment.log, "a log that grows stays the same log");
    assert_ne!(more.batch.segments[1].log, segment.log);
}

#[test]
fn other_files_and_our_own_are_not_sent() {
    let machine = Machine::new();
    machine.write("renamed.txt", &log("A.exe", 2, "split=1"));
    machine.write(&log_name("B.exe", 1, "12-00-00"), "no header\n");
    machine.write(&log_name("C.exe", 1, "12-00-00"), "=== DisplayXR Log Started ===\r\nLog fi");
    machine.write("report.json", "{}");
    let server = Server::start(vec![]);
    // The state folder inside the log folder: what stands in it is never sent.
    let args = ["watch", "--once", "--dir", "logs", "--server", &server.url, "--token", "t", "--state", "logs/state"];
    let first = run(machine.folder.path(), &args);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.ends_with("; 1 other files\n"), "{}", first.stdout);
    assert!(first.stderr.contains("its header is not complete yet"), "{}", first.stderr);
    let mut files: Vec<_> = only(server.requests()).batch.segments.into_iter().map(|segment| segment.file).collect();
    files.sort_unstable();
    assert_eq!(files, [log_name("B.exe", 1, "12-00-00"), "renamed.txt".to_owned()]);
    assert!(run(machine.folder.path(), &args).stdout.ends_with("; 1 other files\n"));
}

#[test]
fn a_server_that_stumbles_is_asked_again() {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    let busy = || Answer { status: "429 Too Many Requests", headers: "retry-after: 0\r\n", ..Answer::status("") };
    let server = Server::start(vec![always(|| Answer::status("500 Internal Server Error")), always(busy)]);
    let run = machine.watch(&server.url);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].batch, requests[2].batch);
}

#[test]
fn a_server_that_asks_for_a_long_pause_is_left_alone() {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    let later = || Answer { status: "503 Service Unavailable", headers: "retry-after: 3600\r\n", ..Answer::status("") };
    let server = Server::start(vec![always(later)]);
    let run = machine.watch(&server.url);
    assert_eq!((run.code, server.requests().len()), (4, 1));
    assert!(run.stderr.contains("503") && run.stderr.contains("nothing is lost"), "{}", run.stderr);
}

#[test]
fn what_was_not_acknowledged_is_sent_in_the_next_run() {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    let unauthorized = || Answer::problem("401 Unauthorized", "unknown \u{1b}[31mtoken");
    let wrong = || Answer::ack(&Ack { accepted: 7, ..Ack::default() });
    let server = Server::start(vec![always(unauthorized), always(wrong), always(|| Answer::status("302 Found"))]);
    let refused = machine.watch(&server.url);
    assert_eq!(refused.code, 4);
    assert!(
        refused.stderr.contains(r"unknown \u{1b}[31mtoken") && refused.stderr.contains("token create"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
    for said in ["does not add up", "302"] {
        let run = machine.watch(&server.url);
        assert_eq!(run.code, 4);
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        assert!(run.stdout.contains("0 sent with 0 events, 0 unchanged, 0 refused, 1 left"), "{}", run.stdout);
    }
    assert_eq!(machine.watch(&server.url).code, 0);
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn no_server_is_exit_code_four_which_wins_over_three() {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    let run = machine.watch_with(&format!("http://{}", nobody()), &["--dir", "no-such-folder"]);
    assert_eq!(run.code, 4);
    assert!(run.stderr.contains("no-such-folder: ") && run.stderr.contains("failed to reach"), "{}", run.stderr);
    let server = Server::start(vec![]);
    assert_eq!(machine.watch_with(&server.url, &["--dir", "no-such-folder"]).code, 3);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_refused_range_is_put_aside_with_its_reason() {
    let machine = Machine::new();
    let names = [log_name("A.exe", 2, "13-00-00"), log_name("B.exe", 1, "12-00-00")];
    machine.write(&names[0], &log("A.exe", 2, "split=1"));
    machine.write(&names[1], &log("B.exe", 1, "split=1"));
    let one = || {
        let refused = vec![Refusal { segment: 0, reason: "too strange".to_owned() }];
        Answer::ack(&Ack { accepted: 1, refused, ..Ack::default() })
    };
    let server = Server::start(vec![always(one)]);
    let first = machine.watch(&server.url);
    assert_eq!(first.code, 4);
    assert!(first.stderr.contains(&names[0]) && first.stderr.contains("too strange"), "{}", first.stderr);
    assert!(first.stdout.contains("1 sent with 2 events, 0 unchanged, 1 refused"), "{}", first.stdout);
    let aside = fs::read_dir(machine.state("rejected")).expect("the folder was made").next().expect("a file is there");
    let aside = fs::read_to_string(aside.expect("the folder is readable").path()).expect("it can be read");
    assert!(aside.contains("too strange") && aside.contains(&names[0]), "{aside}");
    // What will not be taken is told as a loss, and does not come again.
    let losses: Vec<_> = server.requests().into_iter().flat_map(|request| request.batch.losses).collect();
    assert_eq!(losses.iter().map(|loss| (loss.reason.as_str(), loss.events)).collect::<Vec<_>>(), [("rejected", 2)]);
    let again = machine.watch(&server.url);
    assert_eq!(again.code, 0);
    assert!(server.requests().iter().all(|request| request.batch.segments.is_empty()));
    let status = run(machine.folder.path(), &["status", "--state", "state", "--format", "json"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).expect("it is JSON");
    assert_eq!(status["ledger"]["dropped"], serde_json::json!({"rejected": 2}), "{status}");
    assert_eq!((&status["ledger"]["acknowledged"], &status["ledger"]["queued"]), (&2.into(), &0.into()), "{status}");
    assert!(status["rejected"]["newest"].as_str().is_some_and(|said| said.contains("too strange")), "{status}");
}

#[test]
fn a_torn_state_sends_again_and_says_so() {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    let server = Server::start(vec![]);
    assert_eq!(machine.watch(&server.url).code, 0);
    let first = only(server.requests()).batch;
    fs::write(machine.state("logs.journal"), [0; 300]).expect("the folder is writable");
    let torn = machine.watch(&server.url);
    assert_eq!(torn.code, 0);
    assert!(torn.stderr.contains("nothing but NUL bytes"), "{}", torn.stderr);
    assert_eq!(only(server.requests()).batch, first, "the same machine, the same log, the same range");
}

#[test]
fn more_logs_than_fit_into_one_batch_go_out_in_several() {
    let machine = Machine::new();
    for pid in 0..501 {
        machine.write(&log_name("A.exe", pid, "13-00-00"), &log("A.exe", pid, "split=1"));
    }
    let server = Server::start(vec![]);
    assert_eq!(machine.watch(&server.url).code, 0);
    let sizes: Vec<_> = server.requests().iter().map(|request| request.batch.segments.len()).collect();
    assert!(sizes.iter().all(|size| *size <= 500), "{sizes:?}");
    assert_eq!(sizes.iter().sum::<usize>(), 501);
}

#[test]
fn the_token_may_come_from_the_environment() {
    let machine = Machine::new();
    machine.write(&log_name("A.exe", 2, "13-00-00"), &log("A.exe", 2, "split=1"));
    let server = Server::start(vec![]);
    let args = ["watch", "--once", "--dir", "logs", "--server", &server.url, "--state", "state"];
    assert_eq!(run(machine.folder.path(), &args).code, 2);
    let mut command = weavewatch(machine.folder.path());
    let output = command.args(args).env("WEAVEWATCH_TOKEN", "from-env").output().expect("the program starts");
    assert_eq!(Run::from(output).code, 0);
    assert_eq!(only(server.requests()).header("authorization"), Some("Bearer from-env"));
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let here = Path::new(".");
    let good = ["watch", "--once", "--server", "http://127.0.0.1:1", "--token", "t", "--state", "s"];
    for (at, bad) in [(3, "ftp://x"), (3, "no url"), (5, ""), (5, "two words")] {
        let mut args = good;
        args[at] = bad;
        assert_eq!(run(here, &args).code, 2, "{args:?}");
    }
    let said = run(here, &["watch", "--once", "--state", "no-such-state"]);
    assert!(said.code == 2 && said.stderr.contains("weavewatch enroll"), "{}", said.stderr);
    let said =
        run(here, &["watch", "--once", "--server", "http://192.0.2.1", "--token", "t", "--state", "no-such-state"]);
    assert!(said.code == 2 && said.stderr.contains("--allow-http"), "{}", said.stderr);
}
