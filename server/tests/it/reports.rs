//! Reports: what is brought is read as the command line reads it, kept, found again, read again, and forgotten.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::Value;
use server::audit::Actor;
use server::auth::Scope;
use server::store::Place;
use sqlx::AssertSqlSafe;

use crate::sample::{Sample, batch, machine};
use crate::world::{Answer, World, connect, on_each_database, request};

/// A name as the runtime gives it.
pub const NAME: &str = "DisplayXR_MyViewer.exe.7_2026-09-14_12-00-00.log";
const BOUNDARY: &str = "a-boundary-of-ours";

/// The bytes of a form with these files.
pub fn form(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in files {
        let head = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        );
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    }
    body.extend(format!("--{BOUNDARY}--\r\n").bytes());
    body
}

/// A request that brings this form.
pub fn bring(token: Option<&str>, body: impl Into<Body>) -> Request<Body> {
    let mut request = request("POST", "/api/v1/reports", token, body.into());
    let kind = format!("multipart/form-data; boundary={BOUNDARY}").parse().expect("a header");
    request.headers_mut().insert("content-type", kind);
    request
}

/// Brings files as a triager, and waits until they are stored.
pub async fn report(world: &World, files: &[(&str, &[u8])]) -> Answer {
    let token = world.app.store.create_token(Scope::Triager, "triager").await.expect("a token").secret;
    let answer = world.send(bring(Some(&token), form(files))).await;
    world.app.store.files_are_stored().await;
    answer
}

/// The same; the answer is good.
pub async fn good(world: &World, files: &[(&str, &[u8])]) -> Value {
    let answer = report(world, files).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    answer.json()
}

/// A log whose split was killed, rendered on this adapter.
pub fn log(render: &str) -> Vec<u8> {
    format!(
        "=== DisplayXR Log Started ===\r\nProcess: MyViewer.exe (PID 7)\r\nTimestamp: 2026-09-14 12:00:00\r\n\
         ============================\r\n\r\n\
         [2026-09-14 12:00:00.001] [OXR  ] LOG in xrCreateInstance: Instance created\r\n\
         [2026-09-14 12:00:01.000] [WARN ] [d3d_log_weave_placement] weave placement: render='{render}' \
         LUID=00000000:00015f3a, panel scanout='Intel(R) Iris(R) Xe Graphics' LUID=00000000:00013c07 — weave on the RENDER \
         adapter; every present crosses adapters to reach scanout (split=0 reason=killed_by_env) (#918)\r\n\
         \r\n=== DisplayXR Log Ended ===\r\n"
    )
    .into_bytes()
}

/// A zip archive with these members.
pub fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write as _;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, contents) in members {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).expect("memory takes it");
        archive.write_all(contents).expect("memory takes it");
    }
    archive.finish().expect("memory takes it").into_inner()
}

#[test]
fn a_report_is_kept_found_and_forgotten() {
    on_each_database(async |world| {
        let bundle = zip(&[("logs/a.log", &log("RTX A")), ("report.md", b"# Weavewatch report\n")]);
        let said = report(&world, &[(NAME, &log("RTX B")), ("field.zip", &bundle), ("empty.log", b"")]).await;
        assert_eq!(said.status, StatusCode::CREATED, "{}", said.text());
        let (location, said) = (said.header("location").to_owned(), said.json());
        let id = said["id"].as_str().expect("an id");
        assert_eq!(
            (said["url"].as_str(), location),
            (Some(format!("/reports/{id}").as_str()), format!("/api/v1/reports/{id}"))
        );
        let logs = said["logs"].as_array().expect("a list");
        let files: Vec<_> = logs.iter().map(|log| log["file"].as_str().unwrap_or_default()).collect();
        assert_eq!(files, [NAME, "field.zip!/logs/a.log"], "by start, then name; our own report is no log");
        assert!(logs.iter().all(|log| log["verdict"]["killed"] == true && log["schema"] == "weavewatch.scan/1"));
        assert_eq!(said["refused"][0]["file"], "empty.log");

        let whole = world.json(&format!("/api/v1/reports/{id}")).await;
        assert_eq!(whole["files"].as_array().map(Vec::len), Some(2), "an empty file is not kept");
        assert_eq!(whole["refused"], said["refused"]);
        assert!(whole["logs"][1]["timeline"].is_array() && whole["logs"][1]["advice"].is_array());
        assert_eq!(whole["logs"][1]["replay"]["answer"]["schema"], "weavewatch.replay/1");
        let page = world.json(&format!("/api/v1/reports/{id}?limit=1")).await;
        assert_eq!((&page["logs"][0], &page["next"]), (&whole["logs"][0], &Value::from(1)));
        let page = world.json(&format!("/api/v1/reports/{id}?limit=1&cursor=1")).await;
        assert_eq!((&page["logs"][0], &page["next"]), (&whole["logs"][1], &Value::Null));
        assert_eq!(world.json(&format!("/api/v1/reports/{id}?log=1")).await, whole["logs"][1]);
        world.get(&format!("/api/v1/reports/{id}?log=2")).await.assert_problem(404);
        world.get(&format!("/api/v1/reports/{id}?log=x")).await.assert_problem(400);
        world.get(&format!("/api/v1/reports/{id}?format=pdf")).await.assert_problem(400);

        let markdown = world.get(&format!("/api/v1/reports/{id}?format=markdown")).await;
        assert_eq!(
            (markdown.status, markdown.header("content-type")),
            (StatusCode::OK, "text/markdown; charset=utf-8")
        );
        assert!(markdown.text().contains("2 logs: 2 killed; 1 input could not be read"), "{}", markdown.text());
        assert_eq!(markdown.text().matches("### Expected beside observed").count(), 2, "both pages fit");
        let html = world.get(&format!("/reports/{id}")).await;
        assert_eq!(html.status, StatusCode::OK);
        assert!(html.text().contains("RTX A") && html.text().contains("empty.log"));

        let delete = async |scope| {
            let token = world.app.store.create_token(scope, "test").await.expect("a token").secret;
            world.send(request("DELETE", &format!("/api/v1/reports/{id}"), Some(&token), Body::empty())).await
        };
        delete(Scope::Reader).await.assert_problem(403);
        assert_eq!(delete(Scope::Admin).await.status, StatusCode::OK);
        delete(Scope::Triager).await.assert_problem(404);
        world.get(&format!("/api/v1/reports/{id}")).await.assert_problem(404);
        assert_eq!(rows(&world).await, 0);
        let (audit, _) = world.app.store.audit(None, 10).await.expect("the database answers");
        let noted: Vec<_> = audit.iter().filter(|row| row.deed == "report_deleted").map(|row| &row.object).collect();
        assert_eq!(noted, [&id], "once, and with its id");
    });
}

#[test]
fn reports_are_listed_newest_first_by_page_and_filter() {
    on_each_database(async |world| {
        let mut ids = Vec::new();
        for number in 0..5 {
            let file =
                if number == 2 { b"[2026-09-14 12:00:00.001] [WARN ] [f] nothing\n".to_vec() } else { log("RTX") };
            let said = good(&world, &[("a.log", &file)]).await;
            ids.push(said["id"].as_str().expect("an id").to_owned());
            // Their moments differ, so that the order is known.
            tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        }
        ids.reverse();
        let listed = async |query: &str| {
            let (mut found, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = world.json(&format!("/api/v1/reports?limit=2{query}{cursor}")).await;
                found.extend(
                    page["items"]
                        .as_array()
                        .expect("a list")
                        .iter()
                        .map(|item| item["id"].as_str().unwrap_or("").to_owned()),
                );
                let Some(next) = page["next"].as_str() else { return found };
                cursor = format!("&cursor={next}");
            }
        };
        assert_eq!(listed("").await, ids);
        assert_eq!(listed("&outcome=unknown").await, ids[2..3]);
        assert_eq!(listed("&outcome=killed").await.len(), 4);
        let item = &world.json("/api/v1/reports?limit=1").await["items"][0];
        assert_eq!(
            (&item["logs"], &item["outcomes"]["killed"], &item["files"][0]),
            (&1.into(), &1.into(), &"a.log".into())
        );
        let created = item["created"].as_str().expect("a time");
        assert_eq!(listed(&format!("&from={created}")).await, ids[..1]);
        assert_eq!(listed(&format!("&to={created}")).await, ids[1..]);
        let day = &created[..10];
        assert_eq!(listed(&format!("&from={day}&to={day}")).await.len(), 5);
        assert_eq!(listed("&to=2020-01-01").await.len(), 0);
        for wrong in ["cursor=x", "from=yesterday", "outcome=bad", "limit=0", "colour=red"] {
            world.get(&format!("/api/v1/reports?{wrong}")).await.assert_problem(400);
        }
    });
}

#[test]
fn a_log_that_an_agent_sent_is_named_and_the_machine_of_a_bundle_takes_its_reports_along() {
    on_each_database(async |world| {
        for number in [1, 2] {
            world.upload(&batch(number, vec![Sample { name: NAME, ..Sample::default() }.segment()])).await;
        }
        let said = good(&world, &[(NAME, &log("RTX"))]).await;
        let machines: Vec<_> =
            said["logs"][0]["same_as"].as_array().expect("a list").iter().map(|log| log["machine"].clone()).collect();
        assert_eq!(machines.len(), 2, "the name alone fits both");
        let stored = said["logs"][0]["same_as"][0]["id"].as_str().expect("an id");
        assert_eq!(world.json(&format!("/api/v1/logs/{stored}")).await["file"], NAME);

        let manifest = format!("{{\"schema\":\"weavewatch.bundle/1\",\"machine\":\"{}\"}}", machine(2));
        let bundle = zip(&[(NAME, &log("RTX")), ("manifest.json", manifest.as_bytes())]);
        let told = good(&world, &[("b.zip", &bundle)]).await;
        let same = told["logs"][0]["same_as"].as_array().expect("a list");
        assert_eq!((same.len(), &same[0]["machine"]), (1, &machine(2).into()), "the bundle says which");
        assert_eq!(told["logs"].as_array().map(Vec::len), Some(1), "the manifest is no log");
        let id = told["id"].as_str().expect("an id");
        assert_eq!(world.json(&format!("/api/v1/reports?machine={}", machine(2))).await["items"][0]["id"], id);

        assert!(crate::told::everything_of(&world, 2).await > 3);
        world.app.store.delete_machine(&machine(2), &Actor::command_line()).await.expect("the database answers");
        assert_eq!(crate::told::everything_of(&world, 2).await, 0);
        world.get(&format!("/api/v1/reports/{id}")).await.assert_problem(404);
        let id = said["id"].as_str().expect("an id");
        assert_eq!(
            world.json(&format!("/api/v1/reports/{id}")).await["logs"][0]["same_as"].as_array().map(Vec::len),
            Some(1)
        );
    });
}

#[test]
fn reports_of_older_rules_are_read_again() {
    on_each_database(async |world| {
        let first = good(&world, &[("a.log", &log("RTX A"))]).await;
        let second = good(&world, &[("b.zip", &zip(&[("b.log", &log("RTX B"))]))]).await;
        let before = [&first, &second].map(|said| format!("/api/v1/reports/{}", said["id"].as_str().expect("an id")));
        let whole = world.json(&before[0]).await;
        let age = async || {
            let mut connection = connect(&world.place).await;
            for sql in ["update reports set rules = 0", "update report_logs set outcome = 'unknown', summary = '{}'"] {
                sqlx::query(sql).execute(&mut connection).await.expect("the tables exist");
            }
        };
        age().await;
        let mut again = world.json(&before[0]).await;
        again["analysed"] = whole["analysed"].clone();
        assert_eq!(again, whole, "asking is enough");
        assert_eq!(world.json("/api/v1/reports?outcome=killed").await["items"].as_array().map(Vec::len), Some(1));

        age().await;
        let mut told = Vec::new();
        let done =
            server::rejudge_reports(&world.app.store, false, &mut |done| told.push(done)).await.expect("it reads them");
        assert_eq!((done, told), (2, vec![1, 2]));
        assert_eq!(world.json("/api/v1/reports?outcome=killed").await["items"].as_array().map(Vec::len), Some(2));
        assert_eq!(server::rejudge_reports(&world.app.store, false, &mut |_| ()).await.expect("nothing to do"), 0);
    });
}

#[test]
fn old_reports_go_by_age_and_by_size() {
    on_each_database(async |world| {
        for _ in 0..4 {
            good(&world, &[("a.log", &log("RTX"))]).await;
            tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        }
        let store = &world.app.store;
        let items = world.json("/api/v1/reports").await["items"].as_array().expect("a list").clone();
        assert_eq!(store.prune_reports(None, None).await.expect("it answers"), 0);
        let second = items[2]["created"].as_str().expect("a time");
        assert_eq!(store.prune_reports(Some(second), None).await.expect("it answers"), 1);
        let mut connection = connect(&world.place).await;
        let size: i64 =
            sqlx::query_scalar(AssertSqlSafe("select cast(max(stored_bytes) as bigint) from reports".to_owned()))
                .fetch_one(&mut connection)
                .await
                .expect("the table exists");
        // Room for two and a half of them.
        let room = u64::try_from(size * 5 / 2).expect("sizes are positive");
        assert_eq!(store.prune_reports(None, Some(room)).await.expect("it answers"), 1);
        assert_eq!(store.prune_reports(None, Some(0)).await.expect("it answers"), 2);
        assert_eq!(rows(&world).await, 0);
    });
}

#[test]
fn the_demo_takes_reports_on_this_machine_and_from_no_foreign_page() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let world = World::demo(Place::File(folder.path().join("demo.sqlite"))).await;
        let send = async |peer: &str, header: Option<(&'static str, &str)>| {
            let mut request = bring(None, form(&[("a.log", &log("RTX"))]));
            request.headers_mut().insert("host", "127.0.0.1:8787".parse().expect("a header"));
            if let Some((name, value)) = header {
                request.headers_mut().insert(name, value.parse().expect("a header"));
            }
            world.send_from(peer, request).await.status.as_u16()
        };
        assert_eq!(send("127.0.0.1:1", None).await, 201);
        assert_eq!(send("127.0.0.1:1", Some(("origin", "http://127.0.0.1:8787"))).await, 201);
        assert_eq!(send("192.0.2.7:1", None).await, 401);
        for foreign in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
            assert_eq!(send("127.0.0.1:1", Some(foreign)).await, 401, "{foreign:?}");
        }
        world.app.store.close().await;
    });
}

/// Rows of all tables of reports.
pub async fn rows(world: &World) -> i64 {
    let mut connection = connect(&world.place).await;
    let mut rows = 0;
    for table in ["reports", "report_files", "report_logs"] {
        let sql = AssertSqlSafe(format!("select count(*) from {table}"));
        rows += sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut connection).await.expect("the tables exist");
    }
    rows
}
