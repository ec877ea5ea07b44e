//! The database: which one, how it is opened, and who may write. One function per question in the modules below.
//!
//! One set of SQL serves SQLite and PostgreSQL: `$1` placeholders, `bigint`, `text` and `bytea` only, sums cast to `bigint`
//! (PostgreSQL widens them to a type that the common driver does not know).

mod agents;
mod alerts;
mod audit;
mod behind;
mod bodies;
mod boots;
mod browse;
mod changes;
mod checkup;
mod cohorts;
mod columns;
mod commits;
mod copied;
mod cost_questions;
mod costs;
mod days;
mod dead_letters;
mod drift;
mod events;
mod filter;
mod fleet;
mod fold;
mod frame;
mod frames;
mod holdings;
mod ingest;
mod last_good;
mod learned;
mod logs;
mod losses;
mod machines;
mod moment;
mod pieces;
mod plain;
mod plan;
mod prune;
mod purge;
mod ranges;
mod readiness;
mod refill;
mod rejudge;
mod report_list;
mod report_states;
mod reports;
mod rollups;
mod room;
mod schema;
mod sessions;
mod snapshot;
mod sqlite;
mod stored;
mod summary;
mod sums;
mod tokens;
mod verdict;
mod verify;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::any::AnyPoolOptions;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Any, AnyConnection, AnyPool, Connection, Row, Transaction};
use tokio::sync::{Mutex, MutexGuard};

use crate::telemetry;
pub use agents::Beat;
pub use alerts::{AlertChange, AlertKind, AlertMessage, AlertRow};
pub use behind::{Contents, Storage};
pub use boots::{Boot, Learned, LogTime, Setting, local};
pub use browse::{Browsed, Wanted};
pub use changes::Marks;
pub use checkup::Checkup;
pub use columns::NO_START_S;
pub use commits::Upload;
pub use copied::CopiedLog;
pub use cost_questions::{Bus, BusGroup, CostPoint, MachineCosts, Numbers, SituationCosts, WaysSaved};
pub use dead_letters::{DeadLetter, DeadLetterCursor, DeadLetterRow, OF_A_MACHINE};
pub use drift::{UnknownWord, WordKind};
pub use events::{EventCursor, EventRow, Evidence};
pub use filter::{Dimension, Filter, Property};
pub use fleet::Fleet;
pub use frames::DEFAULT_FRAME_MIB;
pub use holdings::Holdings;
pub use ingest::log_id;
pub use learned::{StoredLever, content};
pub use logs::{Cursor, LogRow, StoredLog};
pub use losses::{LossCursor, LossRow, LossTotal, Losses};
pub use machines::{CohortName, Machine, MachineRow};
pub use prune::{Part, Pruned};
pub use refill::Refill;
pub use rejudge::{Former, Rejudged};
pub use report_list::ReportCursor;
pub use report_states::Note;
pub use reports::{ReportFile, ReportLog, ReportRow, SameLog};
pub use schema::{Column, Kind, Schema, Table};
pub use sessions::SESSION_LIFE;
pub use snapshot::{Cell, Snapshot};
pub use summary::{Counting, Group, Summary, Totals};
pub use tokens::{NewToken, TokenRow, Wish};
pub use verify::{Difference, Verified};

/// The schema, compiled in.
static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// Which database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A SQLite file, made when missing.
    File(PathBuf),
    /// `postgres://…`.
    Postgres(String),
}

/// What is at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing, or a database without any table.
    Nothing,
    /// A database of this program.
    Ours,
    /// A SQLite file that holds the tables of another program.
    Foreign,
}

/// An open database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    place: Place,
    pool: AnyPool,
    /// SQLite has one writer; queueing here is fair, polling the file lock is not. `None` for PostgreSQL.
    turn: Option<Arc<Mutex<()>>>,
    /// Uploads that wait to be committed together.
    queue: Arc<commits::Queue>,
    /// What is known of logs that may grow.
    folds: Arc<fold::Folds>,
    /// The logs in columns.
    frames: Arc<frames::Frames>,
    /// Files of reports that are stored behind the answer.
    behind: Arc<behind::Behind>,
}

/// A transaction that may write. Dropped without [`Write::commit`], it leaves no trace.
struct Write<'a> {
    transaction: Transaction<'static, Any>,
    /// How often the database was asked to do something.
    statements: u64,
    /// What the roll-ups do not say yet.
    pending: rollups::Pending,
    /// What `cost_days` does not say yet.
    costs: costs::Pending,
    /// Observations that were folded.
    folded: i64,
    /// Folds that hold once this is committed, by log.
    folds: HashMap<String, fold::Held>,
    known: &'a fold::Folds,
    /// Local days of which something changes, for the columnar copy; empty for logs without a date.
    days: BTreeSet<String>,
    /// Counts of logs change, whether days do or not.
    recounted: bool,
    /// Machines of whose logs any column changes.
    touched: BTreeSet<String>,
    /// A machine goes.
    has_deleted: bool,
    _turn: Option<MutexGuard<'a, ()>>,
}

impl Place {
    /// Which database it is, in a word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

/// As messages name it: a URL without the password that may stand in it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => {
                let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                let shown = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                write!(f, "the PostgreSQL database {}", shown.split('?').next().unwrap_or_default())
            }
        }
    }
}

impl Store {
    /// What is at a place, without changing anything there.
    ///
    /// # Errors
    /// When the file cannot be opened or the server cannot be reached.
    pub async fn look(place: &Place) -> sqlx::Result<Found> {
        sqlx::any::install_default_drivers();
        let (mut connection, all, ours) = match place {
            Place::File(path) => {
                match std::fs::metadata(path) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
                    Ok(file) if file.is_file() && file.len() == 0 => return Ok(Found::Nothing),
                    _ => {}
                }
                let all = "select count(*) from sqlite_master";
                let ours = "select count(*) from sqlite_master where name in ('_sqlx_migrations', 'log_ranges')";
                (AnyConnection::connect(&sqlite::url(path, "rw")?).await?, all, ours)
            }
            // A database of PostgreSQL may well be shared, so other tables say nothing.
            Place::Postgres(url) => {
                let ours = "select count(to_regclass(name))
                            from (values ('_sqlx_migrations'), ('log_ranges')) as known (name)";
                (AnyConnection::connect(url).await?, "select cast(0 as bigint)", ours)
            }
        };
        let all: i64 = sqlx::query(all).fetch_one(&mut connection).await?.try_get(0)?;
        let ours: i64 = sqlx::query(ours).fetch_one(&mut connection).await?.try_get(0)?;
        connection.close().await?;
        Ok(match (ours, all) {
            (2, _) => Found::Ours,
            (_, 0) => Found::Nothing,
            _ => Found::Foreign,
        })
    }

    /// Opens the database, which is made when it is missing, without touching its schema.
    ///
    /// # Errors
    /// When the file cannot be opened or the server cannot be reached.
    pub async fn open(place: &Place) -> sqlx::Result<Self> {
        sqlx::any::install_default_drivers();
        // A transaction that failed may have been ended by the database itself (SQLite does that when the disk is full), so
        // that the driver's account of it is wrong for good. Only a connection at rest is used again.
        let options = AnyPoolOptions::new()
            .acquire_timeout(Duration::from_secs(10))
            .after_release(|connection, _| Box::pin(is_at_rest(connection)));
        let (pool, turn) = match place {
            Place::File(path) => {
                sqlite::make_private(path)?;
                let pool = options
                    // Readers beside the one writer; each holds a file handle and a thread.
                    .max_connections(8)
                    .after_connect(|connection, _| Box::pin(sqlite::prepare(connection)))
                    .connect(&sqlite::url(path, "rwc")?)
                    .await?;
                (pool, Some(Arc::default()))
            }
            Place::Postgres(url) => {
                // The pool would go on knocking at a closed door until its time is up.
                AnyConnection::connect(url).await?.close().await?;
                (options.max_connections(16).connect(url).await?, None)
            }
        };
        Ok(Self {
            place: place.clone(),
            pool,
            turn,
            queue: Arc::default(),
            folds: Arc::default(),
            frames: Arc::default(),
            behind: Arc::default(),
        })
    }

    /// The same with another limit for the logs in columns; 0: none are held.
    #[must_use]
    pub fn with_frames_within(self, most_mib: u32) -> Self {
        Self { frames: Arc::new(frames::Frames::within(most_mib)), ..self }
    }

    /// Reads the logs into columns, as the first question that wants them would.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read_frame(&self) -> sqlx::Result<()> {
        let mut read = self.read().await?;
        self.frames.of(&mut read).await.map(drop)
    }

    /// Brings the schema up to date.
    ///
    /// # Errors
    /// When a migration fails, or the database is newer than this program.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        if self.turn.is_none() {
            // PostgreSQL: the migrator takes an advisory lock.
            MIGRATIONS.run(&self.pool).await?;
        } else {
            // SQLite has no such lock, so one transaction holds the file: of two programs that find it empty, the second
            // waits and then has nothing left to do.
            let mut write = self.write().await?;
            MIGRATIONS.run(write.connection()).await?;
            write.commit().await?;
        }
        Ok(self.build_missing_rollups().await?)
    }

    /// Where it is.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The version of an up-to-date schema.
    pub fn schema_version() -> i64 {
        MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
    }

    /// Waits until what was promised is stored, and nothing uses the database any more.
    pub async fn close(&self) {
        self.behind.end().await;
        self.pool.close().await;
    }

    async fn write(&self) -> sqlx::Result<Write<'_>> {
        let turn = match &self.turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        let transaction = match turn {
            // A deferred transaction that starts by reading could not be upgraded if another process wrote.
            Some(_) => self.pool.begin_with("begin immediate").await?,
            None => self.pool.begin().await?,
        };
        Ok(Write {
            transaction,
            statements: 0,
            pending: rollups::Pending::default(),
            costs: costs::Pending::default(),
            days: BTreeSet::new(),
            recounted: false,
            touched: BTreeSet::new(),
            has_deleted: false,
            folded: 0,
            folds: HashMap::new(),
            known: &self.folds,
            _turn: turn,
        })
    }

    /// The same with no other writer of machines or logs beside it, also on another server. SQLite has only one anyway.
    async fn write_alone(&self) -> sqlx::Result<Write<'_>> {
        let mut write = self.write().await?;
        if self.turn.is_none() {
            // Every batch and every deletion writes its machine's row first.
            sqlx::query("lock table machines in exclusive mode").execute(write.connection()).await?;
        }
        Ok(write)
    }

    /// For several questions about one moment.
    async fn read(&self) -> sqlx::Result<Transaction<'static, Any>> {
        let begin = match self.turn {
            // The first question fixes the moment.
            Some(_) => "begin",
            None => "begin isolation level repeatable read read only",
        };
        self.pool.begin_with(begin).await
    }
}

impl Write<'_> {
    /// For one statement: they are counted.
    fn connection(&mut self) -> &mut AnyConnection {
        self.statements += 1;
        &mut self.transaction
    }

    async fn commit(mut self) -> sqlx::Result<()> {
        rollups::settle(&mut self).await?;
        costs::settle(&mut self).await?;
        let logs = self.recounted || !self.days.is_empty();
        copied::mark(&mut self).await?;
        changes::mark(&mut self, logs).await?;
        self.commit_unseen().await
    }

    /// The same for what no page shows, so that no page has to be drawn again for it.
    async fn commit_unseen(self) -> sqlx::Result<()> {
        let started = Instant::now();
        let done = self.transaction.commit().await;
        metrics::histogram!(telemetry::COMMIT_SECONDS).record(started.elapsed().as_secs_f64());
        done?;
        for (log, held) in self.folds {
            self.known.keep(log, held);
        }
        Ok(())
    }
}

/// Whether a connection is in no transaction, once what was sent on its way is done.
async fn is_at_rest(connection: &mut AnyConnection) -> sqlx::Result<bool> {
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// A column that does not hold what only we can have written.
fn damaged(column: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("{column} is damaged: `weavewatch-server verify --repair` counts it anew").into())
}

/// A stored JSON document that does not fit its type any more.
fn corrupt(error: serde_json::Error) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite itself ends a transaction that finds no room, also when the limit is not that of the disk.
    #[tokio::test]
    async fn a_write_that_found_no_room_spoils_no_later_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(&Place::File(folder.path().join("small.sqlite"))).await.expect("it opens");
        store.migrate().await.expect("the schema fits");
        // More often than there are connections.
        for _ in 0..20 {
            let mut write = store.write().await.expect("a write begins");
            sqlx::query("pragma max_page_count = 1").execute(write.connection()).await.expect("a limit");
            let full = sqlx::query("insert into machines (id, first_seen) values ($1, $2)")
                .bind("m")
                .bind("x".repeat(100_000))
                .execute(write.connection())
                .await
                .expect_err("there is no room");
            let sqlx::Error::Database(full) = full else { panic!("{full}") };
            assert_eq!(full.code().as_deref(), Some("13"));
        }
        for _ in 0..20 {
            store.can_write().await.expect("there is room");
        }
    }
}
