//! The front door: looks at the folders, says which logs have something new, reads it.

mod decide;
mod settle;
mod sweep;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use wire::{End, Loss, Segment};

use crate::content;
use crate::disk::{Disk, Stat};
use crate::folders::Folder;
use crate::position::{Ended, LogKey, Position};
use crate::problem::{Problem, Problems};
use crate::range::{self, Limits, Range};
use crate::tree::{Tree, base_name};

/// The first pause after a failure, and before a file is asked again.
const SHORTEST_PAUSE: Duration = Duration::from_secs(2);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// What to follow, and how.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where logs are.
    pub folders: Vec<Folder>,
    /// Files and folders that are our own.
    pub leave_out: Vec<PathBuf>,
    /// After this long without a change a log has ended.
    pub quiet: Duration,
    /// Takes a last line without its newline at once: nobody will look again.
    pub take_partial: bool,
    /// Every file is asked this often; in between only those that a hint names and those that lately changed. Zero asks
    /// every file at every look. With a watcher that hands in hints, half a minute is plenty.
    pub full_every: Duration,
    /// How long a log is remembered whose file is gone.
    pub keep: Duration,
    /// The zone that logs are written in, asked once a log.
    pub zone: fn() -> TimeZone,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            leave_out: Vec::new(),
            quiet: Duration::from_hours(1),
            take_partial: false,
            full_every: Duration::ZERO,
            keep: Duration::from_hours(7 * 24),
            zone: TimeZone::system,
        }
    }
}

/// What a look found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Look {
    /// Logs that [`Follower::read`] has something of.
    pub changed: Vec<LogKey>,
    /// Logs whose position changed without anything to read: save it ([`Follower::position`]).
    pub moved: Vec<LogKey>,
    /// Logs that are remembered no longer: delete what was saved of them.
    pub forgotten: Vec<LogKey>,
    /// Bytes that nobody will read any more: `truncated` or `deleted` before they were.
    pub losses: Vec<Loss>,
    /// What cannot be read; each is said once.
    pub problems: Vec<Problem>,
    /// Files whose header is not whole yet.
    pub waiting: Vec<PathBuf>,
    /// Logs that may still grow.
    pub followed: u64,
    /// Logs that have ended, those included that are gone and still remembered.
    pub finished: u64,
    /// Files that are the same log as another.
    pub duplicates: u64,
    /// Files that are no logs.
    pub others: u64,
}

/// Follows the logs of this machine.
pub struct Follower {
    config: Config,
    disk: Box<dyn Disk>,
    tree: Tree,
    /// By canonical path.
    files: HashMap<PathBuf, FileState>,
    logs: HashMap<LogKey, Log>,
    /// The contents of a process under a header, in the order in which they came.
    by_base: HashMap<String, Vec<LogKey>>,
    /// By the id of their file, the newest where an id was used again.
    by_id: HashMap<String, LogKey>,
    /// Logs whose file is gone, by the checksum of their header.
    homeless: HashMap<u32, Vec<LogKey>>,
    /// The newest start of each program, as told by names and headers.
    newest: HashMap<String, String>,
    problems: Problems,
    hints: BTreeSet<PathBuf>,
    /// Logs that lost their file in this look.
    orphans: Vec<LogKey>,
    /// Logs whose file was looked into in this look, and how long it was before.
    touched: Vec<(LogKey, u64)>,
    /// Copies of the file of a log.
    copies: HashMap<LogKey, BTreeSet<PathBuf>>,
    /// Number of this look.
    turn: u64,
    now: SystemTime,
    next_full: SystemTime,
}

/// What is known of a file.
#[derive(Debug)]
struct FileState {
    /// As of the last change; `None` when it has to be looked into again.
    stat: Option<Stat>,
    /// Its size when it was looked into.
    len: u64,
    /// The look at which it was listed last, and at which it was asked last.
    listed: u64,
    asked: u64,
    changed_at: SystemTime,
    ask_at: SystemTime,
    what: What,
    /// The log that it is, or is a copy of.
    log: Option<LogKey>,
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// Not looked into yet.
    New,
    /// No log.
    Other,
    /// Its header is not whole.
    Waiting,
    /// The file of its log.
    Followed,
    /// A copy of the file of its log.
    Duplicate,
    /// It could not be opened or read.
    Failed { again_at: SystemTime, pause: Duration },
}

/// What to do with a last line that is not whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Take {
    /// It waits for the rest.
    No,
    /// It is taken as it is: nobody will look again.
    AsItIs,
    /// It is taken because the log ended.
    Ended(Ended),
}

/// A log.
#[derive(Debug)]
struct Log {
    position: Position,
    /// Its file.
    at: Option<PathBuf>,
    /// The size at which nothing whole was behind the position.
    tried: Option<u64>,
    /// No newline stands between the position and here.
    scanned: u64,
    /// Whether a last line without its newline is taken.
    take: Take,
    /// Reading it failed.
    failed: Option<(SystemTime, Duration)>,
    /// Program and start.
    process: Option<(String, String)>,
}

impl fmt::Debug for Follower {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, logs) = (self.files.len(), self.logs.len());
        formatter.debug_struct("Follower").field("files", &files).field("logs", &logs).finish_non_exhaustive()
    }
}

impl Follower {
    /// Follows the folders of `config` on `disk`, going on where the saved positions say.
    pub fn new(config: Config, disk: impl Disk + 'static, known: impl IntoIterator<Item = Position>) -> Self {
        let mut follower = Self {
            tree: Tree::new(config.folders.clone(), config.leave_out.clone()),
            config,
            disk: Box::new(disk),
            files: HashMap::new(),
            logs: HashMap::new(),
            by_base: HashMap::new(),
            by_id: HashMap::new(),
            homeless: HashMap::new(),
            newest: HashMap::new(),
            problems: Problems::default(),
            hints: BTreeSet::new(),
            orphans: Vec::new(),
            touched: Vec::new(),
            copies: HashMap::new(),
            turn: 0,
            now: SystemTime::UNIX_EPOCH,
            next_full: SystemTime::UNIX_EPOCH,
        };
        for position in known {
            follower.restore(position);
        }
        follower
    }

    /// Looks at these folders from the next look on.
    pub fn set_folders(&mut self, folders: Vec<Folder>) {
        self.tree.set_roots(folders);
        self.next_full = SystemTime::UNIX_EPOCH;
    }

    /// Looks at a file or folder at the next look, whatever it costs: a watcher saw something there.
    pub fn hint(&mut self, path: &Path) {
        /// Behind this many, looking at everything is cheaper.
        const MANY: usize = 1000;
        if self.hints.len() < MANY {
            self.hints.insert(path.to_owned());
        } else {
            self.next_full = SystemTime::UNIX_EPOCH;
        }
    }

    /// Looks at the folders. Opens only files that changed, and keeps none open.
    ///
    /// Positions of ranges that were read before have to be committed before, or the ranges count as never read.
    pub fn look(&mut self, now: SystemTime) -> Look {
        let mut look = Look::default();
        self.turn += 1;
        self.now = now;
        let (changed, gone) = self.sweep(&mut look);
        for path in gone {
            self.file_is_gone(&path);
        }
        for path in changed {
            self.examine(&path, &mut look);
        }
        self.settle(&mut look);
        look
    }

    /// Reads the next range of a log, at most up to the limits; `None` when nothing more is there just now. `buffer` is
    /// working space; 64 KiB serve well, and a range can only be cut about where it was full.
    ///
    /// The same range comes again until [`Follower::commit`] is told of it.
    ///
    /// # Errors
    /// When the file cannot be read, once; it is tried again later.
    pub fn read(&mut self, log: &str, limits: &Limits, buffer: &mut [u8]) -> Result<Option<Range>, Problem> {
        let Some((key, known)) = self.logs.get_key_value(log) else { return Ok(None) };
        let (key, Some(path)) = (key.clone(), known.at.clone()) else { return Ok(None) };
        match self.range(&key, &path, limits, buffer) {
            Ok(range) => {
                self.problems.solved(&path);
                if let Some(log) = self.logs.get_mut(&key) {
                    log.failed = None;
                }
                Ok(range)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.distrust(&path);
                Ok(None)
            }
            Err(error) => {
                if let Some(log) = self.logs.get_mut(&key) {
                    let pause = log.failed.map_or(SHORTEST_PAUSE, |(_, pause)| (pause * 2).min(LONGEST_PAUSE));
                    log.failed = Some((self.now + pause, pause));
                }
                self.problems.note(&path, format!("failed to read it: {error}")).map_or(Ok(None), Err)
            }
        }
    }

    /// The range before this position is safe: goes on behind it.
    pub fn commit(&mut self, log: &str, position: Position) {
        let Some(log) = self.logs.get_mut(log) else { return };
        // Where the file is, and whether it is still there, may have been found out since.
        let now = std::mem::take(&mut log.position);
        let ended = if now.gone_s.is_some() { now.ended } else { position.ended };
        let (file, path, id) = (now.file, now.path, now.id);
        let (header, early, gone_s) = (now.header, now.early, now.gone_s);
        log.position = Position { file, path, id, header, early, ended, gone_s, ..position };
        log.tried = None;
        log.take = Take::No;
    }

    /// How far a log got, as committed.
    pub fn position(&self, log: &str) -> Option<&Position> {
        self.logs.get(log).map(|log| &log.position)
    }

    /// All logs that are remembered.
    pub fn positions(&self) -> impl Iterator<Item = (&LogKey, &Position)> {
        self.logs.iter().map(|(key, log)| (key, &log.position))
    }

    fn range(&mut self, key: &LogKey, path: &Path, limits: &Limits, buffer: &mut [u8]) -> io::Result<Option<Range>> {
        let Some(log) = self.logs.get_mut(key) else { return Ok(None) };
        let position = &log.position;
        let name = base_name(path);
        let file = self.disk.open(path)?;
        let len = file.metadata()?.len();
        let header = content::header(&file, &name)?;
        let same = header.checksum == position.header || position.early;
        if !same || !content::holds(&file, len, position.end, position.tail)? {
            self.distrust(path);
            return Ok(None);
        }
        let from = position.end.max(log.scanned.min(len));
        let whole = content::last_newline(&file, from, len, header.utf16, buffer)?.unwrap_or(position.end);
        let footer = len > whole && content::is_footer(&file, whole, len)?;
        let take = if footer { Take::AsItIs } else { log.take };
        let to = if take == Take::No { whole } else { len };
        if to == position.end && (position.told || len > 0) {
            (log.tried, log.scanned) = (Some(len), len);
            return Ok(None);
        }
        let read = range::read(&file, position, to, limits, buffer)?;
        // The content may have been replaced meanwhile, before or behind the place that was being read.
        let len_after = file.metadata()?.len();
        let read = match read {
            Some(read)
                if content::holds(&file, len_after, position.end, position.tail)?
                    && content::holds(&file, len_after, read.end, read.tail.checksum())? =>
            {
                read
            }
            _ => {
                self.distrust(path);
                return Ok(None);
            }
        };
        let mut facts = read.facts;
        facts.process = parser::file_name::merge(facts.process, &name);
        let started = facts.process.as_ref().and_then(|process| process.started.as_deref());
        let clock =
            position.clock.clone().or_else(|| started.and_then(|started| crate::clock(&(self.config.zone)(), started)));
        let all = read.end == len;
        let ended = match take {
            _ if !all => None,
            _ if facts.end == End::Footer => Some(Ended::Footer),
            Take::Ended(ended) => Some(ended),
            Take::No | Take::AsItIs => None,
        };
        let position = Position {
            end: read.end,
            start: read.next_start,
            checkpoint: read.checkpoint,
            tail: read.tail.checksum(),
            seen: len,
            told: true,
            ended,
            counts: facts.counts,
            bytes: facts.bytes,
            clock: clock.clone(),
            ..position.clone()
        };
        let segment = Segment {
            log: key.to_string(),
            file: name,
            start: read.start,
            end: read.end,
            facts,
            observations: read.observations,
            clock,
            unfinished: len > whole && all && !footer,
        };
        let complete = read.end == to;
        Ok(Some(Range { log: key.clone(), segment, json_bytes: read.json_bytes, position, complete }))
    }

    /// Looks into a file again at the next look: it is not what it was.
    fn distrust(&mut self, path: &Path) {
        if let Some(file) = self.files.get_mut(path) {
            file.stat = None;
            file.ask_at = self.now;
        }
    }
}
