//! What is known of each file and of each log between two looks.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::config::Look;
use crate::disk::Stat;
use crate::position::{Ended, LogKey, Position};

/// The first pause after a failure, and before a file is asked again.
pub const SHORTEST_PAUSE: Duration = Duration::from_secs(2);
/// The longest.
pub const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// What is known of a file.
#[derive(Debug)]
pub struct FileState {
    /// As of the last change; `None` when it has to be looked into again.
    pub stat: Option<Stat>,
    /// Its size when it was looked into.
    pub len: u64,
    /// The look at which it was listed last, and at which it was asked last.
    pub listed: u64,
    pub asked: u64,
    pub changed_at: SystemTime,
    pub ask_at: SystemTime,
    pub what: What,
    /// The log that it is, or is a copy of.
    pub log: Option<LogKey>,
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
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
pub enum Take {
    /// It waits for the rest.
    No,
    /// It is taken as it is: nobody will look again.
    AsItIs,
    /// It is taken because the log ended.
    Ended(Ended),
}

/// A log.
#[derive(Debug)]
pub struct Log {
    pub position: Position,
    /// Its file.
    pub at: Option<PathBuf>,
    /// The size at which nothing whole was behind the position.
    pub tried: Option<u64>,
    /// No newline stands between the position and here.
    pub scanned: u64,
    /// Whether a last line without its newline is taken.
    pub take: Take,
    /// Reading it failed.
    pub failed: Option<(SystemTime, Duration)>,
    /// Program and start.
    pub process: Option<(String, String)>,
}

/// What a look without any news answers: when nothing is due before some time, files need not be gone through.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Something is due then.
    pub until: SystemTime,
    /// How much there is of everything.
    pub counts: Look,
}

impl FileState {
    /// A file that was found.
    pub fn new(now: SystemTime) -> Self {
        Self { stat: None, len: 0, listed: 0, asked: 0, changed_at: now, ask_at: now, what: What::New, log: None }
    }

    /// Remembers what was told; true when it is news.
    pub fn takes(&mut self, stat: Stat, now: SystemTime) -> bool {
        if self.stat == Some(stat) {
            return false;
        }
        // Of a file that is seen for the first time, the disk knows best how old it may be; of others, we do.
        self.changed_at = if self.what == What::New { stat.modified.min(now) } else { now };
        self.ask_at = now;
        self.stat = Some(stat);
        true
    }

    /// How long nothing happened.
    pub fn idle(&self, now: SystemTime) -> Duration {
        now.duration_since(self.changed_at).unwrap_or(Duration::ZERO)
    }
}

impl Log {
    /// A log without a file.
    pub fn new(position: Position, process: Option<wire::Process>) -> Self {
        let process = process.and_then(|process| Some((process.exe.to_lowercase(), process.started?)));
        Self { position, at: None, tried: None, scanned: 0, take: Take::No, failed: None, process }
    }

    /// Bytes, or the news that there are none, wait to be read.
    pub const fn is_pending(&self) -> bool {
        self.position.seen > self.position.end || !self.position.told
    }
}
