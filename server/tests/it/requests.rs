//! Every answer has the id of its request, and so has every problem.

use axum::body::Body;

use crate::world::{on_each_database, request};

#[test]
fn an_answer_bears_the_id_that_was_sent_or_a_new_one() {
    on_each_database(async |world| {
        let ask = async |uri: &str, id: Option<&str>| {
            let mut request = request("GET", uri, None, Body::empty());
            if let Some(id) = id {
                request.headers_mut().insert("x-request-id", id.parse().expect("a header"));
            }
            world.send(request).await
        };
        for uri in ["/healthz", "/api/v1/summary", "/nothing", "/"] {
            assert_eq!(ask(uri, Some("trace-7")).await.header("x-request-id"), "trace-7", "{uri}");
            let (one, two) = (ask(uri, None).await, ask(uri, Some("<script>")).await);
            let (one, two) = (one.header("x-request-id"), two.header("x-request-id"));
            assert!(one != two && [one, two].iter().all(|id| id.len() == 24), "{uri}: {one} {two}");
        }
        let problem = ask("/api/v1/summary", Some("trace-8")).await;
        problem.assert_problem(401);
        assert_eq!(problem.json()["request_id"], "trace-8");
        assert_eq!(ask("/nothing", Some("trace-9")).await.json()["request_id"], "trace-9");
    });
}
