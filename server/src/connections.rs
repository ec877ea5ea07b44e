//! Connections: how many at a time, and how long each may take for what, so that a few slow clients do not hold the server.
//!
//! HTTP/1.1 only. A proxy in front speaks it too, and there is one way less to keep a connection busy without end.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::ServiceExt;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time; the next one waits at the door. Each is a file handle, of which a process often has 1,024.
    pub connections: u32,
    /// For the head of a request, counted from the opening of the connection or the end of the answer before.
    pub head: Duration,
    /// Age at which a connection gets no further request.
    pub age: Duration,
    /// For the request that is under way then.
    pub last_request: Duration,
    /// For all requests that are under way at the signal to stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            head: Duration::from_secs(20),
            age: Duration::from_mins(10),
            last_request: Duration::from_mins(3),
            drain: Duration::from_secs(10),
        }
    }
}

/// Answers until `stop` is done, then lets requests under way finish.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(limits.connections as usize));
    let (stopping, stopped) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await.expect("nobody closes the door");
            (accept(&listener).await, place)
        };
        let ((stream, peer), place) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        tokio::spawn(connection(stream, peer, router.clone(), limits, stopped.clone(), place));
    }
    drop(listener);
    // Connections that are gone by now do not listen.
    let _ = stopping.send(true);
    if tokio::time::timeout(limits.drain, places.acquire_many(limits.connections)).await.is_err() {
        tracing::warn!("stopped while requests were still under way");
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // A client that went away while it waited.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Such as no file handle left: that passes when a connection ends.
                tracing::warn!("failed to accept a connection: {error}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut connection = pin!(protocol.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        _ = stopped.wait_for(|stopped| *stopped) => None,
        () = tokio::time::sleep(limits.age) => None,
    };
    let ended = if let Some(ended) = ended {
        Ok(ended)
    } else {
        connection.as_mut().graceful_shutdown();
        tokio::time::timeout(limits.last_request, connection).await
    };
    match ended {
        Ok(Ok(())) => {}
        // Clients break off all the time.
        Ok(Err(error)) => tracing::debug!("a connection ended early: {error}"),
        Err(_) => tracing::debug!("a connection was too slow"),
    }
}

#[cfg(test)]
mod tests;
