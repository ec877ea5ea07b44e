//! Who may do what: every route of the table, for every kind of caller.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use clap::ValueEnum;
use server::app::State;
use server::audit::Actor;
use server::auth::Scope;
use server::store::{Place, Store};
use server::{Route, table};

use crate::world::{World, on_each_database, on_each_place, request};

/// Who may call which route, as people are told. A new route gets its line here.
const WHO: &[(&str, &str)] = &[
    ("POST /api/v1/enroll", "enrolment"),
    ("POST /api/v1/ingest", "agent"),
    // An agent's token that is no machine's own deletes none.
    ("DELETE /api/v1/machines/{id}", "admin"),
    ("GET /api/v1/summary", "reader triager admin"),
    ("GET /api/v1/compare", "reader triager admin"),
    ("GET /api/v1/drift", "reader triager admin"),
    ("GET /api/v1/costs", "reader triager admin"),
    ("GET /api/v1/what-if", "reader triager admin"),
    ("POST /api/v1/replay", "reader triager admin"),
    ("GET /api/v1/logs", "reader triager admin"),
    ("GET /api/v1/logs/{id}", "reader triager admin"),
    ("GET /api/v1/machines", "reader triager admin"),
    ("GET /api/v1/machines/{id}", "reader triager admin"),
    ("GET /api/v1/machines/{id}/export", "reader triager admin"),
    ("GET /api/v1/export/{table}", "reader triager admin"),
    ("POST /api/v1/reports", "triager admin"),
    ("PATCH /api/v1/reports/{id}", "triager admin"),
    ("DELETE /api/v1/reports/{id}", "triager admin"),
    ("GET /api/v1/reports", "reader triager admin"),
    ("GET /api/v1/reports/{id}", "reader triager admin"),
    ("GET /reports/{id}", "reader triager admin"),
    ("POST /reports/{id}", "triager admin"),
    ("POST /reports/{id}/delete", "triager admin"),
    ("GET /reports/compare", "reader triager admin"),
    ("GET /costs", "reader triager admin"),
    ("GET /what-if", "reader triager admin"),
    ("GET /drift", "reader triager admin"),
    ("GET /triage", "reader triager admin"),
    ("POST /triage", "triager admin"),
    ("GET /api/v1/dead-letters", "reader triager admin"),
    ("GET /api/v1/openapi.json", "reader triager admin"),
    ("GET /api/v1/tokens", "admin"),
    ("POST /api/v1/tokens", "admin"),
    ("DELETE /api/v1/tokens/{id}", "admin"),
    ("GET /api/v1/audit", "admin"),
    ("GET /healthz", "anybody"),
    ("GET /readyz", "anybody"),
    ("GET /metrics", "anybody"),
    ("GET /static/{name}", "anybody"),
    ("GET /sign-in", "anybody"),
    ("POST /sign-in", "anybody"),
    ("GET /", "reader triager admin"),
    ("GET /tokens", "admin"),
    ("POST /tokens", "admin"),
    ("POST /tokens/revoke", "admin"),
    ("GET /audit", "admin"),
    ("GET /embed/{chart}", "reader triager admin"),
    ("GET /explore", "reader triager admin"),
    ("GET /compare", "reader triager admin"),
    ("GET /logs", "reader triager admin"),
    ("GET /logs/{id}", "reader triager admin"),
    ("GET /machines", "reader triager admin"),
    ("GET /machines/{id}", "reader triager admin"),
    ("POST /machines/{id}/delete", "admin"),
    ("GET /health", "reader triager admin"),
    ("GET /live", "reader triager admin"),
    ("GET /names", "reader triager admin"),
    ("GET /live/events", "reader triager admin"),
    ("POST /sign-out", "reader triager admin"),
];

/// An address that fits the route.
fn uri(route: &Route) -> String {
    let path = route.path.replace("{id}", "00000000000000000000000000000000").replace("{name}", "weavewatch.css");
    path.replace("{table}", "logs").replace("{chart}", "pairs")
}

/// Whether the guard let the request through to its handler.
fn is_let_in(status: StatusCode) -> bool {
    !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

#[test]
fn every_route_asks_for_what_its_line_says() {
    let row = |route: &Route| format!("{} {}", route.method, route.path);
    let mut routes: Vec<_> = table().iter().map(row).collect();
    let mut lines: Vec<_> = WHO.iter().map(|(route, _)| (*route).to_owned()).collect();
    routes.sort();
    lines.sort();
    assert_eq!(routes, lines, "every route has a line, and every line a route");
    on_each_database(async |world| {
        // A watch has no end: nobody gets one.
        world.app.live.watchers.close();
        for route in table() {
            let (_, who) = WHO.iter().find(|(line, _)| *line == row(&route)).expect("it has a line");
            for scope in [None].into_iter().chain(Scope::value_variants().iter().copied().map(Some)) {
                let token = match scope {
                    Some(scope) => Some(world.app.store.create_token(scope, "test").await.expect("a token").secret),
                    None => None,
                };
                let request = request(route.method, &uri(&route), token.as_deref(), Body::empty());
                let status = world.send(request).await.status;
                let is_open = *who == "anybody";
                let may = scope.is_some_and(|scope| who.split(' ').any(|word| word == scope.as_str()));
                let place = format!("{} as {scope:?}: {status}", row(&route));
                match scope {
                    _ if is_open || may => assert!(is_let_in(status) && !status.is_server_error(), "{place}"),
                    None => assert_eq!(status, StatusCode::UNAUTHORIZED, "{place}"),
                    Some(_) => assert_eq!(status, StatusCode::FORBIDDEN, "{place}"),
                }
            }
        }
    });
}

#[test]
fn a_stranger_s_token_and_a_revoked_one_open_nothing() {
    on_each_database(async |world| {
        let store = &world.app.store;
        let token = store.create_token(Scope::Admin, "leaver").await.expect("a token");
        let get = async |token: &str| {
            let request = request("GET", "/api/v1/summary", Some(token), Body::empty());
            world.send(request).await.status
        };
        assert_eq!(get(&token.secret).await, StatusCode::OK);
        assert!(store.revoke_token(&token.id, &Actor::command_line()).await.expect("the database answers"));
        assert!(
            !store.revoke_token(&token.id, &Actor::command_line()).await.expect("the database answers"),
            "once is enough"
        );
        for wrong in [token.secret.as_str(), "", "ww_", "a\tb"] {
            assert_eq!(get(wrong).await, StatusCode::UNAUTHORIZED, "{wrong:?}");
        }
        let rows = store.tokens().await.expect("the database answers");
        let row = rows.iter().find(|row| row.id == token.id).expect("it is listed");
        assert!(row.revoked.is_some() && row.name == "leaver");
        assert!(!format!("{rows:?}").contains(&token.secret), "the secret is not kept");
    });
}

fn from_browser(uri: &str, host: &str) -> Request<Body> {
    Request::builder().uri(uri).header("host", host).body(Body::empty()).expect("a request")
}

#[test]
fn pages_are_open_to_this_machine_only() {
    on_each_database(async |world| {
        let local = "127.0.0.1:50000";
        let cases = [
            (local, "127.0.0.1:8787", true),
            (local, "localhost:8787", true),
            ("[::1]:50000", "[::1]:8787", true),
            ("[::ffff:127.0.0.1]:50000", "localhost", true),
            // A foreign name that points here.
            (local, "evil.example:8787", false),
            ("192.0.2.7:50000", "127.0.0.1:8787", false),
        ];
        for (peer, host, open) in cases {
            let status = world.send_from(peer, from_browser("/", host)).await.status;
            assert_eq!(status, if open { StatusCode::OK } else { StatusCode::UNAUTHORIZED }, "{peer} {host}");
        }
        let mut proxied = from_browser("/", "127.0.0.1:8787");
        proxied.headers_mut().insert("x-forwarded-for", "192.0.2.7".parse().expect("a header"));
        assert_eq!(world.send_from(local, proxied).await.status, StatusCode::UNAUTHORIZED);
        // Data is never open.
        let answer = world.send_from(local, from_browser("/api/v1/summary", "127.0.0.1:8787")).await;
        answer.assert_problem(401);
        assert!(answer.header("www-authenticate").starts_with("Bearer"));
    });
}

#[test]
fn a_server_that_listens_for_others_opens_nothing_to_this_machine_either() {
    on_each_place(async |place| {
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        let world = World::of(State { bound_to_loopback: false, ..State::new(store) }, place).await;
        let answer = world.send_from("127.0.0.1:50000", from_browser("/", "127.0.0.1:8787")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        world.app.store.close().await;
    });
}

#[test]
fn the_demo_alone_reads_without_a_token_on_this_machine() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let world = World::demo(Place::File(folder.path().join("demo.sqlite"))).await;
        let get = async |peer: &str, uri: &str| world.send_from(peer, from_browser(uri, "127.0.0.1:8787")).await.status;
        assert_eq!(get("127.0.0.1:1", "/api/v1/summary").await, StatusCode::OK);
        assert_eq!(get("192.0.2.7:1", "/api/v1/summary").await, StatusCode::UNAUTHORIZED);
        let upload = request("POST", "/api/v1/ingest", None, Body::from("{}"));
        assert_eq!(world.send_from("127.0.0.1:1", upload).await.status, StatusCode::UNAUTHORIZED);
        world.app.store.close().await;
    });
}
