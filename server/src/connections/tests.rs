use std::sync::atomic::{AtomicUsize, Ordering};

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::*;

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_hours(1);
const PATIENT: Limits = Limits {
    connections: 100,
    settled: FOR_EVER,
    head: FOR_EVER,
    age: FOR_EVER,
    last_request: FOR_EVER,
    drain: FOR_EVER,
};
/// Long enough for a busy machine to send what is sent at once.
const SHORT: Duration = Duration::from_millis(500);

struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn start(router: Router, limits: Limits) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(serve(listener, router, limits, async { stopped.await.expect("the test stops it") }));
    Server { address, stop, ended }
}

fn hello() -> Router {
    Router::new().route("/", get(async || "hello"))
}

/// Sends bytes and answers everything that comes back until the server closes.
async fn talk(address: SocketAddr, sent: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(sent.as_bytes()).await.expect("it takes bytes");
    until_closed(stream).await
}

async fn until_closed(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset ends the connection as well.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).expect("the tests speak ASCII")
}

#[tokio::test]
async fn a_client_that_does_not_finish_its_head_is_let_go() {
    let server = start(hello(), Limits { head: SHORT, ..PATIENT }).await;
    let begun = ["", "G", "PRI * HTTP/2.0\r\n", "GET / HTTP/1.1\r\nhost: a\r\nx-slow: "];
    let slow = begun.map(|begun| tokio::spawn(talk(server.address, begun)));
    // A kept connection has to come to its next request as well.
    let answer = talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(answer.contains("hello"), "{answer}");
    for (slow, begun) in slow.into_iter().zip(begun) {
        let answer = slow.await.expect("no panic");
        assert!(!answer.contains("hello"), "{begun:?}: {answer}");
    }
}

#[tokio::test]
async fn a_crowd_of_slow_clients_keeps_nobody_out() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (told, waits) = (begun.clone(), go_on.clone());
    let busy = async move || {
        told.notify_one();
        waits.notified().await;
        "done"
    };
    let router = hello().route("/busy", get(busy));
    let server = start(router, Limits { settled: Duration::ZERO, ..PATIENT }).await;
    // The oldest of all has something under way.
    let oldest = tokio::spawn(talk(server.address, "GET /busy HTTP/1.1\r\nhost: a\r\n\r\n"));
    begun.notified().await;
    let mut slow = Vec::new();
    for number in 0..3 * PATIENT.connections {
        let mut stream = TcpStream::connect(server.address).await.expect("it listens");
        let head = ["", "GET / HTTP/1.1\r\nx-slow: ", "GET / HTTP/1.1\r\nhost: a\r\n\r\n"][number as usize % 3];
        // It may have had to go already.
        let _ = stream.write_all(head.as_bytes()).await;
        slow.push(stream);
    }
    for _ in 0..3 {
        let answer = talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
        assert!(answer.contains("hello"), "{answer}");
    }
    go_on.notify_one();
    assert!(oldest.await.expect("no panic").contains("done"), "what is under way is finished");
}

#[tokio::test]
async fn no_more_connections_than_allowed_are_served_at_a_time() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let router = Router::new().route(
        "/",
        get(async || {
            MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            NOW.fetch_sub(1, Ordering::SeqCst);
            "hello"
        }),
    );
    let server = start(router, Limits { connections: 2, ..PATIENT }).await;
    let clients =
        (0..12).map(|_| tokio::spawn(talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")));
    for client in clients.collect::<Vec<_>>() {
        assert!(client.await.expect("no panic").contains("hello"), "those who waited are answered");
    }
    assert!(MOST.load(Ordering::SeqCst) <= 2);
}

#[tokio::test]
async fn an_old_connection_ends_behind_its_request() {
    let server = start(hello(), Limits { age: SHORT, ..PATIENT }).await;
    let answer = talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(answer.contains("hello"), "{answer}");
    // One that takes too long for even that is cut.
    let stuck = Router::new().route("/", get(async || std::future::pending::<&str>().await));
    let server = start(stuck, Limits { age: SHORT, last_request: SHORT, ..PATIENT }).await;
    assert_eq!(talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await, "");
}

#[tokio::test]
async fn a_request_under_way_is_answered_although_the_server_stops() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (told, waits) = (begun.clone(), go_on.clone());
    let handler = async move || {
        told.notify_one();
        waits.notified().await;
        "hello"
    };
    let server = start(Router::new().route("/", get(handler)), PATIENT).await;
    let idle = TcpStream::connect(server.address).await.expect("it listens");
    let busy = tokio::spawn(talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
    begun.notified().await;
    server.stop.send(()).expect("it runs");
    assert_eq!(until_closed(idle).await, "", "who has asked nothing is let go");
    go_on.notify_one();
    assert!(busy.await.expect("no panic").contains("hello"));
    server.ended.await.expect("it ends in good order");
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_keep_the_server() {
    let begun = Arc::new(Notify::new());
    let told = begun.clone();
    let handler = async move || {
        told.notify_one();
        std::future::pending::<&str>().await
    };
    let server = start(Router::new().route("/", get(handler)), Limits { drain: SHORT, ..PATIENT }).await;
    let stuck = tokio::spawn(talk(server.address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
    begun.notified().await;
    server.stop.send(()).expect("it runs");
    server.ended.await.expect("it ends in good order");
    stuck.abort();
}
