//! Files of reports are stored behind the answer: whatever happens in between, what was said of them is there, and nobody is
//! told that a file is there which is not.

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::Value;
use server::app::State;
use server::auth::Scope;
use server::store::{Place, Store};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::enrolment::token;
use crate::program::Running;
use crate::reports::{NAME, bring, form, log, rows, zip};
use crate::world::{Answer, World, connect, on_each_database, on_each_place, request};

/// Lets no file be stored in this database.
async fn keep_out(place: &Place) {
    let mut owner = connect(place).await;
    if matches!(place, Place::File(_)) {
        let sql = "create trigger fail before update on report_files begin select raise(abort, 'on purpose'); end";
        owner.execute(sql).await.expect("a trigger");
    } else {
        let sql = "create function fail() returns trigger language plpgsql as
                   $$ begin raise exception 'on purpose'; end $$";
        owner.execute(sql).await.expect("a function");
        let sql = "create trigger fail before update on report_files for each row execute function fail()";
        owner.execute(sql).await.expect("a trigger");
    }
    owner.close().await.expect("it closes");
}

async fn let_in(place: &Place) {
    let of = if matches!(place, Place::File(_)) { "" } else { " on report_files" };
    change(place, &format!("drop trigger fail{of}")).await;
}

/// Takes away what stands in for the files, and commits something, so that no page of before is remembered.
async fn forget_observations(world: &World) {
    change(&world.place, "update report_logs set observations = null").await;
    token(world, Scope::Reader).await;
}

async fn change(place: &Place, sql: &str) {
    let mut owner = connect(place).await;
    owner.execute(AssertSqlSafe(sql.to_owned())).await.expect("it is ours");
    owner.close().await.expect("it closes");
}

/// Brings a log and a bundle, and does not wait until they are stored.
async fn brought(world: &World) -> (String, Answer) {
    let bundle = zip(&[("logs/b.log", &log("RTX B"))]);
    let triager = token(world, Scope::Triager).await;
    let answer = world.send(bring(Some(&triager), form(&[(NAME, &log("RTX A")), ("b.zip", &bundle)]))).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    (answer.json()["id"].as_str().expect("an id").to_owned(), answer)
}

/// Where its files are.
async fn storage(world: &World, id: &str) -> Vec<Value> {
    let report = world.json(&format!("/api/v1/reports/{id}")).await;
    report["files"].as_array().expect("a list").iter().map(|file| file["storage"].clone()).collect()
}

const STORING: &str = "It is just being stored";
const MISSING: &str = "What was brought is missing";

#[test]
fn a_report_is_read_in_full_before_its_files_are_stored() {
    on_each_database(async |world| {
        keep_out(&world.place).await;
        let (id, _) = brought(&world).await;
        assert_eq!(storage(&world, &id).await, ["pending", "pending"]);
        let (address, json) = (format!("/reports/{id}"), format!("/api/v1/reports/{id}"));
        let (page, whole) = (world.get(&address).await.text(), world.json(&json).await);
        assert!(page.contains(STORING) && page.contains("RTX A"), "{page}");
        // What takes the files themselves finds them in memory.
        let compared = world.get(&format!("/reports/compare?a={id}.0&b={id}.1")).await;
        forget_observations(&world).await;
        let from_files = world.get(&format!("/reports/compare?a={id}.0&b={id}.1")).await;
        assert_eq!((from_files.status, from_files.text()), (StatusCode::OK, compared.text()));
        change(&world.place, "update reports set rules = 0").await;
        let mut again = world.json(&json).await;
        assert_eq!(again["rules"], whole["rules"], "it was read again");
        again["analysed"] = whole["analysed"].clone();
        assert_eq!(again, whole);

        let_in(&world.place).await;
        world.app.store.files_are_stored().await;
        assert_eq!(storage(&world, &id).await, ["stored", "stored"]);
        assert_eq!(world.get(&address).await.text(), page.replace(&format!(" {STORING}."), ""));
        let mut connection = connect(&world.place).await;
        let sum = "select cast(sum(length(body)) as bigint) from report_files";
        let body: i64 = sqlx::query_scalar(sum).fetch_one(&mut connection).await.expect("the table exists");
        let all = "select stored_bytes from reports";
        let stored: i64 = sqlx::query_scalar(all).fetch_one(&mut connection).await.expect("the table exists");
        assert!(0 < body && body < stored, "{body} {stored}");
        // Another server reads what is stored, and says the same.
        change(&world.place, "update reports set rules = 0").await;
        let store = Store::open(&world.place).await.expect("the database opens");
        let other = World::of(State::new(store), world.place.clone()).await;
        let mut again = other.json(&json).await;
        again["analysed"] = whole["analysed"].clone();
        again["files"] = whole["files"].clone();
        assert_eq!(again, whole);
        other.app.store.close().await;
    });
}

#[test]
fn a_report_can_go_before_its_files_are_stored() {
    on_each_database(async |world| {
        keep_out(&world.place).await;
        let (id, _) = brought(&world).await;
        let triager = token(&world, Scope::Triager).await;
        let gone = world.send(request("DELETE", &format!("/api/v1/reports/{id}"), Some(&triager), Body::empty())).await;
        assert_eq!(gone.status, StatusCode::OK);
        world.get(&format!("/api/v1/reports/{id}")).await.assert_problem(404);
        let (old, _) = brought(&world).await;
        assert_eq!(world.app.store.prune_reports(None, Some(0)).await.expect("it answers"), 1);
        world.get(&format!("/reports/{old}")).await;
        let_in(&world.place).await;
        world.app.store.files_are_stored().await;
        assert_eq!(rows(&world).await, 0, "nothing comes back");
    });
}

#[test]
fn files_are_stored_before_a_server_ends_in_good_order() {
    on_each_place(|place| async move {
        let world = World::open(place.clone()).await;
        let (id, _) = brought(&world).await;
        world.app.store.close().await;
        drop(world);
        let world = World::open(place).await;
        assert_eq!(storage(&world, &id).await, ["stored", "stored"]);
        world.app.store.close().await;
    });
}

#[test]
fn what_was_said_of_files_that_are_lost_stands_and_nobody_says_that_they_are_there() {
    on_each_place(|place| async move {
        let world = World::open(place.clone()).await;
        keep_out(&place).await;
        let (id, answer) = brought(&world).await;
        let (address, json) = (format!("/reports/{id}"), format!("/api/v1/reports/{id}"));
        let (page, whole) = (world.get(&address).await.text(), world.json(&json).await);
        // It cannot store them, and has no time to try again.
        world.app.store.close().await;
        drop(world);
        let_in(&place).await;
        let world = World::open(place).await;
        assert_eq!(storage(&world, &id).await, ["missing", "missing"]);
        let now = world.json(&json).await;
        assert_eq!(now["logs"], whole["logs"]);
        assert_eq!(now["logs"][0]["verdict"], answer.json()["logs"][0]["verdict"]);
        let told = world.get(&address).await.text();
        assert!(told.contains(MISSING) && !told.contains(STORING), "{told}");
        let article = |page: &str| page.split("<section class=\"standing\"").next().map(str::to_owned);
        let csrf_free = |page: &str| article(page).map(|own| own.split("<article").nth(1).map(str::to_owned));
        assert_eq!(csrf_free(&told), csrf_free(&page), "all of it is told");
        assert_eq!(world.get(&format!("/reports/compare?a={id}.0&b={id}.1")).await.status, StatusCode::OK);

        // Newer rules leave what they cannot read.
        change(&world.place, "update reports set rules = 0").await;
        assert_eq!(world.json(&json).await["logs"], whole["logs"]);
        let done = server::rejudge_reports(&world.app.store, false, &mut |_| ()).await.expect("it goes on");
        assert_eq!(done, 0);
        // Where it takes the file, that is said.
        forget_observations(&world).await;
        let short = world.get(&address).await;
        assert_eq!(short.status, StatusCode::OK);
        assert!(short.text().contains(MISSING) && short.text().contains("RTX A"));
        let refused = world.get(&format!("/reports/compare?a={id}.0&b={id}.1")).await;
        assert_eq!(refused.status, StatusCode::CONFLICT);
        assert!(refused.text().contains("missing"), "{}", refused.text());
        assert_eq!(world.app.store.prune_reports(None, Some(0)).await.expect("it answers"), 1);
        assert_eq!(rows(&world).await, 0);
        world.app.store.close().await;
    });
}

#[test]
fn a_server_that_is_killed_behind_the_answer_leaves_the_truth() {
    on_each_place(|place| async move {
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        let triager = store.create_token(Scope::Triager, "triager").await.expect("a token").secret;
        store.close().await;
        keep_out(&place).await;
        let home = tempfile::tempdir().expect("a temporary folder");
        let database = match &place {
            Place::File(path) => ["--data".to_owned(), path.to_string_lossy().into_owned()],
            Place::Postgres(url) => ["--database-url".to_owned(), url.clone()],
        };
        let arguments = ["serve", "--listen", "127.0.0.1:0", &database[0], &database[1]];
        let (mut server, line) = Running::start(home.path(), &arguments);
        let url = line.strip_prefix("listening on ").expect(&line).to_owned();
        let request = bring(Some(&triager), form(&[(NAME, &log("RTX A"))]));
        let kind = request.headers()["content-type"].clone();
        // Another test may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let sent = client.post(format!("{url}/api/v1/reports")).bearer_auth(&triager).header("content-type", kind);
        let answer = sent.body(form(&[(NAME, &log("RTX A"))])).send().await.expect("the server answers");
        assert_eq!(answer.status().as_u16(), 201);
        server.0.kill().expect("it is ours");
        server.0.wait().expect("it ends");
        let id: Value = serde_json::from_str(&answer.text().await.expect("it was sent")).expect("JSON");
        let id = id["id"].as_str().expect("an id").to_owned();

        let_in(&place).await;
        let world = World::open(place).await;
        assert_eq!(storage(&world, &id).await, ["missing"]);
        assert_eq!(world.json(&format!("/api/v1/reports/{id}")).await["logs"][0]["verdict"]["killed"], true);
        assert!(world.get(&format!("/reports/{id}")).await.text().contains(MISSING));
        world.app.store.close().await;
    });
}
