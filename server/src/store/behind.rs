//! Files of reports that are stored behind the answer: whoever brought them waits for what is said of them, and not until
//! megabytes are packed and written.
//!
//! The report is committed with everything that was said, its files' bodies still empty. The files wait in memory, within a
//! bound; one after the other is packed and stored. Until then they are read from memory. A server that is killed meanwhile
//! leaves a report that says that its files are missing; one that is asked to end stores them first.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore, watch};

use super::Store;
use crate::reports::File;

/// What may wait: two of the largest uploads. The next one waits with its answer.
const ROOM_KIB: u32 = 128 << 10;
/// Files are packed once and seldom read.
const LEVEL: i32 = 1;
/// Before packing begins: whoever brought a log opens its page next, and packing takes a core from that.
const FIRST: Duration = Duration::from_millis(100);
/// Between tries: a database that is away, or a disk without room, may come back.
const PAUSES_S: [u64; 4] = [1, 5, 30, 120];

/// What waits to be stored.
#[derive(Debug)]
pub struct Behind {
    room: Arc<Semaphore>,
    reports: Mutex<BTreeMap<String, Arc<[File]>>>,
    waiting: watch::Sender<usize>,
    ending: watch::Sender<bool>,
    /// One is packed at a time: it takes a whole core.
    turn: AsyncMutex<()>,
}

/// The files of one report, in memory as long as this lives.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) files: Arc<[File]>,
    id: String,
    behind: Arc<Behind>,
    _room: OwnedSemaphorePermit,
}

/// Where a file of a report is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// In the database.
    Stored,
    /// In the memory of this server, which is about to store it.
    Pending,
    /// Nowhere that this server knows: the one that took it ended too early, or is another one that still has it.
    Missing,
}

/// The bytes of a file, wherever they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// As zstd, with the size before.
    Packed(Vec<u8>, i64),
    /// In memory.
    Plain(Vec<Bytes>),
    /// See [`Storage::Missing`].
    Missing,
}

impl Default for Behind {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(ROOM_KIB as usize)),
            reports: Mutex::default(),
            waiting: watch::Sender::new(0),
            ending: watch::Sender::new(false),
            turn: AsyncMutex::default(),
        }
    }
}

impl Behind {
    /// Takes files that are to be stored, once there is room for them.
    ///
    /// # Errors
    /// Never, as long as the server runs.
    pub(super) async fn hold(self: &Arc<Self>, id: &str, files: Vec<File>) -> sqlx::Result<Held> {
        let bytes: usize = files.iter().map(File::bytes).sum();
        let kib = u32::try_from(bytes >> 10).unwrap_or(u32::MAX).clamp(1, ROOM_KIB);
        let room = self.room.clone().acquire_many_owned(kib).await.map_err(|_| sqlx::Error::WorkerCrashed)?;
        let files: Arc<[File]> = files.into();
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), files.clone());
        self.waiting.send_modify(|waiting| *waiting += 1);
        Ok(Held { files, id: id.to_owned(), behind: self.clone(), _room: room })
    }

    /// The files of a report, when they are in memory. Asked before the database is: they leave the memory when they are
    /// there.
    pub(super) fn files(&self, id: &str) -> Option<Arc<[File]>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Waits until nothing waits any more. What fails from here on is not tried again.
    pub(super) async fn end(&self) {
        self.ending.send_replace(true);
        self.settled().await;
    }

    async fn settled(&self) {
        // The sender is our own.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting == 0).await;
    }

    /// False when there is no time for another try.
    async fn pause(&self, pause: Duration) -> bool {
        let mut ending = self.ending.subscribe();
        tokio::select! {
            _ = ending.wait_for(|ending| *ending) => false,
            () = tokio::time::sleep(pause) => true,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.behind.reports.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        self.behind.waiting.send_modify(|waiting| *waiting = waiting.saturating_sub(1));
    }
}

impl Contents {
    /// The bytes in pieces; nothing when they are missing. Slow for a large file, so not for an async thread.
    ///
    /// # Errors
    /// When what is stored is damaged.
    pub fn read(self) -> io::Result<Option<Vec<Bytes>>> {
        Ok(match self {
            // The size is ours, so it is what comes out.
            Self::Packed(packed, bytes) => {
                Some(vec![zstd::bulk::decompress(&packed, usize::try_from(bytes).unwrap_or(0))?.into()])
            }
            Self::Plain(pieces) => Some(pieces),
            Self::Missing => None,
        })
    }
}

impl Store {
    /// Waits until the files of every report that was brought here are stored, or given up.
    pub async fn files_are_stored(&self) {
        self.behind.settled().await;
    }

    /// Packs and stores the files of a report that is committed, and lets them go.
    pub(super) async fn store_behind(&self, held: Held) {
        self.behind.pause(FIRST).await;
        let _turn = self.behind.turn.lock().await;
        let files = held.files.clone();
        let packed = tokio::task::spawn_blocking(move || files.iter().map(pack).collect::<io::Result<Vec<_>>>()).await;
        let packed = match packed {
            Ok(Ok(packed)) => packed,
            Ok(Err(error)) => return lost(&held.id, &error),
            Err(error) => return lost(&held.id, &error),
        };
        let mut pauses = PAUSES_S.into_iter().map(Duration::from_secs);
        loop {
            match self.fill_report(&held.id, &packed).await {
                Ok(true) => return,
                Ok(false) => return tracing::debug!(report = held.id, "was deleted before its files were stored"),
                Err(error) => match pauses.next() {
                    Some(pause) if self.behind.pause(pause).await => {
                        tracing::warn!(
                            report = held.id,
                            "failed to store a report's files, which is tried again: {error}"
                        );
                    }
                    _ => return lost(&held.id, &error),
                },
            }
        }
    }
}

fn lost(id: &str, error: &dyn std::fmt::Display) {
    tracing::error!(report = id, "failed to store a report's files, which are missing now: bring them again: {error}");
}

fn pack(file: &File) -> io::Result<Vec<u8>> {
    let mut packer = zstd::Encoder::new(Vec::new(), LEVEL)?;
    packer.set_pledged_src_size(Some(file.bytes() as u64))?;
    for piece in &file.pieces {
        packer.write_all(piece)?;
    }
    packer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: usize) -> File {
        let piece = Bytes::from(vec![b'x'; bytes / 2]);
        File { name: "a.log".to_owned(), pieces: vec![piece.clone(), piece] }
    }

    #[test]
    fn what_is_packed_comes_back() {
        let file = file(100_000);
        let packed = pack(&file).expect("memory suffices");
        assert!(packed.len() < 1_000, "{}", packed.len());
        let read = Contents::Packed(packed, 100_000).read().expect("it is ours").expect("it is there");
        assert_eq!(read.concat(), file.pieces.concat());
        assert_eq!(Contents::Missing.read().expect("nothing to read"), None);
        assert!(Contents::Packed(b"no frame".to_vec(), 8).read().is_err());
    }

    #[tokio::test]
    async fn what_waits_is_bounded_and_found_as_long_as_it_waits() {
        let behind = Arc::new(Behind::default());
        let largest = (ROOM_KIB as usize) << 10;
        let held = behind.hold("one", vec![file(largest)]).await.expect("there is room");
        assert_eq!(behind.files("one").map(|files| files[0].bytes()), Some(largest));
        let next = tokio::spawn({
            let behind = behind.clone();
            async move { behind.hold("two", vec![file(2)]).await }
        });
        tokio::task::yield_now().await;
        assert!(!next.is_finished() && behind.files("two").is_none(), "no room");
        drop(held);
        let held = next.await.expect("it does not panic").expect("there is room");
        assert!(behind.files("one").is_none() && behind.files("two").is_some());
        let ended = tokio::spawn({
            let behind = behind.clone();
            async move { behind.end().await }
        });
        tokio::task::yield_now().await;
        assert!(!ended.is_finished());
        drop(held);
        ended.await.expect("nothing waits any more");
        assert!(!behind.pause(Duration::from_hours(1)).await, "it ends");
    }
}
