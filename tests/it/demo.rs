//! The demo shows the truth about its fleet, and ports that are taken are said.

use serde_json::Value;
use tests::fleet::{self, DEMO};
use tests::http::Http;
use tests::program::run;
use tests::server::{Database, Server, free_port};

#[test]
fn the_demo_shows_what_is_true_of_its_fleet() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fleet = folder.path().join("fleet");
    fleet::simulate(&DEMO, &fleet);
    let demo = Server::demo(free_port());
    let http = Http::new(&demo.url, None);

    let page = http.get("/");
    assert_eq!((page.status, page.content_type.as_str()), (200, "text/html; charset=utf-8"));
    assert_eq!(http.get("/healthz").status, 200);
    fleet::agrees(&http, &fleet);

    // Each log is there, once, under its own name.
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let texts = |values: &[Value], key: &str| {
        let mut all: Vec<_> = values.iter().map(|own| name(own[key].as_str().expect("a name"))).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(texts(&http.all_items("/api/v1/logs"), "file"), texts(&fleet::truths(&fleet), "file"));
}

#[test]
fn a_second_demo_takes_the_next_free_port() {
    let first = Server::demo(free_port());
    let second = Server::demo(first.port());
    assert!(second.port() > first.port(), "{} after {}", second.url, first.url);
    for demo in [&first, &second] {
        assert_eq!(Http::new(&demo.url, None).get("/healthz").status, 200);
    }
}

#[test]
fn serve_on_a_taken_port_ends_with_4_and_says_so() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = taken.local_addr().expect("a bound socket has an address").to_string();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("server.sqlite");
    let data = file.to_str().expect("a plain path");
    let finished = run("weavewatch-server", ["serve", "--listen", &address, "--data", data]);
    assert!(finished.with_code(4).stderr.contains(&address), "{}", finished.stderr);
    assert!(!file.exists(), "a server that cannot listen leaves the database alone");
}

#[test]
fn readers_of_a_served_api_need_a_token_that_may_read() {
    let database = Database::sqlite();
    let server = Server::start(&database);
    let (agent, reader) = (database.token("agent"), database.token("reader"));
    for path in ["/api/v1/summary", "/api/v1/logs"] {
        let refused = Http::new(&server.url, None).get(path);
        assert_eq!((refused.status, refused.content_type.as_str()), (401, "application/problem+json"));
        assert_eq!(server.http("wrong").get(path).status, 401);
        assert_eq!(server.http(&agent).get(path).status, 403);
        assert_eq!(server.http(&reader).get(path).status, 200);
    }
    assert_eq!(Http::new(&server.url, None).get("/healthz").status, 200);
}
