//! What the two halves of a running agent share: the reading half fills the memory, the sending half empties it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::agent::config::Config;
use crate::agent::live::{Flushed, Live, Trouble, now};
use crate::agent::memory::Memory;
use crate::problems::Problems;

/// The agent in motion.
pub struct Shared {
    /// What it goes by.
    pub config: Config,
    /// The machine's pseudonym.
    pub machine: String,
    /// The voice on stderr.
    pub problems: Problems,
    memory: Mutex<Memory>,
    live: Mutex<Live>,
    /// Wakes the sender.
    pub news: Notify,
    /// Ends the reader's sleep.
    pub waker: Waker,
    flush: Mutex<Option<Wish>>,
    stop: AtomicBool,
    read_everything: AtomicBool,
    gave_up: AtomicBool,
}

/// Somebody's wish to send everything now (`weavewatch flush`).
#[derive(Clone, PartialEq, Eq, Debug)]
struct Wish {
    text: String,
    /// Everything that was there when it came is in the queue.
    looked: bool,
}

impl Shared {
    /// Ready to start.
    pub fn new(config: Config, machine: String, problems: Problems, memory: Memory, server: &str) -> Self {
        let live = Live {
            pid: std::process::id(),
            server: Some(server.to_owned()),
            config: config.words(),
            ..Live::default()
        };
        Self {
            config,
            machine,
            problems,
            memory: Mutex::new(memory),
            live: Mutex::new(live),
            news: Notify::new(),
            waker: Waker::default(),
            flush: Mutex::new(None),
            stop: AtomicBool::new(false),
            read_everything: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
        }
    }

    /// The memory. Hold it for one step only: the other half waits.
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        // A panic elsewhere leaves the memory as the last whole step left it.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what the agent says of itself, and writes it where it changed.
    pub fn say(&self, change: impl FnOnce(&mut Live)) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let before = live.clone();
        change(&mut live);
        if *live != before {
            // It is news only; what it is about is in the memory, and a full disk shows there.
            let _ = live.write(&self.config.home);
        }
    }

    /// What the agent says of itself.
    pub fn live(&self) -> Live {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says that something went wrong, on stderr where it is another trouble than the last.
    pub fn trouble(&self, what: &str) {
        let known = self.live().last_error.is_some_and(|last| last.what == what);
        if !known {
            self.problems.note(what);
        }
        self.say(|live| {
            if !known {
                live.last_error = Some(Trouble { at: now(), what: what.to_owned() });
            }
        });
    }

    /// Asks both halves to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.news.notify_one();
        self.waker.wake();
    }

    /// True when the agent is to end.
    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// `--once`: all logs are in the queue.
    pub fn say_everything_is_read(&self) {
        self.read_everything.store(true, Ordering::SeqCst);
        self.news.notify_one();
    }

    /// See [`Self::say_everything_is_read`].
    pub fn everything_is_read(&self) -> bool {
        self.read_everything.load(Ordering::SeqCst)
    }

    /// `--once`: the server takes nothing, so that waiting for room in the queue is in vain.
    pub fn give_up(&self) {
        self.gave_up.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    /// See [`Self::give_up`].
    pub fn gave_up(&self) -> bool {
        self.gave_up.load(Ordering::SeqCst)
    }

    /// Reads a wish to send everything now; true for one that is new.
    pub fn see_wish(&self) -> bool {
        let Ok(text) = std::fs::read_to_string(self.config.home.flush_wish()) else { return false };
        let mut flush = self.flush.lock().unwrap_or_else(PoisonError::into_inner);
        let new = flush.as_ref().is_none_or(|known| known.text != text);
        if new {
            *flush = Some(Wish { text, looked: false });
        }
        new
    }

    /// Everything that was there when the wish came is in the queue.
    pub fn looked_for_wish(&self) {
        if let Some(wish) = &mut *self.flush.lock().unwrap_or_else(PoisonError::into_inner) {
            wish.looked = true;
        }
        self.news.notify_one();
    }

    /// True while there is a wish.
    pub fn has_wish(&self) -> bool {
        self.flush.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Answers the wish: done when the queue is empty behind the look that it asked for.
    pub fn answer_wish(&self, done: bool) {
        let mut flush = self.flush.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(wish) = flush.take_if(|wish| wish.looked || !done) else { return };
        drop(flush);
        // Whoever wished reads the answer in the other file.
        let _ = std::fs::remove_file(self.config.home.flush_wish());
        self.say(|live| live.flush = Some(Flushed { wish: wish.text, done }));
    }
}

/// Ends a sleep.
#[derive(Clone, Default)]
pub struct Waker(Arc<(Mutex<bool>, Condvar)>);

impl Waker {
    /// Ends the sleep, or the next one.
    pub fn wake(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Sleeps until somebody wakes, or for so long.
    pub fn sleep(&self, most: Duration) {
        let awake = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slept = self.0.1.wait_timeout_while(awake, most, |awake| !*awake);
        *slept.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
