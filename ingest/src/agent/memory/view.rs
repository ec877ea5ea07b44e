//! What can be seen of the memory while another process may be writing it, or after one that was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Context as _;
use spool::{Map, Queue};

use crate::agent::home::Home;
use crate::agent::memory::record::{Entry, LogState, Record};
use crate::agent::memory::repair::repair;
use crate::agent::memory::{MAP_NAME, SCHEMA, SETTLED, age_s, sum};
use crate::agent::tally::Ledger;

/// A look between two steps of a running agent shows a log half; the next look shows it whole.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What is there.
#[derive(Debug, Default)]
pub struct View {
    /// The logs, as the next start will take them.
    pub logs: BTreeMap<String, LogState>,
    /// The sums; `queued` was counted in the queue.
    pub ledger: Ledger,
    /// Bytes that wait.
    pub queue_bytes: u64,
    /// Age of the oldest entry, in seconds.
    pub oldest_age_s: u64,
    /// The logs of the entries that wait.
    pub waiting: BTreeSet<String>,
    /// The oldest entries that wait, as many as were asked for.
    pub entries: Vec<Entry>,
    /// Logs that the next start reads again from their first byte, because entries of them are gone.
    pub torn: u64,
}

impl View {
    /// Looks; the entries that are kept have this many bytes at most, but there is one at least if any waits and bytes are
    /// asked for.
    ///
    /// # Errors
    /// When the files cannot be read, or a newer version wrote them.
    pub fn of(home: &Home, entry_bytes: usize) -> anyhow::Result<Self> {
        let mut view = Self::once(home, entry_bytes)?;
        for _ in 1..LOOKS {
            if view.torn == 0 {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
            view = Self::once(home, entry_bytes)?;
        }
        Ok(view)
    }

    fn once(home: &Home, entry_bytes: usize) -> anyhow::Result<Self> {
        let context = || format!("failed to read the agent's memory in {}", home.path().display());
        if !home.path().is_dir() {
            return Ok(Self::default());
        }
        let mut map: BTreeMap<String, Record> = Map::read_only(home.path(), MAP_NAME, SCHEMA).with_context(context)?;
        let settled = match map.remove(SETTLED) {
            Some(Record::Settled(through)) => through,
            _ => 0,
        };
        let mut view = Self::default();
        let queue = home.queue().is_dir().then(|| Queue::read_only(&home.queue())).transpose().with_context(context)?;
        let entries = queue.into_iter().flatten().inspect(|queued| {
            if let Ok(queued) = queued {
                view.see(queued, settled, &map, entry_bytes);
            }
        });
        let records = map.iter().map(|(log, record)| (log.as_str(), record));
        let found = repair(records, settled, false, entries).with_context(context)?;
        map.extend(found.moved.into_iter().map(|(log, state)| (log, Record::Log(Box::new(state)))));
        for log in &found.torn {
            map.remove(log);
        }
        let logs = map.into_iter().filter_map(|(log, record)| Some((log, record.state()?.clone())));
        view.logs = logs.collect();
        view.torn = found.torn.len() as u64;
        view.ledger = sum(view.logs.values());
        view.ledger.queued = found.queued.values().sum::<i64>().try_into().unwrap_or_default();
        view.waiting = found.queued.into_keys().collect();
        Ok(view)
    }

    /// Takes note of an entry of the queue.
    fn see(&mut self, queued: &spool::Entry, settled: u64, map: &BTreeMap<String, Record>, entry_bytes: usize) {
        if queued.sequence <= settled {
            return;
        }
        self.queue_bytes += queued.bytes.len() as u64;
        self.oldest_age_s = self.oldest_age_s.max(age_s(Some(queued.pushed)));
        if self.queue_bytes <= entry_bytes as u64 || (self.entries.is_empty() && entry_bytes > 0) {
            let entry = serde_json::from_slice::<Entry>(&queued.bytes);
            let entry =
                entry.ok().filter(|entry| queued.sequence > map.get(&entry.log).map_or(0, Record::void_through));
            self.entries.extend(entry);
        }
    }
}
