//! What a follower is told, and what it answers.

use std::path::PathBuf;
use std::time::Duration;

use jiff::tz::TimeZone;
use wire::Loss;

use crate::folders::Folder;
use crate::position::LogKey;
use crate::problem::Problem;

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
    /// every file at every look, which takes about 2 ms for a thousand. With a watcher that hands in hints, half a minute
    /// is plenty.
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
    /// Logs that [`Follower::read`](super::Follower::read) has something of.
    pub changed: Vec<LogKey>,
    /// Logs whose position changed without anything to read: save it ([`Follower::position`](super::Follower::position)).
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
