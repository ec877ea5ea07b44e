//! The page of one log: everything that the API and `explain` say of it, links that lead on, and nothing that a log could smuggle in.

use axum::http::StatusCode;
use server::store::log_id as public_id;
use wire::{Clock, Kind, Observation, Path, Segment, Value as Field};

use crate::learned::{I, N, log};
use crate::sample::{Sample, batch, event, log_id, machine};
use crate::told::loss;
use crate::world::{World, on_each_database};

fn id_of(machine_number: u32, segment: &Segment) -> String {
    public_id(&machine(machine_number), &segment.log)
}

async fn page(world: &World, uri: &str) -> String {
    let answer = world.get(uri).await;
    assert_eq!(answer.status, StatusCode::OK, "{uri}: {}", answer.text());
    assert!(answer.header("content-type").starts_with("text/html"));
    answer.text()
}

#[test]
fn a_log_reads_like_a_lab_report() {
    on_each_database(async |world| {
        let mut killed = log(1, 0x100, Path::D3d11, &["killed_by_env"]);
        killed.log = log_id("a.log");
        killed.facts.counts.lines = 4_321;
        killed.clock = Some(Clock { zone: Some("Europe/Berlin".to_owned()), offset_s: 7_200, repeated: false });
        let mut told = batch(1, vec![killed.clone()]);
        told.losses = vec![loss(Some("a.log"), "truncated", 17, 3)];
        world.upload(&told).await;
        let page = page(&world, &format!("/logs/{}", id_of(1, &killed))).await;
        for words in [
            // The verdict with its line, which leads to the evidence.
            "<h1>Split switched off: ",
            "<a href=\"#line-12\">line 12</a>",
            "id=\"line-12\"",
            "<b>Decides.</b>",
            // What to ask, and what the findings are.
            "Ask next",
            "<code>killed</code>",
            // Expected beside observed, with every rule.
            "Expected by the rules",
            "<code>kill</code>",
            // What it cost, as far as the log tells.
            "What crossing costs",
            "<b>happened</b>",
            // The ledger, the zone, what was lost.
            "4,321",
            "Europe/Berlin, UTC+02:00",
            "truncated",
            "17 bytes, 3 events",
            // Ways on.
            "data-copy=\"#markdown\"",
            &format!("href=\"/machines/{}\"", machine(1)),
        ] {
            assert!(page.contains(words), "{words:?} is missing: {page}");
        }
        // The Markdown is that of the command line, with its lines whole.
        assert!(page.contains("### Evidence\n") && !page.contains("U+000A"), "{page}");
    });
}

#[test]
fn a_luid_has_its_adapter_beside_it() {
    on_each_database(async |world| {
        let mut segment = log(1, 0x100, Path::D3d12, &[]);
        let device = [("adapter.luid", Field::Luid(wire::Luid(0x100)))];
        let device = event(10, 2, Kind::Device, "t.d12dev", &device);
        assert!(parser::format::body(&device).is_some(), "the record can be made again");
        segment.observations.insert(0, Observation::Event(device));
        world.upload(&batch(1, vec![segment.clone()])).await;
        let page = page(&world, &format!("/logs/{}", id_of(1, &segment))).await;
        let told = format!("00000000:00000100 <bdi class=\"adapter\">{N}</bdi>");
        assert!(page.contains(&told), "{page}");
    });
}

#[test]
fn a_log_without_its_records_still_tells_its_verdict() {
    on_each_database(async |world| {
        let segment = log(1, 0x100, Path::D3d11, &["killed_by_env"]);
        world.upload(&batch(1, vec![segment.clone()])).await;
        world.app.store.prune(server::store::Part::Events, "9999").await.expect("the database answers");
        let page = page(&world, &format!("/logs/{}", id_of(1, &segment))).await;
        assert!(page.contains("are not kept any more") && page.contains("switched off by a setting"), "{page}");
        assert!(page.contains(I) && !page.contains("Expected by the rules"));
    });
}

#[test]
fn counters_of_a_log_are_its_cost() {
    on_each_database(async |world| {
        let mut engaged = log(1, 0x100, Path::D3d12, &[]);
        engaged.log = log_id("a.log");
        let size = [("panel.width", Field::Uint(3840)), ("panel.height", Field::Uint(2160))];
        let rate = [("hz", Field::Decimal("60.00".to_owned())), ("period_ms", Field::Decimal("16.67".to_owned()))];
        let window = [
            ("split", Field::Int(1)),
            ("xb_kb", Field::Uint(9_720_000)),
            ("ing_direct", Field::Uint(600)),
            ("ing_staged", Field::Uint(0)),
        ];
        let throttle = [("gb_per_s", Field::Decimal("2.31".to_owned()))];
        engaged.observations.extend([
            Observation::Event(event(110, 13, Kind::Display, "t.panel_rect", &size)),
            Observation::Event(event(120, 14, Kind::Display, "t.refresh", &rate)),
            Observation::Event(event(130, 15, Kind::RenderSplit, "rd.inproc", &window)),
            Observation::Event(event(140, 16, Kind::BridgeDetail, "xb.throttle", &throttle)),
        ]);
        world.upload(&batch(1, vec![engaged.clone()])).await;
        let page = page(&world, &format!("/logs/{}", id_of(1, &engaged))).await;
        for words in [
            "One atlas per rendered frame crosses: 1.0 GB/s, measured; holds 60 Hz on this link",
            "<td role=\"cell\">16.6 MB</td>",
            "Over the bridge: 9.95 GB",
            "60, told by the log, line 14",
            "at least 2310000000, told by the log",
            // The pixel format is told by nobody.
            "4 to 8, told by nobody: what is possible",
        ] {
            assert!(page.contains(words), "{words:?} is missing: {page}");
        }
    });
}

#[test]
fn what_is_no_log_is_a_page_that_says_so() {
    on_each_database(async |world| {
        for (uri, status) in [
            (format!("/logs/{}", machine(1)), 404),
            ("/logs/nonsense".to_owned(), 404),
            ("/logs/%00".to_owned(), 404),
            (format!("/logs/{}?x=1", machine(1)), 400),
        ] {
            let answer = world.get(&uri).await;
            assert_eq!(answer.status.as_u16(), status, "{uri}");
            assert!(answer.text().contains("<h1>"), "{uri}");
        }
    });
}

/// Names that somebody chose to do harm.
pub const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "gpu\u{202e}exe.\u{200b}\u{1b}[2J",
    "line 12 `\u{1f600}` 00000000:00000100 &amp; {{ x }}",
    "שלום 显卡 {% raw %}",
];

#[test]
fn hostile_names_stay_text() {
    on_each_database(async |world| {
        let long = "x<".repeat(2_000);
        let names = HOSTILE.into_iter().chain([long.as_str()]);
        for (number, name) in (1..).zip(names) {
            let name: &'static str = name.to_owned().leak();
            let sample = Sample { exe: name, render: name, reasons: &["<blink>"], ..Sample::default() };
            let mut segment = sample.segment();
            segment.file = name.to_owned();
            let mut told = batch(number, vec![segment]);
            told.agent = name.to_owned();
            told.losses = vec![loss(Some("a.log"), name, 1, 1), loss(None, name, 1, 1)];
            told.heartbeat = Some(wire::Heartbeat {
                slowed: Some(name.to_owned()),
                queue_bytes: 1,
                config: [(name.to_owned(), name.to_owned())].into(),
                ..wire::Heartbeat::default()
            });
            world.upload(&told).await;
            let id = public_id(&machine(number), &log_id("a.log"));
            for uri in [
                format!("/logs/{id}"),
                format!("/machines/{}", machine(number)),
                "/machines".to_owned(),
                "/health".to_owned(),
            ] {
                let page = page(&world, &uri).await;
                let inner =
                    page.replace("<script src=\"/static/", "").replace("<script type=\"application/json\">", "");
                for wrong in ["<script", "<img src=x", "<blink", "x<x", "\u{202e}", "\u{200b}", "\u{1b}"] {
                    assert!(!inner.contains(wrong), "{wrong:?} in {uri}: {page}");
                }
                assert!(!page.contains(" style="), "{uri}");
            }
        }
    });
}
