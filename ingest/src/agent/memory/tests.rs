//! Crashes between two steps, and damage: the ledger closes, what is known is not sent again, and what is not is read again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::value::RawValue;
use tempfile::TempDir;
use wire::{ByteLedger, Counts};

use super::*;

const CAP_BYTES: u64 = 8 << 20;

/// An agent's folder that outlives the agent.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    fn home(&self) -> Home {
        Home::at(self.0.path().join("state"))
    }

    /// Starts an agent, and looks first as `status` does: both must agree, and their ledgers close.
    fn open(&self) -> (Memory, Vec<String>) {
        let seen = View::of(&self.home(), 0).expect("the folder is readable");
        let (memory, notes) = Memory::open(&self.home(), CAP_BYTES, WhenFull::Pause).expect("the folder is writable");
        closes(&memory);
        assert_eq!(seen.ledger.open_sum(), None);
        assert_eq!(seen.ledger, memory.ledger());
        (memory, notes)
    }

    /// What stands in a part of the folder, to be put back as if the steps since then had not reached the disk.
    fn save(&self, part: &str) -> BTreeMap<String, Vec<u8>> {
        files(&self.home().path().join(part))
    }

    fn put_back(&self, part: &str, saved: &BTreeMap<String, Vec<u8>>) {
        let folder = self.home().path().join(part);
        for name in files(&folder).keys() {
            fs::remove_file(folder.join(name)).expect("the folder is writable");
        }
        for (name, bytes) in saved {
            fs::write(folder.join(name), bytes).expect("the folder is writable");
        }
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).expect("it is there").map(|file| file.expect("the folder is readable").path());
    let files = files.filter(|path| path.is_file());
    let named = files.map(|path| (path.file_name().expect("it has one").to_string_lossy().into_owned(), path));
    named.map(|(name, path)| (name, fs::read(path).expect("it is readable"))).collect()
}

/// A log whose every ten bytes are an event.
fn position(log: &str, end: u64) -> Position {
    let counts = Counts { bytes: end, records: end / 10, events: end / 10, ..Counts::default() };
    let bytes = ByteLedger { in_records: end, ..ByteLedger::default() };
    Position { file: format!("{log}.log"), end, counts, bytes, told: true, ..Position::default() }
}

fn entry(log: &str, from: u64, to: u64) -> Entry {
    let segment = format!("{{\"log\":\"{log}\",\"start\":{from},\"end\":{to}}}");
    Entry {
        log: log.to_owned(),
        before: Before::at(&position(log, from)),
        position: position(log, to),
        segment: RawValue::from_string(segment).expect("it is JSON"),
    }
}

fn keep(memory: &mut Memory, log: &str, from: u64, to: u64) {
    memory.keep(&entry(log, from, to)).expect("there is room");
}

/// Sends everything that waits, and tells the ranges.
fn send(memory: &mut Memory) -> Vec<(String, u64, u64)> {
    let entries = memory.oldest(usize::MAX, usize::MAX).expect("the folder is readable");
    let sent = entries.iter().map(|(_, entry)| (entry.log.clone(), entry.before.end, entry.position.end)).collect();
    let done: Vec<_> = entries.into_iter().map(|(number, entry)| (number, entry, Outcome::Acknowledged)).collect();
    memory.done(&done).expect("the folder is writable");
    closes(memory);
    sent
}

fn sent(ranges: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    ranges.iter().map(|(log, from, to)| ((*log).to_owned(), *from, *to)).collect()
}

fn closes(memory: &Memory) {
    let ledger = memory.ledger();
    assert_eq!(ledger.open_sum(), None, "{ledger:?}");
}

fn events(memory: &Memory) -> (u64, u64, u64) {
    let ledger = memory.ledger();
    (ledger.events, ledger.queued, ledger.acknowledged)
}

fn end(memory: &Memory, log: &str) -> Option<u64> {
    memory.log(log).map(|state| state.position.end)
}

#[test]
fn an_entry_that_is_safe_moves_its_log_after_a_crash() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    memory.settle().expect("the folder is writable");
    keep(&mut memory, "a", 100, 150);
    keep(&mut memory, "b", 0, 30);
    memory.queue.sync().expect("the folder is writable");
    drop(memory);
    let (mut memory, notes) = folder.open();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((end(&memory, "a"), end(&memory, "b"), events(&memory)), (Some(150), Some(30), (18, 18, 0)));
    assert_eq!(send(&mut memory), sent(&[("a", 0, 100), ("a", 100, 150), ("b", 0, 30)]));
}

#[test]
fn no_log_moves_before_its_entry_is_safe() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    memory.settle().expect("the folder is writable");
    let first = memory.oldest(usize::MAX, usize::MAX).expect("the folder is readable");
    // While the server answers, more is read: a range with events, and one without any.
    keep(&mut memory, "a", 100, 150);
    keep(&mut memory, "b", 0, 5);
    let done: Vec<_> = first.into_iter().map(|(number, entry)| (number, entry, Outcome::Acknowledged)).collect();
    memory.done(&done).expect("the folder is writable");
    // The answer brought the map to disk with the new positions in it, so their entries had to be there before.
    assert_eq!(memory.queue.peek(usize::MAX, usize::MAX).expect("the folder is readable").len(), 2);
    let (map, queue) = (folder.save(""), folder.save("queue"));
    drop(memory);
    // Killed right after that: nothing else reached the disk.
    folder.put_back("", &map);
    folder.put_back("queue", &queue);
    let (mut memory, notes) = folder.open();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(send(&mut memory), sent(&[("a", 100, 150), ("b", 0, 5)]));
    assert_eq!(events(&memory), (15, 0, 15));
}

#[test]
fn what_the_server_took_is_not_sent_again_when_only_the_map_knows_it() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    keep(&mut memory, "b", 0, 30);
    memory.settle().expect("the folder is writable");
    let queue = folder.save("queue");
    assert_eq!(send(&mut memory).len(), 2);
    drop(memory);
    folder.put_back("queue", &queue);
    let (mut memory, notes) = folder.open();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((send(&mut memory), events(&memory)), (vec![], (13, 0, 13)));
    keep(&mut memory, "a", 100, 150);
    memory.settle().expect("the folder is writable");
    assert_eq!(send(&mut memory), sent(&[("a", 100, 150)]));
}

#[test]
fn what_only_the_queue_let_go_of_is_read_again() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    keep(&mut memory, "b", 0, 30);
    memory.settle().expect("the folder is writable");
    let map = folder.save("");
    assert_eq!(send(&mut memory).len(), 2);
    drop(memory);
    folder.put_back("", &map);
    let (mut memory, notes) = folder.open();
    assert!(notes.iter().any(|note| note.contains("2 logs are read and sent again")), "{notes:?}");
    assert_eq!((end(&memory, "a"), end(&memory, "b")), (None, None));
    keep(&mut memory, "a", 0, 100);
    memory.settle().expect("the folder is writable");
    assert_eq!((send(&mut memory), events(&memory)), (sent(&[("a", 0, 100)]), (10, 0, 10)));
}

#[test]
fn a_log_with_a_damaged_entry_is_read_again_and_its_other_entries_count_for_nothing() {
    // The damaged range has events or, as the end of a log may, none; and the damage meets the first or the last entry.
    for (victim, ranges) in [
        ("\"start\":0,\"end\":100", [(0, 100), (100, 200)]),
        ("\"start\":100,\"end\":200", [(0, 100), (100, 200)]),
        ("\"start\":100,\"end\":105", [(0, 100), (100, 105)]),
        ("\"start\":0,\"end\":5", [(0, 5), (5, 200)]),
    ] {
        let folder = Folder::new();
        let (mut memory, _) = folder.open();
        for (from, to) in ranges {
            keep(&mut memory, "a", from, to);
            keep(&mut memory, "b", from, to);
        }
        memory.settle().expect("the folder is writable");
        drop(memory);
        let mut queue = folder.save("queue");
        let segment = queue.iter_mut().find(|(name, _)| name.starts_with("q-")).expect("entries wait").1;
        let needle = format!("{{\"log\":\"a\",{victim}}}");
        let at = segment.windows(needle.len()).position(|window| window == needle.as_bytes()).expect("it waits");
        segment[at] ^= 1;
        folder.put_back("queue", &queue);

        let (mut memory, notes) = folder.open();
        let [first, second] = ranges;
        assert!(notes.iter().any(|note| note.contains("1 logs are read")), "{victim}: {notes:?}");
        assert_eq!((end(&memory, "a"), end(&memory, "b")), (None, Some(second.1)), "{victim}");
        // It is read again in one piece, and the agent is killed once more.
        keep(&mut memory, "a", 0, second.1);
        memory.settle().expect("the folder is writable");
        drop(memory);
        let (mut memory, notes) = folder.open();
        assert!(notes.is_empty(), "{victim}: {notes:?}");
        let mut all = send(&mut memory);
        all.extend(send(&mut memory));
        let expected = sent(&[("b", first.0, first.1), ("b", second.0, second.1), ("a", 0, second.1)]);
        assert_eq!(all, expected, "{victim}");
        assert_eq!(events(&memory), (second.1 / 10 * 2, 0, second.1 / 10 * 2), "{victim}");
    }
}

#[test]
fn without_a_map_the_logs_go_on_behind_what_waits() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    memory.settle().expect("the folder is writable");
    assert_eq!(send(&mut memory).len(), 1);
    keep(&mut memory, "a", 100, 150);
    keep(&mut memory, "b", 0, 30);
    memory.settle().expect("the folder is writable");
    drop(memory);
    folder.put_back("", &BTreeMap::new());
    let (mut memory, _) = folder.open();
    assert_eq!((end(&memory, "a"), end(&memory, "b"), events(&memory)), (Some(150), Some(30), (18, 8, 10)));
    assert_eq!(send(&mut memory), sent(&[("a", 100, 150), ("b", 0, 30)]));
}

#[test]
fn without_a_queue_what_waited_is_read_again_and_new_entries_are_offered() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    keep(&mut memory, "c", 0, 40);
    memory.settle().expect("the folder is writable");
    assert_eq!(send(&mut memory).len(), 2);
    keep(&mut memory, "a", 100, 150);
    keep(&mut memory, "b", 0, 30);
    memory.settle().expect("the folder is writable");
    drop(memory);
    folder.put_back("queue", &BTreeMap::new());
    let (mut memory, _) = folder.open();
    assert_eq!((end(&memory, "a"), end(&memory, "b"), end(&memory, "c")), (None, None, Some(40)));
    keep(&mut memory, "a", 0, 150);
    memory.settle().expect("the folder is writable");
    drop(memory);
    // The numbers start anew, below those that the map knew as settled.
    let (mut memory, notes) = folder.open();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((send(&mut memory), events(&memory)), (sent(&[("a", 0, 150)]), (19, 0, 19)));
}

#[test]
fn without_a_map_and_with_a_damaged_queue_nothing_is_taken_for_sent() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    keep(&mut memory, "a", 100, 150);
    memory.settle().expect("the folder is writable");
    drop(memory);
    let mut queue = folder.save("queue");
    let segment = queue.iter_mut().find(|(name, _)| name.starts_with("q-")).expect("entries wait").1;
    segment[40] ^= 1;
    folder.put_back("queue", &queue);
    folder.put_back("", &BTreeMap::new());
    let (memory, _) = Memory::open(&folder.home(), CAP_BYTES, WhenFull::Pause).expect("the folder is writable");
    assert_eq!((end(&memory, "a"), events(&memory)), (None, (0, 0, 0)));
}

#[test]
fn what_was_purged_does_not_come_back() {
    let folder = Folder::new();
    let (mut memory, _) = folder.open();
    keep(&mut memory, "a", 0, 100);
    keep(&mut memory, "b", 0, 5);
    memory.settle().expect("the folder is writable");
    let queue = folder.save("queue");
    memory.purge().expect("the folder is writable");
    closes(&memory);
    drop(memory);
    folder.put_back("queue", &queue);
    let (mut memory, notes) = folder.open();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(send(&mut memory), vec![]);
    assert_eq!(memory.ledger().dropped, BTreeMap::from([("purged".to_owned(), 10)]));
}

#[test]
fn a_full_queue_drops_its_oldest_and_counts_them() {
    let folder = Folder::new();
    let (mut memory, _) = Memory::open(&folder.home(), 4_000, WhenFull::DropOldest).expect("the folder is writable");
    for from in 0..100 {
        keep(&mut memory, "a", from * 100, (from + 1) * 100);
        closes(&memory);
    }
    memory.settle().expect("the folder is writable");
    let (events, queued, _) = events(&memory);
    let dropped = memory.ledger().dropped["queue_full"];
    assert!(events == 1000 && queued > 0 && dropped > 900, "{queued} {dropped}");
    let loss = memory.losses().remove(0);
    assert_eq!((loss.log.as_deref(), loss.reason.as_str(), loss.events), (Some("a"), "queue_full", dropped));
    drop(memory);
    let (mut memory, notes) = folder.open();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(send(&mut memory).len() as u64 * 10, queued);
}

#[test]
fn who_only_asks_whether_an_agent_runs_keeps_none_from_starting() {
    let folder = Folder::new();
    drop(folder.open());
    let asking = Lock::take(folder.home().path()).expect("nobody has it");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(LOCK_PAUSE * 2);
            drop(asking);
        });
        assert!(Memory::open(&folder.home(), CAP_BYTES, WhenFull::Pause).is_ok());
    });
    let (_memory, _) = folder.open();
    let refused = Memory::open(&folder.home(), CAP_BYTES, WhenFull::Pause).expect_err("it is held");
    assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
}
