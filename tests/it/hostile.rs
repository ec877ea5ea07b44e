//! A log folder that somebody filled with bad intent: no crash, bounded memory, and everything is said.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tests::logs::{Log, Placement};
use tests::program::{Running, command};
use tests::random::Random;

const RANDOM_FILES: u64 = 500;
/// One line of this length, which no reader may hold as a whole.
const LINE_BYTES: usize = 64 << 20;
const MEMORY_LIMIT_KIB: u64 = 64 << 10;

#[test]
fn a_hostile_folder_is_read_without_a_crash_and_in_bounded_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (good, unreadable) = fill(folder.path());

    let mut scan = command("weavewatch");
    scan.args(["scan", "--format", "ndjson"]).arg(folder.path());
    let mut scan = Running::start(scan);
    let mut peak_kib = 0;
    while scan.runs() {
        peak_kib = peak_kib.max(peak_memory_kib(scan.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let finished = scan.wait();
    finished.with_code(3);
    assert!(peak_kib > 0, "the system tells the memory of a process");
    assert!(peak_kib <= MEMORY_LIMIT_KIB, "{peak_kib} KiB at most");

    let objects: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of ndjson")).collect();
    let of = |name: &str| {
        let mut found =
            objects.iter().filter(|object| object["file"].as_str().is_some_and(|file| file.ends_with(name)));
        let object = found.next().unwrap_or_else(|| panic!("nothing is said of {name:?}"));
        assert!(found.next().is_none(), "{name:?} is said twice");
        object
    };

    // What is good around the bad is read.
    assert_eq!(of(&good)["verdict"]["split"], "engaged");
    assert_eq!(of("name\n\u{1b}[31mred.log")["verdict"]["split"], "off");
    assert_eq!(of("long.log")["counts"]["bytes"], LINE_BYTES);
    for number in 0..RANDOM_FILES {
        let object = of(&random_name(number));
        let counts = &object["counts"];
        let size = fs::metadata(folder.path().join(random_name(number))).expect("it was written").len();
        assert_eq!(counts["bytes"], size, "every byte of {object} was read");
        let sum = |keys: [&str; 3]| keys.iter().filter_map(|key| counts[*key].as_u64()).sum::<u64>();
        assert_eq!(counts["records"], sum(["events", "ignored", "unrecognised"]), "the ledger of {object} closes");
    }
    // What cannot be read is said, and no control code of a name reaches the terminal.
    for name in unreadable {
        assert!(finished.stderr.contains(&name), "nothing is said of {name}: {}", finished.stderr);
    }
    for text in [&finished.stdout, &finished.stderr] {
        assert!(!text.contains('\u{1b}'), "a control code got through");
    }
    assert_eq!(objects.len() as u64, RANDOM_FILES + 3);

    // The same holds where people look.
    for format in ["table", "markdown", "csv", "json"] {
        let mut scan = command("weavewatch");
        scan.args(["scan", "--format", format]).arg(folder.path());
        let finished = Running::start(scan).wait();
        finished.with_code(3);
        assert!(!finished.stdout.contains('\u{1b}'), "a control code got through in {format}");
        assert!(!finished.stdout.contains("name\n"), "a name broke a line in {format}");
    }
}

/// Writes the folder. Tells the name of the good log, and the names that cannot be read.
fn fill(folder: &Path) -> (String, Vec<String>) {
    let good = Log::start(folder, 11, Placement::Engaged);
    good.end();
    let red = Log::start(folder, 12, Placement::Killed);
    fs::rename(&red.path, folder.join("name\n\u{1b}[31mred.log")).expect("a name may hold anything but a slash");

    let mut random = Random::new(0x5eed);
    for number in 0..RANDOM_FILES {
        let length = random.next() % 20_000;
        let mut bytes: Vec<u8> = (0..length).map(|_| (random.next() >> 24) as u8).collect();
        // Half of them look like a log at first.
        if number % 2 == 0 {
            let start = fs::read(&good.path).expect("it was just written");
            let keep = (random.next() as usize) % start.len();
            bytes.splice(0..0, start[..keep].iter().copied());
        }
        fs::write(folder.join(random_name(number)), bytes).expect("a writable folder");
    }

    let mut long = fs::File::create(folder.join("long.log")).expect("a writable folder");
    let part = vec![b'x'; 1 << 20];
    for _ in 0..LINE_BYTES / part.len() {
        long.write_all(&part).expect("space for 64 MiB");
    }

    let mut unreadable = Vec::new();
    links(folder, &mut unreadable);
    (good.name(), unreadable)
}

/// Links that lead nowhere good. They stop every reader, also root, which no file mode does.
#[cfg(unix)]
fn links(folder: &Path, unreadable: &mut Vec<String>) {
    use std::os::unix::fs::symlink;

    let below = folder.join("below");
    fs::create_dir(&below).expect("a writable folder");
    let targets = [
        ("loop_to_above", folder.to_owned()),
        ("circle.log", PathBuf::from("circle.log")),
        ("dangling.log", PathBuf::from("nowhere.log")),
        // A regular file that can be opened but not read.
        ("memory.log", PathBuf::from("/proc/self/mem")),
    ];
    for (name, target) in targets {
        symlink(target, below.join(name)).expect("links can be made");
        unreadable.push(name.to_owned());
    }
    // A pipe would block whoever opens it.
    let pipe = std::process::Command::new("mkfifo").arg(below.join("pipe.log")).status();
    assert!(pipe.expect("mkfifo is everywhere").success());
    unreadable.push("pipe.log".to_owned());
}

fn random_name(number: u64) -> String {
    format!("random_{number:03}.log")
}

/// The largest memory that a process has held, as the system counts it.
fn peak_memory_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
