//! Pages of logs: nothing twice, nothing left out, whatever arrives meanwhile.

use serde_json::Value;

use crate::sample::{Sample, batch, log_id};
use crate::world::{World, on_each_database};

/// Logs on many days, several on one day, one without a start.
async fn fill(world: &World, days: std::ops::Range<u32>) {
    let mut segments = Vec::new();
    for day in days {
        for copy in 0..3 {
            let mut segment = Sample { name: "x.log", ..Sample::default() }.segment();
            segment.log = log_id(&format!("{day}-{copy}"));
            let process = segment.facts.process.as_mut().expect("the sample has one");
            process.started = (day > 0).then(|| format!("2026-09-{day:02}T12:00:00"));
            segments.push(segment);
        }
    }
    world.upload(&batch(1, segments)).await;
}

async fn page(world: &World, cursor: Option<&str>) -> (Vec<Value>, Option<String>) {
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    let page = world.json(&format!("/api/v1/logs?limit=4{cursor}")).await;
    (page["items"].as_array().expect("a list").clone(), page["next"].as_str().map(str::to_owned))
}

#[test]
fn pages_hold_each_log_once_newest_first() {
    on_each_database(async |world| {
        fill(&world, 0..7).await;
        let mut items = Vec::new();
        let mut cursor = None;
        loop {
            let (page, next) = page(&world, cursor.as_deref()).await;
            items.extend(page);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        let whole = world.json("/api/v1/logs?limit=500").await;
        assert_eq!(whole["items"], Value::from(items.clone()));
        assert!(whole["next"].is_null());
        assert_eq!(items.len(), 21);
        let starts: Vec<_> = items.iter().map(|item| item["process"]["started"].as_str().unwrap_or("")).collect();
        assert!(starts.is_sorted_by(|one, next| one >= next), "{starts:?}");
        assert_eq!(starts.last(), Some(&""), "logs without a start come last");
    });
}

#[test]
fn what_arrives_meanwhile_moves_no_page() {
    on_each_database(async |world| {
        fill(&world, 5..9).await;
        let (first, next) = page(&world, None).await;
        let second = page(&world, next.as_deref()).await;
        // Newer logs, and the same ones again.
        fill(&world, 5..12).await;
        assert_eq!(page(&world, next.as_deref()).await, second);
        assert_ne!(page(&world, None).await.0, first, "the newest are on the first page");
    });
}
