//! Brings a copy up to date: which days, in which order, and what goes afterwards.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use tokio::sync::Notify;

use super::manifest::{COLUMNS, Day, Manifest};
use super::part::Parts;
use super::{Copy, Error, cells};
use crate::store::{CopiedLog, EventCursor, Store};
use crate::text;

/// Rows asked for at a time.
const ROWS: u32 = 2_000;
/// So long others leave the work alone when its holder died. It is renewed far more often.
const LEASE: Duration = Duration::from_mins(5);
/// Between two runs of [`keep`] when nobody asks for one.
const PAUSE: Duration = Duration::from_hours(1);
/// Days behind which the manifest is written, so that a long first run is not lost by an interruption.
const DAYS_PER_MANIFEST: usize = 10;

/// What a run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Days that were written.
    pub days: u64,
    /// Rows in them.
    pub rows: u64,
    /// Size of their files.
    pub bytes: u64,
    /// Files that are gone.
    pub removed: u64,
}

/// Keeps a copy up to date until the task is dropped: now, once an hour, and when `wanted` says so. Failures are logged
/// and tried again at the next turn.
pub async fn keep(store: &Store, copy: &Copy, closed_after_days: u32, wanted: &Notify) {
    loop {
        match run(store, copy, closed_after_days, &mut |_, _| {}).await {
            Ok(done) if done == Done::default() => {}
            Ok(Done { days, rows, bytes, removed }) => {
                tracing::info!(days, rows, bytes, removed, "wrote the columnar copy");
            }
            Err(Error::Busy) => tracing::debug!("another server writes the columnar copy"),
            Err(error) => tracing::error!("failed to write the columnar copy: {:#}", anyhow::Error::new(error)),
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = wanted.notified() => {}
        }
    }
}

/// One run: writes every day that has changed since it was written, when it is closed or in the copy already. A day is
/// closed when it ended `closed_after_days` days ago; logs come late. `progress` hears of days done and days in all.
///
/// # Errors
/// When database or place fail, or the copy is that of another database. What the copy held stays whole.
pub async fn run(
    store: &Store,
    copy: &Copy,
    closed_after_days: u32,
    progress: &mut (dyn FnMut(usize, usize) + Send),
) -> Result<Done, Error> {
    let run = Run { store, copy, id: text::random_hex()?[..16].to_owned() };
    run.hold().await?;
    let done = run.all(closed_after_days, progress).await;
    // The next one need not wait until this lease ends; if this fails, it does.
    let _ = store.lease(LEASE_NAME, &run.id, &text::now(), "").await;
    done
}

const LEASE_NAME: &str = "columnar copy";

struct Run<'a> {
    store: &'a Store,
    copy: &'a Copy,
    /// Of this run: in the names of its files, and holder of the lease.
    id: String,
}

impl Run<'_> {
    /// Takes or renews the lease.
    async fn hold(&self) -> Result<(), Error> {
        let until = Timestamp::now().saturating_add(LEASE).map_err(std::io::Error::other)?;
        if self.store.lease(LEASE_NAME, &self.id, &text::now(), &text::timestamp(until)).await? {
            Ok(())
        } else {
            Err(Error::Busy)
        }
    }

    async fn all(
        &self,
        closed_after_days: u32,
        progress: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<Done, Error> {
        let database = self.store.identity().await?;
        let mut manifest = match Manifest::read(self.copy).await? {
            Some(manifest) if manifest.database != database => {
                let why = format!("{} holds that of another database: name an empty place", self.copy);
                return Err(Error::Foreign(why));
            }
            // The columns are of another version: every day is written anew.
            Some(manifest) if manifest.columns != COLUMNS => {
                let days =
                    manifest.days.into_iter().map(|day| Day { stamp: "old columns".to_owned(), ..day }).collect();
                Manifest { columns: COLUMNS, days, ..manifest }
            }
            Some(manifest) => manifest,
            None => Manifest::new(database),
        };
        let due = due(self.store.days().await?, &manifest, closed_after_days);
        let mut done = Done::default();
        let mut pending = 0;
        for (number, (day, stamp)) in due.iter().enumerate() {
            progress(number, due.len());
            let written = self.day(day, stamp).await?;
            done.days += 1;
            done.rows += written.files.iter().map(|file| file.rows).sum::<u64>();
            done.bytes += written.files.iter().map(|file| file.bytes).sum::<u64>();
            manifest.put(written);
            pending += 1;
            if pending == DAYS_PER_MANIFEST || number + 1 == due.len() {
                pending = 0;
                self.hold().await?;
                manifest.written = text::now();
                manifest.write(self.copy).await?;
            }
        }
        progress(due.len(), due.len());
        done.removed = self.sweep(&manifest).await?;
        Ok(done)
    }

    /// Writes the files of one day. A change that comes in between has another stamp, and so its turn at the next run.
    async fn day(&self, day: &str, stamp: &str) -> Result<Day, Error> {
        let folder = tempfile::tempdir()?;
        let mut logs = Parts::new(self.copy, "logs", cells::LOG_COLUMNS, day, &self.id, folder.path());
        let mut events = Parts::new(self.copy, "events", cells::EVENT_COLUMNS, day, &self.id, folder.path());
        let mut after = String::new();
        loop {
            self.hold().await?;
            let page = self.store.logs_of_day(day, &after, ROWS).await?;
            let Some(last) = page.last() else { break };
            after.clone_from(&last.log.id);
            for row in page {
                self.events(&row, &mut events).await?;
                logs.push(cells::log_cells(row)).await?;
            }
        }
        let mut files = logs.finish().await?;
        files.extend(events.finish().await?);
        let day = Some(day.to_owned()).filter(|day| !day.is_empty());
        Ok(Day { day, stamp: stamp.to_owned(), files })
    }

    /// Those of one log. No more are asked for than it has, because others follow in the same order.
    async fn events(&self, row: &CopiedLog, events: &mut Parts<'_>) -> Result<(), Error> {
        let mut after: EventCursor = (row.log.id.clone(), -1, 0);
        let mut left = u32::try_from(row.events).unwrap_or(u32::MAX);
        while left > 0 {
            let page = self.store.event_rows(&after, left.min(ROWS)).await?;
            let page: Vec<_> = page.into_iter().take_while(|event| event.log == row.log.id).collect();
            let Some(last) = page.last() else { break };
            after = (last.log.clone(), last.record_offset, last.ordinal);
            left = left.saturating_sub(page.len() as u32);
            for event in page {
                let cells = cells::event_cells(event).map_err(|error| sqlx::Error::Decode(error.into()))?;
                events.push(cells).await?;
            }
        }
        Ok(())
    }

    /// Removes what the manifest does not name: earlier files of a day, and what an interrupted run left.
    async fn sweep(&self, manifest: &Manifest) -> Result<u64, Error> {
        self.hold().await?;
        let named: BTreeSet<_> = manifest.files().map(|file| file.path.as_str()).collect();
        let mut removed = 0;
        for table in ["logs", "events"] {
            for name in self.copy.names(table).await? {
                if !named.contains(name.as_str()) {
                    self.copy.remove(&name).await?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}

/// The days to write, of all: those that changed since they were written, and closed ones that never were.
pub(super) fn due(
    mut days: Vec<(String, String)>,
    manifest: &Manifest,
    closed_after_days: u32,
) -> Vec<(String, String)> {
    let today = jiff::tz::Offset::UTC.to_datetime(Timestamp::now()).date();
    days.retain(|(day, stamp)| match manifest.stamp(day) {
        Some(written) => written != stamp,
        None => is_closed(day, today, closed_after_days),
    });
    days
}

/// Logs without a date belong to no day that could still go on, and a day far ahead comes from a clock that is wrong.
fn is_closed(day: &str, today: Date, closed_after_days: u32) -> bool {
    let Ok(day) = day.parse::<Date>() else { return true };
    let last = today.saturating_sub(i64::from(closed_after_days).days());
    day < last || day > today.saturating_add(2.days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_closes_when_it_ended_long_enough_ago() {
        let today = Date::constant(2026, 9, 14);
        for (day, closed) in [
            ("2026-09-11", true),
            ("2026-09-12", false),
            ("2026-09-14", false),
            ("2026-09-16", false),
            ("2026-09-17", true),
            ("", true),
        ] {
            assert_eq!(is_closed(day, today, 2), closed, "{day}");
        }
        assert!(is_closed("2026-09-13", today, 0) && !is_closed("2026-09-14", today, 0));
    }
}
