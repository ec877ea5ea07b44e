//! The page at `/`: the numbers of the API, the logs behind them, and nothing that a log could smuggle in.

use std::io::Read as _;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use dashboards::statics;
use flate2::read::GzDecoder;
use server::app::State;
use server::filling::Filling;

use crate::sample::{Sample, batch};
use crate::summary::fleet;
use crate::world::{World, on_each_database};

#[test]
fn the_page_answers_with_data_and_without() {
    on_each_database(async |world| {
        let empty = world.get("/").await;
        assert_eq!(empty.status.as_u16(), 200);
        assert!(empty.header("content-type").starts_with("text/html"));
        fleet(&world).await;
        let page = world.get("/").await.text();
        assert!(page.contains("7 logs") && page.contains("3 machines"), "{page}");
        assert!(page.contains("killed_by_env"));
        let filtered = world.get("/logs?split=engaged").await.text();
        assert!(filtered.contains("Game.exe</bdi>") && !filtered.contains("MyViewer.exe</bdi>"), "{filtered}");
    });
}

#[test]
fn names_from_logs_are_escaped() {
    on_each_database(async |world| {
        let hostile = "<script>alert(1)</script>";
        let sample = Sample { exe: hostile, render: hostile, reasons: &["<blink>"], ..Sample::default() };
        world.upload(&batch(1, vec![sample.segment()])).await;
        let page = world.get("/").await.text();
        assert!(page.contains("alert(1)"), "the name is shown");
        assert!(!page.contains(hostile) && !page.contains("<blink>"), "but as text");
    });
}

#[test]
fn every_static_file_is_served_and_kept() {
    on_each_database(async |world| {
        // What only a demo that fills links.
        let demo =
            World::of(State::for_demo(world.app.store.clone(), Arc::new(Filling::new(2))), world.place.clone()).await;
        let mut page = demo.get("/").await.text();
        for uri in ["/", "/triage", "/live"] {
            page += &world.get(uri).await.text();
        }
        for file in statics::ALL {
            let answer = world.get(&file.path()).await;
            assert_eq!(answer.status.as_u16(), 200, "{}", file.path());
            assert_eq!(answer.body, file.bytes);
            assert_eq!(answer.header("content-type"), file.content_type);
            assert!(answer.header("cache-control").contains("immutable"));
            assert!(page.contains(&file.path()), "a page links {}", file.path());
        }
    });
}

#[test]
fn pages_and_files_travel_packed_to_whoever_unpacks_them() {
    on_each_database(async |world| {
        fleet(&world).await;
        let ask = async |uri: &str, encodings: Option<&str>| {
            let mut request = Request::get(uri).header("host", "127.0.0.1:8787");
            if let Some(encodings) = encodings {
                request = request.header("accept-encoding", encodings);
            }
            world.send_from("127.0.0.1:50000", request.body(Body::empty()).expect("a request")).await
        };
        for uri in ["/", &statics::ECHARTS.path()] {
            let plain = ask(uri, None).await;
            let packed = ask(uri, Some("br, gzip")).await;
            assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), ("", "gzip"), "{uri}");
            assert_eq!(ask(uri, Some("gzip;q=0")).await.header("content-encoding"), "", "{uri}");
            assert!(packed.body.len() * 2 < plain.body.len(), "{uri}");
            let mut unpacked = Vec::new();
            GzDecoder::new(packed.body.as_slice()).read_to_end(&mut unpacked).expect("gzip");
            assert_eq!(unpacked, plain.body, "{uri}");
        }
    });
}
