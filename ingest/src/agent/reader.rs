//! The reading half: looks which logs have something new, takes out of it what must not leave, and keeps it for the sender.
//!
//! It works within its pace, holds no file open between looks, and moves no position before the range behind it is safe.

use std::time::{Duration, Instant, SystemTime};

use follow::{Folder, Follower, Limits, Look, Position, Range, RealDisk, RealEnv, System};
use serde_json::value::RawValue;
use triage::reading::BUFFER_BYTES;

use crate::agent::config::Config;
use crate::agent::memory::{Before, Entry, KeepError};
use crate::agent::pace::Pace;
use crate::agent::privacy::Privacy;
use crate::agent::shared::Shared;
use crate::agent::tally::Lost;
use crate::agent::watcher::Watcher;
use crate::problems::Problems;

/// A range has this much JSON and this much of a log, so that a pause comes often.
const LIMITS: Limits = Limits { json_bytes: 1 << 20, log_bytes: 16 << 20 };
/// Entries are brought to disk together when they have this many bytes.
const SETTLE_BYTES: usize = 1 << 20;
/// A changed log is read this much later, with what else is written in the meantime.
const GATHER: Duration = Duration::from_millis(250);
/// How often lately changed files are asked without a hint. All files are asked less often, as configured.
const POLL: Duration = Duration::from_secs(5);
/// How often a wish to send now is looked for.
const WISH: Duration = Duration::from_secs(1);
/// Between two attempts to write on a disk that is full, or to find room in a full queue.
const ROOM: Duration = Duration::from_secs(1);
/// With `--once`, so many attempts to write.
const DISK_ATTEMPTS_ONCE: u32 = 5;

/// What a run read, in logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Read {
    /// All that are there.
    pub logs: u64,
    /// With something new that is in the queue now.
    pub read: u64,
    /// Whose newness is left for the next run.
    pub left: u64,
    /// Files that are no logs.
    pub others: u64,
    /// The disk took no more.
    pub disk_failed: bool,
}

/// The folders that are followed: those that were named, or this machine's.
pub fn folders(config: &Config) -> Vec<Folder> {
    if config.dirs.is_empty() {
        follow::default_folders(System::here(), &RealEnv)
    } else {
        config.dirs.iter().map(Folder::named).collect()
    }
}

/// A follower that goes on where the positions say.
fn follower(config: &Config, watched: bool, known: impl IntoIterator<Item = Position>) -> Follower {
    let settings = follow::Config {
        folders: folders(config),
        leave_out: vec![config.home.path().to_owned()],
        quiet: config.quiet,
        take_partial: config.once,
        full_every: if watched { config.poll } else { Duration::ZERO },
        ..follow::Config::default()
    };
    Follower::new(settings, RealDisk, known)
}

/// What reading would put into the queue now, range by range, until `take` has enough. Nothing is kept or remembered.
pub fn dry(
    config: &Config,
    known: impl IntoIterator<Item = Position>,
    problems: &Problems,
    mut take: impl FnMut(Entry) -> bool,
) {
    let mut follower = follower(config, false, known);
    let look = follower.look(SystemTime::now());
    say(&look, problems);
    let privacy = Privacy::new(config);
    let mut buffer = vec![0; BUFFER_BYTES];
    for log in &look.changed {
        loop {
            match follower.read(log, &LIMITS, &mut buffer) {
                Ok(Some(range)) => {
                    let position = range.position.clone();
                    let Some(before) = follower.position(log).map(Before::at) else { break };
                    let Ok(entry) = entry(range, before, &privacy) else { break };
                    if !take(entry) {
                        return;
                    }
                    follower.commit(log, position);
                }
                Ok(None) => break,
                Err(problem) => {
                    problems.unreadable(&problem.path.to_string_lossy(), &problem.why);
                    break;
                }
            }
        }
    }
}

/// Reads until the agent is to end; with `--once`, until everything that is there is in the queue.
pub fn run(shared: &Shared) -> Read {
    let known: Vec<Position> = shared.memory().logs().map(|(_, state)| state.position.clone()).collect();
    let mut followed = folders(&shared.config);
    let mut watcher = if shared.config.once { Watcher::none() } else { Watcher::start(&shared.waker, &followed) };
    let mut reader = Reader {
        shared,
        follower: follower(&shared.config, watcher.watches(), known),
        privacy: Privacy::new(&shared.config),
        pace: Pace::new(shared.config.limits),
        buffer: vec![0; BUFFER_BYTES],
        unsettled_bytes: 0,
        disk_said: None,
        done: Read::default(),
    };
    let (mut next_poll, mut next_folders) = (Instant::now(), Instant::now() + shared.config.poll);
    loop {
        let wish = shared.see_wish();
        let hints = watcher.take();
        if wish || !hints.is_empty() || Instant::now() >= next_poll {
            // What the watcher saw is written in many small pieces; a moment later there are fewer ranges.
            if !hints.is_empty() && !wish {
                std::thread::sleep(GATHER);
            }
            hints.iter().chain(&watcher.take()).for_each(|path| reader.follower.hint(path));
            reader.look();
            next_poll = Instant::now() + POLL.min(shared.config.poll);
            if wish || shared.has_wish() {
                shared.looked_for_wish();
            }
        }
        if shared.config.once || shared.stopping() {
            shared.say_everything_is_read();
            return reader.done;
        }
        // A folder came that was not there when the watch began, or somebody has a profile now.
        let others = Instant::now() >= next_folders && folders(&shared.config) != followed;
        if others || watcher.is_stale() {
            followed = folders(&shared.config);
            watcher = Watcher::start(&shared.waker, &followed);
            reader.follower.set_folders(followed.clone());
            next_poll = Instant::now();
            continue;
        }
        if Instant::now() >= next_folders {
            next_folders = Instant::now() + shared.config.poll;
        }
        shared.waker.sleep(WISH);
    }
}

struct Reader<'a> {
    shared: &'a Shared,
    follower: Follower,
    privacy: Privacy,
    pace: Pace,
    buffer: Vec<u8>,
    unsettled_bytes: usize,
    /// What was said of a disk that refused, and still does as far as is known.
    disk_said: Option<String>,
    done: Read,
}

/// The agent is to end, or `--once` has given up.
struct Ended;

impl Reader<'_> {
    /// Looks at the folders and reads everything that is new.
    fn look(&mut self) {
        let look = self.follower.look(SystemTime::now());
        say(&look, &self.shared.problems);
        if self.shared.config.once {
            say_waiting(&look, &self.shared.problems);
        }
        self.note(&look);
        let mut left = look.changed.len() as u64;
        for log in &look.changed {
            if self.log(log).is_err() {
                break;
            }
            left -= 1;
        }
        let settled = self.settle();
        self.shared.say(|live| live.slowed = None);
        let changed = look.changed.len() as u64;
        self.done.logs = look.followed + look.finished;
        self.done.read += changed - left;
        self.done.left = left + u64::from(settled.is_err());
        self.done.others = look.others;
    }

    /// Keeps what a look found out without reading.
    fn note(&self, look: &Look) {
        let mut memory = self.shared.memory();
        for log in &look.moved {
            if let Some(position) = self.follower.position(log) {
                memory.move_to(log, position.clone());
            }
        }
        for loss in &look.losses {
            if let Some((log, position)) = loss.log.as_ref().and_then(|log| Some((log, self.follower.position(log)?))) {
                memory.lose(log, position, &loss.reason, Lost { bytes: loss.bytes, events: loss.events });
            }
        }
        look.forgotten.iter().for_each(|log| memory.forget(log));
        drop(memory);
        self.say_unreadable();
    }

    /// What cannot be read just now; it is over when it can.
    fn say_unreadable(&self) {
        let unreadable = self.follower.problems().iter().map(ToString::to_string).collect();
        self.shared.say(|live| live.unreadable = unreadable);
    }

    /// Reads what is new in one log.
    fn log(&mut self, log: &str) -> Result<(), Ended> {
        loop {
            self.rest()?;
            let range = match self.follower.read(log, &LIMITS, &mut self.buffer) {
                Ok(Some(range)) => range,
                Ok(None) => return Ok(()),
                Err(problem) => {
                    self.shared.problems.unreadable(&problem.path.to_string_lossy(), &problem.why);
                    self.say_unreadable();
                    return Ok(());
                }
            };
            let position = range.position.clone();
            let before = self.shared.memory().log(log).map(|state| Before::at(&state.position)).unwrap_or_default();
            match entry(range, before, &self.privacy) {
                Ok(entry) => {
                    if !self.keep(&entry)? {
                        return Ok(());
                    }
                }
                Err(error) => {
                    self.shared.trouble(&format!("failed to write what was read of {}: {error}", position.file));
                    return Ok(());
                }
            }
            self.follower.commit(log, position);
        }
    }

    /// Sleeps as long as the limits ask for.
    fn rest(&mut self) -> Result<(), Ended> {
        while let Some((pause, why)) = self.pace.rest() {
            self.shared.say(|live| live.slowed = Some(why));
            std::thread::sleep(pause);
            self.ended()?;
        }
        self.ended()
    }

    fn ended(&self) -> Result<(), Ended> {
        if self.shared.stopping() || self.shared.gave_up() || self.done.disk_failed { Err(Ended) } else { Ok(()) }
    }

    /// Puts a range into the queue, when there is room. False when there never will be.
    fn keep(&mut self, entry: &Entry) -> Result<bool, Ended> {
        let mut attempts = 0;
        loop {
            let kept = self.shared.memory().keep(entry);
            match kept {
                Ok(bytes) => {
                    self.unsettled_bytes += bytes;
                    if self.unsettled_bytes >= SETTLE_BYTES {
                        self.settle()?;
                    }
                    return Ok(true);
                }
                Err(KeepError::Full) => {
                    self.settle()?;
                    self.shared.say(|live| {
                        live.slowed = Some(
                            "reading waits: the queue has reached its size, and the server has not taken it".to_owned(),
                        );
                    });
                    self.shared.waker.sleep(ROOM);
                }
                Err(error @ KeepError::TooLarge(_)) => {
                    // The other logs go on.
                    self.shared.trouble(&format!("{}: {error}; raise queue_mib", entry.position.file));
                    return Ok(false);
                }
                Err(error @ KeepError::Disk(_)) => {
                    // What was kept before may be what the sender can make room with.
                    if self.shared.memory().settle().is_ok() {
                        self.shared.news.notify_one();
                    }
                    self.disk(&error.to_string(), &mut attempts)?;
                }
            }
            self.ended()?;
        }
    }

    /// Makes what was kept safe, and wakes the sender.
    fn settle(&mut self) -> Result<(), Ended> {
        let mut attempts = 0;
        loop {
            let settled = self.shared.memory().settle();
            match settled {
                Ok(()) => {
                    self.unsettled_bytes = 0;
                    self.shared.news.notify_one();
                    if let Some(said) = self.disk_said.take() {
                        self.shared.say(|live| {
                            live.last_error.take_if(|error| error.what == said);
                        });
                    }
                    return Ok(());
                }
                Err(error) => {
                    self.disk(&format!("failed to write the queue: {error}; is the disk full?"), &mut attempts)?;
                }
            }
            self.ended()?;
        }
    }

    /// Says that the disk refuses, and waits a little; what was read stays in memory.
    fn disk(&mut self, why: &str, attempts: &mut u32) -> Result<(), Ended> {
        *attempts += 1;
        self.shared.trouble(why);
        self.shared.say(|live| live.slowed = Some(format!("reading waits: {why}")));
        self.disk_said = Some(why.to_owned());
        if self.shared.config.once && *attempts >= DISK_ATTEMPTS_ONCE {
            self.done.disk_failed = true;
            return Err(Ended);
        }
        self.shared.waker.sleep(ROOM);
        Ok(())
    }
}

/// A range as the queue keeps it, without what must not leave.
fn entry(mut range: Range, before: Before, privacy: &Privacy) -> serde_json::Result<Entry> {
    privacy.redact(&mut range.segment);
    Ok(Entry {
        log: range.log.to_string(),
        before,
        segment: RawValue::from_string(serde_json::to_string(&range.segment)?)?,
        position: range.position,
    })
}

fn say(look: &Look, problems: &Problems) {
    for problem in &look.problems {
        problems.unreadable(&problem.path.to_string_lossy(), &problem.why);
    }
}

/// Nobody will look again soon, so what is not ready yet is said.
fn say_waiting(look: &Look, problems: &Problems) {
    for path in &look.waiting {
        problems.note(format_args!("{}: its header is not complete yet; it is sent in the next run", path.display()));
    }
}
