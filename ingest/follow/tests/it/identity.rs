//! Which log is it: names, headers, and what they have in common.

use std::fs;

use crate::common::{Machine, event, events, header, name};

#[test]
fn two_logs_of_one_process_are_two_logs() {
    let mut machine = Machine::new();
    let second = name("A.exe", 1).replace("12-00-00", "12-00-01");
    machine.write(&name("A.exe", 1), header("A.exe", 1) + &event(0));
    machine.write(&second, header("A.exe", 1).replace("12:00:00", "12:00:01") + &event(1));
    assert_eq!(machine.poll().followed, 2);
    assert_eq!(machine.logs().len(), 2);
}

#[test]
fn five_files_with_identical_headers_are_five_logs_without_records() {
    let mut machine = Machine::new();
    let names: Vec<_> = (1..6).map(|pid| name("A.exe", pid)).collect();
    for name in &names {
        machine.write(name, header("A.exe", 1));
    }
    let look = machine.poll();
    assert_eq!((look.followed, look.duplicates, machine.logs().len()), (5, 0, 5));
    for log in machine.logs() {
        machine.assert_holds(&log, header("A.exe", 1));
        assert_eq!(machine.ranges_of(&log).count(), 1);
    }
    assert!(machine.poll().changed.is_empty());
    // Each goes its own way, also when the agent was down.
    machine.restart();
    for (number, name) in (0..).zip(&names) {
        machine.append(name, event(number));
    }
    assert_eq!((machine.poll().followed, machine.logs().len()), (5, 5));
    for range in &machine.ranges[5..] {
        let pid = range.segment.facts.process.as_ref().map(|process| process.pid);
        assert_eq!(pid, Some(1), "the header knows best");
        let number = names.iter().position(|name| *name == range.segment.file).expect("it is one of them");
        machine.assert_holds(&range.log, header("A.exe", 1) + &event(number as u32));
    }
}

#[test]
fn a_header_that_still_grows_waits() {
    let mut machine = Machine::new();
    let name = name("A.exe", 1);
    machine.write(&name, "");
    assert_eq!(machine.poll().waiting, [machine.path(&name)]);
    let header = header("A.exe", 1);
    for cut in [10, 40, header.len() - 1] {
        machine.write(&name, &header[..cut]);
        let look = machine.poll();
        assert_eq!((look.waiting.len(), look.followed, look.changed.len()), (1, 0, 0), "{cut}");
    }
    machine.write(&name, &header);
    assert_eq!(machine.poll().waiting.len(), 0);
    machine.assert_holds(&machine.only(), header);
}

#[test]
fn a_header_that_never_comes_is_taken_after_a_quiet_hour_where_the_name_is_a_logs() {
    let mut machine = Machine::new();
    let (empty, half) = (name("A.exe", 1), name("B.exe", 2));
    machine.write(&empty, "");
    machine.write(&half, &header("B.exe", 2)[..50]);
    machine.write("unnamed", "=== Disp");
    assert_eq!(machine.poll().waiting.len(), 3);
    machine.pass(3600);
    machine.poll();
    let look = machine.poll();
    assert_eq!((look.waiting.len(), look.others, machine.ranges.len()), (0, 1, 2));
    assert_eq!(machine.logs().len(), 2);
    let of =
        |name: &str| machine.ranges.iter().find(|range| range.segment.file == name).expect("it was read").log.clone();
    let (empty_log, half_log) = (of(&empty), of(&half));
    machine.assert_holds(&empty_log, "");
    machine.assert_holds(&half_log, &header("B.exe", 2)[..50]);
    // It comes after all: the same log goes on, also over a restart.
    machine.append(&half, header("B.exe", 2)[50..].to_owned() + &event(1));
    machine.poll();
    machine.restart();
    machine.append(&half, event(2));
    machine.poll();
    machine.assert_holds(&half_log, header("B.exe", 2) + &events(1..3));
    assert_eq!(machine.logs().len(), 2);
}

#[test]
fn a_file_named_like_a_log_needs_no_header_and_others_need_one() {
    let mut machine = Machine::new();
    machine.write(&name("A.exe", 1), event(1));
    machine.write("notes.txt", event(1));
    machine.write("renamed.txt", header("B.exe", 2) + &event(1));
    let look = machine.poll();
    assert_eq!((look.others, look.followed), (1, 2));
    let mut files: Vec<_> = machine.ranges.iter().map(|range| range.segment.file.as_str()).collect();
    files.sort_unstable();
    assert_eq!(files, [name("A.exe", 1).as_str(), "renamed.txt"]);
}

#[test]
fn our_own_folder_is_left_out() {
    let mut machine = Machine::new();
    machine.config.leave_out = vec![machine.path("state"), machine.path("weavewatch.log")];
    machine.write(&format!("state/deep/{}", name("A.exe", 1)), header("A.exe", 1));
    machine.write("weavewatch.log", header("A.exe", 1));
    let look = machine.poll();
    assert_eq!((look.followed, look.others, machine.ranges.len()), (0, 0, 0));
}

#[cfg(unix)]
#[test]
fn one_file_by_three_spellings_of_its_path_is_one_log() {
    use follow::Folder;
    let mut machine = Machine::new();
    let text = header("A.exe", 1) + &event(1);
    machine.write(&name("A.exe", 1), &text);
    fs::create_dir(machine.path("below")).expect("the folder is writable");
    std::os::unix::fs::symlink(machine.path("."), machine.root().join("link")).expect("links can be made");
    std::os::unix::fs::symlink(machine.path(&name("A.exe", 1)), machine.path("alias.log")).expect("links can be made");
    let others = [machine.root().join("link"), machine.path("below/..")];
    machine.config.folders.extend(others.map(Folder::named));
    let look = machine.poll();
    assert_eq!((look.followed, look.duplicates, machine.ranges.len()), (1, 0, 1));
    machine.append("alias.log", event(2));
    machine.poll();
    machine.assert_holds(&machine.only(), text + &event(2));
    assert_eq!(machine.problems, []);
}

#[cfg(unix)]
#[test]
fn a_loop_of_links_is_walked_once() {
    let mut machine = Machine::new();
    machine.write(&format!("deep/{}", name("A.exe", 1)), header("A.exe", 1) + &event(1));
    std::os::unix::fs::symlink(machine.path("."), machine.path("deep/up")).expect("links can be made");
    std::os::unix::fs::symlink("self", machine.path("self")).expect("links can be made");
    std::os::unix::fs::symlink("nowhere", machine.path("dangling")).expect("links can be made");
    for _ in 0..3 {
        assert_eq!(machine.poll().followed, 1);
    }
    assert_eq!(machine.ranges.len(), 1);
    let said: Vec<_> = machine.problems.iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(said, [machine.path("self").canonicalize().unwrap_or_else(|_| machine.path("self"))]);
}

#[test]
fn a_hard_link_is_the_same_file() {
    let mut machine = Machine::new();
    machine.write(&name("A.exe", 1), header("A.exe", 1) + &event(1));
    fs::hard_link(machine.path(&name("A.exe", 1)), machine.path(&name("B.exe", 2))).expect("links can be made");
    let look = machine.poll();
    assert_eq!((look.followed, look.duplicates, machine.logs().len()), (1, 1, 1));
}
