//! What logs tell of their PC: kinds of PCs, boots, settings; and that nothing of it outlives its machine.

use serde_json::{Value, json};
use wire::{Kind, Luid, Observation, Path, PathHint, Reason, Segment, Value as Field};

use crate::sample::{Sample, batch, event, machine};
use crate::told::everything_of;
use crate::world::{World, on_each_database};

pub const N: &str = "NVIDIA GeForce RTX 3080 Laptop GPU";
pub const I: &str = "Intel(R) Iris(R) Xe Graphics";

/// A log of a day: its placement names both adapters, with the LUIDs of a boot.
pub fn log(day: u32, boot: u64, path: Path, reasons: &[&str]) -> Segment {
    let split = u64::from(reasons.is_empty());
    let fields = [
        ("render.name", Field::Text(N.to_owned())),
        ("render.luid", Field::Luid(Luid(boot))),
        ("scanout.name", Field::Text(I.to_owned())),
        ("scanout.luid", Field::Luid(Luid(boot + 1))),
        ("reasons", Field::Reasons(reasons.iter().map(|token| Reason::new(token)).collect())),
        ("split", Field::Uint(split)),
        ("generation", Field::Uint(2)),
    ];
    let mut placement = event(100, 12, Kind::Placement, "wp.g2.on_render", &fields);
    placement.hint = Some(PathHint { path, named: true });
    let mut segment = Sample::default().segment();
    segment.log = machine(1_000 + day);
    segment.facts.process.as_mut().expect("the sample has one").started = Some(format!("2026-09-{day:02}T12:00:00"));
    segment.observations = vec![Observation::Event(placement)];
    segment
}

/// Puts a record in front of the placement.
fn with(mut segment: Segment, kind: Kind, values: &[(&'static str, Field)]) -> Segment {
    segment.observations.insert(0, Observation::Event(event(10, 2, kind, "ra.test", values)));
    segment
}

async fn one(world: &World, number: u32) -> Value {
    world.json(&format!("/api/v1/machines/{}", machine(number))).await
}

#[test]
fn a_machine_shows_its_topology_boot_by_boot() {
    on_each_database(async |world| {
        let display = [("panel.width", Field::Uint(3840)), ("panel.height", Field::Uint(2160))];
        let candidate = [
            ("index", Field::Uint(0)),
            ("adapter.name", Field::Text(N.to_owned())),
            ("adapter_kind", Field::Uint(0)),
            ("vram_mib", Field::Uint(8018)),
        ];
        let logs = vec![
            log(1, 0x100, Path::D3d11, &["killed_by_env"]),
            with(log(2, 0x100, Path::D3d11, &[]), Kind::Display, &display),
            with(log(3, 0x200, Path::D3d11, &[]), Kind::RenderCandidate, &candidate),
            log(4, 0x200, Path::D3d12, &[]),
        ];
        world.upload(&batch(1, logs)).await;
        let seen = one(&world, 1).await;
        let boots = seen["boots"].as_array().expect("a list");
        let of = |boot: &Value| {
            let adapters = boot["adapters"].as_array().expect("a list").iter();
            let adapters: Vec<_> = adapters.map(|own| json!([own["name"], own["luid"], own["roles"]])).collect();
            json!([boot["first"]["started"], boot["last"]["started"], boot["logs"], adapters])
        };
        let expected = json!([
            [
                "2026-09-03T12:00:00",
                "2026-09-04T12:00:00",
                2,
                [[N, "00000000:00000200", ["render"]], [I, "00000000:00000201", ["scanout"]]]
            ],
            [
                "2026-09-01T12:00:00",
                "2026-09-02T12:00:00",
                2,
                [[N, "00000000:00000100", ["render"]], [I, "00000000:00000101", ["scanout"]]]
            ],
        ]);
        assert_eq!(Value::Array(boots.iter().map(of).collect()), expected);
        assert_eq!(boots[0]["adapters"][0]["dedicated_vram_mib"], 8018, "one of its logs tells the memory");
        assert_eq!((&boots[0]["panel"], &boots[1]["panel"]["width"]), (&json!(null), &json!(3840)));
        let first = boots[0]["last"]["log"].as_str().expect("an id");
        assert_eq!(world.json(&format!("/api/v1/logs/{first}")).await["path"], "d3d12");
        assert_eq!(seen["outcome"], "engaged");
    });
}

#[test]
fn settings_have_what_the_logs_tell_and_no_more() {
    on_each_database(async |world| {
        let text = |text: &str| Field::Text(text.to_owned());
        let forced = [("provenance", text("user-forced: igpu"))];
        let ignored = [("variable", text("DXR_VK_FORCE_GPU")), ("value", text("=evil\u{1b}[2J"))];
        let logs = vec![
            with(log(1, 1, Path::D3d11, &[]), Kind::OverrideFollowed, &forced),
            with(log(2, 1, Path::D3d11, &["killed_by_env"]), Kind::OverrideFollowed, &forced),
            with(log(3, 1, Path::Vulkan, &[]), Kind::OverrideIgnored, &ignored),
        ];
        world.upload(&batch(1, logs)).await;
        let seen = one(&world, 1).await;
        let settings: Vec<_> = seen["settings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|own| {
                let day = |time: &Value| time["started"].as_str().map(|text| text[..10].to_owned());
                json!([
                    own["name"],
                    own["value"],
                    own["source"],
                    own["honoured"],
                    day(&own["since"]),
                    day(&own["last"])
                ])
            })
            .collect();
        let expected = json!([
            ["DXR_D3D_FORCE_GPU", "igpu", "user", true, "2026-09-01", "2026-09-02"],
            ["DXR_VK_FORCE_GPU", "=evil\u{1b}[2J", null, false, "2026-09-03", "2026-09-03"],
            ["DXR_WEAVE_ON_SCANOUT", null, null, true, "2026-09-02", "2026-09-02"],
        ]);
        assert_eq!(Value::Array(settings), expected);
    });
}

#[test]
fn equal_pcs_are_one_cohort_whatever_their_luids() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![log(1, 0x100, Path::D3d11, &[]), log(2, 0x900, Path::D3d11, &[])])).await;
        world.upload(&batch(2, vec![log(1, 0x300, Path::D3d12, &[])])).await;
        let other = Sample { render: I, reasons: &["same_adapter"], ..Sample::default() };
        world.upload(&batch(3, vec![other.segment()])).await;
        let machines = world.json("/api/v1/machines").await;
        let cohort = |place: usize| machines["items"][place]["cohort"].clone();
        assert_eq!(cohort(0), cohort(1));
        assert_eq!(cohort(0)["label"], format!("{N} → {I}"));
        assert_eq!((&cohort(2)["label"], &machines["items"][2]["outcome"]), (&json!(I), &json!("local")));
        let id = cohort(0)["id"].as_str().expect("an id").to_owned();
        let answer = world.json("/api/v1/summary?group_by=cohort").await;
        assert_eq!((&answer["groups"][0]["key"]["cohort"], &answer["groups"][0]["logs"]), (&json!(id), &json!(3)));
        assert_eq!(answer["cohorts"][&id], cohort(0)["label"]);
        let total = world.json(&format!("/api/v1/summary?cohort={id}")).await;
        assert_eq!((&total["total"]["machines"], total.get("cohorts")), (&json!(2), None));
    });
}

#[test]
fn what_a_log_told_before_it_grew_goes_with_its_machine_too() {
    on_each_database(async |world| {
        let mut young = log(1, 0x100, Path::D3d11, &["killed_by_env"]);
        young.end = 150;
        world.upload(&batch(1, vec![young])).await;
        world.upload(&batch(1, vec![log(1, 0x200, Path::D3d12, &[])])).await;
        world.upload(&batch(2, vec![log(1, 0x200, Path::D3d12, &[])])).await;
        let actor = server::audit::Actor::command_line();
        let deleted = world.app.store.delete_machine(&machine(1), &actor).await;
        assert!(deleted.expect("the database answers").is_some());
        assert_eq!(everything_of(&world, 1).await, 0);
        let seen = one(&world, 2).await;
        assert_eq!(seen["boots"][0]["logs"], 1, "what machines share stays with the other one: {seen}");
        let answer = world.json("/api/v1/what-if?policy=adr039").await;
        assert_eq!((&answer["logs"], &answer["effects"][3]["logs"]), (&json!(1), &json!(1)), "{answer}");
    });
}
