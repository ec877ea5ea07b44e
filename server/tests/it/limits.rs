//! Too fast is 429 with a time to wait; whoever works as usual never sees it.

use std::num::NonZeroU32;
use std::time::Duration;

use axum::body::Body;
use server::app::State;
use server::auth::Scope;
use server::limits::{Limits, Rate, Rates};
use server::store::{Place, Store};

use crate::enrolment::{enroll, token};
use crate::sample::{Sample, batch};
use crate::world::{Answer, World, on_each_place, request};

/// So many, and the next one tomorrow.
fn only(burst: u32) -> Option<Rate> {
    Some(Rate { burst: NonZeroU32::new(burst)?, refill: Duration::from_hours(24) })
}

async fn world(place: Place, rates: Rates) -> World {
    let store = Store::open(&place).await.expect("the database opens");
    store.migrate().await.expect("the schema fits");
    World::of(State { limits: Limits::new(rates), ..State::new(store) }, place).await
}

fn assert_too_often(answer: &Answer) {
    answer.assert_problem(429);
    assert!(answer.json()["type"].as_str().is_some_and(|kind| kind.ends_with(":too-often")));
    let wait_s: u64 = answer.header("retry-after").parse().expect("whole seconds");
    assert!((1..=86_401).contains(&wait_s), "{wait_s}");
}

#[test]
fn uploads_are_limited_by_token_and_by_machine_where_many_share_one() {
    on_each_place(async |place| {
        let world = world(place, Rates { uploads: only(2), ..Rates::default() }).await;
        let own = enroll(&world, 1).await;
        let one = |machine| batch(machine, vec![Sample::default().segment()]);
        for _ in 0..2 {
            assert_eq!(world.upload_as(&own, &one(1)).await.status.as_u16(), 200);
        }
        assert_too_often(&world.upload_as(&own, &one(1)).await);
        let shared = token(&world, Scope::Agent).await;
        for machine in [2, 3] {
            for _ in 0..2 {
                assert_eq!(world.upload_as(&shared, &one(machine)).await.status.as_u16(), 200);
            }
            assert_too_often(&world.upload_as(&shared, &one(machine)).await);
        }
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 3, "reading goes on");
        world.app.store.close().await;
    });
}

#[test]
fn questions_are_limited_by_token() {
    on_each_place(async |place| {
        let world = world(place, Rates { reads: only(2), ..Rates::default() }).await;
        for _ in 0..2 {
            assert_eq!(world.get("/api/v1/summary").await.status.as_u16(), 200);
        }
        assert_too_often(&world.get("/api/v1/logs").await);
        let other = token(&world, Scope::Reader).await;
        let answer = world.send(request("GET", "/api/v1/logs", Some(&other), Body::empty())).await;
        assert_eq!(answer.status.as_u16(), 200);
        let page = world.get("/").await;
        assert_eq!(page.status.as_u16(), 429);
        assert!(page.header("content-type").starts_with("text/html"), "a person gets a page");
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        world.app.store.close().await;
    });
}

#[test]
fn tokens_cannot_be_tried_and_those_who_share_the_address_go_on() {
    on_each_place(async |place| {
        let world = world(place, Rates { failures: only(3), ..Rates::default() }).await;
        let get = async |peer: &str, token: &str| {
            world.send_from(peer, request("GET", "/api/v1/summary", Some(token), Body::empty())).await
        };
        let (attacker, elsewhere) = ("198.51.100.1:4000", "198.51.100.2:4000");
        let (known, new) = (token(&world, Scope::Reader).await, token(&world, Scope::Reader).await);
        assert_eq!(get(attacker, &known).await.status.as_u16(), 200);
        for guess in 0..4 {
            get(attacker, &format!("ww_{guess}")).await.assert_problem(401);
        }
        assert_too_often(&get(attacker, "ww_5").await);
        assert_too_often(&get("198.51.100.1:4001", "ww_6").await);
        assert_too_often(&get(attacker, &new).await);
        assert_eq!(get(attacker, &known).await.status.as_u16(), 200, "it was good a moment ago");
        assert_eq!(get(elsewhere, &new).await.status.as_u16(), 200);
        get(elsewhere, "ww_7").await.assert_problem(401);
        // The form to sign in is another way to try.
        let form = Body::from("token=ww_8");
        let mut request = request("POST", "/sign-in", None, form);
        let kind = "application/x-www-form-urlencoded".parse().expect("a header");
        request.headers_mut().insert("content-type", kind);
        assert_eq!(world.send_from(attacker, request).await.status.as_u16(), 429);
        world.app.store.close().await;
    });
}
