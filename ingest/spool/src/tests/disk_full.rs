//! A disk of 16 MiB that is used up, by the queue itself and by others. Needs the right to mount one.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::{Finding, Map, Options, PushError, Queue};

/// A small file system, gone when it is dropped.
struct Disk(TempDir);

impl Disk {
    /// None, said on stderr, when this account may not mount.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(folder.path()).stderr(Stdio::null());
        if !mount.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: mounting a disk of 16 MiB needs root");
            return None;
        }
        Some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Uses up every byte that is free.
    fn fill(&self) {
        let mut file = fs::File::create(self.path().join("filler")).expect("a name needs no space");
        let error = (0..).find_map(|_| file.write_all(&[7; 4096]).err());
        assert_full(&error.expect("the disk is small"));
    }

    fn free(&self) {
        fs::remove_file(self.path().join("filler")).expect("it was written");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

fn assert_full(error: &io::Error) {
    assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}");
}

fn entry(number: u64) -> Vec<u8> {
    let mut bytes = vec![7; 50_000 + (number % 7) as usize * 1000];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

fn open(folder: &Path) -> Queue {
    let (queue, recovery) = Queue::open(Options::new(folder, 64 << 20)).expect("any state can be opened");
    assert!(recovery.is_clean(), "{recovery}");
    queue
}

/// Pushes until the disk is full and gives the number of the last entry that was taken.
fn push_until_full(queue: &mut Queue, mut next: u64) -> u64 {
    loop {
        match queue.push(&entry(next)) {
            Ok(sequence) => assert_eq!(sequence, next),
            Err(error @ PushError::Io { .. }) => {
                assert!(error.to_string().contains("check that the disk has space"), "{error}");
                let PushError::Io { source, .. } = error else { unreachable!("just matched") };
                assert_full(&source);
                return next - 1;
            }
            Err(error) => panic!("{error}"),
        }
        next += 1;
        if next.is_multiple_of(3) {
            queue.sync().expect("what was pushed has its space");
        }
    }
}

fn assert_waiting(queue: &mut Queue, first: u64, last: u64) {
    let seen = queue.peek(usize::MAX, usize::MAX).expect("the files are there");
    assert_eq!(seen.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), (first..=last).collect::<Vec<_>>());
    assert!(seen.iter().all(|(sequence, bytes)| *bytes == entry(*sequence)));
}

#[test]
fn a_queue_that_fills_its_disk_gets_space_back_by_acknowledgements_and_loses_nothing() {
    let Some(disk) = Disk::mount() else { return };
    let folder = disk.path().join("queue");
    let mut queue = open(&folder);
    let last = push_until_full(&mut queue, 1);
    assert!(last > 250, "{last} entries fill 16 MiB");
    disk.fill();
    assert_eq!(push_until_full(&mut queue, last + 1), last);
    queue.sync().expect("what was pushed has its space");
    assert_waiting(&mut queue, 1, last);

    // The position is written though no byte is free, both within a segment and over several.
    for through in [1, 2, 50] {
        queue.acknowledge(through).expect("the copy before gives its space");
        assert_waiting(&mut queue, through + 1, last);
        drop(queue);
        queue = open(&folder);
    }
    let later = push_until_full(&mut queue, last + 1);
    assert!(later > last + 30, "the space of 50 entries came back, for {}", later - last);
    queue.sync().expect("what was pushed has its space");
    assert_waiting(&mut queue, 51, later);

    // The policy that drops works on a full disk too.
    let dropped = queue.drop_oldest((64 << 20) - queue.bytes() + 1).expect("the copy before gives its space");
    assert_eq!(dropped, [(51, entry(51))]);
    queue.acknowledge(later).expect("the copy before gives its space");
    assert!(queue.is_empty());
    // All of it is free again but for what the filler took.
    assert!(push_until_full(&mut queue, later + 1) - later >= later - 52);
}

#[test]
fn acknowledged_segments_give_their_space_when_nothing_else_can() {
    let Some(disk) = Disk::mount() else { return };
    let mut queue = open(disk.path());
    for number in 1..=60 {
        queue.push(&entry(number)).expect("the disk has space");
    }
    queue.sync().expect("the disk has space");
    fs::remove_file(disk.path().join("position.bak")).expect("it is there");
    disk.fill();
    // No copy to give up, and no whole segment behind the first entry: it stays until there is space.
    assert_full(&queue.acknowledge(1).expect_err("the disk is full"));
    assert_full(&queue.drop_oldest((64 << 20) - queue.bytes() + 1).expect_err("the disk is full"));
    assert_waiting(&mut queue, 1, 60);
    queue.acknowledge(30).expect("a segment gives its space");
    assert_waiting(&mut queue, 31, 60);
    drop(queue);
    assert_waiting(&mut open(disk.path()), 31, 60);
}

#[test]
fn a_disk_that_others_fill_stops_the_queue_and_the_map_only_for_as_long() {
    let Some(disk) = Disk::mount() else { return };
    let folder = disk.path().join("state");
    let mut queue = open(&folder);
    let (mut map, recovery) = Map::<String>::open(&folder, "m", "test/1").expect("the folder is there");
    assert!(recovery.is_clean(), "{recovery}");
    map.set("before", "x".repeat(3000));
    map.commit().expect("the disk has space");
    queue.push(&entry(1)).expect("the disk has space");

    disk.fill();
    assert_eq!(push_until_full(&mut queue, 2), 1);
    map.set("during", "y".repeat(9000));
    map.remove("before");
    assert_full(&map.commit().expect_err("the disk is full"));
    assert_full(&map.compact().expect_err("the disk is full"));
    assert_eq!(map.pending(), 2);
    let on_disk = Map::<String>::read_only(&folder, "m", "test/1").expect("the files are in order");
    assert_eq!(on_disk.into_keys().collect::<Vec<_>>(), ["before"]);
    // A start in this state finds what was there.
    drop(queue);
    let mut queue = open(&folder);
    assert_waiting(&mut queue, 1, 1);

    disk.free();
    map.commit().expect("the disk has space again");
    assert_eq!(map.pending(), 0);
    assert_eq!(queue.push(&entry(2)).expect("the disk has space again"), 2);
    queue.sync().expect("the disk has space again");
    drop((queue, map));
    let mut queue = open(&folder);
    assert_waiting(&mut queue, 1, 2);
    let (map, recovery) = Map::<String>::open(&folder, "m", "test/1").expect("the folder is there");
    assert!(recovery.is_clean(), "{recovery}");
    assert_eq!(map.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["during"]);
}

#[test]
fn a_first_start_on_a_full_disk_says_so_and_goes_on_when_there_is_space() {
    let Some(disk) = Disk::mount() else { return };
    let folder = disk.path().join("queue");
    fs::create_dir(&folder).expect("the disk has space");
    disk.fill();
    let (mut queue, recovery) = Queue::open(Options::new(&folder, 1 << 20)).expect("any state can be opened");
    assert!(matches!(&recovery.findings[..], [Finding::NotRepaired { file, .. }] if file == "position"), "{recovery}");
    assert_eq!(push_until_full(&mut queue, 1), 0);
    disk.free();
    assert_eq!(queue.push(&entry(1)).expect("the disk has space again"), 1);
    queue.sync().expect("the disk has space again");
    assert_waiting(&mut queue, 1, 1);
    drop(queue);
    let (mut queue, recovery) = Queue::open(Options::new(&folder, 1 << 20)).expect("any state can be opened");
    assert_eq!(recovery.findings, [Finding::MissingFile { file: "position".to_owned() }]);
    assert_waiting(&mut queue, 1, 1);
}
