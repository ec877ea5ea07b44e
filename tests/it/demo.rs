//! The demo answers at once with the numbers that are checked in, and ports that are taken are said.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::http::Http;
use tests::program::run;
use tests::server::{Database, Server, free_port};

#[test]
fn the_demo_answers_with_the_checked_in_totals() {
    let demo = Server::demo(free_port());
    let http = Http::new(&demo.url, None);

    let page = http.get("/");
    assert_eq!((page.status, page.content_type.as_str()), (200, "text/html; charset=utf-8"));
    assert_eq!(http.get("/healthz").status, 200);
    let mut summary = http.get("/api/v1/summary").json();
    // They follow from the counts.
    summary["total"].as_object_mut().and_then(|total| total.remove("shares")).expect("shares");
    let expected = std::fs::read_to_string(fleet().join("summary.json")).expect("the expectation is checked in");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    assert_eq!(summary["total"], expected);

    // The expectation is about the logs that are checked in, each of them once.
    let logs = logs_below(&fleet());
    assert_eq!(summary["total"]["logs"], logs.len());
    let mut names: Vec<String> = logs.iter().filter_map(|log| Some(log.file_name()?.to_str()?.to_owned())).collect();
    let mut listed: Vec<String> = http
        .all_items("/api/v1/logs")
        .iter()
        .map(|log| log["file"].as_str().expect("a log has a name").to_owned())
        .collect();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, names);
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

fn fleet() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/fleet")
}

fn logs_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures are checked in") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(logs_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
    found
}
