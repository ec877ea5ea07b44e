//! A disk of 16 MiB for the agent's folder, used up by its own queue or by others: the agent waits and says why, and nothing is
//! lost. Needs the right to mount one.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agent::{Arrived, Machine, kind_server};
use crate::common::log_name;
use crate::server::{Answer, Server, nobody};

/// The machine's state folder as a small disk, gone when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// None, said on stderr, when this account may not mount.
    fn of(machine: &Machine) -> Option<Self> {
        let folder = machine.state();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(&folder).stderr(Stdio::null());
        if !mount.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: mounting a disk of 16 MiB needs root");
            return None;
        }
        Some(Self(folder))
    }

    /// Uses up every byte that is free.
    fn fill(&self) {
        let mut file = fs::File::create(self.0.join("filler")).expect("a name needs no space");
        let error = (0..).find_map(|_| file.write_all(&[7; 4096]).err()).expect("the disk is small");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    }

    fn free(&self) {
        fs::remove_file(self.0.join("filler")).expect("it was written");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn waits_for_the_disk(status: &Value) -> bool {
    status["slowed"].as_str().is_some_and(|why| why.contains("No space left") && why.contains("is the disk full?"))
}

#[test]
fn a_queue_that_fills_the_disk_pauses_reading_until_the_server_is_back() {
    const LOGS: u32 = 6;
    const EVENTS: usize = 8_000;
    let machine = Machine::new();
    let Some(_disk) = Disk::of(&machine) else { return };
    for pid in 0..LOGS {
        machine.write(&log_name("A.exe", pid, "12-00-00"), EVENTS);
    }
    let address = nobody();
    machine.configure(&format!("http://{address}"), "");
    let agent = machine.start();
    let status = machine.wait("the disk is full", waits_for_the_disk);
    assert!(status["last_error"]["what"].is_string(), "{status:#}");
    let all = u64::from(LOGS) * EVENTS as u64;
    assert!(status["ledger"]["events"].as_u64().is_some_and(|read| read > 0 && read < all), "{status:#}");

    let server = Server::at(address, Answer::accept);
    let status = machine.wait_for(all);
    assert!(status["last_error"].is_null() && status["slowed"].is_null(), "{status:#}");
    let arrived = Arrived::of(server.requests());
    assert_eq!(arrived.events(), all);
    assert!(arrived.came <= all + u64::from(LOGS) * 20, "{} came for {all}", arrived.came);
    assert!(agent.stop().0.success());
    machine.wait_for(all);
}

#[test]
fn a_full_disk_ends_watch_once_with_three_and_the_next_run_sends_everything() {
    let machine = Machine::new();
    let Some(disk) = Disk::of(&machine) else { return };
    let server = kind_server();
    machine.configure(&server.url, "");
    // At the very first start, and when the agent has been there before.
    for (file, events) in [(log_name("A.exe", 1, "12-00-00"), 10), (log_name("B.exe", 2, "12-00-00"), 14)] {
        machine.write(&file, events);
        disk.fill();
        let run = machine.once();
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
        disk.free();
        let run = machine.once();
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(Arrived::of(server.requests()).came, events as u64);
    }
    assert_eq!(machine.status()["ledger"]["acknowledged"], 24);
}

#[test]
fn a_running_agent_goes_on_when_a_disk_that_others_filled_is_free_again() {
    let machine = Machine::new();
    let Some(disk) = Disk::of(&machine) else { return };
    let server = kind_server();
    machine.configure(&server.url, "");
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    let agent = machine.start();
    machine.wait_for(10);
    disk.fill();
    machine.write(&log_name("B.exe", 2, "12-00-00"), 5);
    let status = machine.wait("the disk is full", waits_for_the_disk);
    assert!(status["last_error"]["what"].as_str().is_some_and(|what| what.contains("No space left")), "{status:#}");
    disk.free();
    machine.wait_for(15);
    let status = machine.wait("the trouble is over", |status| status["slowed"].is_null());
    assert!(status["last_error"].is_null(), "{status:#}");
    assert!(agent.stop().0.success());
    let arrived = Arrived::of(server.requests());
    assert_eq!((arrived.events(), arrived.came), (15, 15));
}

#[test]
fn answers_that_a_full_disk_does_not_let_note_are_noted_later() {
    let machine = Machine::new();
    let Some(disk) = Disk::of(&machine) else { return };
    let own = disk.0.clone();
    machine.write(&log_name("A.exe", 1, "12-00-00"), 10);
    // The disk is full just when the answer comes.
    let server = Server::with(move |request| {
        if !request.batch.segments.is_empty() {
            Disk(own.clone()).fill_once();
        }
        Answer::accept(request)
    });
    machine.configure(&server.url, "");
    let agent = machine.start();
    // The queue lets go of what the server has, whatever the map can tell.
    machine.wait("it was sent", |status| status["last_contact"].is_string());
    machine.wait("the queue is empty", |status| status["queue"]["bytes"] == 0);
    disk.free();
    machine.write(&log_name("B.exe", 2, "12-00-00"), 5);
    machine.wait_for(15);
    assert!(agent.stop().0.success());
    let status = machine.wait_for(15);
    assert_eq!(status["ledger"]["events"], 15, "{status:#}");
    let arrived = Arrived::of(server.requests());
    assert_eq!((arrived.events(), arrived.came), (15, 15));
}

impl Disk {
    /// Fills the disk at the first call, and leaves it mounted.
    fn fill_once(self) {
        let disk = std::mem::ManuallyDrop::new(self);
        if !disk.0.join("filled").exists() {
            fs::write(disk.0.join("filled"), "").expect("a name needs no space");
            disk.fill();
        }
    }
}
