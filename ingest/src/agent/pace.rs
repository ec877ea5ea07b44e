//! How fast the agent may work: a share of one processor and a size in memory, both enforced by itself.
//!
//! The agent runs beside the app that is measured. It asks here between pieces of work, and sleeps until its own processor
//! time is back within its share. A short burst is free, so that a few new lines are read at once.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// Processor time that may be used ahead of the share. A new line costs far less.
const BURST: Duration = Duration::from_millis(250);
/// The part of the share that is aimed at. Whoever measures the agent from outside is told more than its own clock says: the
/// system charges it with interrupts of disk and network, a fifth on top while a disk is read.
const AIM: f64 = 0.85;
/// A sleep is not longer than this, so that a stop is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// How often the memory is measured while it is within its limit.
const ASK_MEMORY: Duration = Duration::from_millis(250);

/// The limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Percent of one processor; 0 is no limit.
    pub cpu_percent: u32,
    /// Resident bytes above which reading stops; 0 is no limit.
    pub memory_bytes: u64,
}

/// Watches over the limits.
#[derive(Debug)]
pub struct Pace {
    limits: Limits,
    bucket: Bucket,
    processor: ProcessTime,
    wall: Instant,
    memory_asked: Option<Instant>,
}

impl Pace {
    /// Counts from now.
    pub fn new(limits: Limits) -> Self {
        let bucket = Bucket { percent: limits.cpu_percent, seconds: BURST.as_secs_f64() };
        Self { limits, bucket, processor: ProcessTime::now(), wall: Instant::now(), memory_asked: None }
    }

    /// How long to sleep before more work, and why; `None` when work may go on at once. The sleep is short: ask again
    /// behind it.
    pub fn rest(&mut self) -> Option<(Duration, String)> {
        if let Some(bytes) = self.resident_bytes().filter(|bytes| *bytes > self.limits.memory_bytes) {
            let mib = |bytes: u64| bytes >> 20;
            let why = format!(
                "reading rests: the agent takes {} MiB of memory, more than its {}",
                mib(bytes),
                mib(self.limits.memory_bytes)
            );
            return Some((LONGEST_SLEEP, why));
        }
        let (processor, wall) = (ProcessTime::now(), Instant::now());
        let owed = self.bucket.pour(processor.duration_since(self.processor), wall.duration_since(self.wall));
        (self.processor, self.wall) = (processor, wall);
        (!owed.is_zero()).then(|| {
            let why = format!("reading is slowed down to {} % of one processor", self.limits.cpu_percent);
            (owed.min(LONGEST_SLEEP), why)
        })
    }

    /// Asked now and then only: memory grows by what is read, which is bounded.
    fn resident_bytes(&mut self) -> Option<u64> {
        if self.limits.memory_bytes == 0 || self.memory_asked.is_some_and(|asked| asked.elapsed() < ASK_MEMORY) {
            return None;
        }
        let bytes = memory_stats::memory_stats().map(|stats| stats.physical_mem as u64);
        // While there is too much of it, at every turn.
        self.memory_asked = bytes.filter(|bytes| *bytes <= self.limits.memory_bytes).map(|_| Instant::now());
        bytes
    }
}

/// Processor time that may still be used: it fills at the rate of the share up to [`BURST`], and use empties it.
#[derive(Debug)]
struct Bucket {
    percent: u32,
    seconds: f64,
}

impl Bucket {
    /// Takes what was used while wall time passed; tells the wall time until the bucket is no longer overdrawn.
    fn pour(&mut self, used: Duration, passed: Duration) -> Duration {
        if self.percent == 0 {
            return Duration::ZERO;
        }
        let share = f64::from(self.percent) / 100.0 * AIM;
        self.seconds = (self.seconds + passed.as_secs_f64() * share).min(BURST.as_secs_f64()) - used.as_secs_f64();
        Duration::from_secs_f64((-self.seconds / share).clamp(0.0, 3600.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_long_run_the_share_is_kept_whatever_the_burst() {
        let ms = Duration::from_millis;
        let mut bucket = Bucket { percent: 5, seconds: BURST.as_secs_f64() };
        assert_eq!(bucket.pour(ms(200), ms(0)), ms(0));
        let (mut used, mut passed) = (ms(0), ms(0));
        for _ in 0..1000 {
            // A piece of work of 100 ms, whenever it is allowed.
            let owed = bucket.pour(ms(100), ms(100));
            bucket.pour(ms(0), owed);
            used += ms(100);
            passed += ms(100) + owed;
        }
        let share = used.as_secs_f64() / passed.as_secs_f64();
        assert!((0.0424..0.0427).contains(&share), "{share}");
        assert_eq!(Bucket { percent: 0, seconds: 0.0 }.pour(ms(90_000), ms(0)), ms(0));
    }

    #[test]
    fn a_long_rest_saves_up_one_burst_only() {
        let mut bucket = Bucket { percent: 5, seconds: 0.0 };
        bucket.pour(Duration::ZERO, Duration::from_hours(10));
        assert!(bucket.seconds <= BURST.as_secs_f64());
    }

    #[test]
    fn above_its_memory_the_agent_rests_and_says_why() {
        let mut pace = Pace::new(Limits { cpu_percent: 0, memory_bytes: 1 });
        assert!(pace.rest().is_some_and(|(_, why)| why.contains("memory")));
        assert_eq!(Pace::new(Limits { cpu_percent: 0, memory_bytes: 0 }).rest(), None);
    }
}
