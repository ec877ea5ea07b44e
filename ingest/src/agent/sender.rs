//! The sending half: takes the oldest ranges from the memory, sends them, and notes what became of them.
//!
//! It never lets go of a range before the server has committed it, and tries for ever, with growing pauses or as the server
//! asks. What the server will not take whatever happens is found by halving the batch, and is put aside with the reason.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use wire::Ack;

use crate::agent::batch::{self, MOST_BYTES, MOST_SEGMENTS};
use crate::agent::home::Credential;
use crate::agent::live;
use crate::agent::memory::{Entry, Outcome};
use crate::agent::privacy::Privacy;
use crate::agent::rejected;
use crate::agent::shared::Shared;
use crate::agent::upload::{Failure, Uploader, back_off};
use crate::exit::Exit;

mod report;

/// With `--once` somebody waits: after so many failures in a row, or a longer pause, the rest is left for the next run.
const ATTEMPTS_ONCE: u32 = 5;
const LONGEST_PAUSE_ONCE: Duration = Duration::from_secs(30);
/// While the settings are wrong, nothing helps but a person; a look now and then notices that one was there.
const SETTINGS_PAUSE: Duration = Duration::from_mins(5);
/// Between two attempts at a disk that refuses.
const DISK_PAUSE: Duration = Duration::from_secs(5);
/// How often an idle sender looks whether there is anything to do beside sending.
const IDLE: Duration = Duration::from_secs(1);

/// What a run sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Events that were acknowledged.
    pub events: u64,
    /// Logs with a range that was acknowledged.
    pub logs: HashSet<String>,
    /// Logs with a range that was put aside.
    pub rejected: HashSet<String>,
    /// How it ended.
    pub exit: Exit,
}

/// Sends until it is asked to stop; with `--once`, until everything that was read is sent, or nothing can be.
pub async fn run(shared: &Shared, credential: Credential, uploader: Uploader) -> Sent {
    let mut sender = Sender {
        shared,
        credential,
        uploader,
        in_doubt: false,
        sent: Sent::default(),
        most: MOST_SEGMENTS,
        failures: 0,
        unnoted: 0,
        privacy: Privacy::new(&shared.config),
        next_report: (!shared.config.once).then(Instant::now),
        told_losses: 0,
    };
    sender.run().await;
    sender.sent
}

struct Sender<'a> {
    shared: &'a Shared,
    credential: Credential,
    uploader: Uploader,
    /// The server did not want the credential: another one may come, by `enroll` or by hand.
    in_doubt: bool,
    sent: Sent,
    /// Segments in the next batch; fewer after the server refused one as a whole.
    most: usize,
    /// Requests in a row that failed.
    failures: u32,
    /// Attempts in a row at reading the queue or noting an answer that the disk refused.
    unnoted: u32,
    privacy: Privacy,
    next_report: Option<Instant>,
    /// Lost events and bytes that the server knows of.
    told_losses: u64,
}

/// Entries with their numbers.
type Entries = Vec<(u64, Entry)>;

impl Sender<'_> {
    async fn run(&mut self) {
        loop {
            let entries = match self.next() {
                Ok(entries) => entries,
                Err(error) => {
                    if self.disk(&format!("failed to read the queue: {error}")).await {
                        return;
                    }
                    continue;
                }
            };
            if entries.is_empty() {
                self.shared.answer_wish(true);
                if self.shared.config.once && self.shared.everything_is_read() {
                    self.report_losses().await;
                    return;
                }
                if self.shared.stopping() {
                    return;
                }
                self.idle().await;
                continue;
            }
            if self.shared.stopping() && self.failures > 0 {
                // A stop does not wait for a server that is not there; the rest stays in the queue.
                return;
            }
            if self.may_wait(&entries) {
                self.idle().await;
                continue;
            }
            if self.send(entries).await {
                return;
            }
        }
    }

    /// The oldest entries that fit into a batch.
    fn next(&self) -> std::io::Result<Entries> {
        self.shared.memory().oldest(MOST_BYTES, self.most)
    }

    /// A batch that is neither full nor old waits a little for more.
    fn may_wait(&self, entries: &Entries) -> bool {
        let config = &self.shared.config;
        let full = entries.len() >= self.most;
        let age = Duration::from_secs(self.shared.memory().oldest_age_s());
        let nothing_comes = self.shared.stopping() || (config.once && self.shared.everything_is_read());
        !(full || nothing_comes || age >= config.batch_age || self.shared.has_wish())
    }

    /// Sends a batch and notes the answer; true when there is no point in going on.
    async fn send(&mut self, entries: Entries) -> bool {
        let packed = batch::json(&self.shared.machine, entries.iter().map(|(_, entry)| entry))
            .map_err(std::io::Error::from)
            .and_then(|json| zstd::bulk::compress(&json, zstd::DEFAULT_COMPRESSION_LEVEL));
        let packed = match packed {
            Ok(packed) => packed,
            Err(error) => {
                self.shared.trouble(&format!("failed to pack a batch: {error}"));
                return self.pause(DISK_PAUSE).await;
            }
        };
        match self.uploader.send(packed, entries.len()).await {
            Ok(ack) => {
                self.failures = 0;
                // After a refusal, back to whole batches step by step.
                self.most = (self.most * 2).min(MOST_SEGMENTS);
                if self.acknowledged(entries, ack).await {
                    return true;
                }
                self.report_if_due().await;
                false
            }
            Err(Failure::Refused { .. }) if entries.len() > 1 => {
                self.most = entries.len() / 2;
                false
            }
            Err(Failure::Refused { error, by_server: true }) => match self.report_nothing().await {
                Ok(_) => {
                    let reason = format!("{error:#}");
                    let refused =
                        entries.into_iter().map(|(number, entry)| (number, entry, Some(reason.clone()))).collect();
                    self.note(refused).await
                }
                // It is not the range: this server takes nothing that this agent sends, perhaps because it is older.
                Err(Failure::Refused { error, .. }) => self.failed(Failure::Settings(error)).await,
                Err(failure) => self.failed(failure).await,
            },
            Err(failure) => self.failed(failure).await,
        }
    }

    async fn acknowledged(&mut self, entries: Entries, ack: Ack) -> bool {
        let mut reasons: HashMap<u64, String> =
            ack.refused.into_iter().map(|refusal| (refusal.segment, refusal.reason)).collect();
        let entries = (0..).zip(entries);
        let entries = entries.map(|(index, (number, entry))| (number, entry, reasons.remove(&index))).collect();
        self.shared.say(|live| {
            live.last_contact = Some(live::now());
            live.last_error = None;
            live.next_attempt = None;
        });
        self.note(entries).await
    }

    /// Notes what became of entries: those with a reason are put aside. True when there is no point in going on.
    async fn note(&mut self, entries: Vec<(u64, Entry, Option<String>)>) -> bool {
        let mut done = Vec::with_capacity(entries.len());
        for (number, entry, reason) in entries {
            let Some(reason) = reason else {
                self.sent.events = self.sent.events.saturating_add_signed(entry.events());
                self.sent.logs.insert(entry.log.clone());
                done.push((number, entry, Outcome::Acknowledged));
                continue;
            };
            let file = entry.position.file.clone();
            if let Err(error) = rejected::keep(&self.shared.config.home, number, &entry, &reason) {
                self.shared.trouble(&format!("failed to keep what the server refused: {error}"));
            }
            self.shared.problems.note(format_args!(
                "{file}: the server refused a range of it: {reason}; it is kept in {}",
                self.shared.config.home.rejected().display()
            ));
            self.sent.rejected.insert(entry.log.clone());
            self.sent.exit = self.sent.exit.max(Exit::Server);
            done.push((number, entry, Outcome::Lost("rejected")));
        }
        let noted = self.shared.memory().done(&done);
        self.shared.waker.wake();
        match noted {
            Ok(()) => {
                self.unnoted = 0;
                false
            }
            Err(error) => self.disk(&format!("failed to note what the server took: {error}; is the disk full?")).await,
        }
    }

    /// Says that the disk refuses, and waits; true when there is no point in going on.
    async fn disk(&mut self, why: &str) -> bool {
        self.shared.trouble(why);
        self.unnoted += 1;
        if self.shared.config.once && self.unnoted == ATTEMPTS_ONCE {
            self.sent.exit = self.sent.exit.max(Exit::Unreadable);
            self.shared.give_up();
            return true;
        }
        self.pause(DISK_PAUSE).await
    }

    /// Says what is wrong and waits; true when there is no point in going on.
    async fn failed(&mut self, failure: Failure) -> bool {
        self.failures += 1;
        let (settings, asked) = match &failure {
            Failure::Passing(_, asked) => (false, *asked),
            Failure::Refused { .. } => (false, None),
            Failure::Settings(_) => (true, None),
        };
        let pause = if settings { SETTINGS_PAUSE } else { back_off(self.failures) };
        // As long as the server asks at least, but not less and less kind to one that asks for nothing again and again.
        let pause = asked.unwrap_or_default().max(pause);
        self.in_doubt = settings;
        let error = failure.error();
        self.shared.answer_wish(false);
        if self.shared.config.once {
            if settings || self.failures == ATTEMPTS_ONCE || pause > LONGEST_PAUSE_ONCE {
                self.shared.trouble(&format!("failed to upload: {error:#}; nothing is lost, run it again"));
                self.sent.exit = self.sent.exit.max(Exit::Server);
                self.shared.give_up();
                return true;
            }
        } else {
            self.shared.trouble(&format!("failed to upload: {error:#}; nothing is lost, it is tried again"));
            let next = jiff::Timestamp::now().saturating_add(jiff::SignedDuration::try_from(pause).unwrap_or_default());
            let next = next.map(|next| next.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).ok();
            self.shared.say(|live| live.next_attempt = next);
        }
        self.pause(pause).await
    }

    /// Waits, unless there is a wish to send now or a new credential; true when the agent is to end.
    async fn pause(&mut self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if self.shared.stopping() {
                return true;
            }
            if self.is_renewed() || self.shared.has_wish() {
                return false;
            }
            sleep_until(until.min(Instant::now() + IDLE)).await;
        }
        self.shared.stopping()
    }

    /// True when the credential was in doubt and there is another one, which is then used.
    fn is_renewed(&mut self) -> bool {
        if !self.in_doubt {
            return false;
        }
        let config = &self.shared.config;
        let Ok(credential) = config.credential() else { return false };
        if credential == self.credential {
            return false;
        }
        let Ok(uploader) = Uploader::new(&credential.server, &config.way, &credential.token) else { return false };
        let server = credential.server.to_string();
        self.shared.say(|live| live.server = Some(server));
        (self.credential, self.uploader, self.in_doubt) = (credential, uploader, false);
        // It may be another server, which knows nothing yet.
        self.told_losses = 0;
        self.next_report = self.next_report.map(|_| Instant::now());
        true
    }

    /// Waits for news, a second at most, and reports where that is due.
    async fn idle(&mut self) {
        let _ = tokio::time::timeout(IDLE, self.shared.news.notified()).await;
        self.is_renewed();
        if self.failures == 0 {
            self.report_if_due().await;
        }
    }
}
