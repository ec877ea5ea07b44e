//! Listens, answers, and stops in good order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::alerts::{self, Alerts};
use crate::app::{App, State};
use crate::args::{Database, ServeSettings};
use crate::columnar::{self, Copy};
use crate::limits::{Limits, Rate, Rates};
use crate::retention;
use crate::router::router;
use crate::starting::Door;
use crate::stop::Stop;
use crate::{connections, first_start, say, telemetry, text};

/// How often what is over is deleted.
const TIDY: Duration = Duration::from_hours(1);

/// The address cannot be had; the exit code says so.
#[derive(Debug, thiserror::Error)]
#[error("failed to listen on {address}: stop the other program or choose another address with --listen")]
pub struct CannotListen {
    address: SocketAddr,
    source: std::io::Error,
}

impl CannotListen {
    /// Another program has the port.
    pub fn is_taken(&self) -> bool {
        self.kind() == std::io::ErrorKind::AddrInUse
    }

    /// Why.
    pub fn kind(&self) -> std::io::ErrorKind {
        self.source.kind()
    }
}

/// The command `serve`.
///
/// # Errors
/// [`CannotListen`], or what the database says.
pub async fn run(settings: ServeSettings, database: Database) -> anyhow::Result<()> {
    // What was typed wrong is said before anything is opened.
    let copy = settings.columnar.url.as_deref().map(Copy::open).transpose()?;
    let alerts = settings.alerts.as_deref().map(Alerts::read).transpose()?.map(Arc::new);
    // The port comes first: a second server must not migrate the first one's database.
    let listener = bind(settings.listen).await?;
    let address = listener.local_addr().context("failed to read the address that was bound")?;
    let stop = Stop::listen();
    let door = Door::default();
    let (end, ended) = oneshot::channel::<()>();
    let server = tokio::spawn(connections::serve(listener, door.router(), connections::Limits::default(), async {
        // A dropped sender means the same as a signal: the database cannot be used.
        let _ = ended.await;
    }));

    let mut app = None;
    let work = async {
        let app = app.insert(begin(address, &settings, alerts.clone(), database).await?);
        // From here on callers get their answers.
        door.open(router(app.clone()));
        if let Err(error) = say::unless_gone(say::data(format_args!("listening on http://{address}"))) {
            tracing::warn!("failed to print the address http://{address}: {error}");
        }
        first_start::welcome(app).await?;
        chores(app, &settings, copy.as_ref()).await
    };
    let worked = tokio::select! {
        worked = work => worked,
        () = stop.asked() => Ok(()),
    };
    if let Some(app) = &app {
        app.stopping.store(true, Ordering::Relaxed);
    }
    drop(end);
    server.await.context("failed to stop in good order")?;
    if let Some(app) = app {
        if let Some(alerts) = &app.alerts {
            alerts::release(&app.store, alerts).await;
        }
        app.store.close().await;
    }
    worked
}

/// Opens the database and brings it up to date.
async fn begin(
    address: SocketAddr,
    settings: &ServeSettings,
    alerts: Option<Arc<Alerts>>,
    database: Database,
) -> anyhow::Result<App> {
    let store = database.open_or_create().await?.with_frames_within(settings.frame_mib);
    let waiting = store.logs_to_judge(false).await?;
    if waiting > 0 {
        tracing::info!("{waiting} logs have a verdict by older rules: `weavewatch-server rejudge` judges them anew");
    }
    let app = Arc::new(State {
        reserve_bytes: u64::from(settings.reserve_mib) << 20,
        bound_to_loopback: address.ip().to_canonical().is_loopback(),
        issue_tracker: settings.issue_tracker.clone(),
        embed_from: settings.embed_from.clone(),
        alerts,
        limits: Limits::new(Rates {
            uploads: Rate::per_second(settings.uploads_per_second),
            reads: Rate::per_second(settings.reads_per_second),
            failures: Rate::per_minute(settings.failures_per_minute),
        }),
        ..State::new(store)
    });
    if let Err(error) = app.room() {
        tracing::warn!("uploads are refused until there is room: {error:?}");
    }
    Ok(app)
}

/// What has to be done now and then; never done.
async fn chores(app: &App, settings: &ServeSettings, copy: Option<&Copy>) -> anyhow::Result<()> {
    let tidy = async {
        loop {
            if let Err(error) = tidy(app, settings.audit_days).await {
                tracing::warn!("failed to delete what is over: {error}");
            }
            tokio::time::sleep(TIDY).await;
        }
    };
    // What these have not finished at the end does not count, and the next start does it.
    let copier = async {
        match copy {
            Some(copy) => {
                columnar::keep(&app.store, copy, settings.columnar.closed_after_days, &app.copy_wanted).await;
            }
            None => std::future::pending().await,
        }
    };
    let pruner = async {
        retention::keep(&app.store, &settings.keep, &app.copy_wanted).await;
        std::future::pending::<()>().await;
    };
    let watcher = async {
        match &app.alerts {
            Some(alerts) => alerts::keep(&app.store, alerts).await,
            None => std::future::pending().await,
        }
    };
    // The first question with several filters need not wait for it then.
    let columns = async {
        if let Err(error) = app.store.read_frame().await {
            tracing::warn!("failed to read the logs into columns, the first question will: {error}");
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = telemetry::upkeep() => {}
        () = columns => {}
        () = tidy => {}
        () = copier => {}
        () = pruner => {}
        () = watcher => {}
    }
    Ok(())
}

/// Sessions that have ended, and rows of the audit log that are old.
async fn tidy(app: &State, audit_days: u32) -> sqlx::Result<()> {
    app.store.forget_sessions().await?;
    let rows = app.store.forget_audit(&text::from_now(-i64::from(audit_days) * 86_400)).await?;
    if rows > 0 {
        tracing::info!(rows, "deleted old rows of the audit log");
    }
    Ok(())
}

/// Takes the address.
///
/// # Errors
/// [`CannotListen`].
pub async fn bind(address: SocketAddr) -> Result<TcpListener, CannotListen> {
    TcpListener::bind(address).await.map_err(|source| CannotListen { address, source })
}
