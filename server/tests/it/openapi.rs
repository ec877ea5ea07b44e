//! The description of the API is whole, is the one that is checked in, and is true of real answers.

use std::collections::BTreeSet;
use std::path::Path;

use axum::body::Body;
use axum::http::StatusCode;
use dashboards::statics;
use parser::LogReader;
use serde_json::{Map, Value, json};
use server::auth::{Access, Scope};
use server::store::Dimension;
use server::table;
use wire::Segment;

use crate::described::Described;
use crate::reports::{NAME, bring, form, good, log};
use crate::sample::{Sample, batch, log_id, machine};
use crate::world::{Answer, World, on_each_database, request};

fn document() -> Value {
    serde_json::from_str(server::openapi()).expect("JSON")
}

/// The operation of a row.
fn operation<'a>(document: &'a Value, method: &str, path: &str) -> &'a Value {
    let operation = &document["paths"][path][method.to_lowercase()];
    assert!(operation.is_object(), "{method} {path} is not described: see ARCHITECTURE.md on new routes");
    operation
}

fn parameters(operation: &Value, place: &str) -> BTreeSet<String> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let here = all.filter(|parameter| parameter["in"] == place);
    here.map(|parameter| parameter["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_description_is_the_one_that_is_checked_in() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    if std::env::var_os("WEAVEWATCH_BLESS").is_some() {
        std::fs::write(&file, server::openapi()).expect("a writable file");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    // Not both texts, which are long.
    assert!(kept == server::openapi(), "docs/openapi.json is old: run this test with WEAVEWATCH_BLESS=1 and commit it");
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let document = document();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1.")));
    let mut operations = 0;
    for path in document["paths"].as_object().expect("paths").values() {
        operations += path.as_object().map_or(0, Map::len);
    }
    assert_eq!(operations, table().len(), "each row is described once, and nothing is that has no row");
    let mut ids = BTreeSet::new();
    for route in table() {
        let place = format!("{} {}", route.method, route.path);
        let operation = operation(&document, route.method, route.path);
        assert!(ids.insert(operation["operationId"].to_string()), "{place}: another operation has this id");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{place} has no summary");
        let in_path: BTreeSet<_> = route
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .map(str::to_owned)
            .collect();
        assert_eq!(parameters(operation, "path"), in_path, "{place}");
        let security = operation["security"].as_array().expect("said of each");
        assert_eq!(security.is_empty(), route.access == Access::Open, "{place}");
        for (status, response) in operation["responses"].as_object().expect("responses") {
            assert_ne!(response["description"], "", "{place} {status}");
            if status.starts_with(['4', '5']) && operation["tags"][0] != "pages" {
                let content = response["content"].as_object().expect("an error has a body");
                assert_eq!(content.keys().collect::<Vec<_>>(), ["application/problem+json"], "{place} {status}");
            }
        }
    }
}

#[test]
fn every_dimension_is_a_parameter() {
    let document = document();
    let dimensions: BTreeSet<_> = Dimension::ALL.iter().map(|dimension| dimension.as_str().to_owned()).collect();
    for path in ["/api/v1/summary", "/api/v1/logs", "/api/v1/what-if", "/"] {
        let described = parameters(operation(&document, "GET", path), "query");
        assert!(described.is_superset(&dimensions), "{path}: {described:?}");
    }
    let group_by = &operation(&document, "GET", "/api/v1/summary")["parameters"][0];
    let words = group_by["schema"]["items"]["enum"].as_array().expect("words").iter();
    let words: BTreeSet<_> = words.map(|word| word.as_str().expect("a word").to_owned()).collect();
    assert_eq!(words, dimensions);
}

#[test]
fn every_parameter_is_taken_and_no_other() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let document = document();
        let report = report(&world).await;
        for route in table().iter().filter(|route| route.method == "GET" && route.access == Access::Read) {
            let uri = uri(route.path, &report);
            for name in parameters(operation(&document, "GET", route.path), "query") {
                let value = match name.as_str() {
                    "limit" => "7",
                    "group_by" => "day",
                    "a.from" | "b.to" => "2026-09-14",
                    // Nothing typed.
                    _ => "",
                };
                let answer = world.get(&format!("{uri}?{name}={value}")).await;
                assert_eq!(answer.status, StatusCode::OK, "{uri}?{name}={value}: {}", answer.text());
            }
            world.get(&format!("{uri}?nonsense=1")).await.assert_problem(400);
        }
    });
}

/// The id of a report with two logs.
async fn report(world: &World) -> String {
    let said = good(world, &[(NAME, &log("RTX")), ("b.log", b"x\n")]).await;
    said["id"].as_str().expect("an id").to_owned()
}

/// An address that leads to something.
fn uri(path: &str, report: &str) -> String {
    if path.contains("reports") {
        return path.replace("{id}", report);
    }
    let id = if path.contains("logs") { server::store::log_id(&machine(1), &log_id("a.log")) } else { machine(1) };
    if path.starts_with("/static") {
        statics::STYLE.path()
    } else {
        path.replace("{id}", &id).replace("{table}", "logs").replace("{chart}", "pairs")
    }
}

/// A log of the fixtures, as an agent sends it.
fn fixture(file: &Path) -> Segment {
    let bytes = std::fs::read(file).expect("a readable fixture");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let mut observations = Vec::new();
    let mut reader = LogReader::new();
    reader.feed(&bytes, &mut |observation| observations.push(observation));
    let facts = reader.finish(&mut |observation| observations.push(observation));
    let log = log_id(&name);
    Segment { log, file: name, end: bytes.len() as u64, facts, observations, ..Segment::default() }
}

/// A machine with every fixture log, and its agent's words.
async fn fill(world: &World) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/ok");
    let entries = std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let logs: Vec<_> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "log")).collect();
    assert!(logs.len() > 50, "{} logs", logs.len());
    let mut told = batch(1, logs.iter().map(|path| fixture(path)).collect());
    told.segments.push(Sample::default().segment());
    told.segments[0].clock = Some(wire::Clock { zone: None, offset_s: 3600, repeated: true });
    told.losses = vec![crate::told::loss(None, "queue_full", 0, 7)];
    told.heartbeat = Some(wire::Heartbeat { slowed: Some("asked".to_owned()), ..wire::Heartbeat::default() });
    world.upload(&told).await;
}

/// What readers ask: each route as it should be asked, and as it should not.
const ASKED: [(&str, &str); 66] = [
    ("/triage", "?state=new"),
    ("/triage", "?state=nonsense"),
    ("/", ""),
    ("/embed/{chart}", "?split=off"),
    ("/embed/{chart}", "?split=nonsense"),
    ("/logs", "?split=off"),
    ("/logs", "?split=nonsense"),
    ("/logs/{id}", ""),
    ("/logs/{id}", "?nonsense=1"),
    ("/machines", ""),
    ("/machines", "?cursor=x"),
    ("/machines/{id}", ""),
    ("/machines/{id}", "?nonsense=1"),
    ("/health", ""),
    ("/health", "?nonsense=1"),
    ("/names", ""),
    ("/live", ""),
    ("/live", "?nonsense=1"),
    ("/healthz", ""),
    ("/readyz", ""),
    ("/static/{name}", ""),
    ("/api/v1/openapi.json", ""),
    ("/api/v1/logs", "?limit=500"),
    ("/api/v1/logs", "?limit=1"),
    ("/api/v1/logs", "?limit=0"),
    ("/api/v1/logs/{id}", "?nonsense=1"),
    ("/api/v1/dead-letters", ""),
    ("/api/v1/dead-letters", "?machine=x"),
    ("/api/v1/machines", ""),
    ("/api/v1/machines", "?limit=0"),
    ("/api/v1/machines/{id}", ""),
    ("/api/v1/machines/{id}", "?limit=0"),
    ("/metrics", ""),
    ("/sign-in", ""),
    ("/sign-in", "?back=/%3Fsplit%3Doff"),
    ("/api/v1/machines/{id}/export", ""),
    ("/api/v1/machines/{id}/export", "?nonsense=1"),
    ("/api/v1/export/{table}", ""),
    ("/api/v1/export/{table}", "?format=parquet"),
    ("/api/v1/export/{table}", "?format=xlsx"),
    ("/api/v1/reports", ""),
    ("/api/v1/reports", "?outcome=nonsense"),
    ("/api/v1/reports/{id}", ""),
    ("/api/v1/reports/{id}", "?limit=1"),
    ("/api/v1/reports/{id}", "?log=1"),
    ("/api/v1/reports/{id}", "?log=7"),
    ("/api/v1/reports/{id}", "?format=markdown"),
    ("/api/v1/reports/{id}", "?format=nonsense"),
    ("/reports/{id}", ""),
    ("/api/v1/summary", ""),
    ("/api/v1/summary", "?group_by=reason&group_by=day"),
    ("/api/v1/summary", "?group_by=nonsense"),
    ("/api/v1/summary", "?group_by=cohort"),
    ("/costs", ""),
    ("/api/v1/costs", ""),
    ("/api/v1/costs", "?group_by=cohort&group_by=day&from=2026-09-01"),
    ("/api/v1/costs", "?group_by=nonsense"),
    ("/api/v1/what-if", "?policy=adr039"),
    ("/api/v1/what-if", "?set=DXR_WEAVE_ON_SCANOUT%3D0&against=document"),
    ("/api/v1/what-if", "?policy=nonsense"),
    ("/api/v1/summary", "?group_by=exe&format=csv"),
    ("/api/v1/compare", "?a.path=d3d11&b.path=d3d12"),
    ("/api/v1/compare", "?c.path=d3d11"),
    ("/api/v1/drift", ""),
    ("/api/v1/drift", "?format=csv"),
    ("/api/v1/drift", "?limit=0"),
];

#[test]
fn real_answers_are_as_described() {
    on_each_database(async |world| {
        fill(&world).await;
        let report = report(&world).await;
        let described = Described::new();
        let mut asked = BTreeSet::new();
        let mut check = |method: &'static str, path: &'static str, answer: &Answer| {
            asked.insert((method, path));
            let fault = described.fault(method, path, answer);
            assert!(fault.is_none(), "{}", fault.unwrap_or_default());
        };
        let page = world.json("/api/v1/logs?limit=500").await;
        for log in page["items"].as_array().expect("a list") {
            let uri = format!("/api/v1/logs/{}", log["id"].as_str().expect("an id"));
            check("GET", "/api/v1/logs/{id}", &world.get(&uri).await);
        }
        for (path, query) in ASKED {
            check("GET", path, &world.get(&format!("{}{query}", uri(path, &report))).await);
        }
        let token = async |scope| world.app.store.create_token(scope, "").await.expect("a token").secret;
        let admin = token(Scope::Admin).await;
        let by_admin = async |method: &'static str, uri: &str, body: Value| {
            let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
            world.send(request(method, uri, Some(&admin), body)).await
        };
        let made = by_admin("POST", "/api/v1/tokens", json!({"scope": "reader", "name": "x", "expires_days": 7})).await;
        let one_token = format!("/api/v1/tokens/{}", made.json()["id"].as_str().expect("an id"));
        check("POST", "/api/v1/tokens", &made);
        check("POST", "/api/v1/tokens", &by_admin("POST", "/api/v1/tokens", json!({})).await);
        for (path, query) in
            [("/api/v1/tokens", ""), ("/api/v1/tokens", "?limit=0"), ("/api/v1/audit", ""), ("/api/v1/audit", "?x=1")]
        {
            check("GET", path, &by_admin("GET", &format!("{path}{query}"), Value::Null).await);
        }
        for _ in 0..2 {
            check("DELETE", "/api/v1/tokens/{id}", &by_admin("DELETE", &one_token, Value::Null).await);
        }
        for form in ["", "token=ww_guess"] {
            let mut request = request("POST", "/sign-in", None, form.into());
            let kind = if form.is_empty() { "text/plain" } else { "application/x-www-form-urlencoded" };
            request.headers_mut().insert("content-type", kind.parse().expect("a header"));
            check("POST", "/sign-in", &world.send(request).await);
        }
        let enroll = json!({"schema": "weavewatch.enroll/1", "machine": machine(2), "agent": "1"}).to_string();
        let enrolment = token(Scope::Enrolment).await;
        for body in [enroll, "{}".to_owned()] {
            let answer = world.send(request("POST", "/api/v1/enroll", Some(&enrolment), body.into())).await;
            check("POST", "/api/v1/enroll", &answer);
        }
        let reader = token(Scope::Reader).await;
        let answer = world.send(request("POST", "/api/v1/replay", Some(&reader), "{}".into())).await;
        check("POST", "/api/v1/replay", &answer);
        let mut half = batch(3, vec![Sample::default().segment(), Sample::default().segment()]);
        half.segments[1].end = 0;
        half.losses = vec![crate::told::loss(None, "", 0, 7)];
        check("POST", "/api/v1/ingest", &world.post(None, serde_json::to_vec(&half).expect("plain data")).await);
        for (encoding, body) in [(None, "{}"), (Some("br"), "{}")] {
            check("POST", "/api/v1/ingest", &world.post(encoding, body).await);
        }
        let triager = token(Scope::Triager).await;
        for body in [form(&[("a.log", b"x\n"), ("b.log", b"")]), form(&[("b.log", b"")]), Vec::new()] {
            check("POST", "/api/v1/reports", &world.send(bring(Some(&triager), body)).await);
        }
        let own = format!("/api/v1/reports/{report}");
        for change in [json!({"state": "fixed", "build": "v3", "note": "x"}), json!({"state": "open"})] {
            let answer = world.send(request("PATCH", &own, Some(&triager), change.to_string().into())).await;
            check("PATCH", "/api/v1/reports/{id}", &answer);
        }
        check("GET", "/api/v1/reports/{id}", &world.get(&own).await);
        check("GET", "/api/v1/reports", &world.get("/api/v1/reports?state=fixed").await);
        for _ in 0..2 {
            let uri = format!("/api/v1/reports/{report}");
            let answer = world.send(request("DELETE", &uri, Some(&triager), Body::empty())).await;
            check("DELETE", "/api/v1/reports/{id}", &answer);
            let uri = format!("/api/v1/machines/{}", machine(1));
            let answer = world.send(request("DELETE", &uri, Some(&admin), Body::empty())).await;
            check("DELETE", "/api/v1/machines/{id}", &answer);
        }
        // Without a token, and with one of another scope.
        for route in table().iter().filter(|route| route.access != Access::Open) {
            let uri = uri(route.path, &report);
            check(route.method, route.path, &world.send(request(route.method, &uri, None, Body::empty())).await);
            let other = if route.access == Access::Enroll { &admin } else { &enrolment };
            check(route.method, route.path, &world.send(request(route.method, &uri, Some(other), Body::empty())).await);
        }
        let table: BTreeSet<_> = table().iter().map(|route| (route.method, route.path)).collect();
        assert_eq!(asked, table, "every route was asked");
    });
}

#[test]
fn an_answer_that_is_not_as_described_is_found() {
    let described = Described::new();
    let fault = |body: Value| {
        let headers = [("content-type".parse().expect("a name"), "application/json".parse().expect("a value"))];
        let answer =
            Answer { status: StatusCode::OK, headers: headers.into_iter().collect(), body: body.to_string().into() };
        described.fault("GET", "/api/v1/machines/{id}", &answer)
    };
    let good = json!({"id": machine(1), "first_seen": "", "logs": 1, "losses": {}, "losses_left_out": 0, "log_ids": [],
            "boots": [], "boots_left_out": false, "settings": []});
    assert_eq!(fault(good.clone()), None);
    for (key, value) in [("new", json!(1)), ("logs", json!("1")), ("heartbeat", json!({"new": 1})), ("id", json!(null))]
    {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(fault(bad).is_some(), "{key}");
    }
    let mut bad = good;
    bad.as_object_mut().expect("an object").remove("losses");
    assert!(fault(bad).is_some(), "a key that is always there is not");
}
