//! Every torn state of the map's four files, one by one; compaction; and the guard against newer formats.

use std::fs;

use tempfile::TempDir;

use super::*;

type Numbers = Map<u64>;

fn open(folder: &Path) -> (Numbers, Recovery) {
    Map::open(folder, "m", "test/1").expect("any state can be opened")
}

fn values(map: &Numbers) -> String {
    let pairs: Vec<String> = map.iter().map(|(key, value)| format!("{key}{value}")).collect();
    pairs.join(" ")
}

/// Two compactions and a change behind each, so that all four files count: `a1 b2` and `c1` in the copies, then `c2`
/// in the snapshot, `d4` in the journal.
fn four_files() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut map, recovery) = open(folder.path());
    assert_eq!(recovery.to_string(), "everything was in order");
    let mut step = |changes: &[(&str, u64)], compact: bool| {
        for (key, value) in changes {
            match value {
                0 => assert!(map.remove(key).is_some()),
                value => map.set(*key, *value),
            }
        }
        if compact { map.compact() } else { map.commit() }.expect("the disk has space");
    };
    step(&[("a", 1), ("b", 2), ("gone", 9)], true);
    step(&[("c", 1), ("gone", 0)], false);
    step(&[("c", 2)], true);
    step(&[("d", 4)], false);
    folder
}

/// Does this to the four files, opens them, and expects these values and these words. Then goes on.
#[track_caller]
fn check(damage: impl FnOnce(&Path), expected: &str, words: &str) {
    let folder = four_files();
    damage(folder.path());
    let read = Numbers::read_only(folder.path(), "m", "test/1").expect("any state can be read");
    let (mut map, recovery) = open(folder.path());
    assert_eq!((values(&map).as_str(), recovery.to_string().as_str()), (expected, words));
    assert_eq!(
        read.iter().map(|(key, value)| (key.as_str(), value)).collect::<Vec<_>>(),
        map.iter().collect::<Vec<_>>()
    );
    map.set("z", 26);
    map.commit().expect("the disk has space");
    drop(map);
    let (map, recovery) = open(folder.path());
    assert_eq!((values(&map), recovery.findings), (format!("{expected} z26").trim_start().to_owned(), vec![]));
}

fn change(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(folder.join(name)).expect("the file is there");
    change(&mut bytes);
    fs::write(folder.join(name), bytes).expect("the folder is writable");
}

fn fill_with_nuls(folder: &Path, name: &str) {
    change(folder, name, |bytes| bytes.fill(0));
}

#[test]
fn an_orderly_end_leaves_nothing_to_say() {
    check(|_| {}, "a1 b2 c2 d4", "everything was in order");
}

#[test]
fn a_snapshot_full_of_nuls_gives_way_to_the_pair_before_it() {
    let copies = "used m.snapshot.bak instead of m.snapshot; used m.journal.bak instead of m.snapshot";
    let nuls = "m.snapshot holds nothing but NUL bytes, as after a power cut";
    check(|it| fill_with_nuls(it, "m.snapshot"), "a1 b2 c2 d4", &format!("{nuls}; {copies}"));
    check(
        |it| fs::remove_file(it.join("m.snapshot")).expect("it is there"),
        "a1 b2 c2 d4",
        &format!("m.snapshot is missing; {copies}"),
    );
    check(
        |it| change(it, "m.snapshot", |b| b.truncate(9)),
        "a1 b2 c2 d4",
        &format!("m.snapshot is damaged and cannot be read; {copies}"),
    );
    let one_line = |it: &Path| change(it, "m.snapshot", |bytes| *bytes.last_mut().expect("it is not empty") = b'x');
    let length = fs::metadata(four_files().path().join("m.snapshot")).expect("it is there").len();
    let line = r#"00000000 [2,"c",2]"#.len() + 1;
    assert!(length > line as u64);
    check(one_line, "a1 b2 c2 d4", &format!("m.snapshot: skipped {line} damaged bytes; {copies}"));
}

#[test]
fn both_snapshots_broken_leave_what_the_journals_know() {
    let both = |it: &Path| ["m.snapshot", "m.snapshot.bak"].iter().for_each(|name| fill_with_nuls(it, name));
    check(
        both,
        "c2 d4",
        "m.snapshot holds nothing but NUL bytes, as after a power cut; m.snapshot.bak holds nothing but NUL bytes, as \
         after a power cut; used m.journal.bak instead of m.snapshot",
    );
    let all = |it: &Path| {
        for name in ["m.snapshot", "m.snapshot.bak", "m.journal", "m.journal.bak"] {
            fill_with_nuls(it, name);
        }
    };
    let nuls = "holds nothing but NUL bytes, as after a power cut";
    check(
        all,
        "",
        &format!(
            "m.journal {nuls}; m.snapshot {nuls}; m.snapshot.bak {nuls}; m.journal.bak {nuls}; no copy of m.snapshot \
             could be read; started afresh, so known things are done again"
        ),
    );
}

#[test]
fn a_torn_journal_costs_only_what_was_torn() {
    let torn = |bytes: usize| format!("m.journal: cut off {bytes} bytes of a write that had not been finished");
    let line = r#"00000000 [2,"d",4]"#.len() + 1;
    check(|it| change(it, "m.journal", |b| b.truncate(b.len() - 1)), "a1 b2 c2", &torn(line - 1));
    check(|it| change(it, "m.journal", |b| b.extend([0; 512])), "a1 b2 c2 d4", &torn(512));
    check(|it| change(it, "m.journal", |b| b[0] ^= 1), "a1 b2 c2 d4", &{
        let header = fs::read(four_files().path().join("m.journal")).expect("it is there").len() - line;
        format!("m.journal: skipped {header} damaged bytes")
    });
    check(
        |it| fill_with_nuls(it, "m.journal"),
        "a1 b2 c2",
        "m.journal holds nothing but NUL bytes, as after a power cut",
    );
    check(|it| change(it, "m.journal", Vec::clear), "a1 b2 c2", "everything was in order");
}

#[test]
fn copies_that_are_not_needed_may_be_broken() {
    check(|it| fill_with_nuls(it, "m.snapshot.bak"), "a1 b2 c2 d4", "everything was in order");
    check(|it| fill_with_nuls(it, "m.journal.bak"), "a1 b2 c2 d4", "everything was in order");
    let half = |it: &Path| fs::write(it.join("m.snapshot.new"), "half").expect("the folder is writable");
    check(half, "a1 b2 c2 d4", "removed m.snapshot.new, a leftover of an interrupted write");
}

#[test]
fn a_first_journal_full_of_nuls_is_not_passed_over_in_silence() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut map, _) = open(folder.path());
    map.set("a", 1);
    map.commit().expect("the disk has space");
    drop(map);
    fill_with_nuls(folder.path(), "m.journal");
    let (map, recovery) = open(folder.path());
    assert!(map.is_empty() && recovery.may_have_lost(), "{recovery}");
    drop(map);
    assert!(open(folder.path()).1.is_clean());
}

#[test]
fn a_long_journal_becomes_a_snapshot() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut map, _) = Map::open(folder.path(), "m", "test/1").expect("the folder is empty");
    let length = |name: &str| fs::metadata(folder.path().join(name)).map_or(0, |metadata| metadata.len());
    for round in 0..50_u64 {
        map.set(format!("key{}", round % 5), format!("{round}").repeat(30_000));
        map.commit().expect("the disk has space");
        assert!(length("m.journal") <= (1 << 20) + 70_000);
    }
    assert!(length("m.snapshot") > 0 && length("m.snapshot.bak") > 0);
    drop(map);
    let (map, recovery) = Map::<String>::open(folder.path(), "m", "test/1").expect("it is in order");
    assert!(recovery.is_clean(), "{recovery}");
    for round in 45..50_u64 {
        assert_eq!(map.get(&format!("key{}", round % 5)), Some(&format!("{round}").repeat(30_000)));
    }
}

#[test]
fn only_changes_are_written() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut map, _) = open(folder.path());
    (0..1000).for_each(|number| map.set(format!("key{number}"), number));
    map.commit().expect("the disk has space");
    let length = || fs::metadata(folder.path().join("m.journal")).expect("it was written").len();
    let before = length();
    map.commit().expect("nothing is to be done");
    assert_eq!(length(), before);
    map.set("key7", 8);
    map.set("key7", 9);
    assert_eq!(map.pending(), 1);
    map.commit().expect("the disk has space");
    assert_eq!(length() - before, r#"00000000 [0,"key7",9]"#.len() as u64 + 1);
}

#[test]
fn a_journal_that_somebody_takes_away_is_written_again() {
    let folder = four_files();
    let (mut map, _) = open(folder.path());
    fs::remove_file(folder.path().join("m.journal")).expect("it is there");
    map.set("e", 5);
    map.commit().expect("the disk has space");
    drop(map);
    let (map, recovery) = open(folder.path());
    assert_eq!((values(&map).as_str(), recovery.findings), ("a1 b2 c2 d4 e5", vec![]));
}

#[test]
fn another_format_is_refused_and_left_as_it_is() {
    let folder = four_files();
    let before = crate::tests::files(folder.path());
    let refused = Numbers::open(folder.path(), "m", "test/2").expect_err("another schema");
    assert!(refused.to_string().contains("it has the format test/1, not test/2"), "{refused}");
    let refused = Map::<String>::open(folder.path(), "m", "test/1").expect_err("the values are numbers");
    assert!(refused.to_string().contains("its values are not test/1"), "{refused}");
    assert!(Numbers::read_only(folder.path(), "m", "test/2").is_err());
    assert_eq!(crate::tests::files(folder.path()), before);
    let (nothing, _) = Numbers::open(folder.path(), "other", "test/2").expect("another name is another map");
    assert!(nothing.is_empty());
}
