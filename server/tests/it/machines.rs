//! Machines as a reader sees them: page by page, each once, with its logs.

use serde_json::{Value, json};

use crate::sample::{Sample, batch, machine};
use crate::world::{World, on_each_database};

/// All pages of a list.
async fn all(world: &World, uri: &str, list: &str) -> (Vec<Value>, u32) {
    let (mut items, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let page = world.json(&format!("{uri}?limit=4&cursor={cursor}")).await;
        items.extend(page[list].as_array().expect("a list").clone());
        pages += 1;
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return (items, pages),
        }
    }
}

#[test]
fn pages_hold_each_machine_once() {
    on_each_database(async |world| {
        assert_eq!(world.json("/api/v1/machines").await, json!({"items": [], "next": null}));
        for number in (1..=9).rev() {
            let mut told = batch(number, vec![Sample::default().segment()]);
            told.losses = vec![crate::told::loss(None, "queue_full", 0, number.into())];
            world.upload(&told).await;
        }
        let (items, pages) = all(&world, "/api/v1/machines", "items").await;
        assert_eq!(pages, 3);
        let ids: Vec<_> = items.iter().map(|item| item["id"].as_str().expect("an id").to_owned()).collect();
        assert_eq!(ids, (1..=9).map(machine).collect::<Vec<_>>());
        for (number, item) in (1..).zip(&items) {
            assert_eq!(item["losses"], json!({"queue_full": {"bytes": 0, "events": number}}));
            assert_eq!((&item["logs"], &item["agent"]), (&json!(1), &json!("test")));
            let mut one = world.json(&format!("/api/v1/machines/{}", machine(number))).await;
            let one = one.as_object_mut().expect("an object");
            let ids = one.remove("log_ids").expect("a list");
            let boots = one.remove("boots").expect("a list");
            assert_eq!(boots.as_array().map(Vec::len), Some(1), "{boots}");
            assert_eq!((one.remove("settings").is_some(), one.remove("boots_left_out")), (true, Some(json!(false))));
            assert_eq!((one.remove("next"), ids.as_array().map(Vec::len)), (Some(json!(null)), Some(1)));
            assert_eq!(&Value::Object(one.clone()), item, "the same words in both answers");
        }
    });
}

#[test]
fn a_machine_names_its_logs_newest_first_and_no_other_s() {
    on_each_database(async |world| {
        let segments = (1..=9_u32).map(|day| {
            let mut segment = Sample::default().segment();
            segment.log = machine(day);
            let process = segment.facts.process.as_mut().expect("the sample has one");
            // Two start at the same time, one does not say.
            process.started = (day != 5).then(|| format!("2026-09-{:02}T12:00:00", day.max(2)));
            segment
        });
        world.upload(&batch(1, segments.collect())).await;
        world.upload(&batch(2, vec![Sample::default().segment()])).await;
        let uri = format!("/api/v1/machines/{}", machine(1));
        let (ids, pages) = all(&world, &uri, "log_ids").await;
        assert_eq!((ids.len(), pages), (9, 3));
        let logs = world.json(&format!("/api/v1/logs?machine={}", machine(1))).await;
        let expected: Vec<_> = logs["items"].as_array().expect("a list").iter().map(|log| log["id"].clone()).collect();
        assert_eq!(ids, expected);
        assert_eq!(world.json(&uri).await["logs"], 9);
    });
}

#[test]
fn what_cannot_be_asked_is_a_problem() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let one = format!("/api/v1/machines/{}", machine(1));
        for query in ["limit=0", "limit=501", "limit=x", "cursor=x", "cursor=%00", "nonsense=1"] {
            world.get(&format!("/api/v1/machines?{query}")).await.assert_problem(400);
            world.get(&format!("{one}?{query}")).await.assert_problem(400);
        }
        for id in [&machine(2), "DESKTOP-ANNA", "%00", "%ff"] {
            world.get(&format!("/api/v1/machines/{id}")).await.assert_problem(404);
        }
    });
}
