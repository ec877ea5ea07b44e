//! The pages of machines: who is there, what one is like, and how it is forgotten.

use axum::body::Body;
use axum::http::StatusCode;
use server::auth::Scope;
use wire::{Kind, Observation, Path, Value as Field};

use crate::enrolment::token;
use crate::learned::log;
use crate::sample::{Sample, batch, event, machine};
use crate::told::{everything_of, loss};
use crate::world::{World, on_each_database, request};

async fn page(world: &World, uri: &str) -> String {
    let answer = world.get(uri).await;
    assert_eq!(answer.status, StatusCode::OK, "{uri}: {}", answer.text());
    answer.text()
}

/// Which of the first machines a page links.
fn linked(page: &str, numbers: std::ops::RangeInclusive<u32>) -> Vec<u32> {
    numbers.filter(|number| page.contains(&format!("href=\"/machines/{}\"", machine(*number)))).collect()
}

#[test]
fn machines_come_by_filter_by_name_and_page_by_page() {
    on_each_database(async |world| {
        let empty = page(&world, "/machines").await;
        assert!(empty.contains("No machines yet") && empty.contains("weavewatch watch"), "{empty}");
        for number in 1..=45 {
            let reasons: &[_] = if number == 7 { &[] } else { &["killed_by_env"] };
            world.upload(&batch(number, vec![log(1, 0x100, Path::D3d11, reasons)])).await;
        }
        // One that never sent a log.
        let mut quiet = batch(46, Vec::new());
        quiet.losses = vec![loss(None, "queue_full", 0, 9)];
        world.upload(&quiet).await;

        let first = page(&world, "/machines").await;
        assert_eq!(linked(&first, 1..=46), (1..=40).collect::<Vec<_>>());
        let (next, _) = first.split_once("\" rel=\"next\"").expect("there is a next page");
        let (_, next) = next.rsplit_once("href=\"").expect("it is a link");
        let second = page(&world, &next.replace("&#38;", "&")).await;
        assert_eq!(linked(&second, 1..=46), (41..=46).collect::<Vec<_>>());
        assert!(second.contains("9 events lost") && second.contains("45 machines with logs"), "{second}");

        let engaged = page(&world, "/machines?outcome=engaged").await;
        assert_eq!(linked(&engaged, 1..=46), [7]);
        assert!(engaged.contains("1 of 45 machines") && engaged.contains("1 Split engaged"), "{engaged}");
        let by_name = page(&world, &format!("/machines?q={}&outcome=killed", &machine(0x2a)[..31])).await;
        assert_eq!(linked(&by_name, 1..=46), (32..=45).collect::<Vec<_>>());
        for nobody in ["?q=zz", "?q=%25", "?outcome=local", "?q=ff"] {
            let none = page(&world, &format!("/machines{nobody}")).await;
            assert!(linked(&none, 1..=46).is_empty() && none.contains("No machine"), "{nobody}");
        }
        for wrong in ["?cursor=x", "?outcome=nonsense"] {
            assert_eq!(world.get(&format!("/machines{wrong}")).await.status, StatusCode::BAD_REQUEST);
        }
    });
}

#[test]
fn a_machine_names_first_what_somebody_forgot_and_is_drawn_boot_by_boot() {
    on_each_database(async |world| {
        let forced = [("provenance", Field::Text("user-forced: igpu".to_owned()))];
        let mut newest = log(4, 0x200, Path::D3d11, &["killed_by_env"]);
        newest.observations.insert(0, Observation::Event(event(10, 2, Kind::OverrideFollowed, "ra.test", &forced)));
        let mut told = batch(1, vec![log(1, 0x100, Path::D3d11, &[]), newest]);
        told.losses = vec![loss(None, "queue_full", 5, 7)];
        told.heartbeat = Some(wire::Heartbeat { queue_bytes: 77, ..wire::Heartbeat::default() });
        world.upload(&told).await;
        let page = page(&world, &format!("/machines/{}", machine(1))).await;
        for words in [
            "2 test flags were set",
            "DXR_D3D_FORCE_GPU",
            "user settings, followed",
            "and still in the newest log",
            "Every present crosses",
            "3D panel",
            // Without the words that all GPUs have.
            ">RTX 3080 laptop</text>",
            ">Intel Iris Xe Graphics</text>",
            "Boot of 2026-09-01 12:00:00",
            "1 Split engaged, 1 Killed by setting",
            "queue_full",
            "77 bytes",
            &format!("href=\"/api/v1/machines/{}/export\"", machine(1)),
            &format!("href=\"/logs?machine={}\"", machine(1)),
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        // A reader deletes nothing.
        assert!(!page.contains("<form class=\"sign-in\""), "{page}");
        for (uri, status) in [(format!("/machines/{}", machine(2)), 404), ("/machines/x".to_owned(), 404)] {
            assert_eq!(world.get(&uri).await.status.as_u16(), status);
        }
        assert_eq!(world.get(&format!("/machines/{}?x=1", machine(1))).await.status, StatusCode::BAD_REQUEST);
    });
}

#[test]
fn a_kill_switch_counts_as_set_until_a_log_tells_otherwise() {
    on_each_database(async |world| {
        let killed = |day| log(day, 0x100, Path::Service, &["killed_by_env"]);
        let engaged = |day| log(day, 0x100, Path::Service, &[]);
        // As the log of a client of the service, which tells nothing of the split.
        let mute = |day| wire::Segment { observations: Vec::new(), ..log(day, 0x100, Path::IpcClient, &[]) };
        world.upload(&batch(1, vec![killed(1), mute(2)])).await;
        world.upload(&batch(2, vec![killed(1), engaged(2), mute(3)])).await;
        world.upload(&batch(3, vec![engaged(1), mute(2), killed(3)])).await;
        world.upload(&batch(4, vec![mute(1)])).await;
        for state in ["killed", "flagged"] {
            let listed = page(&world, &format!("/machines?state={state}")).await;
            assert_eq!(linked(&listed, 1..=4), [1, 3], "{state}");
            assert!(listed.contains("still set on 2 machines"), "{state}: {listed}");
        }
    });
}

#[test]
fn an_admin_forgets_a_machine_and_nobody_else_does() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        world.upload(&batch(2, vec![Sample::default().segment()])).await;
        let uri = format!("/machines/{}/delete", machine(1));
        for scope in [Scope::Reader, Scope::Triager] {
            let secret = token(&world, scope).await;
            let answer = world.send(request("POST", &uri, Some(&secret), Body::empty())).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN);
        }
        assert_eq!(world.send(request("POST", &uri, None, Body::empty())).await.status, StatusCode::UNAUTHORIZED);
        // On this machine pages are open without a session, but nothing is changed so.
        let mut local = request("POST", &uri, None, Body::empty());
        local.headers_mut().insert("host", "127.0.0.1:8787".parse().expect("a header"));
        assert_eq!(world.send_from("127.0.0.1:4000", local).await.status, StatusCode::UNAUTHORIZED);
        assert!(everything_of(&world, 1).await > 0);

        let admin = token(&world, Scope::Admin).await;
        let answer = world.send(request("POST", &uri, Some(&admin), Body::empty())).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/machines"));
        assert_eq!(everything_of(&world, 1).await, 0);
        let rows = world.app.store.audit(None, 1).await.expect("the database answers").0;
        assert_eq!((rows[0].deed.as_str(), rows[0].object.as_str()), ("machine_deleted", machine(1).as_str()));
        let again = world.send(request("POST", &uri, Some(&admin), Body::empty())).await;
        assert_eq!(again.status, StatusCode::NOT_FOUND);
        assert_eq!(linked(&page(&world, "/machines").await, 1..=2), [2]);
    });
}
