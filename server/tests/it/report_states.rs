//! How far people are with a report: changed by programs and by the form of the page, found by filter, noted, forgotten.

use axum::body::Body;
use serde_json::{Value, json};
use server::auth::Scope;
use sqlx::AssertSqlSafe;

use crate::enrolment::token;
use crate::reports::{good, log};
use crate::world::{Answer, World, connect, on_each_database, request};

/// A report, and the address of its object.
async fn kept(world: &World) -> (String, String) {
    let said = good(world, &[("a.log", &log("RTX"))]).await;
    let id = said["id"].as_str().expect("an id").to_owned();
    let uri = format!("/api/v1/reports/{id}");
    (id, uri)
}

async fn change(world: &World, uri: &str, token: &str, change: &Value) -> Answer {
    world.send(request("PATCH", uri, Some(token), change.to_string().into())).await
}

#[test]
fn a_report_goes_from_state_to_state_and_every_step_is_noted() {
    on_each_database(async |world| {
        let triager = world.app.store.create_token(Scope::Triager, "Tess").await.expect("a token").secret;
        let (id, uri) = kept(&world).await;
        assert_eq!(world.json(&uri).await["state"], "new");

        let seen = json!({"state": "confirmed", "assignee": " Ada ", "note": "Seen.\n"});
        let said = change(&world, &uri, &triager, &seen).await;
        assert_eq!(said.status.as_u16(), 200, "{}", said.text());
        let said = said.json();
        assert_eq!(
            (&said["state"], &said["assignee"], &said["build"]),
            (&json!("confirmed"), &json!("Ada"), &Value::Null)
        );
        assert_eq!((&said["notes"][0]["text"], &said["notes"][0]["name"]), (&json!("Seen."), &json!("Tess")));

        let fixed = json!({"state": "fixed", "build": "v2.14.0", "note": "<b>gone</b>"});
        assert_eq!(change(&world, &uri, &triager, &fixed).await.json()["build"], "v2.14.0");
        // The same once more changes nothing but the notes.
        assert_eq!(change(&world, &uri, &triager, &fixed).await.json()["notes"].as_array().map(Vec::len), Some(3));
        let whole = world.json(&uri).await;
        assert_eq!(
            (&whole["state"], &whole["build"], &whole["assignee"]),
            (&json!("fixed"), &json!("v2.14.0"), &json!("Ada"))
        );
        let back = change(&world, &uri, &triager, &json!({"state": "not_a_fault", "assignee": ""})).await.json();
        assert_eq!((&back["build"], &back["assignee"]), (&Value::Null, &Value::Null));

        let (audit, _) = world.app.store.audit(None, 50).await.expect("it answers");
        let mut steps: Vec<_> = audit.iter().filter(|row| row.deed == "report_changed" && row.object == id).collect();
        steps.sort_by(|a, b| a.id.cmp(&b.id));
        let mut steps: Vec<_> = steps.iter().map(|row| row.outcome.as_str()).collect();
        steps.sort_unstable();
        assert_eq!(
            steps,
            [
                "Confirmed",
                "Fixed in build v2.14.0",
                "Not a fault",
                "assigned to Ada",
                "assigned to nobody",
                "noted something",
                "noted something",
                "noted something"
            ]
        );

        for wrong in [
            json!({"state": "fixed"}),
            json!({"state": "new", "build": "v1"}),
            json!({"state": "open"}),
            json!({"colour": "red"}),
            json!({"note": "x".repeat(10_001)}),
            json!([]),
        ] {
            change(&world, &uri, &triager, &wrong).await.assert_problem(400);
        }
        let reader = token(&world, Scope::Reader).await;
        change(&world, &uri, &reader, &json!({"state": "new"})).await.assert_problem(403);
        change(&world, "/api/v1/reports/AAAAAAAAAAAAAAAAAAAAAA", &triager, &json!({})).await.assert_problem(404);
    });
}

#[test]
fn reports_are_found_by_state_and_by_what_they_say() {
    on_each_database(async |world| {
        let triager = token(&world, Scope::Triager).await;
        let (first, uri) = kept(&world).await;
        let said = good(&world, &[("100%_.log", &log("Quadro \"Q\""))]).await;
        let second = said["id"].as_str().expect("an id").to_owned();
        change(&world, &uri, &triager, &json!({"state": "confirmed", "assignee": "Ada", "note": "The cable!"})).await;
        let found = async |query: &str| {
            let page = world.json(&format!("/api/v1/reports?{query}")).await;
            let items = page["items"].as_array().expect("a list").iter();
            items.map(|item| item["id"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        for query in ["state=confirmed", "q=ADA", "q=the%20cable!", "q=rtx", &format!("q={first}")] {
            assert_eq!(found(query).await, [first.as_str()], "{query}");
        }
        for query in ["state=new", "q=quadro", "q=100%25_", "q=o%20%22q%22"] {
            assert_eq!(found(query).await, [second.as_str()], "{query}");
        }
        assert_eq!(found("q=1_0").await.len(), 0, "an underscore is one");
        assert_eq!(found("q=").await.len(), 2);
        world.get("/api/v1/reports?state=open").await.assert_problem(400);
        let item = &world.json("/api/v1/reports?state=confirmed").await["items"][0];
        assert_eq!((&item["state"], &item["assignee"]), (&json!("confirmed"), &json!("Ada")));
    });
}

#[test]
fn notes_go_with_their_report() {
    on_each_database(async |world| {
        let triager = token(&world, Scope::Triager).await;
        let notes = async || {
            let sql = AssertSqlSafe("select count(*) from report_notes".to_owned());
            let mut connection = connect(&world.place).await;
            sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut connection).await.expect("the table exists")
        };
        let mut uris = Vec::new();
        for _ in 0..2 {
            let (_, uri) = kept(&world).await;
            change(&world, &uri, &triager, &json!({"note": "x"})).await;
            uris.push(uri);
        }
        assert_eq!(notes().await, 2);
        let deleted = world.send(request("DELETE", &uris[0], Some(&triager), Body::empty())).await;
        assert_eq!((deleted.status.as_u16(), notes().await), (200, 1));
        assert_eq!(world.app.store.prune_reports(None, Some(0)).await.expect("it answers"), 1);
        assert_eq!(notes().await, 0);
    });
}

#[test]
fn rules_that_read_a_report_again_leave_its_state() {
    on_each_database(async |world| {
        let triager = token(&world, Scope::Triager).await;
        let (_, uri) = kept(&world).await;
        change(&world, &uri, &triager, &json!({"state": "fixed", "build": "v3", "note": "x"})).await;
        let mut connection = connect(&world.place).await;
        sqlx::query("update reports set rules = 0").execute(&mut connection).await.expect("the table exists");
        let whole = world.json(&uri).await;
        assert_eq!(
            (&whole["state"], &whole["build"], &whole["notes"][0]["text"]),
            (&json!("fixed"), &json!("v3"), &json!("x"))
        );
    });
}
