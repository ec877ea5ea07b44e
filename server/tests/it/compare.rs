//! Two sets of logs beside each other: counts by hand, and what is larger than chance.

use serde_json::{Value, json};

use crate::sample::{Sample, batch};
use crate::world::{World, on_each_database};

/// Forty machines: on the first day half of the logs are killed, on the second none; one in twenty is of another program.
async fn fill(world: &World) {
    for number in 0..40_u32 {
        let old = Sample {
            reasons: if number % 2 == 0 { &["killed_by_env"] } else { &["no_hwnd"] },
            exe: if number % 20 == 0 { "Game.exe" } else { "MyViewer.exe" },
            ..Sample::default()
        };
        let new = Sample {
            name: "b.log",
            started: Some("2026-09-15T12:00:00"),
            reasons: &["no_hwnd"],
            exe: if number % 20 == 1 { "Game.exe" } else { "MyViewer.exe" },
            ..Sample::default()
        };
        world.upload(&batch(number, vec![old.segment(), new.segment()])).await;
    }
}

fn find<'a>(answer: &'a Value, measure: &str, value: &Value) -> &'a Value {
    let mut all = answer["differences"].as_array().expect("a list").iter();
    all.find(|one| one["measure"] == measure && &one["value"] == value).expect("it is compared")
}

#[test]
fn what_is_larger_than_chance_comes_first() {
    on_each_database(async |world| {
        fill(&world).await;
        let answer = world.json("/api/v1/compare?a.day=2026-09-14&b.day=2026-09-15").await;
        assert_eq!(
            (&answer["a"], &answer["b"]),
            (&json!({"logs": 40, "machines": 40}), &json!({"logs": 40, "machines": 40}))
        );
        assert_eq!((&answer["correction"], &answer["level"]), (&json!("holm"), &json!(0.05)));
        let killed = find(&answer, "killed", &json!(null));
        assert_eq!(killed["a"], json!({"logs": 20, "machines": 20, "share": 0.5}));
        assert_eq!(killed["b"], json!({"logs": 0, "machines": 0, "share": 0.0}));
        assert_eq!((&killed["difference"], &killed["beyond_chance"]), (&json!(-0.5), &json!(true)));
        let [low, high] = [0, 1].map(|end| killed["interval"][end].as_f64().expect("a number"));
        assert!(low < -0.5 && -0.5 < high && high < -0.3, "{killed}");
        let game = find(&answer, "exe", &json!("Game.exe"));
        assert_eq!(
            (&game["difference"], &game["p"], &game["beyond_chance"]),
            (&json!(0.0), &json!(1.0), &json!(false))
        );
        // Killed, and both tokens; nothing else changed.
        let beyond: Vec<_> = answer["differences"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["beyond_chance"].as_bool().expect("a flag"))
            .collect();
        assert_eq!(beyond[..4], [true, true, true, false], "{answer:#}");
        assert!(beyond[3..].iter().all(|beyond| !beyond));
        for measure in ["split", "crossing", "reason", "gpu_pair", "path", "exe", "killed", "retired"] {
            assert!(
                answer["differences"].as_array().expect("a list").iter().any(|one| one["measure"] == measure),
                "{measure}"
            );
        }
    });
}

#[test]
fn bare_filters_hold_for_both_sides_and_an_empty_side_has_no_share() {
    on_each_database(async |world| {
        fill(&world).await;
        let answer = world.json("/api/v1/compare?exe=Game.exe&a.killed=false&b.path=d3d12").await;
        assert_eq!(answer["a"], json!({"logs": 2, "machines": 2}), "the two of the second day");
        assert_eq!(answer["b"], json!({"logs": 0, "machines": 0}));
        let killed = find(&answer, "killed", &json!(null));
        assert_eq!(killed["a"]["logs"], 0, "the filter lets none in");
        assert_eq!(
            (&killed["b"]["share"], &killed["interval"], &killed["p"]),
            (&json!(null), &json!(null), &json!(null))
        );
        for query in ["c.day=2026-09-14", "a.=1", "a.day=x", "group_by=day", "a.a.day=2026-09-14"] {
            world.get(&format!("/api/v1/compare?{query}")).await.assert_problem(400);
        }
    });
}
