//! The page of how everything runs.

use server::auth::Scope;

use crate::sample::{Sample, batch, machine};
use crate::told::loss;
use crate::world::on_each_database;

#[test]
fn an_empty_server_says_what_it_is() {
    on_each_database(async |world| {
        let page = world.get("/health").await.text();
        for words in ["Nothing was ever uploaded", "How to send the first logs", "The server itself", "Schema"] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(page.contains("SQLite") || page.contains("PostgreSQL"));
        assert_eq!(world.get("/health?x=1").await.status.as_u16(), 400);
    });
}

#[test]
fn agents_losses_and_refusals_are_counted() {
    on_each_database(async |world| {
        for number in 1..=3 {
            let mut told = batch(number, vec![Sample::default().segment()]);
            told.agent = if number == 1 { "0.9.0" } else { "1.0.0" }.to_owned();
            told.losses = vec![loss(None, "queue_full", 2_000, 7)];
            if number == 2 {
                told.heartbeat =
                    Some(wire::Heartbeat { queue_bytes: 2_500_000, lag_s: 300, ..wire::Heartbeat::default() });
            }
            world.upload(&told).await;
        }
        let mut half = batch(4, vec![Sample::default().segment()]);
        half.segments[0].end = 0;
        assert_eq!(world.post(None, serde_json::to_vec(&half).expect("plain data")).await.status.as_u16(), 200);
        let page = world.get("/health").await.text();
        for words in [
            "All 4 machines were heard of within a day",
            "4 of 4",
            "0.9.0",
            // What agent 2 said, and what all have lost.
            "2.5\u{a0}MB",
            "5 minutes",
            "queue_full",
            "6.0\u{a0}kB",
            ">21<",
            "Refused segments, the newest first",
            &format!("href=\"/machines/{}\"", machine(4)),
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        // One that spoke long ago is named first, and the page begins with it.
        let mut connection = crate::world::connect(&world.place).await;
        sqlx::query("update machines set last_contact = '2026-01-01T00:00:00.000Z' where id = $1")
            .bind(machine(3))
            .execute(&mut connection)
            .await
            .expect("the table exists");
        let page = world.get("/health").await.text();
        assert!(page.contains("3 of 4 machines were heard of within a day"), "{page}");
        let (_, silent) = page.split_once("Silent for longest").expect("a table");
        let place = |number| silent.find(&machine(number)).expect("it is listed");
        assert!(place(3) < place(1));
    });
}

#[test]
fn the_page_tells_tokens_by_scope_only() {
    on_each_database(async |world| {
        let made = world.app.store.create_token(Scope::Triager, "Ann").await.expect("a token");
        let page = world.get("/health").await.text();
        assert!(page.contains("1 triager") && !page.contains("Ann") && !page.contains(&made.id), "{page}");
    });
}
