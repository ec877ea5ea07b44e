//! What an admin does from elsewhere: tokens are made, listed and revoked, and every deed has its row in the audit log.

use axum::body::Body;
use serde_json::{Value, json};
use server::audit::{Actor, Deed};
use server::auth::Scope;
use server::store::Wish;

use crate::enrolment::{enroll, question, token};
use crate::sample::{Sample, batch, machine};
use crate::world::{Answer, World, connect, on_each_database, request};

async fn ask(world: &World, admin: &str, method: &str, uri: &str, body: Value) -> Answer {
    let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
    world.send(request(method, uri, Some(admin), body)).await
}

/// Every row of the audit log, newest first, page by page.
async fn audit(world: &World, admin: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = ask(world, admin, "GET", &format!("/api/v1/audit?limit=3&cursor={cursor}"), Value::Null).await;
        let page = page.json();
        rows.extend(page["items"].as_array().expect("a list").iter().cloned());
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return rows,
        }
    }
}

#[test]
fn an_admin_makes_lists_and_revokes_tokens() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        let wish = json!({"scope": "reader", "name": "wall", "expires_days": 30});
        let made = ask(&world, &admin, "POST", "/api/v1/tokens", wish).await;
        assert_eq!(made.status.as_u16(), 201, "{}", made.text());
        let made = made.json();
        let (id, secret) = (made["id"].as_str().expect("an id"), made["token"].as_str().expect("a secret"));
        assert_eq!((&made["scope"], &made["name"]), (&json!("reader"), &json!("wall")));
        let reads = async || world.send(request("GET", "/api/v1/summary", Some(secret), Body::empty())).await.status;
        assert_eq!(reads().await.as_u16(), 200);

        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let uri = format!("/api/v1/tokens?limit=2&cursor={cursor}");
            let page = ask(&world, &admin, "GET", &uri, Value::Null).await;
            assert!(!page.text().contains(secret), "secrets are not kept");
            let page = page.json();
            found.extend(page["items"].as_array().expect("a list").iter().cloned());
            match page["next"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        assert_eq!(found.len(), 4, "two of the test's, the admin's and the new one: {found:?}");
        let row = found.iter().find(|row| row["id"] == id).expect("it is listed");
        assert!(row["revoked"].is_null() && row["expires"] == made["expires"] && row["machine"].is_null(), "{row}");

        let uri = format!("/api/v1/tokens/{id}");
        assert_eq!(ask(&world, &admin, "DELETE", &uri, Value::Null).await.json(), json!({"revoked": id}));
        assert_eq!(reads().await.as_u16(), 401);
        ask(&world, &admin, "DELETE", &uri, Value::Null).await.assert_problem(404);
        for nothing in ["x", "%00", "../tokens"] {
            ask(&world, &admin, "DELETE", &format!("/api/v1/tokens/{nothing}"), Value::Null).await.assert_problem(404);
        }
    });
}

#[test]
fn what_is_no_wish_for_a_token_is_a_problem() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        for wish in [
            json!([]),
            json!({}),
            json!({"scope": "god"}),
            json!({"scope": "reader", "name": "\u{1b}[2J"}),
            json!({"scope": "reader", "name": "x".repeat(101)}),
            json!({"scope": "reader", "expires_days": 0}),
            json!({"scope": "reader", "expires_days": -1}),
            json!({"scope": "reader", "expires_days": 40_000}),
            json!({"scope": "reader", "expires": 1}),
            json!({"scope": "reader", "name": "x".repeat(20_000)}),
        ] {
            ask(&world, &admin, "POST", "/api/v1/tokens", wish).await.assert_problem(400);
        }
        for uri in
            ["/api/v1/tokens?cursor=x", "/api/v1/tokens?page=2", "/api/v1/audit?cursor=x", "/api/v1/audit?limit=0"]
        {
            ask(&world, &admin, "GET", uri, Value::Null).await.assert_problem(400);
        }
        assert_eq!(world.app.store.tokens().await.expect("the database answers").len(), 3);
    });
}

#[test]
fn a_token_ends_by_itself() {
    on_each_database(async |world| {
        let wish = Wish { scope: Scope::Reader, name: "guest", expires_days: Some(1) };
        let made = world.app.store.make_token(wish, &Actor::command_line()).await.expect("a token");
        let reads = async || {
            world.send(request("GET", "/api/v1/summary", Some(&made.secret), Body::empty())).await.status.as_u16()
        };
        assert_eq!(reads().await, 200);
        let mut connection = connect(&world.place).await;
        let yesterday = "update tokens set expires = '2026-01-01T00:00:00.000Z' where id = $1";
        sqlx::query(yesterday).bind(&made.id).execute(&mut connection).await.expect("time goes by");
        assert_eq!(reads().await, 401);
    });
}

#[test]
fn every_deed_has_a_row_that_says_who_and_from_where() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        let own = enroll(&world, 1).await;
        world.upload_as(&own, &batch(1, vec![Sample::default().segment()])).await;
        let made = ask(&world, &admin, "POST", "/api/v1/tokens", json!({"scope": "agent"})).await.json();
        let made = made["id"].as_str().expect("an id");
        ask(&world, &admin, "DELETE", &format!("/api/v1/tokens/{made}"), Value::Null).await;
        let machine = machine(1);
        let mut deletion = request("DELETE", &format!("/api/v1/machines/{machine}"), Some(&admin), Body::empty());
        deletion.headers_mut().insert("x-request-id", "deletion-7".parse().expect("a header"));
        assert_eq!(world.send(deletion).await.status.as_u16(), 200);
        // Nothing happens to what is not there.
        ask(&world, &admin, "DELETE", &format!("/api/v1/machines/{machine}"), Value::Null).await.assert_problem(404);
        // The old token is replaced in the same row, so the list does not tell of it; the audit log does.
        enroll(&world, 1).await;
        world
            .app
            .store
            .note(&Actor::command_line(), Deed::Rejudged, "all logs", "12 changed")
            .await
            .expect("it is noted");

        let rows = audit(&world, &admin).await;
        let tokens = world.app.store.tokens().await.expect("the database answers");
        let admin_id = &tokens.iter().find(|row| row.scope == "admin").expect("it is there").id;
        let deeds: Vec<_> = rows.iter().map(|row| row["deed"].as_str().expect("a word")).collect();
        // Those of one millisecond may stand in any order; each of ours waits for the one before.
        assert_eq!(deeds.iter().filter(|deed| **deed == "token_made").count(), 6, "{deeds:?}");
        let of = |deed: &str| rows.iter().filter(|row| row["deed"] == deed).collect::<Vec<_>>();
        let deleted = of("machine_deleted");
        assert_eq!(deleted.len(), 1, "{rows:?}");
        let expected = json!({"id": deleted[0]["id"], "at": deleted[0]["at"], "who": admin_id, "peer": "192.0.2.7",
            "deed": "machine_deleted", "object": machine, "outcome": "1 logs", "request": "deletion-7"});
        assert_eq!(*deleted[0], expected);
        let by = |deed: &str, object: &str| {
            rows.iter().find(|row| row["deed"] == deed && row["object"] == object).map(|row| row["who"].clone())
        };
        assert_eq!(by("token_revoked", made), Some(json!(admin_id)));
        assert_eq!(by("token_made", made), Some(json!(admin_id)));
        assert_eq!(by("token_made", admin_id), Some(json!("command line")));
        assert_eq!(by("rejudged", "all logs"), Some(json!("command line")));
        let enrolled = of("enrolled");
        assert!(enrolled.len() == 2 && enrolled.iter().all(|row| row["object"] == machine), "{enrolled:?}");
        let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().expect("text")).collect();
        assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "newest first: {ids:?}");
    });
}

#[test]
fn a_deed_that_fails_leaves_no_row_and_old_rows_go() {
    on_each_database(async |world| {
        let admin = token(&world, Scope::Admin).await;
        let before = audit(&world, &admin).await.len();
        let secret = token(&world, Scope::Enrolment).await;
        let wrong = String::from_utf8(question(1)).expect("UTF-8").replace("enroll/1", "enroll/2");
        world.send(request("POST", "/api/v1/enroll", Some(&secret), wrong.into())).await.assert_problem(400);
        ask(&world, &admin, "DELETE", &format!("/api/v1/machines/{}", machine(9)), Value::Null)
            .await
            .assert_problem(404);
        let rows = audit(&world, &admin).await;
        assert_eq!(rows.len(), before + 1, "the token for enrolment: {rows:?}");

        assert_eq!(world.app.store.forget_audit("2026-01-01T00:00:00.000Z").await.expect("the database answers"), 0);
        let newest = rows[0]["at"].as_str().expect("a time");
        let gone = world.app.store.forget_audit(newest).await.expect("the database answers");
        assert!(audit(&world, &admin).await.iter().all(|row| row["at"].as_str() >= Some(newest)), "{gone}");
    });
}
