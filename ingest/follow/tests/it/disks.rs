//! Disks that tell late, refuse, spell names in several ways, or count what they are asked.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use follow::{Disk, Entry, Folder, RealDisk, Stat};

use crate::common::{FOOTER, Machine, event, events, header, name};

/// The real disk, seen through what a test changes of it.
#[derive(Clone, Default)]
struct Odd(Arc<Mutex<Ways>>);

#[derive(Default)]
struct Ways {
    /// Listings tell sizes, as on Windows.
    lists_sizes: bool,
    /// What listings tell of these files, whatever their size is: somebody holds them open.
    held: HashMap<PathBuf, Stat>,
    /// These cannot be opened.
    locked: HashSet<PathBuf>,
    /// Upper and lower case are the same, and `\` is `/`.
    folds_case: bool,
    /// Files have no numbers.
    no_ids: bool,
    /// What this folder tells of itself, whatever happens in it: its clock is coarse.
    coarse: Option<(PathBuf, Stat)>,
    asked: Asked,
}

/// What was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Asked {
    lists: u64,
    stats: u64,
    opens: u64,
}

impl Odd {
    fn ways(&self) -> MutexGuard<'_, Ways> {
        self.0.lock().expect("no test panics with it")
    }

    fn asked(&self) -> Asked {
        std::mem::take(&mut self.ways().asked)
    }

    /// From now on listings tell what they tell now.
    fn hold(&self, path: &Path) {
        let stat = RealDisk.stat(path).expect("it is there");
        self.ways().held.insert(path.to_owned(), stat);
    }
}

impl Disk for Odd {
    fn lists_sizes(&self) -> bool {
        self.ways().lists_sizes
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let mut ways = self.ways();
        ways.asked.lists += 1;
        let mut entries = RealDisk.list(folder)?;
        for entry in entries.iter_mut().filter(|_| ways.lists_sizes) {
            let path = folder.join(&entry.name);
            entry.stat = ways.held.get(&path).copied().or(RealDisk.stat(&path).ok());
        }
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let mut ways = self.ways();
        ways.asked.stats += 1;
        match &ways.coarse {
            Some((folder, stat)) if folder == path => Ok(*stat),
            _ => RealDisk.stat(path),
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let mut ways = self.ways();
        ways.asked.opens += 1;
        if ways.locked.contains(path) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another process has locked it"));
        }
        RealDisk.open(path)
    }

    fn id(&self, path: &Path) -> Option<String> {
        RealDisk.id(path).filter(|_| !self.ways().no_ids)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        // Windows does so by itself.
        if cfg!(windows) || !self.ways().folds_case {
            return RealDisk.canonical(path);
        }
        // The spelling of the disk, part by part.
        let mut found = PathBuf::from("/");
        for part in path.to_string_lossy().split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                found.pop();
                continue;
            }
            let is_part =
                |entry: &fs::DirEntry| entry.file_name().to_string_lossy().to_lowercase() == part.to_lowercase();
            let entry = fs::read_dir(&found)?.filter_map(Result::ok).find(is_part);
            found = entry.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?.path();
        }
        Ok(found)
    }
}

fn on(disk: &Odd) -> Machine {
    let mut machine = Machine::new();
    machine.start(disk.clone());
    machine
}

#[test]
fn a_writer_that_keeps_its_handle_is_followed_while_the_listed_size_is_stale() {
    let disk = Odd::default();
    disk.ways().lists_sizes = true;
    let mut machine = on(&disk);
    let name = name("A.exe", 1);
    machine.write(&name, "");
    disk.hold(&machine.path(&name));
    assert_eq!(machine.poll().waiting.len(), 1);
    let mut text = header("A.exe", 1) + &events(0..3);
    machine.write(&name, &text);
    machine.pass(2);
    machine.poll();
    machine.assert_holds(&machine.only(), &text);
    // Seconds apart, then hours: the longer nothing comes, the seldomer the file is asked.
    for (number, pause) in [(3, 5), (4, 60), (5, 4000), (6, 40_000)] {
        machine.append(&name, event(number));
        text += &event(number);
        let before = machine.ranges.len();
        for _ in 0..pause / 4 {
            machine.pass(3);
            machine.poll();
        }
        assert_eq!(machine.ranges.len(), before + 1, "{number}");
        machine.assert_holds(&machine.only(), &text);
        for _ in 0..pause / 4 {
            machine.pass(3);
            machine.look();
        }
    }
}

#[test]
fn a_file_that_may_grow_unseen_is_asked_seldomer_the_longer_it_does_not() {
    let disk = Odd::default();
    disk.ways().lists_sizes = true;
    let mut machine = on(&disk);
    machine.write(&name("A.exe", 1), header("A.exe", 1) + &event(0));
    machine.write(&name("B.exe", 2), header("B.exe", 2) + &event(0) + FOOTER);
    machine.poll();
    let mut asked = Vec::new();
    for _ in 0..3 {
        disk.asked();
        for _ in 0..1000 {
            machine.look();
        }
        let Asked { lists, stats, opens } = disk.asked();
        // The folder: once for where it is and once before it is listed.
        assert_eq!((lists, opens), (1000, 0));
        asked.push(stats - 2000);
    }
    assert!(asked[0] > asked[1] && asked[1] > asked[2] && asked[2] > 0, "{asked:?}");
    assert!(asked[0] < 100, "{asked:?}");
}

#[test]
fn three_thousand_idle_logs_cost_one_question_each_and_none_is_opened() {
    let disk = Odd::default();
    let mut machine = on(&disk);
    for pid in 0..3000 {
        let end = if pid % 2 == 0 { FOOTER } else { "" };
        machine.write(&name("A.exe", pid), header("A.exe", pid) + &event(pid) + end);
    }
    // A folder that changed just now may change again without another time.
    let folder = RealDisk.canonical(&machine.path("")).expect("it is there");
    let stat = RealDisk.stat(&folder).expect("it is there");
    let modified = SystemTime::now() - Duration::from_hours(1);
    disk.ways().coarse = Some((folder, Stat { modified, ..stat }));
    assert_eq!(machine.poll().followed, 3000);
    assert_eq!(machine.ranges.len(), 3000);
    machine.poll();
    disk.asked();
    for _ in 0..10 {
        let look = machine.look();
        assert_eq!((look.changed.len(), look.followed, look.finished), (0, 1500, 1500));
        // The files, and the folder for where it is and for whether it changed.
        assert_eq!(disk.asked(), Asked { lists: 0, stats: 3002, opens: 0 });
    }
    // One of them grows: it alone is opened, to look and to read until nothing more comes.
    machine.append(&name("A.exe", 77), event(9));
    machine.poll();
    assert_eq!(disk.asked(), Asked { lists: 0, stats: 3002, opens: 3 });
}

#[test]
fn between_full_looks_only_hints_and_lively_logs_are_asked() {
    let disk = Odd::default();
    let mut machine = Machine::new();
    machine.config.full_every = Duration::from_mins(1);
    machine.config.leave_out = vec![machine.path("own.log")];
    machine.start(disk.clone());
    for pid in 0..300 {
        machine.write(&name("A.exe", pid), header("A.exe", pid) + &event(pid) + FOOTER);
    }
    machine.poll();
    disk.asked();
    for _ in 0..50 {
        machine.look();
    }
    assert_eq!(disk.asked(), Asked::default());
    // A hint is as good as a look at everything, for what it names.
    machine.append(&name("A.exe", 7), event(9));
    machine.append(&name("A.exe", 8), event(9));
    let (hinted, spelled) = (machine.path(&name("A.exe", 7)), machine.path("../logs").join(name("A.exe", 7)));
    for path in [&hinted, &spelled] {
        machine.follower().hint(path);
    }
    let look = machine.poll();
    assert_eq!((look.changed.len(), disk.asked().stats), (1, 1));
    // Without a hint it takes until everything is asked.
    for _ in 0..10 {
        machine.poll();
    }
    assert_eq!(machine.ranges.len(), 302);
    // A new file, and one that is gone.
    let new = name("A.exe", 1000);
    machine.write(&new, header("A.exe", 1000));
    let path = machine.path(&new);
    machine.follower().hint(&path);
    assert_eq!(machine.poll().changed.len(), 1);
    machine.remove(&new);
    machine.follower().hint(&path);
    // Two of the 300 said that they had ended and went on; the new one is gone.
    assert_eq!(machine.poll().finished, 299);
    // A hint at what is left out is none.
    let own = machine.path("own.log");
    machine.write("own.log", header("B.exe", 1));
    machine.follower().hint(&own);
    assert_eq!(machine.poll().changed.len(), 0);
    // A log that lately changed is asked without any hint.
    machine.write(&new, header("A.exe", 1000) + &event(1));
    machine.follower().hint(&path);
    machine.poll();
    machine.append(&new, event(2));
    machine.follower().hint(&path);
    assert_eq!(machine.poll().changed.len(), 1);
    machine.append(&new, event(3));
    machine.pass(2);
    assert_eq!(machine.poll().changed.len(), 1);
}

#[test]
fn a_file_that_cannot_be_opened_is_said_once_and_tried_again() {
    let disk = Odd::default();
    let mut machine = on(&disk);
    let name = name("A.exe", 1);
    let (path, mut text) = (machine.path(&name), header("A.exe", 1) + &events(0..3));
    machine.write(&name, &text);
    for round in 1..3 {
        disk.ways().locked.insert(path.clone());
        disk.asked();
        for _ in 0..100 {
            machine.poll();
        }
        assert_eq!(machine.problems.len(), round);
        assert_eq!(
            machine.problems[round - 1].to_string(),
            format!("{}: failed to open it: another process has locked it", path.display())
        );
        let opens = disk.asked().opens;
        assert!((5..10).contains(&opens), "{opens}");
        disk.ways().locked.clear();
        machine.pass(600);
        machine.poll();
        machine.assert_holds(&machine.only(), &text);
        machine.append(&name, event(3));
        text += &event(3);
    }
}

#[test]
fn a_file_that_is_locked_between_looking_and_reading_is_said_once_and_read_later() {
    let disk = Odd::default();
    let mut machine = on(&disk);
    let name = name("A.exe", 1);
    machine.write(&name, header("A.exe", 1));
    machine.look();
    disk.ways().locked.insert(machine.path(&name));
    for _ in 0..20 {
        machine.poll();
    }
    assert_eq!(machine.problems.len(), 1);
    assert!(machine.problems[0].why.starts_with("failed to read it: "), "{}", machine.problems[0]);
    disk.ways().locked.clear();
    machine.pass(60);
    machine.poll();
    machine.assert_holds(&machine.only(), header("A.exe", 1));
}

#[test]
fn upper_and_lower_case_and_both_slashes_spell_one_path() {
    let disk = Odd::default();
    disk.ways().folds_case = true;
    let mut machine = Machine::new();
    let text = header("A.exe", 1) + &event(0);
    machine.write(&format!("Deep/{}", name("A.exe", 1)), &text);
    let root = machine.root().to_string_lossy().into_owned();
    let spellings = [format!("{root}/LOGS"), format!("{root}\\Logs\\deep\\..\\DEEP"), format!("{root}/logs/./Deep/")];
    machine.config.folders = spellings.into_iter().map(Folder::named).collect();
    machine.config.leave_out = vec![format!("{root}\\LOGS\\State").into()];
    machine.write(&format!("State/{}", name("B.exe", 2)), header("B.exe", 2));
    machine.start(disk.clone());
    let look = machine.poll();
    assert_eq!((look.followed, look.duplicates, machine.ranges.len()), (1, 0, 1));
    assert_eq!(machine.problems, []);
    assert_eq!(disk.asked().lists, 2, "what is left out is not listed");
    machine.restart();
    assert_eq!(machine.poll().changed.len(), 0);
}

#[test]
fn a_folder_that_has_to_be_there_is_missed_once_and_found_later() {
    let mut machine = Machine::new();
    machine.config.folders.push(Folder::named(machine.root().join("more")));
    machine.config.folders.push(Folder { required: false, ..Folder::named(machine.root().join("perhaps")) });
    machine.poll();
    machine.poll();
    assert_eq!(machine.problems.len(), 1);
    assert_eq!(machine.problems[0].path, machine.root().join("more"));
    machine.write(&format!("../more/{}", name("A.exe", 1)), header("A.exe", 1));
    machine.write(&format!("../perhaps/{}", name("B.exe", 2)), header("B.exe", 2));
    assert_eq!(machine.poll().followed, 2);
}

#[test]
fn of_a_folder_of_other_programs_only_logs_are_looked_at() {
    let disk = Odd::default();
    let mut machine = Machine::new();
    machine.config.folders[0].scope = follow::Scope::NamedLogs;
    machine.start(disk.clone());
    machine.write(&name("A.exe", 1), header("A.exe", 1));
    machine.write("other.tmp", header("B.exe", 2));
    machine.write(&format!("folder/{}", name("B.exe", 2)), header("B.exe", 2));
    let look = machine.poll();
    assert_eq!((look.followed, look.others), (1, 0));
    assert_eq!(disk.asked().lists, 1);
}

#[test]
fn a_file_that_appears_within_the_same_tick_of_a_coarse_clock_is_found() {
    let disk = Odd::default();
    let mut machine = on(&disk);
    let folder = RealDisk.canonical(&machine.path("")).expect("it is there");
    machine.write(&name("A.exe", 1), header("A.exe", 1));
    let stat = RealDisk.stat(&folder).expect("it is there");
    disk.ways().coarse = Some((folder, stat));
    assert_eq!(machine.poll().followed, 1);
    machine.write(&name("A.exe", 2), header("A.exe", 2));
    assert_eq!(machine.poll().followed, 2);
}

#[test]
fn a_copy_that_cannot_be_opened_for_a_while_is_still_a_copy() {
    let disk = Odd::default();
    let mut machine = on(&disk);
    let text = header("A.exe", 1) + &event(0);
    machine.write(&name("A.exe", 1), &text);
    machine.poll();
    machine.write("copy.log", &text);
    assert_eq!(machine.poll().duplicates, 1);
    disk.ways().locked.insert(machine.path("copy.log"));
    machine.append(&name("A.exe", 1), event(1));
    machine.poll();
    disk.ways().locked.clear();
    machine.pass(600);
    let look = machine.poll();
    assert_eq!((look.duplicates, look.followed), (1, 1));
    machine.assert_holds(&machine.only(), text + &event(1));
}

#[test]
fn where_files_have_no_numbers_a_renamed_file_stays_the_same_log() {
    let disk = Odd::default();
    disk.ways().no_ids = true;
    let mut machine = on(&disk);
    let text = header("A.exe", 1) + &event(0);
    machine.write(&name("A.exe", 1), &text);
    machine.poll();
    machine.rename(&name("A.exe", 1), &name("B.exe", 2));
    machine.append(&name("B.exe", 2), event(1));
    assert_eq!(machine.poll().losses, []);
    machine.assert_holds(&machine.only(), text + &event(1));
    // A header alone is too little to tell a renamed file from another.
    machine.write(&name("A.exe", 3), header("A.exe", 3));
    machine.poll();
    machine.remove(&name("A.exe", 3));
    machine.write(&name("A.exe", 4), header("A.exe", 3));
    machine.poll();
    assert_eq!(machine.logs().len(), 3);
}
