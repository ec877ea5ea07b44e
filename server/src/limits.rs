//! How often somebody may ask. Ordinary work never comes near: an agent sends a batch a second, and catches up at the pace of the
//! disk. The limits are for a program that runs wild, and for somebody who tries tokens.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::auth::Caller;
use crate::error::Error;
use crate::telemetry;

/// Callers that are told apart at a time, and peers that are shut out; what there is beyond shares one bucket. About 10 MB.
const KEYS: usize = 50_000;

/// How often buckets that are full again are thrown away, in a crowd.
const TIDY: Duration = Duration::from_secs(10);

/// A bucket that is full at first and is refilled evenly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// So many at once.
    pub burst: NonZeroU32,
    /// One more after so long.
    pub refill: Duration,
}

impl Rate {
    /// So many a second, and half a minute's worth at once; `None` for 0, which is no limit.
    pub fn per_second(count: u32) -> Option<Self> {
        Self::new(count.saturating_mul(30), 1_000_000_000 / u64::from(count.max(1)))
    }

    /// So many a minute, all of them at once if need be; `None` for 0, which is no limit.
    pub fn per_minute(count: u32) -> Option<Self> {
        Self::new(count, 60_000_000_000 / u64::from(count.max(1)))
    }

    fn new(burst: u32, refill_ns: u64) -> Option<Self> {
        Some(Self { burst: NonZeroU32::new(burst)?, refill: Duration::from_nanos(refill_ns.max(1)) })
    }

    fn quota(self) -> Quota {
        let quota = Quota::with_period(self.refill).expect("`new` makes no period of zero");
        quota.allow_burst(self.burst)
    }
}

/// What may be asked how often; `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Uploads and enrolments by token. A token that no machine owns has a bucket for each machine that it uploads for.
    pub uploads: Option<Rate>,
    /// Everything else, by token.
    pub reads: Option<Rate>,
    /// Wrong tokens, by peer.
    pub failures: Option<Rate>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { uploads: Rate::per_second(100), reads: Rate::per_second(100), failures: Rate::per_minute(120) }
    }
}

/// The buckets of a running server.
pub struct Limits {
    uploads: Option<Buckets>,
    reads: Option<Buckets>,
    failures: Option<Buckets>,
    /// Peers that have used up their wrong tokens, until then.
    shut_out: Mutex<HashMap<IpAddr, Instant>>,
    /// Tokens that were good a moment ago, by a hash with a key of this process: whoever shares an address with somebody who
    /// tries tokens is still let in.
    good: Mutex<HashSet<u64>>,
    hasher: RandomState,
    notes: DefaultDirectRateLimiter,
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").finish_non_exhaustive()
    }
}

impl Limits {
    /// Full buckets.
    pub fn new(rates: Rates) -> Self {
        Self {
            uploads: rates.uploads.map(Buckets::new),
            reads: rates.reads.map(Buckets::new),
            failures: rates.failures.map(Buckets::new),
            shut_out: Mutex::default(),
            good: Mutex::default(),
            hasher: RandomState::new(),
            notes: RateLimiter::direct(Quota::per_minute(NonZeroU32::MIN)),
        }
    }

    /// Takes an upload of a token from its bucket, before the body is read. One that no machine owns is counted by
    /// [`Self::upload_for`].
    ///
    /// # Errors
    /// `Error::TooOften`.
    pub fn upload(&self, caller: &Caller) -> Result<(), Error> {
        if caller.machine.is_none() { Ok(()) } else { take(self.uploads.as_ref(), &caller.token, "uploads") }
    }

    /// Takes an upload from the bucket of the machine that it is for, when the token is no machine's own: such a token may serve
    /// a whole fleet.
    ///
    /// # Errors
    /// `Error::TooOften`.
    pub fn upload_for(&self, caller: &Caller, machine: &str) -> Result<(), Error> {
        if caller.machine.is_some() {
            return Ok(());
        }
        take(self.uploads.as_ref(), &format!("{} {machine}", caller.token), "uploads")
    }

    /// Takes an enrolment from the bucket of its token.
    ///
    /// # Errors
    /// `Error::TooOften`.
    pub fn enroll(&self, caller: &Caller) -> Result<(), Error> {
        take(self.uploads.as_ref(), &caller.token, "uploads")
    }

    /// Takes a question from the bucket of its token.
    ///
    /// # Errors
    /// `Error::TooOften`.
    pub fn read(&self, caller: &Caller) -> Result<(), Error> {
        take(self.reads.as_ref(), &caller.token, "reads")
    }

    /// Whether a peer may try this secret. One that was good a moment ago may always be tried.
    ///
    /// # Errors
    /// `Error::TooOften`.
    pub fn may_try(&self, peer: Option<IpAddr>, secret: &str) -> Result<(), Error> {
        let Some(peer) = peer.map(network) else { return Ok(()) };
        let Some(until) = lock(&self.shut_out).get(&peer).copied() else { return Ok(()) };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || lock(&self.good).contains(&self.hasher.hash_one(secret)) {
            return Ok(());
        }
        Err(too_often(left, "failures"))
    }

    /// A secret was that of a token.
    pub fn was_right(&self, secret: &str) {
        let mut good = lock(&self.good);
        if good.len() >= KEYS {
            good.clear();
        }
        good.insert(self.hasher.hash_one(secret));
    }

    /// A secret was none. A peer whose bucket is empty by that is shut out until there is something in it again.
    pub fn was_wrong(&self, peer: Option<IpAddr>, secret: &str) {
        metrics::counter!(telemetry::AUTH_FAILURES).increment(1);
        lock(&self.good).remove(&self.hasher.hash_one(secret));
        let (Some(peer), Some(failures)) = (peer.map(network), &self.failures) else { return };
        let Err(wait) = failures.take(&peer.to_string()) else { return };
        let now = Instant::now();
        let mut shut_out = lock(&self.shut_out);
        if shut_out.len() >= KEYS {
            // Whoever has so many addresses is not stopped by their number.
            shut_out.clear();
        }
        shut_out.insert(peer, now + wait);
    }

    /// Whether a failed attempt to sign in gets a row in the audit log: one a minute, so that a flood does not fill the disk.
    pub fn may_note(&self) -> bool {
        self.notes.check().is_ok()
    }
}

/// Buckets by key. What is full again is as good as forgotten.
struct Buckets {
    limiter: DefaultKeyedRateLimiter<String>,
    clock: DefaultClock,
    /// It looks at every bucket, so it is not done for everyone of a crowd.
    tidied: Mutex<Option<Instant>>,
}

impl Buckets {
    fn new(rate: Rate) -> Self {
        Self { limiter: RateLimiter::keyed(rate.quota()), clock: DefaultClock::default(), tidied: Mutex::default() }
    }

    /// Takes one; else answers how long until there is one.
    fn take(&self, key: &str) -> Result<(), Duration> {
        let key = if self.is_crowded() { "all others" } else { key };
        self.limiter.check_key(&key.to_owned()).map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }

    /// There are so many keys that one more gets no bucket of its own.
    fn is_crowded(&self) -> bool {
        if self.limiter.len() < KEYS {
            return false;
        }
        let mut tidied = lock(&self.tidied);
        if tidied.is_none_or(|last| last.elapsed() >= TIDY) {
            *tidied = Some(Instant::now());
            self.limiter.retain_recent();
        }
        self.limiter.len() >= KEYS
    }
}

fn take(buckets: Option<&Buckets>, key: &str, what: &'static str) -> Result<(), Error> {
    buckets.map_or(Ok(()), |buckets| buckets.take(key).map_err(|wait| too_often(wait, what)))
}

fn too_often(wait: Duration, what: &'static str) -> Error {
    metrics::counter!(telemetry::RATE_LIMITED, "limit" => what).increment(1);
    // Rounded up: whoever waits so long is let in.
    Error::TooOften(wait.as_secs() + 1)
}

/// Somebody who has an IPv6 address has 2^64 of them.
fn network(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

/// A lock whose holder panicked guards nothing but counts.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
