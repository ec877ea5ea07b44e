//! How a machine gets a token of its own, and what that token is good for.

use axum::body::Body;
use server::auth::Scope;
use server::store::Place;
use sqlx::{AssertSqlSafe, Executor};
use wire::{Deleted, ENROLL_SCHEMA, ENROLLED_SCHEMA, Enroll, Enrolled};

use crate::sample::{Sample, batch, machine};
use crate::world::{Answer, World, connect, on_each_database, request};

/// A token of this scope.
pub async fn token(world: &World, scope: Scope) -> String {
    world.app.store.create_token(scope, "").await.expect("a token").secret
}

async fn ask(world: &World, secret: &str, body: impl Into<Body>) -> Answer {
    world.send(request("POST", "/api/v1/enroll", Some(secret), body.into())).await
}

pub fn question(number: u32) -> Vec<u8> {
    let question = Enroll { schema: ENROLL_SCHEMA.to_owned(), machine: machine(number), agent: "0.1.0".to_owned() };
    serde_json::to_vec(&question).expect("plain data")
}

/// Enrols a machine and answers its token.
pub async fn enroll(world: &World, number: u32) -> String {
    let secret = token(world, Scope::Enrolment).await;
    let answer = ask(world, &secret, question(number)).await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
    let enrolled: Enrolled = serde_json::from_slice(&answer.body).expect("the noun of the contract");
    assert_eq!((enrolled.schema.as_str(), enrolled.machine), (ENROLLED_SCHEMA, machine(number)));
    enrolled.token
}

async fn delete(world: &World, secret: &str, number: u32) -> Answer {
    world.send(request("DELETE", &format!("/api/v1/machines/{}", machine(number)), Some(secret), Body::empty())).await
}

#[test]
fn an_enrolled_machine_uploads_for_itself_and_for_no_other() {
    on_each_database(async |world| {
        let own = enroll(&world, 1).await;
        let log = || vec![Sample::default().segment()];
        assert_eq!(world.upload_as(&own, &batch(1, log())).await.status.as_u16(), 200);
        let rows = world.rows().await;
        let answer = world.upload_as(&own, &batch(2, log())).await;
        answer.assert_problem(403);
        assert!(answer.text().contains("another machine"), "{}", answer.text());
        let mut nobody = batch(1, log());
        nobody.machine = "DESKTOP-ANNA".to_owned();
        world.upload_as(&own, &nobody).await.assert_problem(403);
        assert_eq!(world.rows().await, rows, "nothing is stored");
        assert_eq!(world.json("/api/v1/machines").await["items"].as_array().map(Vec::len), Some(1));
        // A token that was made by hand is good for any machine.
        let free = token(&world, Scope::Agent).await;
        for number in [1, 2] {
            assert_eq!(world.upload_as(&free, &batch(number, log())).await.status.as_u16(), 200);
        }
    });
}

#[test]
fn enrolling_again_replaces_the_earlier_token() {
    on_each_database(async |world| {
        let (first, other) = (enroll(&world, 1).await, enroll(&world, 2).await);
        let second = enroll(&world, 1).await;
        let status = async |secret: &str, number| world.upload_as(secret, &batch(number, vec![])).await.status.as_u16();
        assert_eq!(status(&first, 1).await, 401);
        assert_eq!((status(&second, 1).await, status(&other, 2).await), (200, 200));
        let rows = world.app.store.tokens().await.expect("the database answers");
        assert_eq!(rows.iter().filter(|row| row.machine == Some(machine(1))).count(), 1, "the list does not grow");
        assert!(!format!("{rows:?}").contains(&second), "the secret is not kept");
    });
}

#[test]
fn enrolments_at_the_same_time_leave_one_token() {
    on_each_database(async |world| {
        let world = std::sync::Arc::new(world);
        let secret = token(&world, Scope::Enrolment).await;
        let questions: Vec<_> = (0..12)
            .map(|_| {
                let (world, secret) = (world.clone(), secret.clone());
                tokio::spawn(async move { ask(&world, &secret, question(1)).await })
            })
            .collect();
        let mut tokens = Vec::new();
        for question in questions {
            let answer = question.await.expect("no panic");
            assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
            tokens.push(answer.json()["token"].as_str().expect("a token").to_owned());
        }
        let mut valid = 0;
        for token in tokens {
            valid += usize::from(world.app.store.caller(&token).await.expect("the database answers").is_some());
        }
        assert_eq!(valid, 1);
        let rows = world.app.store.tokens().await.expect("the database answers");
        assert_eq!(rows.iter().filter(|row| row.machine.is_some()).count(), 1);
    });
}

#[test]
fn a_revoked_machine_is_shut_out_until_it_enrols_again() {
    on_each_database(async |world| {
        let own = enroll(&world, 1).await;
        let store = &world.app.store;
        let rows = store.tokens().await.expect("the database answers");
        let row = rows.iter().find(|row| row.machine == Some(machine(1))).expect("the list shows the machine");
        assert!(row.name.starts_with("enrolled with ") && row.scope == "agent", "{row:?}");
        assert!(
            store.revoke_token(&row.id, &server::audit::Actor::command_line()).await.expect("the database answers")
        );
        world.upload_as(&own, &batch(1, vec![])).await.assert_problem(401);
        delete(&world, &own, 1).await.assert_problem(401);
        let again = enroll(&world, 1).await;
        assert_eq!(world.upload_as(&again, &batch(1, vec![])).await.status.as_u16(), 200);
        world.upload_as(&own, &batch(1, vec![])).await.assert_problem(401);
    });
}

#[test]
fn an_enrolment_token_enrols_and_nothing_else_does() {
    on_each_database(async |world| {
        let secret = token(&world, Scope::Enrolment).await;
        world.upload_as(&secret, &batch(1, vec![Sample::default().segment()])).await.assert_problem(403);
        delete(&world, &secret, 1).await.assert_problem(403);
        world.send(request("GET", "/api/v1/summary", Some(&secret), Body::empty())).await.assert_problem(403);
        assert_eq!(world.rows().await, Vec::<String>::new());
        let own = enroll(&world, 1).await;
        for stranger in [own, token(&world, Scope::Agent).await, token(&world, Scope::Admin).await] {
            ask(&world, &stranger, question(2)).await.assert_problem(403);
        }
        ask(&world, "ww_guess", question(2)).await.assert_problem(401);
    });
}

#[test]
fn what_is_no_enrolment_is_a_problem() {
    on_each_database(async |world| {
        let secret = token(&world, Scope::Enrolment).await;
        let good = String::from_utf8(question(1)).expect("UTF-8");
        for body in [
            String::new(),
            "{}".to_owned(),
            "[]".to_owned(),
            good.replace("enroll/1", "enroll/2"),
            good.replace(&machine(1), "DESKTOP-ANNA"),
            good.replace(&machine(1), &machine(1).replace('0', "A")),
            good.replace("0.1.0", &"x".repeat(16 << 10)),
        ] {
            ask(&world, &secret, body).await.assert_problem(400);
        }
        let hostile = good.replace("0.1.0", r"'; drop table tokens; --\u0000\u001b[31m");
        assert_eq!(ask(&world, &secret, hostile).await.status.as_u16(), 200);
        let rows = world.app.store.tokens().await.expect("the database answers");
        assert!(rows.iter().all(|row| !row.name.chars().any(char::is_control)), "{rows:?}");
    });
}

#[test]
fn a_machine_deletes_itself_an_admin_any_and_nobody_else_one() {
    on_each_database(async |world| {
        let (own, other) = (enroll(&world, 1).await, enroll(&world, 2).await);
        let logs = || ["a.log", "b.log"].map(|name| Sample { name, ..Sample::default() }.segment()).to_vec();
        for (secret, number) in [(&own, 1), (&other, 2)] {
            let mut batch = batch(number, logs());
            batch.heartbeat = Some(wire::Heartbeat::default());
            batch.losses = vec![crate::told::loss(Some("a.log"), "truncated", 5, 1)];
            assert_eq!(world.upload_as(secret, &batch).await.status.as_u16(), 200);
        }
        let rows = world.rows().await;
        delete(&world, &own, 2).await.assert_problem(403);
        delete(&world, &token(&world, Scope::Agent).await, 2).await.assert_problem(403);
        delete(&world, &token(&world, Scope::Reader).await, 2).await.assert_problem(403);
        assert_eq!(world.rows().await, rows);

        let two: Deleted = serde_json::from_slice(&delete(&world, &own, 1).await.body).expect("the noun");
        assert_eq!(two, Deleted { logs: 2 });
        assert_eq!(crate::told::everything_of(&world, 1).await, 0);
        assert!(crate::told::everything_of(&world, 2).await > 5, "the other machine is untouched");
        world.get(&format!("/api/v1/machines/{}", machine(1))).await.assert_problem(404);
        assert_eq!(world.json("/api/v1/summary").await["total"]["logs"], 2);

        let none: Deleted = serde_json::from_slice(&delete(&world, &own, 1).await.body).expect("the noun");
        assert_eq!(none, Deleted { logs: 0 }, "again is no mistake");
        let admin = token(&world, Scope::Admin).await;
        delete(&world, &admin, 1).await.assert_problem(404);
        assert_eq!(delete(&world, &admin, 2).await.json()["logs"], 2);
        assert_eq!(crate::told::everything_of(&world, 2).await, 0);

        // The token lives on, and what is sent again is there again.
        assert_eq!(world.upload_as(&own, &batch(1, logs())).await.json()["accepted"], 2);
        let again: Vec<_> = world.rows().await;
        assert_eq!(again.len() * 2, rows.len());
        assert!(again.iter().all(|row| rows.contains(row)), "{again:?}");
    });
}

#[test]
fn a_deletion_and_uploads_at_the_same_time_leave_whole_logs() {
    on_each_database(async |world| {
        let world = std::sync::Arc::new(world);
        let own = enroll(&world, 1).await;
        let segments: Vec<_> = (0..6_u32)
            .map(|n| {
                let mut segment = Sample::default().segment();
                segment.log = machine(100 + n);
                segment
            })
            .collect();
        let tasks: Vec<_> = (0..18)
            .map(|n| {
                let (world, own, segments) = (world.clone(), own.clone(), segments.clone());
                tokio::spawn(async move {
                    if n % 3 == 2 {
                        delete(&world, &own, 1).await
                    } else {
                        world.upload_as(&own, &batch(1, segments)).await
                    }
                })
            })
            .collect();
        for task in tasks {
            let answer = task.await.expect("no panic");
            assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
        }
        world.upload_as(&own, &batch(1, segments)).await;
        let rows = world.rows().await;
        assert_eq!(rows.len(), 3 * 6, "a log, a reason and a record, six times: {rows:?}");
        assert_eq!(delete(&world, &own, 1).await.json()["logs"], 6);
        assert_eq!(crate::told::everything_of(&world, 1).await, 0);
    });
}

#[test]
fn a_deletion_waits_for_a_batch_under_way_and_takes_its_logs_too() {
    on_each_database(async |world| {
        let world = std::sync::Arc::new(world);
        let own = enroll(&world, 1).await;
        world.upload_as(&own, &batch(1, vec![Sample::default().segment()])).await;
        // What a batch does, up to its commit.
        let mut connection = connect(&world.place).await;
        let in_postgres = matches!(world.place, Place::Postgres(_));
        let mut execute = async |statement: String| {
            connection.execute(AssertSqlSafe(statement)).await.expect("the batch goes on").rows_affected()
        };
        execute(if in_postgres { "begin" } else { "begin immediate" }.to_owned()).await;
        execute(format!("update machines set last_contact = last_contact where id = '{}'", machine(1))).await;
        let columns = "machine, file, received, end_offset, facts, report";
        let copy = format!(
            "insert into logs (id, log, {columns}) select '{0}', '{0}', {columns} from logs where machine = '{1}'",
            machine(77),
            machine(1)
        );
        assert_eq!(execute(copy).await, 1);
        let deletion = {
            let (world, own) = (world.clone(), own.clone());
            tokio::spawn(async move { delete(&world, &own, 1).await })
        };
        if in_postgres {
            let mut watch = connect(&world.place).await;
            let waiting = "select count(*) from pg_stat_activity
                           where datname = current_database() and wait_event_type = 'Lock'";
            while !deletion.is_finished() {
                let count: i64 = sqlx::query_scalar(waiting).fetch_one(&mut watch).await.expect("it answers");
                if count > 0 {
                    break;
                }
            }
        }
        assert!(!deletion.is_finished(), "it cannot know yet");
        execute("commit".to_owned()).await;
        let answer = deletion.await.expect("no panic");
        assert_eq!(answer.json(), serde_json::json!({"logs": 2}));
        assert_eq!(crate::told::everything_of(&world, 1).await, 0);
    });
}
