//! Uploads to committed rows, many at a time: a commit waits for the disk, and whoever waits for the same disk can share it.
//!
//! Uploads queue up. One task at a time takes all that wait, applies each within its own savepoint of one transaction, so
//! that one that fails is answered alone, commits, and only then answers. Machines come in one order, so that servers that
//! share a database do not wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::{io, mem};

use tokio::sync::{Mutex as AsyncMutex, oneshot};
use wire::Segment;

use super::dead_letters::{self, DeadLetter, OF_A_MACHINE};
use super::ingest::{log_id, put};
use super::pieces::Piece;
use super::{Store, Write, corrupt, losses};
use crate::telemetry;
use crate::told::Told;

/// Uploads in one transaction, and what they may hold as plain JSON: others want to write, too.
const GROUP: usize = 256;
const GROUP_BYTES: i64 = 64 << 20;
/// How often a transaction is tried that others have got in the way of.
const TRIES: u32 = 4;

/// What one batch brings, ready to be stored.
#[derive(Clone, PartialEq, Debug)]
pub struct Upload {
    machine: String,
    received: String,
    pieces: Vec<Piece>,
    told: Told,
    dead_letters: Vec<DeadLetter>,
}

/// Pieces that were left out, by their place in the batch, with the reason.
type LeftOut = Vec<(u64, String)>;

/// Uploads that wait.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<VecDeque<Waiting>>,
    /// Held by the task that commits.
    lead: AsyncMutex<()>,
}

#[derive(Debug)]
struct Waiting {
    upload: Upload,
    answer: oneshot::Sender<sqlx::Result<LeftOut>>,
}

impl Upload {
    /// Packs the segments of one machine, each with its place in the batch; `received` is RFC 3339. The caller has checked
    /// them (`decode.rs`). Slow for a large batch, so not for an async thread.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn pack(machine: &str, received: &str, segments: Vec<(u64, Segment)>, told: Told) -> io::Result<Self> {
        let pieces = segments.into_iter().map(|(place, segment)| Piece::new(place, segment));
        Ok(Self {
            machine: machine.to_owned(),
            received: received.to_owned(),
            pieces: pieces.collect::<io::Result<_>>()?,
            told,
            dead_letters: Vec::new(),
        })
    }

    /// The same with segments that are refused already.
    #[must_use]
    pub fn with_dead_letters(self, dead_letters: Vec<DeadLetter>) -> Self {
        Self { dead_letters, ..self }
    }

    /// What it holds as plain JSON.
    pub fn plain_bytes(&self) -> i64 {
        self.pieces.iter().map(|piece| piece.body.plain_bytes).sum()
    }

    /// How many observations it has.
    pub fn events(&self) -> i64 {
        self.pieces.iter().map(|piece| piece.body.observations).sum()
    }

    /// The logs that it is about, each once.
    pub fn log_ids(&self) -> Vec<String> {
        let logs: BTreeSet<_> = self.pieces.iter().map(|piece| log_id(&self.machine, &piece.segment.log)).collect();
        logs.into_iter().collect()
    }

    /// How many segments it has.
    pub const fn segments(&self) -> usize {
        self.pieces.len()
    }
}

impl Store {
    /// Commits an upload; when this returns, it is safe, but for the segments that are answered with a reason. An upload that
    /// is no longer waited for is committed all the same.
    ///
    /// # Errors
    /// When the database fails; nothing of the upload is stored then.
    pub async fn ingest(&self, upload: Upload) -> sqlx::Result<Vec<(u64, String)>> {
        if upload.pieces.is_empty() && upload.told.is_empty() && upload.dead_letters.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, answered) = oneshot::channel();
        self.queue.push(Waiting { upload, answer });
        // As many tasks as uploads: the one that comes first does the work of all, and the others find nothing to do.
        let store = self.clone();
        tokio::spawn(async move { store.commit_waiting().await });
        answered.await.map_err(|_| sqlx::Error::WorkerCrashed)?
    }

    /// Commits what waits, as far as one transaction takes it.
    async fn commit_waiting(&self) {
        let _lead = self.queue.lead.lock().await;
        if self.queue.is_empty() {
            return;
        }
        let write = match self.write().await {
            Ok(write) => write,
            Err(error) => return self.queue.take().refuse(error),
        };
        // Only now: while others wrote, more may have come.
        let group = self.queue.take();
        metrics::histogram!(telemetry::GROUP_SIZE).record(group.0.len() as f64);
        let uploads: Vec<_> = group.0.iter().map(|waiting| &waiting.upload).collect();
        match commit(write, &uploads).await {
            Ok(results) => group.answer(results),
            Err(error) => self.commit_each(group, error).await,
        }
    }

    /// The transaction failed as a whole: each upload gets one of its own, so that each is answered for itself.
    async fn commit_each(&self, group: Group, error: sqlx::Error) {
        let mut failed = Some(error).filter(is_away);
        for Waiting { upload, answer } in group.0 {
            let result = match failed.take() {
                // The others need not find out one by one.
                Some(error) => Err(error),
                None => self.commit_one(&upload).await,
            };
            if let Err(error) = &result
                && is_away(error)
            {
                failed = Some(sqlx::Error::PoolTimedOut);
            }
            // Whoever has hung up will send it again.
            let _ = answer.send(result);
        }
    }

    async fn commit_one(&self, upload: &Upload) -> sqlx::Result<LeftOut> {
        let mut tries = 1;
        loop {
            let result = match self.write().await {
                Ok(write) => commit(write, &[upload]).await,
                Err(error) => Err(error),
            };
            match result {
                Ok(mut results) => return results.pop().unwrap_or_else(|| Ok(LeftOut::new())),
                Err(error) if tries < TRIES && is_contended(&error) => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Queue {
    fn push(&self, waiting: Waiting) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(waiting);
    }

    fn is_empty(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// What waits longest, as much as one transaction takes, by machine.
    fn take(&self) -> Group {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut plain_bytes = 0;
        let fit = waiting.iter().take(GROUP).take_while(|waiting| {
            plain_bytes += waiting.upload.plain_bytes();
            plain_bytes <= GROUP_BYTES
        });
        let count = fit.count().max(1).min(waiting.len());
        let mut group: Vec<_> = waiting.drain(..count).collect();
        // Stable: what comes of one machine stays in its order.
        group.sort_by(|one, other| one.upload.machine.cmp(&other.upload.machine));
        Group(group)
    }
}

/// Uploads that were taken together.
struct Group(Vec<Waiting>);

impl Group {
    fn answer(self, results: Vec<sqlx::Result<LeftOut>>) {
        for (waiting, result) in self.0.into_iter().zip(results) {
            // Whoever has hung up will send it again.
            let _ = waiting.answer.send(result);
        }
    }

    fn refuse(self, error: sqlx::Error) {
        let mut error = Some(error);
        for waiting in self.0 {
            let _ = waiting.answer.send(Err(error.take().unwrap_or(sqlx::Error::PoolTimedOut)));
        }
    }
}

/// Applies uploads and commits. An error means that nothing of any of them is stored.
async fn commit(mut write: Write<'_>, uploads: &[&Upload]) -> sqlx::Result<Vec<sqlx::Result<LeftOut>>> {
    let mut results = Vec::with_capacity(uploads.len());
    for upload in uploads {
        results.push(if uploads.len() == 1 {
            // Alone, its failure is that of the transaction.
            Ok(apply(&mut write, upload).await?)
        } else {
            apply_within(&mut write, upload).await?
        });
    }
    tracing::debug!(statements = write.statements, folded = write.folded, uploads = uploads.len(), "stores batches");
    write.commit().await?;
    Ok(results)
}

/// Applies an upload within a savepoint. An outer error is one of the whole transaction.
async fn apply_within(write: &mut Write<'_>, upload: &Upload) -> sqlx::Result<sqlx::Result<LeftOut>> {
    sqlx::query("savepoint upload").execute(write.connection()).await?;
    let mark = (write.pending.mark(), write.costs.mark());
    match apply(write, upload).await {
        Ok(left_out) => {
            sqlx::query("release savepoint upload").execute(write.connection()).await?;
            Ok(Ok(left_out))
        }
        Err(error) if is_contended(&error) || is_away(&error) => Err(error),
        Err(error) => {
            sqlx::query("rollback to savepoint upload").execute(write.connection()).await?;
            write.pending.forget_since(mark.0);
            write.costs.forget_since(mark.1);
            // Some of them know what was rolled back; they are a shortcut only.
            mem::take(&mut write.folds);
            Ok(Err(error))
        }
    }
}

async fn apply(write: &mut Write<'_>, upload: &Upload) -> sqlx::Result<LeftOut> {
    let Upload { machine, received, pieces, told, dead_letters } = upload;
    losses::hear(write.connection(), machine, received, told).await?;
    let left_out = put(write, machine, received, pieces).await?;
    dead_letters::keep(write, machine, received, dead_letters).await?;
    if !left_out.is_empty() {
        let letters = unplaced(machine, pieces, &left_out)?;
        dead_letters::keep(write, machine, received, &letters).await?;
    }
    Ok(left_out)
}

/// Letters of pieces that make sense and found no place.
fn unplaced(machine: &str, pieces: &[Piece], left_out: &LeftOut) -> sqlx::Result<Vec<DeadLetter>> {
    let reasons: BTreeMap<_, _> = left_out.iter().map(|(place, reason)| (*place, reason)).collect();
    let letters = pieces.iter().filter_map(|piece| Some((piece, reasons.get(&piece.place)?))).take(OF_A_MACHINE);
    letters
        .map(|(piece, reason)| {
            let json = serde_json::to_string(&piece.segment).map_err(corrupt)?;
            Ok(DeadLetter::new(machine, piece.place, reason, &json)?)
        })
        .collect()
}

/// Another writer got in the way: the same again may work.
fn is_contended(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    matches!(code.as_deref(), Some("40001" | "40P01"))
}

/// The database is not there for anybody.
const fn is_away(error: &sqlx::Error) -> bool {
    matches!(
        error,
        sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
    )
}

#[cfg(test)]
mod tests;
