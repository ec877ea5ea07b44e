//! An hour without a server, on a clock that the test turns: the sender asks ever less often or as the server wishes, says
//! what is wrong, and sends everything when the server is back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;
use ingest::agent::config::Config;
use ingest::agent::memory::Memory;
use ingest::agent::shared::Shared;
use ingest::agent::upload::Uploader;
use ingest::agent::{live::Live, machine, reader, sender};
use ingest::cli::{ServerArgs, StateArgs, Token, WatchArgs};
use ingest::problems::Problems;
use tokio::time::{Instant, advance};

use crate::agent::{Arrived, Machine};
use crate::common::log_name;
use crate::server::{Answer, Request, Server, nobody};

const HOUR: Duration = Duration::from_hours(1);
/// No pause is longer, unless the server asks for it.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
const EVENTS: u64 = 50;

/// A second goes by, once connections had a moment: the clock stands still while a blocking task runs.
async fn second() {
    let moment = tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(3)));
    moment.await.expect("it only sleeps");
    advance(Duration::from_secs(1)).await;
}

/// An agent for a server at this address, with a log in its queue.
fn agent(pc: &Machine, address: SocketAddr) -> Shared {
    let server = reqwest::Url::parse(&format!("http://{address}")).expect("it is a URL");
    let args = WatchArgs {
        dirs: vec![pc.path().join("logs")],
        server: ServerArgs { server: Some(server), ..ServerArgs::default() },
        token: Some(Token("secret".to_owned())),
        state: StateArgs { state: Some(pc.state()), config: None },
        ..WatchArgs::default()
    };
    let mut config = Config::of_watch(&args).expect("it is sound");
    // Reports would be attempts too.
    config.heartbeat = HOUR * 24;
    let (mut memory, _) = Memory::open(&config.home, config.queue_bytes, config.when_full).expect("it is writable");
    let problems = Problems::new(ProgressBar::hidden());
    pc.write(&log_name("A.exe", 1, "12-00-00"), EVENTS as usize);
    reader::dry(&config, [], &problems, |entry| memory.keep(&entry).is_ok());
    memory.settle().expect("it is writable");
    let machine = machine::pseudonym(config.home.path()).expect("it is writable");
    Shared::new(config, machine, problems, memory, &format!("http://{address}"))
}

/// Runs the sender for an hour, and then with what `back` brings until nothing waits; tells how long that took.
async fn an_hour_and_then<T>(shared: &Shared, cause: &str, back: impl FnOnce() -> T) -> (T, Duration) {
    let credential = shared.config.credential().expect("it was named");
    let uploader = Uploader::new(&credential.server, &shared.config.way, &credential.token).expect("it is local");
    let clock = async {
        let start = Instant::now();
        while start.elapsed() < HOUR {
            second().await;
        }
        let live = Live::read(&shared.config.home);
        assert!(live.last_error.as_ref().is_some_and(|error| error.what.contains(cause)), "{live:?}");
        assert!(live.next_attempt.is_some() && live.last_contact.is_none(), "{live:?}");
        assert_eq!(shared.memory().ledger().queued, EVENTS);
        let (server, start) = (back(), Instant::now());
        while !shared.memory().is_empty() && start.elapsed() < HOUR {
            second().await;
        }
        let took = start.elapsed();
        shared.stop();
        (server, took)
    };
    let (sent, (server, took)) = tokio::join!(sender::run(shared, credential, uploader), clock);
    assert_eq!(sent.events, EVENTS);
    let live = shared.live();
    assert!(live.last_error.is_none() && live.next_attempt.is_none() && live.last_contact.is_some(), "{live:?}");
    let ledger = shared.memory().ledger();
    assert_eq!((ledger.acknowledged, ledger.open_sum()), (EVENTS, None));
    (server, took)
}

#[tokio::test(start_paused = true)]
async fn everything_arrives_when_a_server_comes_up_after_an_hour() {
    let (pc, address) = (Machine::new(), nobody());
    let shared = agent(&pc, address);
    let (server, took) = an_hour_and_then(&shared, "failed to reach", || Server::at(address, Answer::accept)).await;
    assert!(took <= LONGEST_PAUSE + Duration::from_secs(10), "{took:?}");
    assert_eq!(Arrived::of(batches(&server)).came, EVENTS);
}

/// How many requests an hour of this answer makes; then everything arrives.
async fn requests_within_an_hour(answer: fn() -> Answer, cause: &str) -> usize {
    let (pc, up) = (Machine::new(), Arc::new(AtomicBool::new(false)));
    let is_up = up.clone();
    let server =
        Server::with(move |request| if is_up.load(Ordering::SeqCst) { Answer::accept(request) } else { answer() });
    let address = server.url.strip_prefix("http://").and_then(|address| address.parse().ok()).expect("it has one");
    let shared = agent(&pc, address);
    let (asked, _) = an_hour_and_then(&shared, cause, || {
        up.store(true, Ordering::SeqCst);
        batches(&server).len()
    })
    .await;
    assert_eq!(Arrived::of(batches(&server)).came, EVENTS);
    asked
}

/// Requests with segments: the first report may be among the others.
fn batches(server: &Server) -> Vec<Request> {
    server.requests().into_iter().filter(|request| !request.batch.segments.is_empty()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_for_an_hour_is_asked_ever_less_often() {
    let asked = requests_within_an_hour(|| Answer::status("500 Internal Server Error"), "500").await;
    // Pauses double from a quarter of a second to five minutes, of which at most a half is left out at random:
    // twelve until then, and twelve to twenty-one at the longest.
    assert!((20..=40).contains(&asked), "{asked} requests within an hour");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_a_pause_gets_it() {
    let busy = || Answer { headers: "retry-after: 600\r\n", ..Answer::status("429 Too Many Requests") };
    let asked = requests_within_an_hour(busy, "429").await;
    // At the beginning, and every ten minutes.
    assert!((6..=7).contains(&asked), "{asked} requests within an hour");
}
