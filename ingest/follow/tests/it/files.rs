//! New, appended, truncated, deleted, renamed, copied, moved: what each gives.

use std::fs;
use std::time::{Duration, SystemTime};

use follow::{Ended, Folder, Look};

use crate::common::{FOOTER, Machine, event, events, header, name, noise};

const EXE: &str = "A.exe";

/// A machine with one log of three events that was read.
fn one() -> (Machine, String, String) {
    let mut machine = Machine::new();
    let text = header(EXE, 1) + &events(0..3);
    machine.write(&name(EXE, 1), &text);
    machine.poll();
    let log = machine.only();
    (machine, log, text)
}

/// A look at a time when what is gone does not come back.
fn later(machine: &mut Machine) -> Look {
    machine.pass(10);
    machine.poll()
}

#[test]
fn a_new_file_is_read_to_its_end_and_once() {
    let mut machine = Machine::new();
    assert_eq!(machine.poll().followed, 0);
    let text = header(EXE, 1) + &events(0..3);
    machine.write(&name(EXE, 1), &text);
    let look = machine.poll();
    assert_eq!((look.changed.len(), look.followed), (1, 1));
    let log = machine.only();
    assert_eq!(machine.spans(&log), [(0, text.len() as u64)]);
    machine.assert_holds(&log, &text);
    assert!(machine.poll().changed.is_empty());
}

#[test]
fn what_is_appended_is_read_from_the_last_record_on() {
    let mut machine = Machine::new();
    // Enough that what kind of input it is has been settled.
    let text = header(EXE, 1) + &events(0..60);
    machine.write(&name(EXE, 1), &text);
    machine.poll();
    let log = machine.only();
    machine.append(&name(EXE, 1), event(60));
    machine.poll();
    let whole = text.clone() + &event(60);
    let last_record = (text.len() - event(59).len()) as u64;
    assert_eq!(machine.spans(&log), [(0, text.len() as u64), (last_record, whole.len() as u64)]);
    machine.assert_holds(&log, whole);
}

#[test]
fn half_a_line_waits_for_the_other_half() {
    let (mut machine, log, text) = one();
    let line = event(3);
    let (half, rest) = line.split_at(100);
    machine.append(&name(EXE, 1), half);
    assert_eq!(machine.poll().changed, [log.as_str().into()]);
    assert_eq!(machine.ranges.len(), 1);
    assert!(machine.poll().changed.is_empty(), "it is not tried again before it grows");
    machine.append(&name(EXE, 1), rest);
    machine.poll();
    machine.assert_holds(&log, text + &line);
    assert!(machine.ranges.iter().all(|range| !range.segment.unfinished));
}

#[test]
fn half_a_line_is_taken_after_a_quiet_hour_and_marked() {
    let (mut machine, log, text) = one();
    machine.append(&name(EXE, 1), &event(3)[..100]);
    machine.poll();
    machine.pass(3500);
    assert!(machine.poll().changed.is_empty());
    machine.pass(100);
    machine.poll();
    machine.assert_holds(&log, text.clone() + &event(3)[..100]);
    let last = machine.ranges.last().expect("it was read");
    assert!(last.segment.unfinished);
    assert_eq!(last.position.ended, Some(Ended::Quiet));
    assert_eq!(machine.poll().finished, 1);
    // It was not the end after all.
    machine.append(&name(EXE, 1), &event(3)[100..]);
    machine.poll();
    machine.assert_holds(&log, text + &event(3));
}

#[test]
fn half_a_line_is_taken_when_the_same_program_writes_a_newer_log() {
    let (mut machine, log, text) = one();
    machine.append(&name(EXE, 1), &event(3)[..100]);
    machine.poll();
    let newer = name(EXE, 2).replace("12-00-00", "12-30-00");
    machine.write(&newer, header(EXE, 2) + &event(9));
    machine.write(&name("B.exe", 3).replace("12-00-00", "13-00-00"), header("B.exe", 3));
    machine.poll();
    assert_eq!(machine.ranges_of(&log).count(), 1, "two may run at once: it has to be still for a moment");
    machine.pass(20);
    machine.poll();
    machine.assert_holds(&log, text + &event(3)[..100]);
    let last = machine.ranges_of(&log).last().expect("it was read");
    assert!(last.segment.unfinished);
    assert_eq!(last.position.ended, Some(Ended::Superseded));
}

#[test]
fn half_a_line_is_taken_at_once_when_nobody_will_look_again() {
    let mut machine = Machine::new();
    machine.config.take_partial = true;
    let text = header(EXE, 1) + &events(0..3) + &event(3)[..100];
    machine.write(&name(EXE, 1), &text);
    machine.poll();
    machine.assert_holds(&machine.only(), &text);
    assert!(machine.ranges[0].segment.unfinished);
    assert!(machine.poll().changed.is_empty());

    // Also of a log that comes in several ranges, with one look.
    let mut machine = Machine::new();
    machine.config.take_partial = true;
    machine.limits.json_bytes = 20_000;
    machine.buffer_bytes = 4096;
    let text = header(EXE, 1) + &events(0..300) + &event(300)[..100];
    machine.write(&name(EXE, 1), &text);
    machine.poll();
    assert!(machine.ranges.len() > 2);
    machine.assert_holds(&machine.only(), text);
}

#[test]
fn a_footer_ends_a_log_also_without_its_newline() {
    for footer in [FOOTER, FOOTER.trim_end()] {
        let (mut machine, log, text) = one();
        machine.append(&name(EXE, 1), footer);
        machine.poll();
        machine.assert_holds(&log, text.clone() + footer);
        let last = machine.ranges.last().expect("it was read");
        assert_eq!((last.position.ended, last.segment.unfinished), (Some(Ended::Footer), false));
        assert_eq!((machine.poll().finished, machine.poll().followed), (1, 0));
        // Logging began again in the same process.
        machine.append(&name(EXE, 1), "\r\n".to_owned() + &header(EXE, 1) + &event(7));
        assert_eq!(machine.poll().followed, 1);
        machine.assert_holds(&log, text + footer + "\r\n" + &header(EXE, 1) + &event(7));
    }
}

#[test]
fn a_log_that_is_long_quiet_has_ended_and_is_read_on_when_it_grows() {
    let (mut machine, log, text) = one();
    machine.pass(3600);
    let look = machine.poll();
    assert_eq!((look.moved, look.finished, look.followed), (vec![log.as_str().into()], 1, 0));
    machine.append(&name(EXE, 1), event(3));
    assert_eq!(machine.poll().followed, 1);
    machine.assert_holds(&log, text + &event(3));
}

#[test]
fn a_truncated_file_is_another_log_and_what_was_not_read_is_a_loss() {
    let (mut machine, log, text) = one();
    machine.append(&name(EXE, 1), "half a line");
    machine.poll();
    let shorter = header(EXE, 1) + &event(7);
    machine.write(&name(EXE, 1), &shorter);
    assert_eq!(machine.poll().moved, [log.as_str().into()]);
    let look = later(&mut machine);
    let loss = &look.losses[0];
    assert_eq!((loss.log.as_deref(), loss.reason.as_str(), loss.bytes), (Some(log.as_str()), "truncated", 11));
    assert_eq!((look.losses.len(), &look.moved), (1, &vec![log.as_str().into()]));
    assert_eq!(machine.logs().len(), 2);
    machine.assert_holds(&machine.logs()[1], shorter);
    machine.assert_holds(&log, text);
    assert!(machine.poll().losses.is_empty(), "a loss is told once");
}

#[test]
fn half_a_line_that_is_taken_back_is_lost_once_whatever_starts_anew() {
    let (mut machine, log, content) = one();
    machine.append(&name(EXE, 1), event(3) + "[2026");
    machine.poll();
    machine.write(&name(EXE, 1), content.clone() + &event(3));
    let lost: Vec<u64> = machine.poll().losses.iter().map(|loss| loss.bytes).collect();
    assert_eq!(lost, [5]);
    machine.restart();
    assert_eq!(machine.poll().losses, []);
    machine.assert_holds(&log, content + &event(3));
}

#[test]
fn truncate_and_regrow_past_the_old_offset_within_one_poll_is_another_log() {
    let (mut machine, log, text) = one();
    let regrown = header(EXE, 1) + &events(10..20);
    assert!(regrown.len() > text.len());
    machine.write(&name(EXE, 1), &regrown);
    machine.poll();
    machine.assert_holds(&log, text);
    machine.assert_holds(&machine.logs()[1], regrown);
}

#[test]
fn truncate_and_regrow_to_the_very_same_size_is_another_log() {
    let (mut machine, log, text) = one();
    let regrown = header(EXE, 1) + &events(3..6);
    assert_eq!(regrown.len(), text.len());
    machine.write(&name(EXE, 1), &regrown);
    machine.poll();
    machine.assert_holds(&log, text);
    machine.assert_holds(&machine.logs()[1], regrown);
}

#[test]
fn truncate_and_regrow_while_the_agent_is_down_is_another_log() {
    let (mut machine, log, text) = one();
    machine.restart();
    let regrown = header(EXE, 1) + &events(10..20);
    machine.write(&name(EXE, 1), &regrown);
    machine.poll();
    machine.assert_holds(&log, text);
    machine.assert_holds(&machine.logs()[1], &regrown);
    // And it stays that one.
    machine.restart();
    machine.append(&name(EXE, 1), event(20));
    machine.poll();
    machine.assert_holds(&machine.logs()[1], regrown + &event(20));
    assert_eq!(machine.logs().len(), 2);
}

#[test]
fn a_file_that_is_written_anew_with_the_same_content_stays_the_same_log() {
    let (mut machine, log, text) = one();
    machine.write(&name(EXE, 1), "");
    machine.poll();
    machine.write(&name(EXE, 1), text.clone() + &event(3));
    machine.poll();
    machine.assert_holds(&log, text + &event(3));
    assert_eq!(machine.only(), log);
}

#[test]
fn delete_and_recreate_twice_in_a_second() {
    let (mut machine, log, text) = one();
    for number in [10, 20] {
        machine.remove(&name(EXE, 1));
        machine.write(&name(EXE, 1), header(EXE, 1) + &events(number..number + 5));
    }
    let look = machine.poll();
    assert_eq!(look.losses, []);
    machine.assert_holds(&log, text);
    assert_eq!(machine.logs().len(), 2, "what nobody saw is nothing");
    machine.assert_holds(&machine.logs()[1], header(EXE, 1) + &events(20..25));
}

#[test]
fn a_deleted_log_is_finished_and_what_was_not_read_is_a_loss() {
    let (mut machine, log, _) = one();
    machine.append(&name(EXE, 1), "half a line");
    machine.poll();
    machine.remove(&name(EXE, 1));
    let look = machine.poll();
    assert_eq!((look.finished, look.followed, look.losses.len()), (1, 0, 0));
    machine.restart();
    let look = later(&mut machine);
    assert_eq!((look.losses[0].reason.as_str(), look.losses[0].bytes), ("deleted", 11));
    machine.restart();
    let look = later(&mut machine);
    assert_eq!((look.finished, look.losses.len()), (1, 0));
    machine.pass(8 * 24 * 3600);
    assert_eq!(machine.poll().forgotten, [log.as_str().into()]);
    assert!(machine.saved.is_empty());
}

#[test]
fn a_file_that_was_between_two_names_during_a_look_has_lost_nothing() {
    for taken in [false, true] {
        let (mut machine, log, text) = one();
        machine.append(&name(EXE, 1), "[2026");
        machine.poll();
        machine.rename(&name(EXE, 1), "../between");
        if taken {
            machine.write(&name(EXE, 1), header(EXE, 1));
        }
        assert_eq!((machine.poll().losses, machine.saved.len()), (vec![], 1 + usize::from(taken)));
        machine.rename("../between", "old.log");
        assert_eq!(machine.poll().losses, []);
        machine.append("old.log", &event(3)[5..]);
        assert_eq!((machine.poll().losses, later(&mut machine).losses), (vec![], vec![]));
        machine.assert_holds(&log, text + &event(3));
    }
}

#[test]
fn a_renamed_file_stays_the_same_log() {
    let (mut machine, log, text) = one();
    for (from, to) in [(name(EXE, 1), "old.log".to_owned()), ("old.log".to_owned(), name("B.exe", 9))] {
        machine.rename(&from, &to);
        let look = machine.poll();
        assert_eq!((look.moved, look.losses), (vec![log.as_str().into()], vec![]));
    }
    machine.append(&name("B.exe", 9), event(3));
    machine.poll();
    assert_eq!(machine.only(), log);
    machine.restart();
    machine.rename(&name("B.exe", 9), "again.log");
    machine.append("again.log", event(4));
    machine.poll();
    assert_eq!(machine.only(), log);
    machine.assert_holds(&log, text + &events(3..5));
}

#[test]
fn a_renamed_file_stays_the_same_log_while_a_new_one_under_its_name_has_a_header_only() {
    // The new file is looked into first, and later, than the renamed one.
    for renamed in ["old.log", "zzz.log", "A.log"] {
        let (mut machine, log, content) = one();
        let file = name(EXE, 1);
        machine.rename(&file, renamed);
        machine.write(&file, header(EXE, 1));
        machine.poll();
        machine.append(renamed, event(8));
        machine.append(&file, event(9));
        machine.poll();
        assert_eq!(machine.logs().len(), 2, "{renamed}");
        machine.assert_holds(&log, content + &event(8));
        machine.assert_holds(&machine.logs()[1], header(EXE, 1) + &event(9));
    }
}

#[test]
fn two_files_that_swap_names_stay_the_same_logs() {
    let mut machine = Machine::new();
    let texts = [header(EXE, 1) + &events(0..3), header("B.exe", 2) + &events(5..9)];
    machine.write("a.log", &texts[0]);
    machine.write("b.log", &texts[1]);
    machine.poll();
    let logs = machine.logs();
    machine.rename("a.log", "c.log");
    machine.rename("b.log", "a.log");
    machine.rename("c.log", "b.log");
    machine.append("b.log", event(20));
    assert_eq!(machine.poll().losses, []);
    assert_eq!(machine.logs(), logs);
    let with = |text: &str| {
        machine.logs().iter().position(|log| machine.spans(log).last().expect("it was read").1 == text.len() as u64)
    };
    let first = with(&(texts[0].clone() + &event(20))).expect("it was read on");
    machine.assert_holds(&logs[first], texts[0].clone() + &event(20));
}

#[test]
fn a_log_in_a_moved_folder_stays_the_same_log() {
    let mut machine = Machine::new();
    let text = header(EXE, 1) + &events(0..3);
    let place = |folder: &str| format!("{folder}/deeper/{}", name(EXE, 1));
    machine.write(&place("one"), &text);
    machine.poll();
    let log = machine.only();
    machine.rename("one", "two");
    machine.append(&place("two"), event(3));
    let look = machine.poll();
    assert_eq!((look.moved, look.losses, look.followed), (vec![log.as_str().into()], vec![], 1));
    machine.assert_holds(&log, text + &event(3));
    assert_eq!(machine.only(), log);
}

#[test]
fn a_copy_under_a_new_name_is_the_same_log_and_the_longer_is_followed() {
    let (mut machine, log, text) = one();
    fs::copy(machine.path(&name(EXE, 1)), machine.path("Copy of a log.txt")).expect("the folder is writable");
    let look = machine.poll();
    assert_eq!((look.duplicates, look.followed, look.changed.len()), (1, 1, 0));
    machine.append("Copy of a log.txt", event(3));
    let look = machine.poll();
    assert_eq!((look.duplicates, look.followed), (1, 1));
    machine.assert_holds(&log, text.clone() + &event(3));
    machine.append(&name(EXE, 1), events(3..5));
    machine.poll();
    machine.assert_holds(&log, text + &events(3..5));
    assert_eq!(machine.only(), log);
}

#[test]
fn a_copy_that_goes_another_way_becomes_a_log_of_its_own() {
    let (mut machine, log, text) = one();
    machine.write("copy.log", &text);
    assert_eq!(machine.poll().duplicates, 1);
    machine.append("copy.log", event(50));
    machine.append(&name(EXE, 1), event(60));
    machine.poll();
    machine.poll();
    let logs = machine.logs();
    assert_eq!(logs.len(), 2);
    let (own, other) = if logs[0] == log { (&logs[0], &logs[1]) } else { (&logs[1], &logs[0]) };
    let ends = [text.clone() + &event(60), text + &event(50)];
    let own_is_first = machine.ranges_of(own).last().expect("it was read").segment.file == name(EXE, 1);
    machine.assert_holds(own, &ends[usize::from(!own_is_first)]);
    machine.assert_holds(other, &ends[usize::from(own_is_first)]);
}

#[test]
fn a_copy_takes_the_place_of_a_file_that_is_deleted() {
    let (mut machine, log, text) = one();
    machine.write("copy.log", &text);
    machine.poll();
    machine.remove(&name(EXE, 1));
    let look = machine.poll();
    assert_eq!((look.duplicates, look.followed, look.losses.len()), (0, 1, 0));
    machine.append("copy.log", event(3));
    machine.poll();
    machine.assert_holds(&log, text + &event(3));
}

#[test]
fn a_file_that_is_deleted_between_looking_and_reading_is_no_error() {
    let (mut machine, log, text) = one();
    machine.append(&name(EXE, 1), event(3));
    assert_eq!(machine.look().changed.len(), 1);
    machine.remove(&name(EXE, 1));
    assert!(machine.read_and_lose(&log).is_none());
    assert_eq!(machine.poll().finished, 1);
    assert_eq!(later(&mut machine).losses[0].bytes, event(3).len() as u64);
    assert_eq!(machine.problems, []);
    machine.assert_holds(&log, text);
}

#[test]
fn a_file_that_is_replaced_between_looking_and_reading_is_another_log() {
    let (mut machine, log, text) = one();
    machine.append(&name(EXE, 1), event(3));
    assert_eq!(machine.look().changed.len(), 1);
    let other = header(EXE, 1) + &events(10..30);
    machine.write(&name(EXE, 1), &other);
    assert!(machine.read_and_lose(&log).is_none());
    machine.poll();
    let look = later(&mut machine);
    assert_eq!((look.losses.len(), look.losses[0].bytes), (1, event(3).len() as u64));
    machine.assert_holds(&log, text);
    machine.assert_holds(&machine.logs()[1], other);
}

#[test]
fn a_range_that_was_not_kept_comes_again() {
    let mut machine = Machine::new();
    let text = header(EXE, 1) + &events(0..3) + &noise(1);
    machine.write(&name(EXE, 1), &text);
    let log = machine.look().changed[0].clone();
    let lost = machine.read_and_lose(&log).expect("it has something new");
    assert_eq!(machine.read_and_lose(&log).as_ref(), Some(&lost));
    machine.restart();
    machine.poll();
    assert_eq!(machine.ranges, [lost]);
    machine.assert_holds(&log, text);
}

#[test]
fn what_is_found_while_a_range_is_on_its_way_is_not_forgotten_with_it() {
    let (mut machine, log, text) = one();
    machine.append(&name(EXE, 1), event(3));
    machine.look();
    let range = machine.read_and_lose(&log).expect("it has something new");
    machine.append(&name(EXE, 1), event(4));
    machine.look();
    machine.follower().commit(&log, range.position.clone());
    machine.ranges.push(range);
    machine.poll();
    machine.assert_holds(&log, text + &events(3..5));
}

#[test]
fn a_log_of_a_folder_that_is_followed_no_more_is_neither_gone_nor_sent_again() {
    let mut machine = Machine::new();
    let (a, b) = (machine.path("a"), machine.path("b"));
    machine.config.folders = vec![Folder::named(&a), Folder::named(&b)];
    let text = header(EXE, 1) + &event(0);
    machine.write(&format!("a/{}", name(EXE, 1)), &text);
    machine.write(&format!("b/{}", name("B.exe", 2)), header("B.exe", 2));
    assert_eq!(machine.poll().followed, 2);
    let log = machine.logs()[0].clone();
    for restart in [false, true] {
        machine.config.folders = vec![Folder::named(&b)];
        machine.follower().set_folders(vec![Folder::named(&b)]);
        if restart {
            machine.restart();
        }
        let look = machine.poll();
        assert_eq!((look.followed, look.losses.len(), look.changed.len()), (1, 0, 0));
        machine.append(&format!("a/{}", name(EXE, 1)), event(7));
        assert_eq!(machine.poll().changed, []);
        machine.config.folders.push(Folder::named(&a));
        machine.follower().set_folders(vec![Folder::named(&b), Folder::named(&a)]);
        assert_eq!(machine.poll().followed, 2);
    }
    machine.assert_holds(&log, text + &event(7) + &event(7));
}

#[test]
fn a_clock_that_is_set_back_stops_nothing() {
    let mut machine = Machine::new();
    machine.config.full_every = Duration::from_secs(30);
    machine.write(&name(EXE, 1), header(EXE, 1));
    machine.poll();
    machine.now -= Duration::from_hours(24);
    machine.append(&name(EXE, 1), event(0));
    machine.poll();
    machine.assert_holds(&machine.only(), header(EXE, 1) + &event(0));
}

#[test]
fn a_log_that_was_quiet_before_anyone_looked_is_taken_as_it_is() {
    let mut machine = Machine::new();
    let text = header(EXE, 1) + &event(0) + &event(1)[..100];
    machine.write(&name(EXE, 1), &text);
    let file = fs::File::options().write(true).open(machine.path(&name(EXE, 1))).expect("it is there");
    file.set_modified(SystemTime::now() - Duration::from_hours(2)).expect("it is ours");
    machine.poll();
    machine.assert_holds(&machine.only(), text);
    assert!(machine.ranges[0].segment.unfinished);
}

#[test]
fn a_content_that_is_long_gone_is_remembered_while_the_file_has_another() {
    let (mut machine, first, _) = one();
    for number in [10, 20] {
        machine.write(&name(EXE, 1), header(EXE, 1) + &events(number..number + 2));
        machine.poll();
        machine.pass(30 * 24 * 3600);
        assert_eq!(machine.poll().forgotten, []);
        machine.restart();
    }
    assert_eq!(machine.logs().len(), 3, "no identity is used twice");
    machine.remove(&name(EXE, 1));
    machine.poll();
    machine.pass(8 * 24 * 3600);
    let forgotten = machine.poll().forgotten;
    assert_eq!(forgotten.len(), 3);
    assert!(forgotten.iter().any(|log| **log == *first));
}
