//! What a change would make of the fleet, with numbers that were worked out by hand.

use serde_json::{Value, json};
use wire::Path;

use crate::learned::{I, N, log};
use crate::sample::{Sample, batch};
use crate::world::{World, connect, on_each_database};

/// Machine 1: killed twice, engaged once. Machine 2: Vulkan. Machine 3: a log that tells no path.
async fn fleet(world: &World) {
    let killed = &["killed_by_env"];
    let logs =
        vec![log(1, 0x100, Path::D3d11, killed), log(2, 0x200, Path::D3d11, killed), log(3, 0x200, Path::D3d11, &[])];
    world.upload(&batch(1, logs)).await;
    world.upload(&batch(2, vec![log(1, 0x900, Path::Vulkan, &["api_unsupported"])])).await;
    world.upload(&batch(3, vec![Sample::default().segment()])).await;
}

/// Logs and machines by effect.
fn effects(answer: &Value) -> Vec<(String, u64, u64)> {
    let effects = answer["effects"].as_array().expect("a list").iter();
    let number = |effect: &Value, name: &str| effect[name].as_u64().expect("a number");
    effects
        .map(|own| (own["effect"].as_str().expect("a word").to_owned(), number(own, "logs"), number(own, "machines")))
        .filter(|(_, logs, _)| *logs > 0)
        .collect()
}

fn row(effect: &str, logs: u64, machines: u64) -> (String, u64, u64) {
    (effect.to_owned(), logs, machines)
}

#[test]
fn settings_and_policies_are_asked_of_everybody() {
    on_each_database(async |world| {
        fleet(&world).await;
        let lost = || row("cannot_replay", 1, 1);
        let cases = [
            ("", vec![row("stay", 4, 2), lost()]),
            ("set=DXR_WEAVE_ON_SCANOUT%3D1", vec![row("better", 2, 1), row("stay", 2, 2), lost()]),
            ("set=DXR_WEAVE_ON_SCANOUT%3D", vec![row("better", 2, 1), row("stay", 2, 2), lost()]),
            ("set=DXR_WEAVE_ON_SCANOUT%3D0", vec![row("worse", 1, 1), row("stay", 3, 2), lost()]),
            ("policy=adr039", vec![row("better", 1, 1), row("stay", 3, 1), lost()]),
            ("policy=adr039&against=adr039", vec![row("stay", 4, 2), lost()]),
            ("policy=document", vec![row("stay", 4, 2), lost()]),
            // The engaged session and both killed ones would have one adapter; Vulkan does not hear this variable.
            ("set=DXR_D3D_FORCE_GPU%3Dscanout&path=d3d11", vec![row("better", 2, 1), row("sideways", 1, 1)]),
            ("set=DXR_VK_FORCE_GPU%3Dscanout&path=vulkan", vec![row("better", 1, 1)]),
            ("policy=adr039&outcome=killed&path=d3d11", vec![row("stay", 2, 1)]),
            ("policy=adr039&exe=Nobody.exe", vec![]),
        ];
        for (query, expected) in cases {
            let answer = world.json(&format!("/api/v1/what-if?{query}")).await;
            assert_eq!(effects(&answer), expected, "{query}: {answer}");
        }
    });
}

#[test]
fn an_answer_shows_what_it_rests_on_and_leads_to_the_logs() {
    on_each_database(async |world| {
        fleet(&world).await;
        let answer = world.json("/api/v1/what-if?set=DXR_WEAVE_ON_SCANOUT%3D1&from=2026-09-01").await;
        assert_eq!((&answer["logs"], &answer["machines"], &answer["situations"]), (&json!(5), &json!(3), &json!(4)));
        let better = &answer["effects"][0];
        let pair = &better["pairs"][0];
        assert_eq!((&pair["did"], &pair["before"]["outcome"]), (&json!("killed"), &json!("killed")));
        assert_eq!(pair["after"], json!({"outcome": "engaged", "reason": null, "interop_crossing": false}));
        assert_eq!(
            better["cohorts"],
            json!([{"id": better["cohorts"][0]["id"], "label": format!("{N} → {I}"),
            "logs": 2, "machines": 1}])
        );
        let link = pair["logs_link"].as_str().expect("an address");
        assert!(link.ends_with("&from=2026-09-01"), "{link}");
        let logs = world.json(link).await;
        assert_eq!(logs["items"].as_array().map(Vec::len), Some(2), "{link}");
        let assumed = answer["assumed"].as_array().expect("a list");
        assert!(assumed.contains(&json!({"fact": "session.stage_a_ok", "logs": 2, "machines": 1})), "{assumed:?}");
        assert_eq!(answer["missing"], json!([{"fact": "path", "logs": 1, "machines": 1}]));
        assert_eq!(answer["set"], json!({"DXR_WEAVE_ON_SCANOUT": "1"}));
    });
}

#[test]
fn logs_from_before_and_damaged_situations_cannot_be_replayed() {
    on_each_database(async |world| {
        fleet(&world).await;
        let mut connection = connect(&world.place).await;
        for sql in [
            "update logs set situation = null where path = 'vulkan'",
            "update situations set json = '{' where id in (select situation from logs where outcome = 'engaged')",
        ] {
            sqlx::query(sql).execute(&mut connection).await.expect("the tables exist");
        }
        let answer = world.json("/api/v1/what-if?policy=adr039&path=vulkan&path=d3d11").await;
        assert_eq!(effects(&answer), [row("stay", 2, 1), row("cannot_replay", 2, 2)], "{answer}");
        assert_eq!(answer["missing"], json!([{"fact": "situation", "logs": 2, "machines": 2}]));
        assert_eq!(answer["effects"][4]["pairs"][0]["before"], json!(null));
    });
}

#[test]
fn what_nobody_can_ask_is_a_problem() {
    on_each_database(async |world| {
        for query in [
            "policy=newest",
            "against=x",
            "set=DXR_WEAVE_ON_SCANOUT",
            "set=PATH%3D1",
            "set=DXR_WEAVE_ON_SCANOUT%3D%00",
            "split=on",
            "nonsense=1",
            "group_by=day",
        ] {
            world.get(&format!("/api/v1/what-if?{query}")).await.assert_problem(400);
        }
        let empty = world.json("/api/v1/what-if?policy=adr039").await;
        assert_eq!((&empty["logs"], empty["effects"].as_array().map(Vec::len)), (&json!(0), Some(5)));
    });
}

#[test]
fn the_page_asks_when_something_is_chosen_and_leads_to_the_logs_of_each_group() {
    on_each_database(async |world| {
        assert_eq!(world.get("/what-if").await.status.as_u16(), 200);
        fleet(&world).await;
        let asked = world.get("/what-if").await.text();
        assert!(asked.contains("name=\"policy\"") && !asked.contains("What would become of them"), "{asked}");
        let page = world.get("/what-if?policy=&set=DXR_WEAVE_ON_SCANOUT%3D&set=&path=d3d11").await;
        assert_eq!(page.status.as_u16(), 200, "{}", page.text());
        let page = page.text();
        assert!(page.contains("2 logs would get better, none worse"), "{page}");
        assert!(page.contains("2 of 3") && page.contains("66.7\u{a0}%") && page.contains("nobody sets it"), "{page}");
        let links: Vec<_> = page
            .split("href=\"/logs?outcome=")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap_or_default().replace("&#38;", "&"))
            .collect();
        assert_eq!(links.len(), 2, "{page}");
        for (link, logs) in links.iter().zip([2, 1]) {
            let found = world.json(&format!("/api/v1/logs?outcome={link}")).await;
            assert_eq!(found["items"].as_array().map(Vec::len), Some(logs), "{link}");
            let shown = world.get(&format!("/logs?outcome={link}")).await.text();
            assert!(shown.contains(&format!("{logs} log")), "{shown}");
        }
        let page = world.get("/what-if?policy=adr039").await.text();
        assert!(page.contains("1 log would get better") && page.contains("Why some cannot be replayed"), "{page}");
        let hostile = world.get("/what-if?set=DXR_VK_FORCE_GPU%3D%3Cscript%3Ealert(1)%3C/script%3E").await.text();
        assert!(hostile.contains("alert(1)") && !hostile.contains("<script>alert"), "{hostile}");
        for wrong in ["policy=other", "set=PATH%3D1", "set=x", "split=sideways&policy=adr039"] {
            assert_eq!(world.get(&format!("/what-if?{wrong}")).await.status.as_u16(), 400, "{wrong}");
        }
    });
}
