//! Listens, answers, and stops in good order.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::net::TcpListener;

use crate::app::State;
use crate::args::Database;
use crate::connections::{self, Limits};
use crate::router::router;
use crate::say;
use crate::stop::Stop;

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
pub async fn run(listen: SocketAddr, reserve_mib: u32, database: Database) -> anyhow::Result<()> {
    // The port comes first: a second server must not migrate the first one's database.
    let listener = bind(listen).await?;
    let address = listener.local_addr().context("failed to read the address that was bound")?;
    let store = database.open_or_create().await?;
    if store.tokens().await?.is_empty() {
        tracing::info!(
            "there are no tokens yet: make one for the agents with `weavewatch-server token create --scope agent`"
        );
    }
    let waiting = store.logs_to_judge(false).await?;
    if waiting > 0 {
        tracing::info!("{waiting} logs have a verdict by older rules: `weavewatch-server rejudge` judges them anew");
    }
    let app = std::sync::Arc::new(State { reserve_bytes: u64::from(reserve_mib) << 20, ..State::new(store) });
    if let Err(error) = app.room() {
        tracing::warn!("uploads are refused until there is room: {error:?}");
    }
    // From here on callers wait for an answer instead of getting none, and whoever stops it finds it listening.
    let stop = Stop::listen();
    if let Err(error) = say::unless_gone(say::data(format_args!("listening on http://{address}"))) {
        tracing::warn!("failed to print the address http://{address}: {error}");
    }
    connections::serve(listener, router(app.clone()), Limits::default(), stop.asked()).await;
    app.store.close().await;
    Ok(())
}

/// Takes the address.
///
/// # Errors
/// [`CannotListen`].
pub async fn bind(address: SocketAddr) -> Result<TcpListener, CannotListen> {
    TcpListener::bind(address).await.map_err(|source| CannotListen { address, source })
}
