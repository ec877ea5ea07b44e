//! Every torn state that a power cut, a kill or a person leaves, one by one; and the queue's plain manners.

use std::fs;

use tempfile::TempDir;

use super::*;

const ENTRY_BYTES: u64 = 35;
const FIRST: &str = "q-00000000000000000001.seg";
const SECOND: &str = "q-00000000000000000004.seg";
const THIRD: &str = "q-00000000000000000007.seg";
const LAST: &str = "q-00000000000000000010.seg";

fn options(folder: &Path) -> Options {
    Options { segment_bytes: 3 * ENTRY_BYTES, ..Options::new(folder, 100_000) }
}

/// Ten entries, three a segment, two of them acknowledged.
fn ten() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut queue, recovery) = Queue::open(options(folder.path())).expect("the folder is empty");
    assert_eq!(recovery.to_string(), "everything was in order");
    for number in 1..=10 {
        assert_eq!(queue.push(&entry(number)).expect("there is space"), number);
    }
    queue.sync().expect("the disk has space");
    queue.acknowledge(2).expect("the disk has space");
    folder
}

fn entry(number: u64) -> Vec<u8> {
    format!("entry{number:02}").into_bytes()
}

fn numbers(queue: &mut Queue) -> Vec<u64> {
    let seen = queue.peek(usize::MAX, usize::MAX).expect("the files are there");
    assert!(seen.iter().all(|(number, bytes)| *bytes == entry(*number)));
    seen.into_iter().map(|(number, _)| number).collect()
}

/// Does this to the folder of ten, opens it, and expects these entries and these words. Then goes on.
#[track_caller]
fn check(damage: impl FnOnce(&Path), expected: impl IntoIterator<Item = u64>, words: &str) {
    let folder = ten();
    damage(folder.path());
    let (mut queue, recovery) = Queue::open(options(folder.path())).expect("any state can be opened");
    let mut expected: Vec<u64> = expected.into_iter().collect();
    assert_eq!((numbers(&mut queue), recovery.to_string().as_str()), (expected.clone(), words));
    let next = queue.push(&entry(queue.next)).expect("there is space");
    assert!(expected.last().is_none_or(|last| *last < next));
    queue.sync().expect("the disk has space");
    expected.push(next);
    assert_eq!(numbers(&mut queue), expected);
    drop(queue);
    let (mut queue, recovery) = Queue::open(options(folder.path())).expect("it was put in order");
    assert_eq!((numbers(&mut queue), recovery.findings), (expected, vec![]));
}

fn change(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(folder.join(name)).expect("the file is there");
    change(&mut bytes);
    fs::write(folder.join(name), bytes).expect("the folder is writable");
}

fn remove(folder: &Path, name: &str) {
    fs::remove_file(folder.join(name)).expect("the file is there");
}

#[test]
fn an_orderly_end_leaves_nothing_to_say() {
    check(|_| {}, 3..=10, "everything was in order");
}

#[test]
fn a_torn_tail_is_cut_off() {
    let said = |bytes: u64| format!("{LAST}: cut off {bytes} bytes of a write that had not been finished");
    for left in [1, 4, 27, 28, 34] {
        check(|it| change(it, LAST, |bytes| bytes.truncate(left)), 3..=9, &said(left as u64));
    }
    check(|it| change(it, LAST, |bytes| bytes.resize(4096, 0)), 3..=10, &said(4096 - ENTRY_BYTES));
    check(|it| change(it, LAST, |bytes| bytes.extend(b"garbage")), 3..=10, &said(7));
    check(|it| change(it, LAST, |bytes| bytes.fill(0)), 3..=9, &said(ENTRY_BYTES));
    check(|it| change(it, LAST, |bytes| bytes[30] ^= 1), 3..=9, &said(ENTRY_BYTES));
}

#[test]
fn a_damaged_entry_costs_no_other_one() {
    let said = "q-00000000000000000004.seg: skipped 35 damaged bytes";
    let (first, second, third) = (40, 4, 100);
    check(
        |it| change(it, SECOND, |b| b[first] ^= 1),
        [3, 4, 6, 7, 8, 9, 10],
        &format!("queue entry 5 is lost: no file holds it any more; {said}"),
    );
    check(
        |it| change(it, SECOND, |b| b[second] ^= 1),
        [3, 5, 6, 7, 8, 9, 10],
        &format!("queue entry 4 is lost: no file holds it any more; {said}"),
    );
    check(
        |it| change(it, SECOND, |b| b[third] ^= 1),
        [3, 4, 5, 7, 8, 9, 10],
        &format!("{said}; queue entry 6 is lost: no file holds it any more"),
    );
    // What is damaged was acknowledged: nobody misses it.
    check(|it| change(it, FIRST, |b| b[10] ^= 1), 3..=10, "everything was in order");
}

#[test]
fn a_lost_segment_is_told_by_its_numbers() {
    let lost = "queue entries 7 to 9 are lost: no file holds them any more";
    let others = [3, 4, 5, 6, 10];
    check(|it| remove(it, THIRD), others, lost);
    check(
        |it| change(it, THIRD, Vec::clear),
        others,
        &format!("removed {THIRD}, a leftover of an interrupted write; {lost}"),
    );
    check(|it| change(it, THIRD, |b| b.fill(0)), others, &format!("{THIRD}: skipped 105 damaged bytes; {lost}"));
    check(|it| remove(it, FIRST), 4..=10, "queue entry 3 is lost: no file holds it any more");
    check(|it| change(it, LAST, Vec::clear), 3..=9, &format!("removed {LAST}, a leftover of an interrupted write"));
    check(|it| [FIRST, SECOND, THIRD, LAST].iter().for_each(|name| remove(it, name)), [], "everything was in order");
}

#[test]
fn a_torn_position_gives_way_to_its_copy_and_two_to_handing_out_again() {
    let nuls = |it: &Path, name: &str| change(it, name, |bytes| bytes.fill(0));
    let used = "used position.bak instead of position";
    check(
        |it| nuls(it, "position"),
        1..=10,
        &format!("position holds nothing but NUL bytes, as after a power cut; {used}"),
    );
    check(
        |it| change(it, "position", |b| b.truncate(9)),
        1..=10,
        &format!("position is damaged and cannot be read; {used}"),
    );
    check(|it| remove(it, "position"), 1..=10, &format!("position is missing; {used}"));
    check(|it| nuls(it, "position.bak"), 3..=10, "position.bak holds nothing but NUL bytes, as after a power cut");
    check(
        |it| ["position", "position.bak"].iter().for_each(|name| nuls(it, name)),
        1..=10,
        "position holds nothing but NUL bytes, as after a power cut; position.bak holds nothing but NUL bytes, as after \
         a power cut; no copy of position could be read; started afresh, so known things are done again",
    );
    check(|it| ["position", "position.bak"].iter().for_each(|name| remove(it, name)), 1..=10, "position is missing");
}

#[test]
fn a_crash_within_the_replacement_of_a_file_loses_nothing() {
    let leftover = "removed position.new, a leftover of an interrupted write";
    check(|it| fs::write(it.join("position.new"), "0123").expect("writable"), 3..=10, leftover);
    let between = |it: &Path| {
        fs::rename(it.join("position"), it.join("position.new")).expect("the file is there");
    };
    check(between, 3..=10, &format!("position is missing; {leftover}; used position.new instead of position"));
    let segment = format!("{SECOND}.new");
    let half = |it: &Path| fs::write(it.join(&segment), "half").expect("writable");
    check(half, 3..=10, &format!("removed {segment}, a leftover of an interrupted write"));
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let others = |it: &Path| {
        fs::write(it.join("notes.txt"), "hello").expect("writable");
        fs::write(it.join("q-5.seg"), "hello").expect("writable");
        fs::create_dir(it.join("q-00000000000000000099.seg")).expect("writable");
    };
    check(others, 3..=10, "everything was in order");
    // A copy of old entries under a later name is no new entry.
    let copy = |it: &Path| drop(fs::copy(it.join(SECOND), it.join("q-00000000000000000020.seg")));
    check(copy, 3..=10, "q-00000000000000000020.seg: cut off 105 bytes of a write that had not been finished");
}

#[test]
fn a_newer_format_is_refused_and_left_as_it_is() {
    let folder = ten();
    let mut line = Vec::new();
    crate::line::append(&mut line, &serde_json::json!({"schema": "weavewatch.queue/9", "at": 7})).expect("plain JSON");
    fs::write(folder.path().join("position"), &line).expect("the folder is writable");
    let error = Queue::open(options(folder.path())).expect_err("another format");
    assert!(error.to_string().contains("another version wrote it"), "{error}");
    assert!(Queue::read_only(folder.path()).is_err());
    assert_eq!(fs::read(folder.path().join("position")).expect("the file is there"), line);
}

#[test]
fn pushing_has_two_limits_and_dropping_makes_room() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut queue, _) = Queue::open(Options::new(folder.path(), 3 * ENTRY_BYTES)).expect("the folder is empty");
    let started = now_unix_s();
    assert!(matches!(queue.push(&[0; 78]), Err(PushError::TooLarge { most_bytes: 77 })));
    for number in 1..=3 {
        queue.push(&entry(number)).expect("there is space");
    }
    let error = queue.push(&entry(4)).expect_err("the cap is reached");
    assert_eq!(
        error.to_string(),
        "the queue has reached its cap of 105 bytes; wait until the server takes entries, or raise the cap"
    );
    assert_eq!(queue.peek(1000, 10).expect("nothing is read"), []);
    // Not even synced: they are synced first, so that the loss is counted once.
    assert_eq!(queue.drop_oldest(ENTRY_BYTES + 1).expect("the disk has space"), [(1, entry(1)), (2, entry(2))]);
    assert_eq!(queue.push(&entry(4)).expect("there is space"), 4);
    let minutes = from_unix_s(started)..=from_unix_s(now_unix_s());
    assert!(minutes.contains(&queue.oldest().expect("two wait")));
    queue.acknowledge(3).expect("the disk has space");
    assert!(minutes.contains(&queue.oldest().expect("one waits, unsynced")));
    queue.sync().expect("the disk has space");
    assert!(minutes.contains(&queue.oldest().expect("one waits")));
    assert_eq!(numbers(&mut queue), [4]);
    assert_eq!(
        queue.peek(0, 10).expect("the files are there"),
        [(4, entry(4))],
        "one is handed out whatever its length"
    );
    queue.clear().expect("the disk has space");
    assert_eq!((queue.len(), queue.bytes(), queue.oldest()), (0, 0, None));
    assert_eq!(queue.push(&entry(5)).expect("there is space"), 5, "numbers are not used twice");
}

#[test]
fn damage_under_an_open_queue_is_told_and_does_not_stop_it() {
    let folder = ten();
    let (mut queue, _) = Queue::open(options(folder.path())).expect("it is in order");
    change(folder.path(), SECOND, |bytes| bytes[40] ^= 1);
    remove(folder.path(), THIRD);
    assert_eq!(numbers(&mut queue), [3, 4, 6, 10]);
    assert_eq!((queue.len(), queue.bytes()), (4, 4 * ENTRY_BYTES));
    let found = queue.take_found();
    assert_eq!(found.missing_entries(), 4, "{found}");
    assert_eq!(numbers(&mut queue), [3, 4, 6, 10]);
    assert!(queue.take_found().is_clean());
    queue.acknowledge(6).expect("the disk has space");
    drop(queue);
    let (mut queue, recovery) = Queue::open(options(folder.path())).expect("any state can be opened");
    assert_eq!((numbers(&mut queue), recovery.findings), (vec![10], vec![]));
    // What is gone is remembered for as long as it lies ahead.
    let position = || fs::read_to_string(folder.path().join("position")).expect("it is text");
    assert!(position().contains(r#""gone":[[7,9]]"#), "{}", position());
    queue.acknowledge(10).expect("the disk has space");
    assert!(position().contains(r#""gone":[]"#), "{}", position());
}

#[test]
fn a_reader_beside_the_writer_sees_what_waits() {
    let folder = ten();
    let (mut queue, _) = Queue::open(options(folder.path())).expect("it is in order");
    let read = || Queue::read_only(folder.path()).expect("the folder is there");
    let seen = |entries: Entries| entries.map(|entry| entry.expect("it can be read").sequence).collect::<Vec<_>>();
    let (early, mut begun) = (read(), read());
    assert_eq!(begun.next().expect("eight wait").expect("it can be read").bytes, entry(3));
    queue.push(&entry(11)).expect("there is space");
    // Half an entry, as it stands while the writer is at it.
    change(folder.path(), LAST, |bytes| bytes.truncate(bytes.len() - 3));
    queue.acknowledge(6).expect("the disk has space");
    assert_eq!(seen(early), [7, 8, 9, 10], "the files that went are passed over");
    assert_eq!(seen(begun), [7, 8, 9, 10]);
    assert_eq!(seen(read()), [7, 8, 9, 10]);
    let nothing = Queue::read_only(&folder.path().join("none")).expect("no folder is an empty queue");
    assert_eq!(nothing.count(), 0);
}
