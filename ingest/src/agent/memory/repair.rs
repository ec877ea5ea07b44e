//! What a crash between queue and map has left, and what it means: an entry whose log has not moved moves it, and a log that
//! misses an entry is to be read again. One answer for the agent that starts and for those who only look.

use std::collections::BTreeMap;
use std::io;

use follow::Position;
use serde::Deserialize;

use crate::agent::memory::record::{Before, LogState, Record};

/// What has to change in the map so that it agrees with the queue.
#[derive(Debug, Default, PartialEq)]
pub struct Repair {
    /// Logs that have come further than the map knows.
    pub moved: BTreeMap<String, LogState>,
    /// Logs that miss an entry.
    pub torn: Vec<String>,
    /// Events of the other logs that wait.
    pub queued: BTreeMap<String, i64>,
}

/// An entry without its segment.
#[derive(Deserialize)]
struct Head {
    log: String,
    before: Before,
    position: Position,
}

/// The entries of one log, in their order.
struct Chain {
    end: u64,
    events: i64,
    whole: bool,
}

/// Compares the map with the entries behind `settled`, oldest first. `damaged` says that entries are missing somewhere: then a
/// log that only its entries know is not known to be whole.
///
/// # Errors
/// When the entries cannot be read.
pub fn repair<'a>(
    map: impl Iterator<Item = (&'a str, &'a Record)>,
    settled: u64,
    damaged: bool,
    entries: impl Iterator<Item = io::Result<spool::Entry>>,
) -> io::Result<Repair> {
    let map: BTreeMap<&str, &Record> = map.collect();
    let mut repair = Repair::default();
    let mut chains: BTreeMap<String, Chain> = BTreeMap::new();
    for entry in entries {
        let entry = entry?;
        let Ok(Head { log, before, position }) = serde_json::from_slice(&entry.bytes) else { continue };
        let record = map.get(log.as_str()).copied();
        let void_through = record.map_or(0, Record::void_through);
        if entry.sequence <= settled.max(void_through) {
            continue;
        }
        let known = repair.moved.get(&log).or_else(|| record.and_then(Record::state));
        // Without a memory of it, what lies before the first entry was settled some time.
        let state = known.cloned().unwrap_or_else(|| LogState {
            settled_end: before.end,
            acknowledged: before.events,
            void_through,
            ..LogState::default()
        });
        let starts_at = state.settled_end;
        let chain = chains.entry(log.clone()).or_insert(Chain {
            end: starts_at,
            events: 0,
            whole: !(damaged && known.is_none()),
        });
        chain.whole &= chain.end == before.end;
        chain.end = position.end;
        chain.events += before.events_until(&position);
        if known.is_none_or(|known| known.position.end < position.end) {
            repair.moved.insert(log, LogState { position, ..state });
        }
    }
    let known = map.iter().filter_map(|(log, record)| Some((*log, record.state()?)));
    let known = known.filter(|(log, _)| !repair.moved.contains_key(*log));
    let all = known.chain(repair.moved.iter().map(|(log, state)| (log.as_str(), state)));
    let torn = all.filter(|(log, state)| match chains.get(*log) {
        None => !state.is_settled(),
        Some(chain) => !chain.whole || chain.end != state.position.end || chain.events != state.waiting().cast_signed(),
    });
    repair.torn = torn.map(|(log, _)| log.to_owned()).collect();
    repair.queued = chains.into_iter().map(|(log, chain)| (log, chain.events)).collect();
    for log in &repair.torn {
        repair.queued.remove(log);
    }
    Ok(repair)
}
