//! Everything that goes wrong is told in one form, within limits, and under the same headers.

use std::time::Duration;

use axum::body::Body;
use serde_json::json;
use server::Store;
use server::app::State;
use server::auth::Scope;
use server::store::Place;

use crate::world::{World, on_each_database, request};

#[test]
fn wrong_addresses_and_methods_are_problems() {
    on_each_database(async |world| {
        world.get("/api/v1/nothing").await.assert_problem(404);
        world.get("/api/v1/logs/00000000000000000000000000000000").await.assert_problem(404);
        world.get("/api/v1/logs/%00").await.assert_problem(404);
        world.get("/api/v1/logs/%ff").await.assert_problem(404);
        world.get("/static/weavewatch.css").await.assert_problem(404);
        let mut typed = request("GET", "/fleet", None, Body::empty());
        typed.headers_mut().insert("accept", "text/html,*/*".parse().expect("a header"));
        let answer = world.send(typed).await;
        assert_eq!(answer.status.as_u16(), 404);
        assert!(answer.header("content-type").starts_with("text/html"), "a person gets a page");
        let answer = world.get("/api/v1/ingest").await;
        answer.assert_problem(405);
        assert_eq!(answer.header("allow"), "POST");
    });
}

#[test]
fn what_is_no_batch_is_a_problem() {
    on_each_database(async |world| {
        for body in ["", "no json", "[]", "{}", r#"{"schema":"weavewatch.batch/1"}"#] {
            world.post(None, body).await.assert_problem(400);
        }
        world.post(Some("zstd"), "no zstd").await.assert_problem(400);
        world.post(Some("gzip"), "no gzip").await.assert_problem(400);
        world.post(Some("br"), "{}").await.assert_problem(415);
    });
}

#[test]
fn large_bodies_are_stopped_before_and_after_unpacking() {
    on_each_database(async |world| {
        world.post(None, vec![b' '; (8 << 20) + 1]).await.assert_problem(413);
        let bomb = zstd::encode_all(vec![b' '; (64 << 20) + 1].as_slice(), 1).expect("memory suffices");
        assert!(bomb.len() < 1 << 20);
        world.post(Some("zstd"), bomb).await.assert_problem(413);
        // Just below both limits it is only no batch.
        world.post(None, vec![b' '; 8 << 20]).await.assert_problem(400);
    });
}

#[test]
fn what_a_caller_sent_comes_back_cut_and_harmless() {
    on_each_database(async |world| {
        let long = format!("\u{1b}[2J{}", "x".repeat(1_000_000));
        for body in [json!(long), json!({"schema": long}), json!({"schema": "weavewatch.batch/1", "machine": [long]})] {
            let answer = world.post(None, body.to_string()).await;
            answer.assert_problem(400);
            assert!(answer.body.len() < 1_000 && !answer.text().contains('\u{1b}'), "{}", answer.text());
        }
        let many = vec!["7"; 5_001].join(",");
        let body = format!(r#"{{"schema":"weavewatch.batch/1","machine":"0","agent":"1","segments":[{many}]}}"#);
        world.post(None, body).await.assert_problem(413);
    });
}

#[test]
fn a_body_that_does_not_come_is_a_problem() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place::File(folder.path().join("test.sqlite"));
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        let world = World::of(State { body_timeout: Duration::ZERO, ..State::new(store) }, place).await;
        let token = world.app.store.create_token(Scope::Enrolment, "test").await.expect("a token").secret;
        let never = || Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
        world.post(None, never()).await.assert_problem(408);
        world.send(request("POST", "/api/v1/enroll", Some(&token), never())).await.assert_problem(408);
        world.app.store.close().await;
    });
}

#[test]
fn every_answer_has_the_security_headers() {
    on_each_database(async |world| {
        for uri in ["/", "/healthz", "/api/v1/summary", "/api/v1/nothing", "/api/v1/logs?limit=0"] {
            let answer = world.get(uri).await;
            let policy = answer.header("content-security-policy");
            assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{uri}");
            assert!(!policy.contains("unsafe"), "{uri}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{uri}");
            assert_eq!(answer.header("referrer-policy"), "same-origin", "{uri}");
            assert_eq!(answer.header("cache-control"), "no-store", "{uri}");
        }
    });
}

#[test]
fn health_needs_no_token_and_readiness_needs_the_database() {
    on_each_database(async |world| {
        let get = async |uri: &str| world.send(request("GET", uri, None, Body::empty())).await;
        let alive = get("/healthz").await;
        assert_eq!((alive.status.as_u16(), alive.text().as_str()), (200, "ok"));
        assert_eq!(get("/readyz").await.status.as_u16(), 200);
        world.app.store.close().await;
        assert_eq!(get("/healthz").await.status.as_u16(), 200);
        let answer = get("/readyz").await;
        answer.assert_problem(503);
        assert_eq!(answer.header("retry-after"), "5");
        world.get("/api/v1/summary").await.assert_problem(503);
    });
}
