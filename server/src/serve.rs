//! Listens, answers, and stops in good order.

use std::future::{Future, IntoFuture};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use tokio::net::TcpListener;

use crate::app::State;
use crate::args::Database;
use crate::router::router;
use crate::say;

/// How long requests that are under way may take after the signal to stop.
const DRAIN: Duration = Duration::from_secs(10);

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
        self.source.kind() == std::io::ErrorKind::AddrInUse
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
    let app = std::sync::Arc::new(State { reserve_bytes: u64::from(reserve_mib) << 20, ..State::new(store) });
    if let Err(error) = app.room() {
        tracing::warn!("uploads are refused until there is room: {error:?}");
    }
    // From here on callers wait for an answer instead of getting none.
    if let Err(error) = say::unless_gone(say::data(format_args!("listening on http://{address}"))) {
        tracing::warn!("failed to print the address http://{address}: {error}");
    }
    answer(listener, router(app.clone()), stop()).await?;
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

/// Answers until `stop` is done, then lets requests under way finish.
///
/// # Errors
/// When the socket fails.
pub async fn answer(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let (stopping, mut stopped) = tokio::sync::watch::channel(false);
    let signal = async move {
        stop.await;
        // Nobody listens when the server has failed already.
        let _ = stopping.send(true);
    };
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(signal);
    let too_late = async {
        if stopped.wait_for(|stopping| *stopping).await.is_ok() {
            tokio::time::sleep(DRAIN).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = serving.into_future() => result.context("failed to serve"),
        () = too_late => {
            tracing::warn!("stopped while requests were still under way");
            Ok(())
        }
    }
}

/// Done on ctrl-c, and on SIGTERM where there is one.
pub async fn stop() {
    let interrupt = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!("failed to listen for ctrl-c: {error}");
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::warn!("failed to listen for SIGTERM: {error}");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
