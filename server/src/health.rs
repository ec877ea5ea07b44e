//! Is the process alive, and could it store an upload?

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::extract::State;
use tokio::sync::Mutex;

use crate::app::App;
use crate::error::Error;

/// A write is a flush to disk and anybody may ask, so that one answer serves all who ask within this time.
const FRESH: Duration = Duration::from_secs(1);
/// Monitors give up sooner or later; a database that is busy for so long is not ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// When a write was last seen to work.
pub type LastWrite = Mutex<Option<Instant>>;

/// The process answers.
#[utoipa::path(
    get, path = "/healthz", operation_id = "live", tag = "monitoring",
    responses((status = 200, description = "It does", body = String))
)]
pub async fn live() -> &'static str {
    "ok"
}

/// The database answers, takes a write, and has room for more; and nobody has asked the server to end.
#[utoipa::path(
    get, path = "/readyz", operation_id = "ready", tag = "monitoring",
    responses(
        (status = 200, description = "It does", body = String),
        (status = 503, description = "It does not answer, or the server starts or stops"),
        (status = 507, description = "The disk is full or nearly so")
    )
)]
pub async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    let checked = tokio::time::timeout(PATIENCE, check(&app)).await;
    checked.unwrap_or(Err(Error::Unavailable(sqlx::Error::PoolTimedOut)))?;
    Ok("ok")
}

async fn check(app: &App) -> Result<(), Error> {
    if app.stopping.load(Ordering::Relaxed) {
        return Err(Error::NotReady("is about to stop"));
    }
    app.store.can_read().await?;
    app.room()?;
    let mut last = app.last_write.lock().await;
    if last.is_none_or(|last| last.elapsed() >= FRESH) {
        *last = None;
        app.store.can_write().await?;
        *last = Some(Instant::now());
    }
    Ok(())
}
