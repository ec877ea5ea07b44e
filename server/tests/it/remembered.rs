//! Pages that were drawn once stay what a new server would draw, whatever happens and whoever does it.

use std::collections::BTreeMap;
use std::io::Read as _;

use axum::body::Body;
use server::app::State;
use server::args::{Keep, Kept};
use server::audit::Actor;
use server::auth::Scope;
use server::{Store, retention, table};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::enrolment::token;
use crate::reports::{good, log};
use crate::sample::{Sample, batch, log_id, machine};
use crate::world::{World, connect, on_each_database, request};

/// Another server on the same database, which remembers nothing yet.
async fn another(world: &World) -> World {
    let store = Store::open(&world.place).await.expect("the database opens");
    World::of(State::new(store), world.place.clone()).await
}

/// An address of every page that is remembered; `log` and `report` are there.
fn addresses(log: &str, report: &str) -> Vec<String> {
    let remembered = table().into_iter().filter(|route| route.shows.is_some()).map(|route| route.path);
    let mut all: Vec<_> = remembered
        .map(|path| match path {
            "/logs/{id}" => path.replace("{id}", log),
            "/machines/{id}" => path.replace("{id}", &machine(1)),
            "/reports/{id}" => path.replace("{id}", report),
            "/reports/compare" => format!("{path}?a={report}&b={log}"),
            "/what-if" => format!("{path}?policy=adr039"),
            "/embed/{chart}" => path.replace("{chart}", "pairs"),
            "/explore" => format!("{path}?group_by=path&group_by=outcome"),
            _ => path.to_owned(),
        })
        .collect();
    assert!(all.len() > 8 && all.iter().all(|address| !address.contains('{')), "{all:?}");
    all.extend(["/?killed=true", "/logs?reason=killed_by_env"].map(str::to_owned));
    all
}

/// What every page says, as text.
async fn pages(world: &World, addresses: &[String]) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for address in addresses {
        let answer = world.get(address).await;
        let text = answer.text();
        // Each server counts when it is asked first.
        let text = match text.split_once("<time ").and_then(|(head, rest)| Some((head, rest.split_once("</time>")?.1)))
        {
            Some((head, rest)) if address.starts_with("/embed/") => format!("{head}{rest}"),
            _ => text,
        };
        let policy = answer.header("content-security-policy");
        pages.insert(address.clone(), format!("{} {policy} {text}", answer.status));
    }
    pages
}

async fn by_hand(world: &World, sql: &str) {
    let mut connection = connect(&world.place).await;
    let changed = connection.execute(AssertSqlSafe(sql.to_owned())).await.expect("the tables exist");
    assert!(changed.rows_affected() > 0, "{sql}");
    connection.close().await.expect("it closes");
}

/// What happens, one after the other.
const STEPS: [&str; 12] = [
    "a log",
    "a log of another machine by another server",
    "a later piece of a log",
    "rows changed by hand and then a commit",
    "rejudge",
    "roll-ups changed by hand and then a commit",
    "roll-ups counted anew",
    "a state of a report",
    "an agent that only says that it lives",
    "events pruned",
    "logs pruned",
    "a machine deleted",
];

async fn step(world: &World, other: &World, name: &str, report: &str) {
    let store = &world.app.store;
    let sample = Sample::default();
    match name {
        "a log" => drop(
            world.upload(&batch(1, vec![Sample { name: "b.log", split: 1, reasons: &[], ..sample }.segment()])).await,
        ),
        "a log of another machine by another server" => drop(other.upload(&batch(2, vec![sample.segment()])).await),
        "a later piece of a log" => {
            let mut later = Sample { split: 1, reasons: &[], ..sample }.segment();
            (later.start, later.end) = (200, 400);
            for own in &mut later.observations {
                if let wire::Observation::Event(event) = own {
                    (event.offset, event.line) = (300, 40);
                }
            }
            world.upload(&batch(1, vec![later])).await;
        }
        "rows changed by hand and then a commit" => {
            world.upload(&batch(3, vec![Sample { name: "c.log", ..sample }.segment()])).await;
            let change = "update logs set exe = 'By hand.exe', report = replace(report, 'MyViewer', 'By hand')";
            by_hand(world, &format!("{change} where machine = '{}'", machine(3))).await;
            world.upload(&batch(3, vec![Sample { name: "e.log", ..sample }.segment()])).await;
        }
        "rejudge" => drop(store.rejudge("", true).await.expect("the database answers")),
        "roll-ups changed by hand and then a commit" => {
            by_hand(world, "update rollups set logs = logs + 1000").await;
            world.upload(&batch(4, vec![Sample { name: "d.log", ..sample }.segment()])).await;
        }
        "roll-ups counted anew" => drop(store.rebuild_rollups().await.expect("the database answers")),
        "a state of a report" => {
            let triager = token(world, Scope::Triager).await;
            let uri = format!("/api/v1/reports/{report}");
            let change = r#"{"state": "confirmed", "note": "Seen."}"#;
            let answer = world.send(request("PATCH", &uri, Some(&triager), change.into())).await;
            assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
        }
        "an agent that only says that it lives" => {
            let mut alive = batch(1, Vec::new());
            "9.9.9-alive".clone_into(&mut alive.agent);
            alive.heartbeat = Some(wire::Heartbeat::default());
            world.upload(&alive).await;
        }
        "events pruned" => {
            let id = server::store::log_id(&machine(1), &log_id("b.log"));
            by_hand(world, &format!("update logs set last_received = '2020-01-01T00:00:00.000Z' where id = '{id}'"))
                .await;
            prune(world, Kept::Events).await;
        }
        "logs pruned" => prune(world, Kept::Logs).await,
        "a machine deleted" => {
            let deleted = store.delete_machine(&machine(1), &Actor::command_line()).await.expect("it answers");
            assert!(deleted.is_some());
        }
        _ => panic!("{name} is no step"),
    }
}

async fn prune(world: &World, kind: Kept) {
    let keep = Keep { keep_days: vec![(kind, 100)], keep_gib: None };
    let gone = retention::apply(&world.app.store, &keep, false, &Actor::command_line()).await.expect("it answers");
    assert!(gone.iter().any(|gone| gone.logs > 0));
}

#[test]
fn no_page_is_older_than_the_database() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let report = good(&world, &[("a.log", &log("RTX"))]).await["id"].as_str().expect("an id").to_owned();
        let own = server::store::log_id(&machine(1), &log_id("a.log"));
        let addresses = addresses(&own, &report);
        let other = another(&world).await;
        let mut before = pages(&world, &addresses).await;
        for name in STEPS {
            step(&world, &other, name, &report).await;
            let fresh = another(&world).await;
            let expected = pages(&fresh, &addresses).await;
            fresh.app.store.close().await;
            for server in [&world, &other] {
                for ask in ["at once", "again"] {
                    for (address, page) in pages(server, &addresses).await {
                        assert!(page == expected[&address], "{address} {ask} after {name}");
                    }
                }
            }
            assert!(before != expected, "{name} shows nowhere");
            before = expected;
        }
        other.app.store.close().await;
    });
}

#[test]
fn a_page_is_drawn_once_for_each_reader_and_address_until_something_changes() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let admin = token(&world, Scope::Admin).await;
        let first = world.get("/explore?group_by=exe").await.text();
        assert!(first.contains("MyViewer.exe"));
        // Behind the back of the program, so that only a page that is drawn anew shows it.
        by_hand(&world, "update rollups set value = '=Other.exe' where value = '=MyViewer.exe'").await;
        for _ in 0..2 {
            assert_eq!(world.get("/explore?group_by=exe").await.text(), first);
        }
        assert!(world.get("/explore?group_by=exe&path=").await.text().contains("Other.exe"), "another address");
        let of_admin = world.send(request("GET", "/explore?group_by=exe", Some(&admin), Body::empty())).await.text();
        assert!(of_admin.contains("Other.exe") && of_admin.contains("href=\"/audit\""), "another reader");
        // What no page shows leaves them alone.
        world.app.store.can_write().await.expect("there is room");
        assert!(world.app.store.lease("work", "me", "2026-01-01", "2026-01-02").await.expect("it answers"));
        assert_eq!(world.get("/explore?group_by=exe").await.text(), first);
        // And an agent that only says that it lives leaves those alone that show logs.
        let (logs, machines) = ("/explore?group_by=exe", "/machines");
        let seen = world.get(machines).await.text();
        let alive = wire::Batch { agent: "9.9.9-alive".to_owned(), ..batch(1, Vec::new()) };
        world.upload(&wire::Batch { heartbeat: Some(wire::Heartbeat::default()), ..alive }).await;
        assert_eq!(world.get(logs).await.text(), first);
        assert_ne!(world.get(machines).await.text(), seen);
        world.upload(&batch(2, vec![Sample::default().segment()])).await;
        assert_ne!(world.get(logs).await.text(), first);
    });
}

#[test]
fn a_remembered_page_comes_packed_or_plain_as_it_is_asked_for() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let reader = token(&world, Scope::Reader).await;
        let ask = async |method: &str, accepts: &'static str| {
            let mut request = request(method, "/", Some(&reader), Body::empty());
            request.headers_mut().insert("accept-encoding", accepts.parse().expect("a header"));
            world.send(request).await
        };
        let mut plain = None;
        for accepts in ["gzip, br", "identity", "gzip;q=0", "br, gzip"] {
            let answer = ask("GET", accepts).await;
            assert_eq!((answer.status.as_u16(), answer.header("vary")), (200, "accept-encoding"), "{accepts}");
            assert_eq!(answer.header("cache-control"), "no-store");
            assert!(answer.header("content-security-policy").contains("default-src"));
            let is_packed = answer.header("content-encoding") == "gzip";
            assert_eq!(is_packed, accepts.contains("gzip") && !accepts.contains("q=0"), "{accepts}");
            let page = if is_packed {
                let mut page = String::new();
                flate2::read::GzDecoder::new(&answer.body[..]).read_to_string(&mut page).expect("it is whole");
                page
            } else {
                answer.text()
            };
            assert!(page.contains("</html>"));
            assert_eq!(*plain.get_or_insert_with(|| page.clone()), page, "{accepts}");
        }
        let head = ask("HEAD", "gzip").await;
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
        // What goes wrong is told anew each time.
        assert_eq!(world.get("/explore?group_by=exe&path=metal").await.status.as_u16(), 400);
        assert_eq!(world.get("/logs/00000000000000000000000000000000").await.status.as_u16(), 404);
    });
}
