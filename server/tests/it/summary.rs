//! Counting: numbers that were worked out by hand.

use serde_json::{Value, json};

use crate::sample::{Sample, batch, event};
use crate::world::{World, on_each_database};

const SAME: &str = "Intel(R) Iris(R) Xe Graphics";

/// Machine 1: two killed logs and an engaged one. Machine 2: one killed log, one on a single adapter. Machine 3: a log
/// with two reasons, and one that tells nothing at all.
pub async fn fleet(world: &World) {
    let killed = Sample::default();
    let engaged = Sample { name: "b.log", split: 1, reasons: &[], exe: "Game.exe", ..Sample::default() };
    let later = Sample { name: "c.log", started: Some("2026-09-15T00:00:00"), ..Sample::default() };
    let local = Sample { name: "d.log", render: SAME, reasons: &["same_adapter"], ..Sample::default() };
    let double = Sample { name: "e.log", reasons: &["presenter_ineligible", "weave_on_ingest"], ..Sample::default() };
    let mut silent = Sample { name: "f.log", started: None, ..Sample::default() }.segment();
    silent.observations.clear();
    silent.facts.process = None;
    let mut versioned = killed.segment();
    let version = [
        ("major", wire::Value::Uint(2)),
        ("minor", wire::Value::Uint(13)),
        ("patch", wire::Value::Uint(0)),
        ("build", wire::Value::Text("v2.13.0-4-gabc123def".to_owned())),
    ];
    let version = event(10, 2, wire::Kind::RuntimeVersion, "od.runtime_version", &version);
    versioned.observations.insert(0, wire::Observation::Event(version));
    world.upload(&batch(1, vec![versioned, engaged.segment(), later.segment()])).await;
    world.upload(&batch(2, vec![killed.segment(), local.segment()])).await;
    world.upload(&batch(3, vec![double.segment(), silent])).await;
}

/// The groups as (key, logs, machines).
async fn groups(world: &World, query: &str) -> Vec<(Value, i64, i64)> {
    let answer = world.json(&format!("/api/v1/summary?{query}")).await;
    let number = |group: &Value, name: &str| group[name].as_i64().expect("a number");
    let groups = answer["groups"].as_array().expect("a list").iter();
    groups.map(|group| (group["key"].clone(), number(group, "logs"), number(group, "machines"))).collect()
}

#[test]
fn the_total_counts_each_log_once() {
    on_each_database(async |world| {
        fleet(&world).await;
        let mut answer = world.json("/api/v1/summary").await;
        let shares = answer["total"].as_object_mut().and_then(|total| total.remove("shares")).expect("shares");
        let expected = json!({
            "groups": [],
            "total": {
                "logs": 7, "machines": 3,
                "split": {"engaged": 1, "off": 5, "unknown": 1},
                "crossing": {"none": 1, "atlas_per_frame": 1, "every_present": 4, "unknown": 1},
                "interop_crossing": 0, "killed": 3, "retired": 0, "corrected": 0
            }
        });
        assert_eq!(answer, expected);
        // Wilson's interval for 3 of 7, worked out by hand.
        let killed = &shares["killed"];
        assert_eq!(killed["of"], 7);
        for (field, value) in [("share", 3.0 / 7.0), ("low", 0.158_234_2), ("high", 0.749_536_6)] {
            let got = killed[field].as_f64().expect("a number");
            assert!((got - value).abs() < 1e-4, "{field}: {got}");
        }
        let words = shares.as_object().expect("an object").keys().map(String::as_str).collect::<Vec<_>>();
        let expected = [
            "atlas_per_frame",
            "corrected",
            "crossing_unknown",
            "engaged",
            "every_present",
            "interop_crossing",
            "killed",
            "none",
            "off",
            "retired",
            "unknown",
        ];
        assert_eq!(words, expected);
        assert_eq!(shares["retired"]["share"], 0.0);
    });
}

#[test]
fn every_day_of_a_period_is_in_its_series() {
    on_each_database(async |world| {
        fleet(&world).await;
        let series = |query: &'static str| groups(&world, query);
        let day = |day: &str, logs, machines| (json!({ "day": day }), logs, machines);
        let whole =
            [day("2026-09-13", 0, 0), day("2026-09-14", 5, 3), day("2026-09-15", 1, 1), day("2026-09-16", 0, 0)];
        assert_eq!(series("group_by=day&from=2026-09-13&to=2026-09-16").await, whole);
        let killed = series("group_by=day&from=2026-09-13&to=2026-09-15T00:00:00Z&killed=true").await;
        assert_eq!(killed, [day("2026-09-13", 0, 0), day("2026-09-14", 2, 2)]);
        assert_eq!(series("group_by=day&from=2026-09-16&to=2026-09-13").await, []);
        // Without both ends there is no series, and with picked days nothing is missing.
        assert_eq!(series("group_by=day&from=2026-09-13").await.len(), 2);
        assert_eq!(series("group_by=day&from=2026-09-13&to=2026-09-16&day=2026-09-15").await.len(), 1);
        assert_eq!(series("group_by=day&from=0001-01-01&to=9999-12-31").await.len(), 2);
        let empty = world.json("/api/v1/summary?group_by=day&from=2026-09-13&to=2026-09-13").await;
        assert!(empty["groups"][0]["shares"]["engaged"].is_null(), "{empty}");
    });
}

#[test]
fn a_log_with_two_reasons_is_in_both_groups() {
    on_each_database(async |world| {
        fleet(&world).await;
        let expected = [
            (json!({"reason": "killed_by_env"}), 3, 2),
            // The engaged log and the silent one.
            (json!({"reason": null}), 2, 2),
            (json!({"reason": "presenter_ineligible"}), 1, 1),
            (json!({"reason": "same_adapter"}), 1, 1),
            (json!({"reason": "weave_on_ingest"}), 1, 1),
        ];
        assert_eq!(groups(&world, "group_by=reason").await, expected);
        let both = groups(&world, "group_by=reason&reason=weave_on_ingest").await;
        assert_eq!(both.len(), 2, "the filter picks logs, not reasons: {both:?}");
    });
}

#[test]
fn every_dimension_groups() {
    on_each_database(async |world| {
        fleet(&world).await;
        let pair = "NVIDIA GeForce RTX 3080 Laptop GPU → Intel(R) Iris(R) Xe Graphics";
        let cases = [
            ("day", json!("2026-09-14"), 5, 3),
            ("exe", json!("MyViewer.exe"), 5, 3),
            ("render", json!("NVIDIA GeForce RTX 3080 Laptop GPU"), 5, 3),
            ("scanout", json!(SAME), 6, 3),
            ("gpu_pair", json!(pair), 5, 3),
            ("runtime", json!(null), 6, 3),
            ("machine", json!("00000000000000000000000000000001"), 3, 1),
            ("split", json!("off"), 5, 3),
            ("crossing", json!("every_present"), 4, 3),
            ("outcome", json!("killed"), 3, 2),
            ("path", json!("unknown"), 7, 3),
        ];
        for (dimension, key, logs, machines) in cases {
            let groups = groups(&world, &format!("group_by={dimension}")).await;
            assert_eq!(groups[0], (json!({ dimension: key }), logs, machines), "{groups:?}");
            assert_eq!(groups.iter().map(|(_, logs, _)| logs).sum::<i64>(), 7, "{dimension} is whole");
        }
        assert_eq!(groups(&world, "group_by=runtime").await[1], (json!({"runtime": "2.13.0"}), 1, 1));
    });
}

#[test]
fn dimensions_combine() {
    on_each_database(async |world| {
        fleet(&world).await;
        let groups = groups(&world, "group_by=day&group_by=reason&killed=true").await;
        let key = |day| json!({"day": day, "reason": "killed_by_env"});
        assert_eq!(groups, [(key("2026-09-14"), 2, 2), (key("2026-09-15"), 1, 1)]);
        let answer = world.json("/api/v1/summary?group_by=path&machine=00000000000000000000000000000002").await;
        let mut group = answer["groups"][0].clone();
        group.as_object_mut().expect("an object").remove("key");
        assert_eq!(group, answer["total"], "one group is the whole");
    });
}

#[test]
fn an_empty_store_counts_nothing() {
    on_each_database(async |world| {
        let answer = world.json("/api/v1/summary?group_by=reason").await;
        assert_eq!(answer["groups"], json!([]));
        assert_eq!(answer["total"]["logs"], 0);
        assert_eq!(answer["total"]["machines"], 0);
    });
}
