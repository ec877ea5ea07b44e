//! The running agent and the commands around it: `flush`, `status`, a second agent, an end, a full queue, a report.

use std::time::Duration;

use crate::agent::{Arrived, Machine, kind_server};
use crate::common::{log_name, run};
use crate::server::{Answer, Server, nobody};

#[test]
fn a_flush_ends_when_everything_is_acknowledged() {
    let machine = Machine::new();
    let server = kind_server();
    // On its own the agent would wait for more.
    machine.configure(&server.url, "poll_s = 86400\n");
    let text = std::fs::read_to_string(machine.path().join("agent.toml")).expect("it was just written");
    let patient = text.replace("batch_age_s = 0", "batch_age_s = 3600");
    std::fs::write(machine.path().join("agent.toml"), patient).expect("the folder is writable");
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    let agent = machine.start();
    machine.wait("it was read", |status| status["ledger"]["queued"] == 10);
    let flush = machine.run(&["flush"]);
    assert_eq!((flush.code, flush.stdout.as_str()), (0, "everything is acknowledged\n"), "{}", flush.stderr);
    assert_eq!(Arrived::of(server.requests()).came, 10);
    // What is written right before a flush is in it.
    machine.write(&log_name("B.exe", 2, "12-00-00"), 5);
    assert_eq!(machine.run(&["flush"]).code, 0);
    assert_eq!(Arrived::of(server.requests()).came, 5);
    assert!(agent.stop().0.success());
    // Without an agent the command does it itself.
    machine.write(&log_name("C.exe", 3, "12-00-00"), 2);
    assert_eq!(machine.run(&["flush"]).code, 0);
    assert_eq!(Arrived::of(server.requests()).came, 2);
}

#[test]
fn a_flush_without_a_server_ends_with_four_and_says_why() {
    let machine = Machine::new();
    machine.configure(&format!("http://{}", nobody()), "");
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    let agent = machine.start();
    machine.wait("it was tried", |status| status["next_attempt"].is_string());
    for _ in 0..2 {
        let flush = machine.run(&["flush"]);
        assert_eq!(flush.code, 4, "{}", flush.stderr);
        assert!(flush.stderr.contains("failed to reach"), "{}", flush.stderr);
    }
    assert_eq!(machine.status()["ledger"]["queued"], 10);
    assert!(agent.stop().0.success());
    let flush = machine.run(&["flush"]);
    assert_eq!(flush.code, 4, "{}", flush.stderr);
    assert!(flush.stderr.contains("failed to reach"), "{}", flush.stderr);
}

#[test]
fn status_tells_whether_an_agent_runs_and_what_it_goes_by() {
    let machine = Machine::new();
    let server = kind_server();
    machine.configure(&server.url, "quiet_s = 77\n");
    let status = machine.status();
    assert_eq!((&status["running"], &status["logs"]["followed"]), (&false.into(), &0.into()), "{status:#}");
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    let agent = machine.start();
    let status = machine.wait_for(10);
    assert_eq!(status["running"], true, "{status:#}");
    assert_eq!(status["logs"], serde_json::json!({"followed": 0, "finished": 1}), "{status:#}");
    // What the agent goes by, whatever this command was told.
    let bare = run(machine.path(), &["status", "--state", "state", "--format", "json"]);
    assert!(bare.stdout.contains("\"77 s\""), "{}", bare.stdout);
    assert!(status["last_contact"].is_string() && status["last_error"].is_null(), "{status:#}");
    assert_eq!(status["server"], format!("{}/", server.url), "{status:#}");
    assert!(!status.to_string().contains("secret-token"), "{status:#}");
    assert!(agent.stop().0.success());
    let status = machine.wait_for(10);
    assert_eq!((&status["running"], &status["slowed"]), (&false.into(), &serde_json::Value::Null), "{status:#}");
    let text = machine.run(&["status"]);
    assert!(text.stdout.contains("not running") && text.stdout.contains("10 events acknowledged"), "{}", text.stdout);
}

#[test]
fn an_agent_that_is_asked_to_end_does_so_within_seconds_whatever_the_server_does() {
    // A server that is there, one that is not, and one that never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let silent_url = format!("http://{}", silent.local_addr().expect("it is bound"));
    let kind = kind_server();
    for (url, acknowledged) in [(kind.url.as_str(), 10), (&format!("http://{}", nobody()), 0), (&silent_url, 0)] {
        let machine = Machine::new();
        machine.configure(url, "");
        machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
        let agent = machine.start();
        machine.wait("it was read", |status| {
            let Some(ledger) = status["ledger"].as_object() else { return false };
            ledger["events"] == 10 && ledger["acknowledged"] == acknowledged
        });
        let (status, took) = agent.stop();
        assert!(status.success(), "{url}: {status}");
        // The program's own bound is half of this.
        assert!(took < Duration::from_secs(20), "{url}: {took:?}");
        let status = machine.status();
        assert_eq!((&status["ledger"]["events"], &status["running"]), (&10.into(), &false.into()), "{status:#}");
        assert_eq!(status["ledger"]["acknowledged"], acknowledged, "{status:#}");
        if acknowledged == 0 {
            machine.configure(&kind.url, "");
            assert_eq!(machine.once().code, 0);
            machine.wait_for(10);
        }
    }
}

#[test]
fn a_second_agent_on_the_same_state_is_refused_and_told_who_has_it() {
    let machine = Machine::new();
    let server = kind_server();
    machine.configure(&server.url, "");
    let agent = machine.start();
    machine.wait("it runs", |status| status["running"] == true);
    for more in [&["watch"][..], &["watch", "--once"]] {
        let second = machine.run(more);
        assert_eq!(second.code, 3, "{}", second.stderr);
        let owner = format!("is in use by process {}", agent.pid());
        assert!(second.stderr.contains(&owner), "{}", second.stderr);
    }
    assert!(agent.stop().0.success());
    assert_eq!(machine.once().code, 0);
}

#[test]
fn an_agent_that_starts_while_somebody_asks_for_its_status_is_not_refused() {
    let machine = Machine::new();
    let server = kind_server();
    machine.configure(&server.url, "");
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..3).map(|_| scope.spawn(|| (0..12).for_each(|_| drop(machine.status())))).collect();
        while asking.iter().any(|thread| !thread.is_finished()) {
            let run = machine.once();
            assert_eq!(run.code, 0, "{}", run.stderr);
        }
    });
}

#[test]
fn a_report_tells_the_configuration_without_secrets_and_without_names() {
    let machine = Machine::new();
    let server = kind_server();
    machine.configure(&server.url, "heartbeat_s = 1\n[redact]\nusers = ['mallory']\n");
    let text = std::fs::read_to_string(machine.path().join("agent.toml")).expect("it was just written");
    let own = machine.path().join("home").join("mallory");
    std::fs::create_dir_all(&own).expect("the folder is writable");
    let text = text.replace("dirs = ['logs']", &format!("dirs = ['logs', '{}']", own.display()));
    std::fs::write(machine.path().join("agent.toml"), text).expect("the folder is writable");
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    let agent = machine.start();
    machine.wait_for(10);
    let mut reports = Vec::new();
    while reports.len() < 2 {
        reports.extend(server.requests().into_iter().filter_map(|request| request.batch.heartbeat));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(agent.stop().0.success());
    let last = reports.last().expect("there are two");
    assert_eq!((last.logs_followed, last.logs_finished, last.queue_bytes), (0, 1, 0));
    assert_eq!((last.config["heartbeat"].as_str(), last.config["when_full"].as_str()), ("1 s", "pause"));
    assert!(last.config["dirs"].contains("/home/"), "{last:?}");
    for report in &reports {
        let said = serde_json::to_string(report).expect("it is JSON");
        assert!(!said.contains("secret-token") && !said.contains("mallory"), "{said}");
    }
}

#[test]
fn a_queue_that_could_not_hold_every_range_is_refused() {
    let machine = Machine::new();
    for size in [0, 1, 7] {
        machine.configure("http://127.0.0.1:1", &format!("queue_mib = {size}"));
        let run = machine.once();
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("queue_mib"), "{}", run.stderr);
    }
}

#[test]
fn a_full_queue_that_drops_its_oldest_tells_the_server_how_many() {
    const LOGS: u32 = 3;
    const EVENTS: usize = 8_000;
    let machine = Machine::new();
    let address = nobody();
    machine.configure(&format!("http://{address}"), "queue_mib = 8\nwhen_full = 'drop_oldest'\nheartbeat_s = 1");
    for pid in 0..LOGS {
        machine.write(&log_name("A.exe", pid, "12-00-00"), EVENTS);
    }
    let all = u64::from(LOGS) * EVENTS as u64;
    let agent = machine.start();
    let status = machine.wait("everything was read", |status| status["ledger"]["events"] == all);
    let dropped = status["ledger"]["dropped"]["queue_full"].as_u64().unwrap_or_default();
    assert!(dropped > 0, "{status:#}");
    let server = Server::at(address, Answer::accept);
    machine.wait_for(all - dropped);
    let (mut arrived, mut told) = (Arrived::default(), 0);
    while told == 0 {
        for request in server.requests() {
            arrived.add(&request);
            let losses = request.batch.losses.iter().filter(|loss| loss.reason == "queue_full");
            told = told.max(losses.map(|loss| loss.events).sum());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(told, dropped);
    assert!(arrived.events() >= all - dropped, "{} of {all} without {dropped}", arrived.events());
    assert!(agent.stop().0.success());
    assert_eq!(machine.status()["ledger"]["dropped"]["queue_full"], dropped);
}

#[test]
fn a_full_queue_that_pauses_loses_nothing() {
    const EVENTS: usize = 24_000;
    let machine = Machine::new();
    let address = nobody();
    machine.configure(&format!("http://{address}"), "queue_mib = 8");
    machine.write(&log_name("A.exe", 1, "12-00-00"), EVENTS);
    let agent = machine.start();
    let status = machine.wait("the queue is full", |status| {
        status["slowed"].as_str().is_some_and(|why| why.contains("the queue has reached its size"))
    });
    assert!(status["queue"]["bytes"].as_u64().is_some_and(|bytes| bytes <= 8 << 20), "{status:#}");
    let server = Server::at(address, Answer::accept);
    machine.wait_for(EVENTS as u64);
    assert!(agent.stop().0.success());
    assert_eq!(Arrived::of(server.requests()).events(), EVENTS as u64);
}

#[test]
fn an_agent_that_is_killed_again_and_again_goes_on_where_it_was() {
    const LOGS: u64 = 4;
    const EVENTS: usize = 3_000;
    let machine = Machine::new();
    let address = nobody();
    machine.configure(&format!("http://{address}"), "");
    for pid in 0..LOGS {
        machine.write(&log_name("A.exe", u32::try_from(pid).expect("it is small"), "12-00-00"), EVENTS);
    }
    let all = LOGS * EVENTS as u64;
    let mut read = 0;
    while read < all {
        let agent = machine.start();
        let more = |status: &serde_json::Value| status["ledger"]["events"].as_u64().is_some_and(|now| now > read);
        machine.wait("it reads", more);
        agent.kill();
        // The ledger closes without an agent too, and nothing that was read is forgotten.
        let now = machine.status()["ledger"]["events"].as_u64().expect("it is a number");
        assert!(now >= read, "{now} after {read}");
        read = now;
    }
    let server = Server::at(address, Answer::accept);
    let agent = machine.start();
    machine.wait_for(all);
    assert!(!agent.said().contains("read and sent again"), "{}", agent.said());
    assert!(agent.stop().0.success());
    let arrived = Arrived::of(server.requests());
    assert_eq!(arrived.events(), all);
    // Each range repeats the last record before it.
    assert!(arrived.came <= all + LOGS * 10, "{} came for {all}", arrived.came);
}

#[cfg(unix)]
#[test]
fn a_file_that_can_be_read_again_is_no_longer_told_as_unreadable() {
    let machine = Machine::new();
    let server = kind_server();
    machine.configure(&server.url, "poll_s = 1");
    // Root reads everything, but nobody reads through a loop of links.
    let looped = machine.path().join("logs").join(log_name("L.exe", 9, "12-00-00"));
    std::os::unix::fs::symlink(&looped, &looped).expect("the folder is writable");
    let agent = machine.start();
    let status = machine.wait("it is told", |status| status["unreadable"] != serde_json::json!([]));
    assert!(status["unreadable"].to_string().contains("L.exe"), "{status:#}");
    std::fs::remove_file(&looped).expect("the folder is writable");
    machine.write(&log_name("L.exe", 9, "12-00-00"), 3);
    machine.wait("it is over", |status| status["unreadable"] == serde_json::json!([]));
    machine.wait_for(3);
    // Ending when asked to is no failure, whatever happened on the way.
    assert_eq!(agent.stop().0.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn the_disk_serves_others_before_any_thread_of_the_agent() {
    let ask = |thread: &str| std::process::Command::new("ionice").args(["-p", thread]).output();
    if ask("1").is_err() {
        println!("skipped: the tool ionice (util-linux) is not here");
        return;
    }
    let machine = Machine::new();
    let server = kind_server();
    machine.configure(&server.url, "");
    machine.write(&log_name("A.exe", 1, "12-00-00"), 1);
    let agent = machine.start();
    machine.wait_for(1);
    let threads = std::fs::read_dir(format!("/proc/{}/task", agent.pid())).expect("the agent runs");
    for thread in threads {
        let thread = thread.expect("the agent runs").file_name();
        let told = ask(&thread.to_string_lossy()).expect("the tool is here");
        assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "best-effort: prio 7", "{thread:?}");
    }
}
