//! Connections: how many at a time, and how long each may take for what, so that a few slow clients do not hold the server.
//!
//! HTTP/1.1 only. A proxy in front speaks it too, and there is one way less to keep a connection busy without end.

use std::collections::VecDeque;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tower::ServiceExt;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time. Each is a file handle, of which a process often has 1,024. For the next one the oldest has to
    /// go, when it has nothing under way.
    pub connections: u32,
    /// Age from which a connection may have to go; also what is left to one that ends without a request under way.
    pub settled: Duration,
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
            settled: Duration::from_secs(1),
            head: Duration::from_secs(10),
            age: Duration::from_mins(10),
            last_request: Duration::from_mins(3),
            drain: Duration::from_secs(10),
        }
    }
}

/// How long a place is waited for before the next oldest connection is sent away.
const TURN: Duration = Duration::from_millis(20);

/// Answers until `stop` is done, then lets requests under way finish.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(limits.connections as usize));
    let (stopping, stopped) = watch::channel(false);
    let mut open = Open { limits, oldest_first: VecDeque::new() };
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let accepted = accept(&listener).await;
            (accepted, open.place(&places).await)
        };
        let ((stream, peer), place) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let leave = open.enter();
        tokio::spawn(connection(stream, peer, router.clone(), limits, (stopped.clone(), leave), place));
    }
    drop(listener);
    // Connections that are gone by now do not listen.
    let _ = stopping.send(true);
    if tokio::time::timeout(limits.drain, places.acquire_many(limits.connections)).await.is_err() {
        tracing::warn!("stopped while requests were still under way");
    }
}

/// The connections that can be asked to leave.
struct Open {
    limits: Limits,
    oldest_first: VecDeque<(Instant, oneshot::Sender<()>)>,
}

impl Open {
    /// A new one; it learns by the receiver that it has to leave.
    fn enter(&mut self) -> oneshot::Receiver<()> {
        if self.oldest_first.len() >= 2 * self.limits.connections as usize {
            self.oldest_first.retain(|(_, connection)| !connection.is_closed());
        }
        let (ask, leave) = oneshot::channel();
        self.oldest_first.push_back((Instant::now(), ask));
        leave
    }

    /// A place for one more, made by the oldest when there is none: a crowd of silent clients keeps nobody out.
    async fn place(&mut self, places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = tokio::time::timeout(TURN, places.clone().acquire_owned()).await {
                return place.expect("nobody closes the door");
            }
            while let Some((since, oldest)) = self.oldest_first.pop_front() {
                if since.elapsed() < self.limits.settled {
                    self.oldest_first.push_front((since, oldest));
                    break;
                }
                // One that has gone by itself meanwhile makes no place.
                if oldest.send(()).is_ok() {
                    break;
                }
            }
        }
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
    (mut stopped, leave): (watch::Receiver<bool>, oneshot::Receiver<()>),
    _place: OwnedSemaphorePermit,
) {
    let busy = AtomicBool::new(false);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        busy.store(true, Ordering::Relaxed);
        let answer = router.clone().oneshot(request);
        async {
            let answer = answer.await;
            busy.store(false, Ordering::Relaxed);
            answer
        }
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut connection = pin!(protocol.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        _ = stopped.wait_for(|stopped| *stopped) => None,
        _ = leave => None,
        () = tokio::time::sleep(limits.age) => None,
    };
    let ended = if let Some(ended) = ended {
        Ok(ended)
    } else {
        // The protocol lets a head that has begun come to its end, which may be never.
        let patience = if busy.load(Ordering::Relaxed) { limits.last_request } else { limits.settled };
        connection.as_mut().graceful_shutdown();
        tokio::time::timeout(patience, connection).await
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
