//! Who may do what: every route of the table, for every kind of caller.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use clap::ValueEnum;
use server::auth::{Access, Scope};
use server::store::Place;
use server::{Route, table};

use crate::world::{World, on_each_database, request};

/// An address that fits the route.
fn uri(route: &Route) -> String {
    route.path.replace("{id}", "00000000000000000000000000000000").replace("{name}", "weavewatch.css")
}

/// Whether the guard let the request through to its handler.
fn is_let_in(status: StatusCode) -> bool {
    !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

#[test]
fn every_route_asks_for_what_its_row_says() {
    on_each_database(async |world| {
        assert!(table().len() >= 12);
        for route in table() {
            for scope in [None].into_iter().chain(Scope::value_variants().iter().copied().map(Some)) {
                let token = match scope {
                    Some(scope) => Some(world.app.store.create_token(scope, "test").await.expect("a token").secret),
                    None => None,
                };
                let request = request(route.method, &uri(&route), token.as_deref(), Body::empty());
                let status = world.send(request).await.status;
                let expected = match (route.access, scope) {
                    (Access::Open, _)
                    | (Access::Enroll, Some(Scope::Enrolment))
                    | (Access::Upload, Some(Scope::Agent))
                    // An agent's token that is no machine's own deletes none.
                    | (Access::Delete, Some(Scope::Admin))
                    | (Access::Read | Access::Page, Some(Scope::Reader | Scope::Triager | Scope::Admin)) => None,
                    (_, None) => Some(StatusCode::UNAUTHORIZED),
                    (_, Some(_)) => Some(StatusCode::FORBIDDEN),
                };
                let place = format!("{} {} as {scope:?}: {status}", route.method, route.path);
                match expected {
                    Some(expected) => assert_eq!(status, expected, "{place}"),
                    None => assert!(is_let_in(status) && !status.is_server_error(), "{place}"),
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
        assert!(store.revoke_token(&token.id).await.expect("the database answers"));
        assert!(!store.revoke_token(&token.id).await.expect("the database answers"), "once is enough");
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
fn a_browser_elsewhere_signs_in_with_a_token_as_password() {
    on_each_database(async |world| {
        let answer = world.send(from_browser("/", "weavewatch.example")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(answer.header("www-authenticate").starts_with("Basic"));
        assert!(answer.header("content-type").starts_with("text/html"));

        let token = world.app.store.create_token(Scope::Reader, "").await.expect("a token").secret;
        let sign_in = async |uri: &str, password: &str| {
            let mut request = from_browser(uri, "weavewatch.example");
            let header = format!("Basic {}", base64(&format!("anybody:{password}")));
            request.headers_mut().insert("authorization", header.parse().expect("a header"));
            world.send(request).await.status
        };
        assert_eq!(sign_in("/", &token).await, StatusCode::OK);
        assert_eq!(sign_in("/", "guess").await, StatusCode::UNAUTHORIZED);
        assert_eq!(sign_in("/api/v1/summary", &token).await, StatusCode::UNAUTHORIZED, "programs use Bearer");
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

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            out.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
        }
        out.push_str(&"=".repeat(3 - chunk.len()));
    }
    out
}
