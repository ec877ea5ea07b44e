//! Filters mean the same in summary, logs and page.

use crate::summary::fleet;
use crate::world::on_each_database;

#[test]
fn summary_and_logs_agree_on_every_filter() {
    on_each_database(async |world| {
        fleet(&world).await;
        let cases = [
            ("", 7),
            ("split=engaged", 1),
            ("split=engaged&split=off", 6),
            ("crossing=every_present", 4),
            ("killed=true", 3),
            ("killed=false", 4),
            ("retired=true", 0),
            ("reason=killed_by_env&reason=same_adapter", 4),
            ("reason=null", 2),
            ("reason=never_seen", 0),
            ("day=2026-09-15", 1),
            ("day=null", 1),
            ("from=2026-09-15", 1),
            ("to=2026-09-14", 5),
            ("from=2026-09-14&to=2026-09-15", 6),
            ("to=2026-09-14T12:00:00Z", 0),
            ("to=2026-09-14T12:00:01%2B09:00", 5),
            ("from=2026-09-14T12:00:01Z", 1),
            ("exe=Game.exe", 1),
            ("exe=null", 1),
            ("machine=00000000000000000000000000000003", 2),
            ("runtime=2.13.0", 1),
            ("render=Intel%28R%29+Iris%28R%29+Xe+Graphics", 1),
            ("gpu_pair=null", 1),
            ("outcome=engaged&outcome=local", 2),
            ("path=vulkan", 0),
            ("cohort=null", 1),
            ("cohort=0123456789abcdef", 0),
            ("situation=0123456789abcdef", 0),
            // An empty field of a form says nothing.
            ("split=&reason=&from=&killed=", 7),
        ];
        for (query, expected) in cases {
            let total = world.json(&format!("/api/v1/summary?{query}")).await["total"]["logs"].clone();
            let items = world.json(&format!("/api/v1/logs?{query}")).await["items"].as_array().map(Vec::len);
            assert_eq!((total, items), (expected.into(), Some(expected)), "{query}");
        }
    });
}

#[test]
fn a_wrong_parameter_or_value_is_a_problem() {
    on_each_database(async |world| {
        for query in [
            "nonsense=1",
            "group=day",
            "split=on",
            "crossing=all",
            "path=metal",
            "killed=yes",
            "day=today",
            "from=yesterday",
            "to=2026-09-14T12:00",
            "machine=PC-1",
            "exe=%00",
            "outcome=fine",
            "cohort=laptops",
            "situation=1",
        ] {
            for route in ["summary", "logs"] {
                world.get(&format!("/api/v1/{route}?{query}")).await.assert_problem(400);
            }
        }
        for uri in [
            "/api/v1/summary?group_by=weather",
            "/api/v1/summary?group_by=",
            "/api/v1/summary?limit=3",
            "/api/v1/logs?limit=0",
            "/api/v1/logs?limit=501",
            "/api/v1/logs?limit=many",
            "/api/v1/logs?cursor=1",
            "/api/v1/logs?cursor=x.00000000000000000000000000000001",
            "/api/v1/logs?group_by=day",
        ] {
            world.get(uri).await.assert_problem(400);
        }
        for wrong in ["nonsense=1", "split=on"] {
            let answer = world.get(&format!("/?{wrong}")).await;
            assert_eq!(answer.status.as_u16(), 400, "{wrong}");
            assert!(answer.header("content-type").starts_with("text/html"));
        }
    });
}
