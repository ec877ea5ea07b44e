//! The page at `/triage`: logs are brought by its form with and without a session, and found again in its list.

use axum::body::Body;
use axum::http::Request;
use server::auth::Scope;
use server::store::Place;

use crate::enrolment::token;
use crate::reports::{good, log, zip};
use crate::sign_in::{Browser, csrf};
use crate::world::{Answer, World, on_each_database};

const BOUNDARY: &str = "----WebKitFormBoundaryOfOurs";
const LINE: &str = "[2026-09-14 12:00:01.000] [WARN ] [d3d_log_weave_placement] weave placement: render='RTX A' LUID=00000000:00015f3a, \
                    panel scanout='Iris' LUID=00000000:00013c07 — weave on the RENDER adapter; every present crosses adapters to \
                    reach scanout (split=0 reason=killed_by_env) (#918)";

/// A field as a browser writes it; with a file's name when it is one.
fn field(name: &str, file: Option<&str>, value: &[u8]) -> Vec<u8> {
    let file = file.map(|file| format!("; filename=\"{file}\"\r\nContent-Type: application/octet-stream"));
    let head =
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{}\r\n\r\n", file.unwrap_or_default());
    [head.as_bytes(), value, b"\r\n"].concat()
}

fn body(fields: &[Vec<u8>]) -> Vec<u8> {
    [fields.concat(), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}

/// As a browser sends the form.
async fn submit(browser: &Browser<'_>, body: Vec<u8>) -> Answer {
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    browser.send_bytes("POST", "/triage", &[("content-type", &kind), ("sec-fetch-site", "same-origin")], body).await
}

async fn signed_in(world: &World, scope: Scope) -> Browser<'_> {
    let mut browser = Browser::remote(world);
    let secret = token(world, scope).await;
    assert_eq!(browser.sign_in(&secret, "/triage").await.status.as_u16(), 303);
    browser
}

async fn kept(world: &World) -> usize {
    world.json("/api/v1/reports").await["items"].as_array().expect("a list").len()
}

#[test]
fn a_form_with_files_is_taken_with_its_token_in_front_only() {
    on_each_database(async |world| {
        let browser = signed_in(&world, Scope::Triager).await;
        let page = browser.get("/triage").await.text();
        let csrf = csrf(&page);
        let (own, file) = (field("csrf", None, csrf.as_bytes()), field("file", Some("a.log"), &log("RTX A")));
        for (what, fields) in [
            ("no token", vec![file.clone()]),
            ("a wrong token", vec![field("csrf", None, "0".repeat(csrf.len()).as_bytes()), file.clone()]),
            ("an empty token", vec![field("csrf", None, b""), file.clone()]),
            ("the token behind the file", vec![file.clone(), own.clone()]),
            ("the token as a text", vec![field("text", None, csrf.as_bytes()), file.clone()]),
            ("a token that does not end", vec![field("csrf", None, csrf.repeat(200).as_bytes()), file.clone()]),
        ] {
            let answer = submit(&browser, body(&fields)).await;
            assert_eq!(answer.status.as_u16(), 403, "{what}");
            assert!(
                answer.header("content-type").starts_with("text/html") && answer.text().contains("Nothing was changed")
            );
        }
        let torn = submit(&browser, own[..own.len() - 9].to_vec()).await;
        assert_eq!(torn.status.as_u16(), 403);
        // From a foreign page the right token is worth nothing.
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let foreign = [("content-type", kind.as_str()), ("sec-fetch-site", "cross-site")];
        let answer = browser.send_bytes("POST", "/triage", &foreign, body(&[own.clone(), file.clone()])).await;
        assert_eq!((answer.status.as_u16(), kept(&world).await), (403, 0));

        let many = (0..40).map(|number| field("file", Some(&format!("{number}.log")), &log("RTX A")));
        let all: Vec<_> = [own].into_iter().chain(many).collect();
        assert!(body(&all).len() > 16 << 10, "longer than what is looked at for the token");
        let answer = submit(&browser, body(&all)).await;
        assert_eq!(answer.status.as_u16(), 303, "{}", answer.text());
        let address = answer.header("location").to_owned();
        assert!(address.starts_with("/reports/"), "{address}");
        let whole = world.json(&format!("/api/v1{address}")).await;
        assert_eq!(whole["files"].as_array().map(Vec::len), Some(40));
        assert_eq!(whole["refused"].as_array().map(Vec::len), Some(0), "the token is no file");
        assert_eq!(browser.get(&address).await.status.as_u16(), 200);
    });
}

#[test]
fn a_line_that_is_pasted_is_read_like_a_log() {
    on_each_database(async |world| {
        let browser = signed_in(&world, Scope::Admin).await;
        let own = field("csrf", None, csrf(&browser.get("/triage").await.text()).as_bytes());
        // A browser sends the field of files also when nothing was chosen.
        let unused = field("file", Some(""), b"");
        let answer = submit(&browser, body(&[own.clone(), unused.clone(), field("text", None, LINE.as_bytes())])).await;
        assert_eq!(answer.status.as_u16(), 303, "{}", answer.text());
        let whole = world.json(&format!("/api/v1{}", answer.header("location"))).await;
        assert_eq!(whole["logs"][0]["file"], "pasted.log");
        assert_eq!(
            (&whole["logs"][0]["verdict"]["killed"], &whole["logs"][0]["verdict"]["line"]),
            (&true.into(), &1.into())
        );

        let both = body(&[
            own.clone(),
            field("file", Some("b.zip"), &zip(&[("x.log", &log("A"))])),
            field("text", None, b"x\r\n"),
        ]);
        let whole = world.json(&format!("/api/v1{}", submit(&browser, both).await.header("location"))).await;
        assert_eq!(whole["logs"].as_array().map(Vec::len), Some(2));

        for (status, fields, says) in [
            (422, vec![own.clone(), unused.clone(), field("text", None, b" \r\n")], "choose a file, or paste a log"),
            (422, vec![own.clone(), field("file", Some("empty.log"), b"")], "the file is empty"),
            (
                413,
                [vec![own.clone()], vec![field("file", Some("a.log"), b"x"); 1_001]].concat(),
                "more than 1000 files",
            ),
        ] {
            let answer = submit(&browser, body(&fields)).await;
            assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
            assert!(answer.text().contains(says) && answer.text().contains("Nothing was kept"), "{}", answer.text());
        }
        let cut = submit(&browser, [own, field("file", Some("a.log"), b"x")].concat()).await;
        assert_eq!((cut.status.as_u16(), kept(&world).await), (400, 2));
    });
}

#[test]
fn only_who_may_bring_finds_the_form() {
    on_each_database(async |world| {
        let reader = signed_in(&world, Scope::Reader).await;
        let page = reader.get("/triage").await.text();
        assert!(!page.contains("id=\"bring\"") && page.contains("triager or admin"), "{page}");
        let answer = submit(&reader, body(&[field("text", None, LINE.as_bytes())])).await;
        assert_eq!(answer.status.as_u16(), 403);
        let nobody = submit(&Browser::remote(&world), body(&[field("text", None, LINE.as_bytes())])).await;
        assert_eq!(nobody.status.as_u16(), 401);
        assert!(nobody.text().contains("action=\"/sign-in\""));
        // On the server's own machine pages are open, and nothing is changed there without a session.
        let local = Browser::local(&world);
        assert!(!local.get("/triage").await.text().contains("id=\"bring\""));
        assert_eq!(submit(&local, body(&[field("text", None, LINE.as_bytes())])).await.status.as_u16(), 401);
        assert_eq!(kept(&world).await, 0);
    });
}

#[test]
fn the_demo_takes_the_form_without_a_session() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let world = World::demo(Place::File(folder.path().join("demo.sqlite"))).await;
        let browser = Browser::local(&world);
        assert!(browser.get("/triage").await.text().contains("id=\"bring\""));
        let form = body(&[field("csrf", None, b""), field("text", None, LINE.as_bytes())]);
        let answer = submit(&browser, form.clone()).await;
        assert_eq!(answer.status.as_u16(), 303, "{}", answer.text());
        let request = Request::builder().method("POST").uri("/triage").header("host", "127.0.0.1:8787");
        let request = request.header("origin", "https://evil.example").body(Body::from(form)).expect("a request");
        assert_eq!(world.send_from("127.0.0.1:4000", request).await.status.as_u16(), 401);
        world.app.store.close().await;
    });
}

#[test]
fn reports_are_listed_with_hostile_names_as_text() {
    on_each_database(async |world| {
        assert!(world.get("/triage").await.text().contains("No reports yet"));
        let long = format!("\u{202e}{}.log", "x".repeat(3_000));
        let mut ids = Vec::new();
        for name in ["<script>alert(1)</script>.log", "b.log", long.as_str()] {
            let said = good(&world, &[(name, &log("RTX"))]).await;
            ids.push(said["id"].as_str().expect("an id").to_owned());
        }
        let page = world.get("/triage").await.text();
        assert!(page.contains("3 reports") && page.contains("Killed by setting"), "{page}");
        assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "{page}");
        assert!(!page.contains('\u{202e}') && page.contains("‹U+202E›"));
        assert!(ids.iter().all(|id| page.contains(&format!("href=\"/reports/{id}\""))));

        let found = world.get("/triage?q=B.LOG&state=new&outcome=killed").await.text();
        assert!(found.contains(&ids[1]) && !found.contains(&ids[0]) && found.contains("value=\"B.LOG\""), "{found}");
        assert!(world.get("/triage?state=confirmed").await.text().contains("None of 3 reports fits"));
        for wrong in ["state=open", "outcome=bad", "cursor=x", "split=off"] {
            assert_eq!(world.get(&format!("/triage?{wrong}")).await.status.as_u16(), 400, "{wrong}");
        }
    });
}
