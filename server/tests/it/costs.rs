//! What crosses across the fleet: sums that were worked out by hand from the lines of the logs, days that move with every upload and
//! deletion, curves and who is off them, what a change would save, and the pages of all that.

use axum::http::StatusCode;
use parser::LogReader;
use serde_json::{Value, json};
use server::audit::Actor;
use wire::{Batch, Segment};

use crate::sample::{batch, log_id, machine};
use crate::world::{World, on_each_database};

/// A D3D11 app on a laptop with a 4K panel; its process starts at 08:31:07, its placement line says at 08:31:07.370 that a setting
/// killed the split, so every present crosses.
const KILLED: &str = include_str!("../../../fixtures/logs/ok/d3d11_killed_by_env.log");
/// A D3D12 app that splits: it starts at 15:12:00, its placement line comes at 15:12:00.518, its last record at 15:12:20.667. Two
/// windows of ten seconds carry 291,600 kb each in 598 frames, and a plane of 8,100 kb beside the first.
const SPLIT: &str = include_str!("../../../fixtures/logs/ok/d3d12_split_engaged.log");
/// A display of 60 Hz, and a last record a minute behind the placement line that is none of our business.
const MINUTE: &str = "[2026-09-15 08:31:07.500] [INFO ] [u_refresh] Display refresh rate: 60.00 Hz (frame period 16.67 ms)\n\
                      [2026-09-15 08:32:07.370] [WARN ] [some_noise] a frame like any other\n";

fn segment(name: &str, text: &str) -> Segment {
    let mut observations = Vec::new();
    let mut reader = LogReader::new();
    reader.feed(text.as_bytes(), &mut |observation| observations.push(observation));
    let mut facts = reader.finish(&mut |observation| observations.push(observation));
    facts.process = parser::file_name::merge(facts.process, name);
    let end = text.len() as u64;
    Segment { log: log_id(name), file: name.to_owned(), end, facts, observations, ..Segment::default() }
}

/// The killed log, a minute long; the text in front of its footer.
fn killed() -> String {
    let (body, _) =
        KILLED.split_once("\n=== DisplayXR Log Ended").or(KILLED.split_once("\r\n=== DisplayXR")).expect("a footer");
    format!("{body}\n{MINUTE}")
}

async fn upload(world: &World, number: u32, name: &str, text: &str) {
    world.upload(&batch(number, vec![segment(name, text)])).await;
}

async fn costs(world: &World, query: &str) -> Value {
    world.json(&format!("/api/v1/costs?{query}")).await
}

fn numbers(known_logs: i64, megabytes_low: i64, megabytes_high: i64) -> Value {
    json!({"known_logs": known_logs, "megabytes_low": megabytes_low, "megabytes_high": megabytes_high})
}

async fn assert_verified(world: &World) {
    let mut found = Vec::new();
    let done = world.app.store.verify(|_| (), &mut |own| found.push(own)).await.expect("the database answers");
    assert_eq!((done.differences, found), (0, Vec::new()));
}

#[test]
fn sums_are_those_that_were_worked_out_by_hand() {
    on_each_database(async |world| {
        let nothing = costs(&world, "group_by=day").await;
        assert_eq!((nothing["total"]["logs"].clone(), nothing["days"].clone()), (json!(0), json!(0)));

        upload(&world, 1, "killed.log", &killed()).await;
        let own = costs(&world, "").await;
        // 3840 x 2160 pixels of 4 to 8 bytes, 60 times a second, for 60 to 60.37 seconds: 33,177,600 x 60 x 60 bytes at least and
        // 66,355,200 x 60 x 60.37 at most. On the reference laptop a pixel has 4 bytes.
        assert_eq!(own["total"]["told"], numbers(1, 119_439, 240_352));
        assert_eq!(own["total"]["reference"], numbers(1, 119_439, 120_176));
        assert_eq!((own["total"]["measured_logs"].clone(), own["days"].clone()), (json!(0), json!(1)));

        upload(&world, 2, "split.log", SPLIT).await;
        let own = costs(&world, "machine=00000000000000000000000000000002").await;
        // 29,859,840 bytes a second, with 414,720 more at most for the plane, for 20.149 to 20.667 seconds.
        assert_eq!(own["total"]["told"], numbers(1, 601, 626));
        assert_eq!((own["total"]["measured_logs"].clone(), own["total"]["logs"].clone()), (json!(1), json!(1)));

        // Without a refresh rate and without a time behind it, a log does not tell.
        upload(&world, 3, "untold.log", KILLED).await;
        let by_day = costs(&world, "group_by=day").await;
        assert_eq!((by_day["total"]["logs"].clone(), by_day["days"].clone()), (json!(3), json!(2)));
        assert_eq!(by_day["total"]["told"], numbers(2, 119_439 + 601, 240_352 + 626));
        let days = by_day["groups"].as_array().expect("groups");
        let day = |day: &str| days.iter().find(|own| own["key"]["day"] == day).expect("it is there").clone();
        assert_eq!((day("2026-09-15")["logs"].clone(), day("2026-09-20")["logs"].clone()), (json!(2), json!(1)));
        assert_eq!(day("2026-09-20")["told"], numbers(1, 601, 626));
        assert_eq!(day("2026-09-15")["told"]["known_logs"], 1);

        // The rows say what the days say, whatever is asked.
        for (kept, rows) in [
            ("group_by=cohort", "group_by=cohort&killed=true"),
            (
                "from=2026-09-15&to=2026-09-15&group_by=day",
                "day=2026-09-15&group_by=day&from=2026-09-15T00:00:00Z&killed=true",
            ),
        ] {
            let find = |own: Value| {
                own["groups"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .find(|own| own["told"]["known_logs"] == 1 && own["measured_logs"] == 0)
                    .cloned()
            };
            assert_eq!(find(costs(&world, kept).await), find(costs(&world, rows).await), "{kept}");
        }
        let by_path = costs(&world, "group_by=path&group_by=reason").await;
        assert_eq!(by_path["groups"].as_array().map(Vec::len), Some(2), "{by_path}");
        assert_eq!(by_path["groups"][0]["key"], json!({"path": "d3d11", "reason": "killed_by_env"}));
        world.get("/api/v1/costs?group_by=nonsense").await.assert_problem(400);
        assert_verified(&world).await;

        // What a machine crossed goes with it.
        world.app.store.delete_machine(&machine(1), &Actor::command_line()).await.expect("the database answers");
        world.app.store.delete_machine(&machine(3), &Actor::command_line()).await.expect("the database answers");
        let left = costs(&world, "group_by=day").await;
        assert_eq!(left["total"]["told"], numbers(1, 601, 626));
        assert_eq!(left["groups"].as_array().map(Vec::len), Some(1));
        assert_verified(&world).await;
    });
}

#[test]
fn a_log_that_grows_counts_by_its_newest_end() {
    on_each_database(async |world| {
        let whole = killed();
        let (short, _) = whole.rsplit_once("[2026-09-15 08:32:07.370]").expect("its last record");
        upload(&world, 1, "killed.log", short).await;
        let first = costs(&world, "").await["total"]["told"]["megabytes_high"].as_i64().expect("a number");
        assert!((0..5_000).contains(&first), "a second at most: {first}");
        upload(&world, 1, "killed.log", &whole).await;
        assert_eq!(costs(&world, "").await["total"]["told"], numbers(1, 119_439, 240_352));
        assert_verified(&world).await;
    });
}

/// A split whose windows carry so many frames of 499,326 bytes, ten seconds each.
fn paced(frames: u64) -> String {
    let kb = frames * 499_326 / 1024;
    SPLIT
        .replace("xb_kb=291600", &format!("xb_kb={kb}"))
        .replace("ing_direct=596 ing_staged=2", &format!("ing_direct={} ing_staged=2", frames - 2))
}

#[test]
fn a_machine_at_half_the_rate_is_told_when_there_are_enough_others() {
    on_each_database(async |world| {
        for number in 1..=5 {
            upload(&world, number, "split.log", &paced(if number == 3 { 299 } else { 598 })).await;
        }
        let few = costs(&world, "").await;
        assert_eq!((few["curves"][0]["is_judged"].clone(), few["curves"][0]["off"].clone()), (json!(false), json!([])));
        for number in 6..=8 {
            upload(&world, number, "split.log", &paced(598 + u64::from(number))).await;
        }
        let enough = costs(&world, "").await;
        let curve = &enough["curves"][0];
        assert_eq!((curve["of"].clone(), curve["machines"].clone()), (json!("frame_interval"), json!(8)));
        // Ten seconds by 598 frames; all of one size tell no rate.
        assert!((curve["fixed_us"].as_f64().expect("a number") - 16_722.4).abs() < 100.0, "{curve}");
        assert_eq!(curve["bytes_per_second"], Value::Null);
        assert_eq!(curve["off"].as_array().map(Vec::len), Some(1), "{curve}");
        assert_eq!(
            (curve["off"][0]["machine"].clone(), curve["off"][0]["off"].clone()),
            (json!(machine(3)), json!("half_rate"))
        );
        let point = curve["points"]
            .as_array()
            .expect("points")
            .iter()
            .find(|own| own["machine"] == machine(3))
            .expect("its point");
        assert!((point["residual_us"].as_f64().expect("a number") - 16_722.4).abs() < 300.0, "{point}");
        // The same by the way of the rows.
        assert_eq!(costs(&world, "from=2026-09-20").await["curves"], enough["curves"]);

        let page = world.get("/costs").await.text();
        assert!(page.contains("2.0 times as long") && page.contains("a link of half width, power saving"), "{page}");
        let own = world.get(&format!("/machines/{}", machine(3))).await.text();
        assert!(own.contains("What its crossings cost") && own.contains("2.0 times as long"), "{own}");
        let other = world.get(&format!("/machines/{}", machine(4))).await.text();
        assert!(
            other.contains(": as its kind") && other.contains("known of 1 of 1 logs, 1 of them measured"),
            "{other}"
        );
    });
}

#[test]
fn a_change_says_what_it_saves() {
    on_each_database(async |world| {
        upload(&world, 1, "killed.log", &killed()).await;
        upload(&world, 2, "split.log", SPLIT).await;
        let bus = |query: &str| {
            let address = format!("/api/v1/what-if?{query}");
            let world = &world;
            async move { world.json(&address).await["bus"].clone() }
        };
        let unset = bus("set=DXR_WEAVE_ON_SCANOUT%3D").await;
        // The reference laptop's atlas has half the panel's pixels: 16,588,800 x 60 bytes are saved, for 60 to 60.37 seconds. The
        // log that splits goes on splitting. It started on another day.
        assert_eq!(unset["days"], 2);
        assert_eq!(
            unset["reference"],
            json!({"known_logs": 2, "unknown_logs": 0, "megabytes_low": 59_719, "megabytes_high": 60_088,
                "megabytes_per_day_low": 29_859, "megabytes_per_day_high": 30_044})
        );
        // An atlas as large as the display asks for, in every frame, saves nothing.
        assert_eq!((unset["told"]["megabytes_low"].clone(), unset["told"]["known_logs"].clone()), (json!(0), json!(2)));
        assert_eq!(unset["told"]["megabytes_high"], 240_352);
        let kill = bus("set=DXR_WEAVE_ON_SCANOUT%3D0").await;
        // 1,990,656,000 bytes a second instead of 29,859,840 to 30,274,560, for 20.149 to 20.667 seconds.
        assert_eq!(kill["reference"]["megabytes_low"], -40_524);
        assert_eq!(kill["reference"]["megabytes_high"], -39_499);
        assert_eq!(kill["told"]["unknown_logs"], 1, "that log does not tell the refresh rate");

        let page = world.get("/what-if?set=DXR_WEAVE_ON_SCANOUT%3D").await.text();
        assert!(page.contains("it saves 29.86 to 30.04 GB a day, over 2 days. Known of 2 logs, not of 0"), "{page}");
        let page = world.get("/what-if?set=DXR_WEAVE_ON_SCANOUT%3D0").await.text();
        assert!(page.contains("it costs 19.75 to 20.26 GB more a day"), "{page}");
    });
}

#[test]
fn the_page_names_what_it_knows_and_nothing_else() {
    on_each_database(async |world| {
        let empty = world.get("/costs").await;
        assert_eq!(empty.status, StatusCode::OK);
        assert!(empty.text().contains("How to send the first logs"), "{}", empty.text());
        upload(&world, 3, "untold.log", KILLED).await;
        let page = world.get("/costs").await.text();
        assert!(page.contains("No log here tells what crossed") && page.contains("Of 1 log it is"), "{page}");
        let hostile = killed().replace("Intel(R) UHD Graphics", "<script>alert(1)</script>");
        upload(&world, 1, "killed.log", &hostile).await;
        let page = world.get("/costs").await.text();
        assert!(page.contains("119.44 to 240.35 GB cross between GPUs a day"), "{page}");
        assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "{page}");
        let reference = world.get("/costs?numbers=reference&path=d3d11").await.text();
        assert!(
            reference.contains("119.44 to 120.18 GB") && reference.contains("as on the reference laptop"),
            "{reference}"
        );
        assert_eq!(world.get("/costs?path=metal").await.status, StatusCode::BAD_REQUEST);
        let fleet = world.get("/").await.text();
        assert!(fleet.contains("href=\"/costs\""), "{fleet}");
    });
}

#[test]
fn a_batch_of_an_older_agent_is_not_known() {
    on_each_database(async |world| {
        let mut own: Batch = batch(1, vec![segment("killed.log", &killed())]);
        own.segments[0].facts.last_time = None;
        world.upload(&own).await;
        assert_eq!(costs(&world, "").await["total"]["told"], numbers(0, 0, 0));
        assert_verified(&world).await;
    });
}
