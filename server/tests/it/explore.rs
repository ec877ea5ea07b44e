//! The pages `/explore` and `/compare`: the numbers of the API, and which difference is more than chance.

use crate::sample::{Sample, batch, event, machine};
use crate::summary::fleet;
use crate::world::{World, on_each_database};

#[test]
fn logs_are_counted_by_one_thing_and_by_two() {
    on_each_database(async |world| {
        assert!(world.get("/explore").await.text().contains("0 logs by GPU pair"));
        fleet(&world).await;
        let page = world.get("/explore?group_by=reason").await.text();
        assert!(page.contains("7 logs by reason") && page.contains("href=\"/logs?reason=killed_by_env\""), "{page}");
        let page = world.get("/explore?group_by=exe&group_by=outcome&split=off").await.text();
        assert!(page.contains("5 logs by program and outcome"), "{page}");
        assert!(page.contains("href=\"/logs?split=off&#38;exe=MyViewer.exe&#38;outcome=killed\""), "{page}");
        assert!(
            page.contains("href=\"/api/v1/summary?split=off&#38;group_by=exe&#38;group_by=outcome&#38;format=csv\""),
            "{page}"
        );
        let csv = world.get("/api/v1/summary?split=off&group_by=exe&group_by=outcome&format=csv").await;
        assert_eq!(csv.status.as_u16(), 200);
        let wrong = world.get("/explore?group_by=weather").await;
        assert_eq!(wrong.status.as_u16(), 400);
        assert!(wrong.text().contains("weather") && wrong.header("content-type").starts_with("text/html"));
    });
}

/// Thirty logs of a build on one pair of GPUs, of which so many are killed, and thirty good ones on another pair.
async fn build(world: &World, number: u32, version: &'static str, killed: u32) {
    let mut segments = Vec::new();
    for log in 0..60 {
        let bad = log < killed;
        let sample = Sample {
            split: u64::from(!bad),
            reasons: if bad { &["killed_by_env"] } else { &[] },
            render: if log < 30 { "RTX 4080" } else { "RTX 2060" },
            ..Sample::default()
        };
        let mut segment = sample.segment();
        segment.log = machine(1_000 * number + log);
        let parts = ["major", "minor", "patch"].into_iter().zip(version.split('.'));
        let parts: Vec<_> =
            parts.map(|(name, part)| (name, wire::Value::Uint(part.parse().expect("a number")))).collect();
        let version = event(10, 2, wire::Kind::RuntimeVersion, "od.runtime_version", &parts);
        segment.observations.insert(0, wire::Observation::Event(version));
        segments.push(segment);
    }
    world.upload(&batch(number, segments)).await;
}

#[test]
fn the_pair_that_got_worse_with_the_last_build_is_named() {
    on_each_database(async |world| {
        assert!(world.get("/compare").await.text().contains("fewer than two"));
        // Spelled so that their order as text is the wrong one.
        build(&world, 1, "2.9.0", 2).await;
        build(&world, 2, "2.10.0", 24).await;
        let page = world.get("/compare").await.text();
        assert!(page.contains("RTX 4080 → "), "{page}");
        assert!(
            page.contains("got worse with 2.10.0: 80.0\u{a0}% of its logs cross needlessly, 6.7\u{a0}% before"),
            "{page}"
        );
        assert!(page.matches("beyond chance</bdi>").count() > 1, "{page}");
        let pairs = page.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next()).expect("a table");
        let rows: Vec<_> = pairs.split("<tr").skip(1).collect();
        assert!(rows[0].contains("RTX 4080") && rows[0].contains("beyond chance"), "{pairs}");
        assert!(rows[1].contains("RTX 2060") && rows[1].contains("may be chance"), "{pairs}");
        assert!(rows[0].contains("runtime=2.10.0"), "{pairs}");

        let turned = world.get("/compare?by=runtime&a=2.10.0&b=2.9.0").await.text();
        assert!(turned.contains("got better with 2.9.0"), "{turned}");
        let periods = world.get("/compare?by=period&a=2026-09-01..2026-09-13&b=2026-09-14..2026-09-30").await;
        assert_eq!(periods.status.as_u16(), 200);
        assert!(periods.text().contains("No log of these started in 2026-09-01..2026-09-13"), "{}", periods.text());
        for wrong in ["by=weather", "group_by=weather", "by=period&a=yesterday&b=today"] {
            assert_eq!(world.get(&format!("/compare?{wrong}")).await.status.as_u16(), 400, "{wrong}");
        }
    });
}
