//! The page of arrivals, and the arrivals as events.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use futures::StreamExt as _;
use server::auth::Scope;
use server::store::log_id as public_id;
use tower::ServiceExt as _;

use crate::enrolment::token;
use crate::log_page::HOSTILE;
use crate::sample::{Sample, batch, log_id, machine};
use crate::world::{on_each_database, request};

#[test]
fn arrivals_come_first_and_without_any_the_newest_starts() {
    on_each_database(async |world| {
        let empty = world.get("/live").await.text();
        assert!(empty.contains("No logs yet") && empty.contains("Nothing has arrived"), "{empty}");
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let old = Sample { exe: "Older.exe", started: Some("2020-01-01T00:00:00"), ..Sample::default() };
        world.upload(&batch(2, vec![old.segment()])).await;
        let page = world.get("/live").await.text();
        let place = |number| page.find(&public_id(&machine(number), &log_id("a.log"))).expect("it is listed");
        assert!(place(2) < place(1), "by arrival, not by start");
        assert!(page.contains("Older.exe") && page.contains("/static/live.") && page.contains("href=\"/live\""));
        // Started again, the server remembers none.
        let anew = server::app::State::new(world.app.store.clone());
        let router = server::router(std::sync::Arc::new(anew));
        let reader = token(&world, Scope::Reader).await;
        let answer = router.oneshot(request("GET", "/live", Some(&reader), Body::empty())).await.expect("an answer");
        let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.expect("it ends");
        assert!(String::from_utf8_lossy(&body).contains("These started last"));
        assert_eq!(world.get("/live?x=1").await.status.as_u16(), 400);
    });
}

#[test]
fn a_watcher_is_told_of_each_log_and_let_go_at_the_end() {
    on_each_database(async |world| {
        let reader = token(&world, Scope::Reader).await;
        let router = server::router(world.app.clone());
        let watch = request("GET", "/live/events", Some(&reader), Body::empty());
        let answer = router.oneshot(watch).await.expect("an answer");
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (200, &"text/event-stream".parse().expect("a header"))
        );
        let mut events = answer.into_body().into_data_stream();
        let mut next = async || {
            let piece = tokio::time::timeout(Duration::from_secs(20), events.next()).await.expect("it comes in time");
            piece.map(|piece| String::from_utf8(piece.expect("no error").to_vec()).expect("UTF-8"))
        };
        assert_eq!(next().await.as_deref(), Some("retry: 15000\n\n"));
        world.upload(&batch(1, vec![Sample { exe: HOSTILE[0], ..Sample::default() }.segment()])).await;
        let told = next().await.expect("an event");
        assert!(told.starts_with("event: log\ndata: ") && told.ends_with("\n\n"), "{told}");
        assert!(told.lines().skip(1).all(|line| line.is_empty() || line.starts_with("data: ")), "{told}");
        let id = public_id(&machine(1), &log_id("a.log"));
        assert!(told.contains(&format!("href=\"/logs/{id}\"")) && !told.contains("<script"), "{told}");
        world.app.stopping.store(true, Ordering::Relaxed);
        assert_eq!(next().await, None, "it ends with the server");
    });
}

#[test]
fn no_more_watch_than_there_are_places() {
    on_each_database(async |world| {
        let places = world.app.live.watchers.available_permits() as u32;
        let all = world.app.live.watchers.clone().try_acquire_many_owned(places).expect("nobody watches");
        let answer = world.get("/live/events").await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (429, "60"));
        drop(all);
    });
}
