//! What every handler can reach.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::http::request::Parts;
use tokio::sync::{Notify, Semaphore};

use crate::alerts::Alerts;
use crate::auth::Caller;
use crate::error::Error;
use crate::filling::Filling;
use crate::health::LastWrite;
use crate::limits::{Limits, Rates};
use crate::live::Live;
use crate::remembered::Remembered;
use crate::reports::ReportLimits;
use crate::store::Store;
use crate::telemetry::Gauges;
use crate::{body, origin};

/// What is left free on the database's disk when nobody says otherwise, in MiB: room for the write-ahead log, for the
/// batches under way and for the owner to look around.
pub const DEFAULT_RESERVE_MIB: u32 = 256;

/// Uploads that wait to be committed: one of the largest, or thousands of usual ones.
pub(crate) const WAITING_KIB: u32 = 64 << 10;

/// Shared by all requests; cheap to clone.
pub type App = Arc<State>;

/// The state of a running server.
#[derive(Debug)]
pub struct State {
    /// The database.
    pub store: Store,
    /// `demo` only: its throw-away data may be read without a token on this machine, so that curl shows something.
    pub open_on_loopback: bool,
    /// Batches that are unpacked at the same time. Each may take half a gigabyte for a moment.
    pub uploads: Semaphore,
    /// What may wait to be committed, in KiB of plain JSON; in memory it takes several times that.
    pub waiting: Semaphore,
    /// Reports that are received and read at the same time. Each may take some hundred megabytes for a moment.
    pub reports: Arc<Semaphore>,
    /// How much a report may be.
    pub report_limits: ReportLimits,
    /// Uploads are refused when the database's disk has less than this left, so that it never gets quite full.
    pub reserve_bytes: u64,
    /// How long the body of a request may take.
    pub body_timeout: Duration,
    /// Asks for a run of the columnar copy before its time: something was deleted.
    pub copy_wanted: Notify,
    /// For `/readyz`.
    pub last_write: LastWrite,
    /// Nobody but this machine can reach it. Only then its pages may be open.
    pub bound_to_loopback: bool,
    /// How often somebody may ask.
    pub limits: Limits,
    /// The address of an issue tracker's form, with `{title}` and `{body}`.
    pub issue_tracker: Option<String>,
    /// Sites whose pages may show `/embed/{chart}` in a frame, beside this one.
    pub embed_from: Vec<String>,
    /// The rules of alerts.
    pub alerts: Option<Arc<Alerts>>,
    /// The machines of the demo as they arrive; `None` where logs come from elsewhere.
    pub filling: Option<Arc<Filling>>,
    /// What arrives just now.
    pub live: Live,
    /// Pages that were drawn already.
    pub remembered: Remembered,
    /// For `/metrics`.
    pub gauges: Gauges,
    /// It was asked to end: what was accepted is finished, nothing more is promised.
    pub stopping: AtomicBool,
}

impl State {
    /// The state of `serve`.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            open_on_loopback: false,
            uploads: Semaphore::new(2),
            waiting: Semaphore::new(WAITING_KIB as usize),
            reports: Arc::new(Semaphore::new(2)),
            report_limits: ReportLimits::default(),
            reserve_bytes: u64::from(DEFAULT_RESERVE_MIB) << 20,
            body_timeout: body::DEFAULT_TIMEOUT,
            copy_wanted: Notify::new(),
            last_write: LastWrite::default(),
            bound_to_loopback: true,
            limits: Limits::new(Rates::default()),
            issue_tracker: None,
            embed_from: Vec::new(),
            alerts: None,
            filling: None,
            live: Live::default(),
            remembered: Remembered::default(),
            gauges: Gauges::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// Whose secret it is, when this peer may try it; a wrong one is counted against the peer.
    ///
    /// # Errors
    /// [`Error::TooOften`], or what the database says.
    pub(crate) async fn identify(&self, parts: &Parts, secret: &str) -> Result<Option<Caller>, Error> {
        let peer = origin::peer(parts);
        self.limits.may_try(peer, secret)?;
        let caller = self.store.caller(secret).await?;
        if caller.is_some() {
            self.limits.was_right(secret);
        } else {
            self.limits.was_wrong(peer, secret);
        }
        Ok(caller)
    }

    /// Makes sure that the disk has room for an upload.
    ///
    /// # Errors
    /// [`Error::Full`] when it has not.
    pub(crate) fn room(&self) -> Result<(), Error> {
        match self.store.free_bytes() {
            Ok(Some(free)) if free < self.reserve_bytes => {
                let (free, reserve) = (free >> 20, self.reserve_bytes >> 20);
                Err(Error::Full(format!("{free} MiB are left on the database's disk, the reserve is {reserve} MiB")))
            }
            Ok(_) => Ok(()),
            Err(error) => {
                // Then the write itself will tell.
                tracing::warn!("failed to ask how much room the database's disk has: {error}");
                Ok(())
            }
        }
    }

    /// The state of `demo`, whose few logs are gone in a moment.
    pub fn for_demo(store: Store, filling: Arc<Filling>) -> Self {
        Self { open_on_loopback: true, reserve_bytes: 0, filling: Some(filling), ..Self::new(store) }
    }
}
