//! The page of one report, its forms, and two logs side by side.

use axum::body::Body;
use server::app::State;
use server::auth::Scope;
use server::store::{Place, Store};

use crate::enrolment::token;
use crate::reports::{NAME, good, log, zip};
use crate::sample::{Sample, batch, machine};
use crate::sign_in::{Browser, csrf};
use crate::world::{World, on_each_database, request};

async fn kept(world: &World, files: &[(&str, &[u8])]) -> String {
    good(world, files).await["id"].as_str().expect("an id").to_owned()
}

/// A log of an earlier day whose split engaged.
fn engaged() -> Sample {
    Sample { name: "good.log", split: 1, reasons: &[], started: Some("2026-09-10T08:00:00"), ..Sample::default() }
}

#[test]
fn one_log_is_told_like_a_lab_report() {
    on_each_database(async |world| {
        let id = kept(&world, &[("a.log", &log("RTX A"))]).await;
        let page = world.get(&format!("/reports/{id}")).await;
        assert_eq!(page.status.as_u16(), 200, "{}", page.text());
        let page = page.text();
        for says in [
            "Killed by setting",
            "RTX A",
            "Expected beside observed",
            "Ask next",
            "id=\"line-7\"",
            "data-copy=\"#markdown\"",
            &format!("/reports/{id}?log=0"),
            "nobody looks after it",
        ] {
            assert!(page.contains(says), "{says}: {page}");
        }
        assert!(!page.contains("method=\"post\""), "a reader changes nothing");
        assert!(!page.contains("File an issue"), "no tracker is set");
        for (query, status) in [("?log=1", 404), ("?log=x", 400), ("?cursor=x", 400), ("?x=1", 400)] {
            assert_eq!(world.get(&format!("/reports/{id}{query}")).await.status.as_u16(), status, "{query}");
        }
        assert_eq!(world.get("/reports/AAAAAAAAAAAAAAAAAAAAAA").await.status.as_u16(), 404);
    });
}

#[test]
fn of_many_logs_each_has_its_place() {
    on_each_database(async |world| {
        let hostile = log("<script>alert(1)</script>");
        let members: Vec<_> = (0..60).map(|number| format!("{number:02}.log")).collect();
        let logs: Vec<_> = members.iter().map(|name| (name.as_str(), hostile.as_slice())).collect();
        let id = kept(&world, &[("b.zip", &zip(&logs)), ("b.zip", &log("Second")), ("empty.log", b"")]).await;
        let page = world.get(&format!("/reports/{id}")).await.text();
        assert!(page.contains("61 logs in this report") || page.contains("60 logs in this report"), "{page}");
        assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "{page}");
        assert!(page.contains("empty.log") && page.contains("the file is empty"));
        assert!(page.contains("cursor=50") && page.contains("?log=3\""), "{page}");
        let told = world.get(&format!("/reports/{id}?log=3")).await.text();
        assert!(told.contains("b.zip!/03.log") && told.contains("Log 4 of"), "{told}");
        let last = world.get(&format!("/reports/{id}?log=58")).await.text();
        assert!(last.contains("b.zip!/58.log") && last.contains("First page"), "{last}");
    });
}

#[test]
fn the_forms_change_and_delete_for_who_may() {
    on_each_database(async |world| {
        let id = kept(&world, &[("a.log", &log("RTX A"))]).await;
        let uri = format!("/reports/{id}");
        let mut browser = Browser::remote(&world);
        browser.sign_in(&token(&world, Scope::Triager).await, "/").await;
        let page = browser.get(&uri).await.text();
        let csrf = csrf(&page);
        assert!(page.contains(&format!("action=\"{uri}\"")), "{page}");
        let form = |fields: &str| format!("csrf={csrf}&{fields}");
        assert_eq!(browser.submit(&uri, "state=confirmed").await.status.as_u16(), 403, "without its token");
        let answer = browser.submit(&uri, &form("state=fixed&build=&note=")).await;
        assert_eq!(answer.status.as_u16(), 400);
        assert!(answer.text().contains("in which build"), "{}", answer.text());
        let note = "note=%3Cb%3Eseen%3C%2Fb%3E%0Aonce&assignee=Ada&build=v3";
        let answer = browser.submit(&uri, &form(&format!("state=confirmed&{note}"))).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, uri.as_str()));
        let page = browser.get(&uri).await.text();
        assert!(page.contains("&#60;b&#62;seen&#60;/b&#62;") && !page.contains("<b>seen"), "{page}");
        assert!(
            page.contains("Confirmed") && page.contains("Ada") && !page.contains("v3"),
            "a build is for what is fixed"
        );

        let reader = token(&world, Scope::Reader).await;
        let refused = world.send(request("POST", &format!("{uri}/delete"), Some(&reader), Body::empty())).await;
        assert_eq!(refused.status.as_u16(), 403);
        let gone = browser.submit(&format!("{uri}/delete"), &form("")).await;
        assert_eq!((gone.status.as_u16(), gone.header("location")), (303, "/triage"));
        assert_eq!(browser.get(&uri).await.status.as_u16(), 404);
    });
}

#[test]
fn a_known_machine_is_linked_with_its_last_good_log() {
    on_each_database(async |world| {
        let logs = vec![Sample { name: NAME, ..Sample::default() }.segment(), engaged().segment()];
        world.upload(&batch(1, logs)).await;
        let id = kept(&world, &[(NAME, &log("RTX"))]).await;
        let page = world.get(&format!("/reports/{id}")).await.text();
        assert!(page.contains(&format!("/machines/{}", machine(1))), "the same log names it: {page}");
        let good = server::store::log_id(&machine(1), &crate::sample::log_id("good.log"));
        let address = format!("/reports/compare?a={good}&#38;b={id}.0");
        assert!(page.contains(&address), "{page}");
        let same = server::store::log_id(&machine(1), &crate::sample::log_id(NAME));
        assert!(page.contains(&format!("/logs/{same}")), "{page}");
        let compared = world.get(&address.replace("&#38;", "&")).await;
        assert_eq!(compared.status.as_u16(), 200, "{}", compared.text());
        assert!(compared.text().contains("killed_by_env") && compared.text().contains("What followed"));
        let own = world.get(&format!("/logs/{same}")).await.text();
        assert!(own.contains(&format!("/reports/compare?a={good}&#38;b={same}")), "{own}");
    });
}

#[test]
fn two_logs_stand_side_by_side() {
    on_each_database(async |world| {
        let asked = world.get("/reports/compare").await;
        assert_eq!(asked.status.as_u16(), 200);
        assert!(asked.text().contains("name=\"b\""));
        let hostile = "<script>alert(1)</script>";
        let id = kept(&world, &[("a.log", &log("RTX A")), ("b.zip", &zip(&[("b.log", &log(hostile))]))]).await;
        let page = world.get(&format!("/reports/compare?a={id}&b=https%3A%2F%2Fhere%2Freports%2F{id}%3Flog%3D1")).await;
        assert_eq!(page.status.as_u16(), 200, "{}", page.text());
        let page = page.text();
        assert!(page.contains("Render GPU") && page.contains("RTX A") && page.contains("alert(1)"), "{page}");
        assert!(!page.contains(hostile), "as text");
        let same = world.get(&format!("/reports/compare?a={id}&b={id}")).await.text();
        assert!(same.contains("Nothing that is compared differs"), "{same}");
        for (query, status) in [
            (format!("a={id}&b={id}.2"), 404),
            (format!("a={id}&b=AAAAAAAAAAAAAAAAAAAAAA"), 404),
            (format!("a={id}&b={}", "0".repeat(32)), 404),
            (format!("a={id}&b=%3Cb%3E"), 400),
            ("c=1".to_owned(), 400),
        ] {
            assert_eq!(world.get(&format!("/reports/compare?{query}")).await.status.as_u16(), status, "{query}");
        }
    });
}

#[test]
fn a_tracker_gets_the_words_when_one_is_set() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place::File(folder.path().join("test.sqlite"));
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        let tracker = Some("https://tracker.example/new?t={title}&b={body}".to_owned());
        let world = World::of(State { issue_tracker: tracker, ..State::new(store) }, place).await;
        let id = kept(&world, &[("a.log", &log("RTX \"A\" & co"))]).await;
        let page = world.get(&format!("/reports/{id}")).await.text();
        let (_, link) = page.split_once("href=\"https://tracker.example/new?t=").expect("a link");
        let (link, _) = link.split_once('"').expect("it ends");
        assert!(link.starts_with("Killed%20by%20setting%3A%20MyViewer.exe"), "{link}");
        assert!(link.contains(&format!("reports%2F{id}")) && link.contains("RTX%20%22A%22"), "{link}");
        world.app.store.close().await;
    });
}
