//! How entries leave the queue: offered to the sender, and let go of when it is safe what became of them.

use crate::agent::memory::{Entry, LogState, Memory, Outcome, Record, SETTLED};
use crate::agent::tally::Lost;

impl Memory {
    /// The oldest entries that are safe, with their numbers: this many bytes and entries at most, but one if there is any.
    /// Lets go of those that no version of this program can read, and of those that count for nothing.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn oldest(&mut self, most_bytes: usize, most: usize) -> std::io::Result<Vec<(u64, Entry)>> {
        loop {
            if self.owing && self.let_go().is_err() {
                // What the queue has let go of is not sent again; more sending may be what makes room for the map.
                self.queue.acknowledge(self.settled())?;
            }
            let (mut entries, mut void) = (Vec::new(), None);
            for (number, bytes) in self.queue.peek(most_bytes, most)? {
                match self.read(number, &bytes) {
                    Some(entry) => entries.push((number, entry)),
                    None if entries.is_empty() => void = Some(number),
                    None => break,
                }
            }
            let Some(void) = void else { return Ok(entries) };
            self.settled_through(void)?;
            if !entries.is_empty() {
                return Ok(entries);
            }
        }
    }

    /// An entry that counts. Of one that another version wrote the log is read again at the next start.
    fn read(&self, number: u64, bytes: &[u8]) -> Option<Entry> {
        let entry: Entry = serde_json::from_slice(bytes).ok()?;
        (number > self.map.get(&entry.log).map_or(0, Record::void_through)).then_some(entry)
    }

    /// Notes what became of the oldest entries, and lets go of them.
    ///
    /// # Errors
    /// When the disk refuses. It is noted all the same, and made safe when it is asked for the oldest entries next.
    pub fn done(&mut self, entries: &[(u64, Entry, Outcome)]) -> std::io::Result<()> {
        let settled = self.settled();
        // Others may have been dropped from a full queue while these were on their way; they are settled already.
        for (_, entry, outcome) in entries.iter().filter(|(number, ..)| *number > settled) {
            let Some(state) = self.log(&entry.log) else { continue };
            let mut state = state.clone();
            let events = entry.events();
            match outcome {
                Outcome::Acknowledged => state.acknowledged = state.acknowledged.saturating_add_signed(events),
                Outcome::Lost(reason) => {
                    let sum = state.lost.entry((*reason).to_owned()).or_default();
                    sum.events = sum.events.saturating_add_signed(events);
                }
            }
            state.settled_end = entry.position.end;
            self.set(&entry.log, state);
        }
        match entries.iter().map(|(number, ..)| *number).max() {
            Some(through) if through > settled => self.settled_through(through),
            _ => Ok(()),
        }
    }

    fn settled_through(&mut self, through: u64) -> std::io::Result<()> {
        self.map.set(SETTLED, Record::Settled(through));
        self.owing = true;
        self.let_go()
    }

    /// Makes safe what became of entries, and then lets go of them.
    fn let_go(&mut self) -> std::io::Result<()> {
        let through = self.settled();
        // The queue first: the map may already say that a log was read up to an entry that is not safe yet.
        if self.settle().is_err() {
            // A full disk gets room from the queue. A crash before the next line has the logs read again, as damage would.
            self.queue.acknowledge(through)?;
            self.settle()?;
        }
        self.queue.acknowledge(through)?;
        self.owing = false;
        Ok(())
    }

    /// Makes room for this many bytes, or some at least.
    pub(super) fn drop_oldest(&mut self, room: usize) -> std::io::Result<()> {
        let oldest = self.oldest(room, usize::MAX)?;
        let dropped = oldest.into_iter().map(|(number, entry)| (number, entry, Outcome::Lost("queue_full")));
        self.done(&dropped.collect::<Vec<_>>())
    }

    /// Empties the queue; what was in it counts as lost for the reason `purged`.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn purge(&mut self) -> std::io::Result<()> {
        let states: Vec<(String, LogState)> = self.logs().map(|(log, state)| (log.to_owned(), state.clone())).collect();
        for (log, mut state) in states.into_iter().filter(|(_, state)| !state.is_settled()) {
            state.lose("purged", Lost { bytes: 0, events: state.waiting() });
            state.settled_end = state.position.end;
            self.set(&log, state);
        }
        // Or a crash before the next line would bring them back.
        self.map.set(SETTLED, Record::Settled(self.queue.next() - 1));
        self.map.commit()?;
        self.queue.clear()
    }
}
