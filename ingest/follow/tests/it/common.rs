//! A folder of logs, a clock that the test turns, and an agent that saves what it is told to save.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use follow::{Config, Disk, Entry, Folder, Follower, Limits, Look, Position, Problem, Range, RealDisk, Stat};
use parser::LogReader;
use tempfile::TempDir;
use wire::{LogFacts, Observation};

/// Logs and whoever follows them.
pub struct Machine {
    folder: TempDir,
    pub config: Config,
    pub limits: Limits,
    pub buffer_bytes: usize,
    pub now: SystemTime,
    /// The disk tells sizes in listings, as on Windows.
    pub lists_sizes: bool,
    follower: Option<Follower>,
    /// What would be on the agent's disk: JSON by identity.
    pub saved: BTreeMap<String, String>,
    /// Every range that was read and kept, in order.
    pub ranges: Vec<Range>,
    pub problems: Vec<Problem>,
}

impl Machine {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let logs = folder.path().join("logs");
        fs::create_dir(&logs).expect("the folder is writable");
        let config = Config { folders: vec![Folder::named(logs)], ..Config::default() };
        Self {
            folder,
            config,
            limits: Limits::default(),
            buffer_bytes: 64 * 1024,
            now: SystemTime::now(),
            lists_sizes: false,
            follower: None,
            saved: BTreeMap::new(),
            ranges: Vec::new(),
            problems: Vec::new(),
        }
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join("logs").join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder is writable");
        fs::write(path, bytes).expect("the folder is writable");
    }

    pub fn append(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let file = OpenOptions::new().append(true).open(self.path(name));
        file.and_then(|mut file| file.write_all(bytes.as_ref())).expect("the file is writable");
    }

    pub fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("the folder is writable");
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("the folder is writable");
    }

    /// The agent stops without a word; the next one knows what was saved.
    pub fn restart(&mut self) {
        self.follower = None;
    }

    pub fn pass(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    pub fn follower(&mut self) -> &mut Follower {
        self.start(Listing { lists_sizes: self.lists_sizes })
    }

    /// The agent, started on this disk when it does not run.
    pub fn start(&mut self, disk: impl Disk + 'static) -> &mut Follower {
        let Self { follower, saved, config, .. } = self;
        follower.get_or_insert_with(|| {
            let known = saved.values().map(|json| serde_json::from_str::<Position>(json).expect("it was just written"));
            Follower::new(config.clone(), disk, known)
        })
    }

    /// A second later, looks and saves what changed without being read.
    pub fn look(&mut self) -> Look {
        self.pass(1);
        let now = self.now;
        let look = self.follower().look(now);
        let follower = self.follower.as_ref().expect("it just looked");
        for log in &look.moved {
            let position = follower.position(log).expect("it was just told");
            self.saved.insert(log.to_string(), serde_json::to_string(position).expect("plain data"));
        }
        for log in &look.forgotten {
            self.saved.remove(&**log);
        }
        self.problems.extend(look.problems.iter().cloned());
        look
    }

    /// Looks, reads everything that is new, and keeps it.
    pub fn poll(&mut self) -> Look {
        let look = self.look();
        for log in &look.changed {
            while self.read(log) {}
        }
        look
    }

    /// Reads one range and keeps it.
    pub fn read(&mut self, log: &str) -> bool {
        let Some(range) = self.read_and_lose(log) else { return false };
        self.saved.insert(log.to_owned(), serde_json::to_string(&range.position).expect("plain data"));
        let position = range.position.clone();
        self.follower().commit(log, position);
        self.ranges.push(range);
        true
    }

    /// Reads one range; the agent stops before it is kept.
    pub fn read_and_lose(&mut self, log: &str) -> Option<Range> {
        let (limits, mut buffer) = (self.limits, vec![0; self.buffer_bytes]);
        match self.follower().read(log, &limits, &mut buffer) {
            Ok(range) => range,
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// Identities in the order in which they were read first.
    pub fn logs(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let all = self.ranges.iter().map(|range| range.log.to_string());
        all.filter(|log| seen.insert(log.clone())).collect()
    }

    /// The identity of the only log.
    pub fn only(&self) -> String {
        let logs = self.logs();
        assert_eq!(logs.len(), 1, "{logs:?}");
        logs[0].clone()
    }

    /// Byte ranges of a log, in order.
    pub fn spans(&self, log: &str) -> Vec<(u64, u64)> {
        self.ranges_of(log).map(|range| (range.segment.start, range.segment.end)).collect()
    }

    pub fn ranges_of<'a>(&'a self, log: &'a str) -> impl Iterator<Item = &'a Range> {
        self.ranges.iter().filter(move |range| *range.log == *log)
    }

    /// What the ranges of a log say together is what one reading of `content` says; they leave no gap, and the sums close.
    #[track_caller]
    pub fn assert_holds(&self, log: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        let (mut merged, mut end) = (Vec::new(), 0);
        let mut last = None;
        for range in self.ranges_of(log) {
            let segment = &range.segment;
            assert!(segment.start <= end, "there is a gap between {end} and {}", segment.start);
            assert!(segment.end >= end, "a range ends at {} behind one that ended at {end}", segment.end);
            assert!(
                segment.observations.iter().all(|seen| (segment.start..segment.end).contains(&seen.offset())),
                "an observation lies outside its range"
            );
            assert_eq!((&*range.log, segment.end), (segment.log.as_str(), range.position.end));
            assert_eq!(range.json_bytes, segment.observations.iter().map(json_len).sum::<usize>());
            assert_sums_close(&segment.facts, segment.end);
            // As the server does it: the range that ends last owns an offset.
            merged.retain(|observation: &Observation| observation.offset() < segment.start);
            merged.extend(segment.observations.iter().cloned());
            end = segment.end;
            last = Some(segment);
        }
        let last = last.expect("the log was read");
        let (observations, facts) = read_at_once(content, &last.file);
        assert_eq!(end, content.len() as u64);
        assert_eq!(merged, observations);
        assert_eq!(last.facts, facts);
    }
}

/// The real disk, with listings as on Windows where asked for.
struct Listing {
    lists_sizes: bool,
}

impl Disk for Listing {
    fn lists_sizes(&self) -> bool {
        self.lists_sizes
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = RealDisk.list(folder)?;
        for entry in entries.iter_mut().filter(|_| self.lists_sizes) {
            entry.stat = RealDisk.stat(&folder.join(&entry.name)).ok();
        }
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        RealDisk.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        RealDisk.open(path)
    }

    fn id(&self, path: &Path) -> Option<String> {
        RealDisk.id(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.canonical(path)
    }
}

fn assert_sums_close(facts: &LogFacts, end: u64) {
    let counts = facts.counts;
    assert_eq!((counts.bytes, facts.bytes.total()), (end, end), "{facts:?}");
    assert_eq!(counts.records, counts.events + counts.ignored + counts.unrecognised);
}

fn json_len(observation: &Observation) -> usize {
    serde_json::to_vec(observation).expect("plain data").len()
}

/// What one reading of a whole file says.
pub fn read_at_once(content: &[u8], name: &str) -> (Vec<Observation>, LogFacts) {
    let mut observations = Vec::new();
    let mut sink = |observation| observations.push(observation);
    let mut reader = LogReader::new();
    reader.feed(content, &mut sink);
    let mut facts = reader.finish(&mut sink);
    facts.process = parser::file_name::merge(facts.process, name);
    (observations, facts)
}

/// `DisplayXR_A.exe.7_2026-09-14_12-00-00.log` for `A.exe`, 7.
pub fn name(exe: &str, pid: u32) -> String {
    format!("DisplayXR_{exe}.{pid}_2026-09-14_12-00-00.log")
}

/// The header that the runtime writes into the file of that name.
pub fn header(exe: &str, pid: u32) -> String {
    format!(
        "=== DisplayXR Log Started ===\r\nLog file: C:\\x\\{}\r\nProcess: {exe} (PID {pid})\r\n\
         Timestamp: 2026-09-14 12:00:00\r\n============================\r\n\r\n",
        name(exe, pid)
    )
}

pub const FOOTER: &str = "\r\n=== DisplayXR Log Ended ===\r\n";

/// A record that is an event; each number makes another one.
pub fn event(number: u32) -> String {
    let (minute, second, milli) = (number / 60_000 % 60, number / 1000 % 60, number % 1000);
    format!(
        "[2026-09-14 12:{minute:02}:{second:02}.{milli:03}] [WARN ] [d3d_log_weave_placement] weave placement: \
         render='A{number}' LUID=00000000:00015f3a, panel scanout='B' LUID=00000000:00013c07 — weave/present on the \
         SCANOUT adapter (split=1) (#918)\r\n"
    )
}

/// A record that is none of our business.
pub fn noise(number: u32) -> String {
    let (second, milli) = (number / 1000 % 60, number % 1000);
    format!(
        "[2026-09-14 12:00:{second:02}.{milli:03}] [INFO ] [compositor_layer_commit] frame {number} took 8.3 ms\r\n"
    )
}

/// Events from `numbers`.
pub fn events(numbers: std::ops::Range<u32>) -> String {
    numbers.map(event).collect()
}
