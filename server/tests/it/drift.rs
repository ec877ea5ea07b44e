//! Words that nobody knows: found where a log is judged, counted by build, forgotten with the machine.

use serde_json::{Value, json};
use wire::{Flaw, FlawKind, Kind, Observation, Segment};

use crate::sample::{Sample, batch, event, log_id, machine};
use crate::world::{World, on_each_database};

const SLIP: &str = "stage_b_failed";

/// A log of a build, with what is behind the placement line.
fn log(sample: &Sample, build: &str, more: Vec<Observation>) -> Segment {
    let mut segment = sample.segment();
    let version = [
        ("major", wire::Value::Uint(2)),
        ("minor", wire::Value::Uint(13)),
        ("patch", wire::Value::Uint(0)),
        ("build", wire::Value::Text(build.to_owned())),
    ];
    let version = event(10, 2, Kind::RuntimeVersion, "od.runtime_version", &version);
    segment.observations.insert(0, Observation::Event(version));
    segment.observations.extend(more);
    segment
}

fn unrecognised(offset: u64, marker: &'static str) -> Observation {
    let marker = Some(marker.into());
    Observation::Flaw(Flaw { offset, line: offset, kind: FlawKind::Unrecognised, marker, hint: None })
}

/// Build 1 on two machines and build 2 on one; a token of both, a shape of build 2.
async fn fill(world: &World) {
    let slip = Sample { reasons: &[SLIP, "killed_by_env"], ..Sample::default() };
    let later = Sample { name: "b.log", started: Some("2026-09-20T00:00:00"), ..slip.clone() };
    let shapes = || vec![unrecognised(120, "weave placement:"), unrecognised(130, "weave placement:")];
    world.upload(&batch(1, vec![log(&slip, "v2.13.0-1", vec![]), log(&later, "v2.13.0-2", shapes())])).await;
    world
        .upload(&batch(
            2,
            vec![log(&slip, "v2.13.0-1", vec![]), Sample { name: "c.log", ..Sample::default() }.segment()],
        ))
        .await;
}

#[test]
fn unknown_words_are_counted_by_build() {
    on_each_database(async |world| {
        fill(&world).await;
        let answer = world.json("/api/v1/drift").await;
        assert_eq!(answer["left_out"], 0);
        let items = answer["items"].as_array().expect("a list");
        let short = |item: &Value| {
            let mut item = item.as_object().expect("an object").clone();
            item.remove("example");
            Value::Object(item)
        };
        let found: Vec<_> = items.iter().map(short).collect();
        let slip = json!({"name": "stage_a_failed", "distance": 1});
        let day = ["2026-09-14", "2026-09-20"];
        let expected = [
            json!({"kind": "token", "what": SLIP, "build": "v2.13.0-1", "logs": 2, "machines": 2, "records": 2,
                   "first_seen": day[0], "last_seen": day[0], "nearest": slip}),
            json!({"kind": "token", "what": SLIP, "build": "v2.13.0-2", "logs": 1, "machines": 1, "records": 1,
                   "first_seen": day[1], "last_seen": day[1], "nearest": slip}),
            json!({"kind": "shape", "what": "weave placement:", "build": "v2.13.0-2", "logs": 1, "machines": 1,
                   "records": 2, "first_seen": day[1], "last_seen": day[1], "nearest": found[2]["nearest"]}),
        ];
        assert_eq!(found, expected);
        assert_eq!(found[2]["nearest"]["distance"], 0, "its marker is known: {}", found[2]);
        let example = &items[0]["example"];
        let ids = [1, 2].map(|number| server::store::log_id(&machine(number), &log_id("a.log")));
        assert!(ids.iter().any(|id| example["log"] == id.as_str()), "{example}");
        assert_eq!(example["line"], 12);
        let text = example["text"].as_str().expect("a text");
        assert!(text.starts_with("weave placement: render='NVIDIA") && text.chars().count() <= 201, "{text}");
        assert_eq!(items[2]["example"]["line"], 120, "the first of them");
    });
}

#[test]
fn filters_limits_and_csv_fit() {
    on_each_database(async |world| {
        fill(&world).await;
        let items = async |query: &str| {
            let answer = world.json(&format!("/api/v1/drift?{query}")).await;
            (answer["items"].as_array().expect("a list").len(), answer["left_out"].as_i64().expect("a number"))
        };
        assert_eq!(items("from=2026-09-15").await, (2, 0));
        assert_eq!(items("machine=00000000000000000000000000000002").await, (1, 0));
        assert_eq!(items("path=d3d11").await, (0, 0));
        assert_eq!(items("limit=1").await, (1, 2));
        let answer = world.get("/api/v1/drift?format=csv&limit=1").await;
        assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
        let text = answer.text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].starts_with("kind,what,build,logs,machines,records,"), "{text}");
        assert!(lines[1].starts_with("token,stage_b_failed,v2.13.0-1,2,2,2,"), "{text}");
        for query in ["limit=0", "limit=501", "format=xml", "group_by=day"] {
            world.get(&format!("/api/v1/drift?{query}")).await.assert_problem(400);
        }
    });
}

#[test]
fn a_log_that_grows_replaces_its_words() {
    on_each_database(async |world| {
        fill(&world).await;
        // The newest piece of the log knows better what stood at byte 100.
        let good = Sample { reasons: &["killed_by_env"], ..Sample::default() };
        let mut segment = log(&good, "v2.13.0-1", vec![]);
        segment.end = 300;
        world.upload(&batch(1, vec![segment])).await;
        let answer = world.json("/api/v1/drift").await;
        assert_eq!(answer["items"][0]["logs"], 1, "{answer}");
        assert_eq!(answer["items"].as_array().map(Vec::len), Some(3));
        let by = server::audit::Actor::command_line();
        world.app.store.delete_machine(&machine(2), &by).await.expect("the database answers");
        let answer = world.json("/api/v1/drift").await;
        assert_eq!(answer["items"].as_array().map(Vec::len), Some(2), "{answer}");
    });
}

#[test]
fn hostile_words_are_cut_counted_and_harmless() {
    on_each_database(async |world| {
        let mut segment = Sample::default().segment();
        let tokens: Vec<_> =
            (0..5_000).map(|n| wire::Reason::new(&format!("\u{1b}[2J\0{n}{}", "x".repeat(1_000)))).collect();
        let fields = [("reasons", wire::Value::Reasons(tokens)), ("split", wire::Value::Uint(0))];
        segment.observations = vec![Observation::Event(event(100, 12, Kind::Placement, "wp.g2.on_render", &fields))];
        world.upload(&batch(1, vec![segment])).await;
        let answer = world.get("/api/v1/drift?limit=500").await;
        assert!(answer.body.len() < 200_000, "{} bytes", answer.body.len());
        assert!(!answer.text().contains("\\u001b") && !answer.text().contains("\\u0000"));
        assert_eq!(answer.json()["items"].as_array().map(Vec::len), Some(100));
    });
}

/// Every address in a page that begins like this, as a browser asks for it.
fn links(page: &str, start: &str) -> Vec<String> {
    let addresses = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    addresses.filter(|address| address.starts_with(start)).map(|address| address.replace("&#38;", "&")).collect()
}

#[test]
fn the_page_shows_each_word_with_its_builds_and_leads_to_exactly_its_logs() {
    on_each_database(async |world| {
        assert!(world.get("/drift").await.text().contains("No logs yet"));
        fill(&world).await;
        let page = world.get("/drift").await;
        assert_eq!(page.status.as_u16(), 200, "{}", page.text());
        let page = page.text();
        assert!(page.contains("2 unknown words in 3 logs") && page.contains("3 of 4 logs"), "{page}");
        assert!(page.contains("stage_<del>a</del><ins>b</ins>_failed"), "a near miss as letters: {page}");
        assert!(page.contains("starts like") && page.contains("<code>no_placement</code>"), "{page}");
        assert!(page.contains("<code>killed</code>, ") || page.contains("<code>killed</code>."), "{page}");
        for address in links(&page, "/logs/").iter().filter(|own| own.contains("#line-")) {
            let log = world.get(address.split('#').next().unwrap_or_default()).await;
            assert_eq!(log.status.as_u16(), 200, "{address}");
        }
        let counts = async |start: &str| {
            let mut counts = Vec::new();
            for address in links(&page, start) {
                let query = address.split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default();
                let logs = world.json(&format!("/api/v1/logs?limit=500&{query}")).await;
                assert_eq!(world.get(&address).await.status.as_u16(), 200, "{address}");
                counts.push(logs["items"].as_array().expect("a list").len());
            }
            counts
        };
        assert_eq!(counts("/logs?unknown=").await, [3, 2, 1, 1], "all of them, then by word and build");
        assert_eq!(counts("/machines?unknown=").await, [3, 2, 1, 1]);
        let filtered = world.get("/drift?from=2026-09-20").await.text();
        assert!(filtered.contains("v2.13.0-2") && !filtered.contains("v2.13.0-1<"), "{filtered}");
        assert!(world.get("/drift?exe=Nobody.exe").await.text().contains("Every word of these logs is known"));
        for (query, logs) in [
            ("unknown=any", 3),
            ("unknown_build=v2.13.0-1", 2),
            ("unknown_build=null", 0),
            ("unknown=token:nobody&unknown=shape:weave%20placement:", 1),
            ("unknown=token:stage_b_failed&unknown_build=v2.13.0-2", 1),
            ("unknown=shape:stage_b_failed", 0),
        ] {
            let found = world.json(&format!("/api/v1/summary?{query}")).await;
            assert_eq!(found["total"]["logs"], logs, "{query}: {found}");
        }
        world.get("/api/v1/logs?unknown=word").await.assert_problem(400);
    });
}

#[test]
fn hostile_words_are_shown_as_text() {
    on_each_database(async |world| {
        let hostile = "<script>alert(1)</script>\u{202e}\"";
        let sample = Sample { reasons: &[SLIP], ..Sample::default() };
        let marker = Some(hostile.into());
        let flaw = Flaw { offset: 120, line: 9, kind: FlawKind::Unrecognised, marker, hint: None };
        world.upload(&batch(1, vec![log(&sample, hostile, vec![Observation::Flaw(flaw)])])).await;
        let page = world.get("/drift").await.text();
        assert!(page.contains("alert(1)") && !page.contains("<script>alert") && !page.contains('\u{202e}'), "{page}");
        let found = links(&page, "/logs?unknown=shape");
        assert_eq!(found.len(), 1, "{page}");
        let query = found[0].split_once('?').expect("a query").1;
        assert_eq!(world.json(&format!("/api/v1/logs?{query}")).await["items"].as_array().map(Vec::len), Some(1));
    });
}
