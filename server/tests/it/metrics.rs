//! `/metrics`, read as strictly as the text format of Prometheus is written down, and the numbers in it.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;

use crate::sample::{Sample, batch};
use crate::world::{World, on_each_database, request};

/// Values by name and labels.
type Samples = BTreeMap<(String, String), f64>;

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads `a="x",b="y"`; what is escaped counts as one character.
fn labels(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a label has a value");
        assert!(is_name(name), "{name}");
        let end = after.find('"').expect("a value ends");
        assert!(!after[..end].contains(['\\', '\n']), "no word of ours needs that: {text}");
        found.push((name.to_owned(), after[..end].to_owned()));
        rest = after[end + 1..].trim_start_matches(',');
    }
    let names: BTreeSet<_> = found.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), found.len(), "a label stands twice: {text}");
    found
}

/// Reads the whole text and complains about everything that a strict reader would.
fn read(text: &str) -> Samples {
    assert!(text.ends_with('\n'));
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    let mut finished = BTreeSet::new();
    let mut family = String::new();
    let mut samples = Samples::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (keyword, name, rest) = (words.next(), words.next().expect(line), words.next().expect(line));
            assert!(is_name(name) && !rest.is_empty(), "{line}");
            if name != family {
                assert!(finished.insert(name.to_owned()), "the lines of {name} stand together");
                name.clone_into(&mut family);
            }
            match keyword {
                Some("HELP") => assert!(!kinds.contains_key(name), "the help comes first: {line}"),
                Some("TYPE") => {
                    assert!(["counter", "gauge", "histogram"].contains(&rest), "{line}");
                    assert_eq!(kinds.insert(name.to_owned(), rest.to_owned()), None, "{name} has one type");
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect(line);
        let (name, inside) = match series.split_once('{') {
            Some((name, inside)) => (name, inside.strip_suffix('}').expect(line)),
            None => (series, ""),
        };
        let value: f64 = value.parse().expect(line);
        assert!(is_name(name) && value.is_finite() && value >= 0.0, "{line}");
        let kind = kinds.get(&family).map(String::as_str).expect(line);
        let own = matches!(
            (kind, name.strip_prefix(family.as_str())),
            ("histogram", Some("_bucket" | "_sum" | "_count")) | ("counter" | "gauge", Some(""))
        );
        assert!(own, "{name} stands under {family}, a {kind}");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        let mut labels = labels(inside);
        labels.sort();
        let spelled = labels.iter().fold(String::new(), |all, (name, value)| all + name + "=" + value + " ");
        let key = (name.to_owned(), spelled);
        assert_eq!(samples.insert(key, value), None, "{series} stands twice");
    }
    for ((name, labels), count) in &samples {
        if let Some(base) = name.strip_suffix("_count") {
            let total = samples[&(format!("{base}_bucket"), format!("le=+Inf {labels}"))];
            assert!((total - count).abs() < f64::EPSILON, "{base} {labels}");
            assert!(samples.contains_key(&(format!("{base}_sum"), labels.clone())), "{base} {labels}");
        }
    }
    samples
}

async fn fetch(world: &World) -> Samples {
    let answer = world.send(request("GET", "/metrics", None, Body::empty())).await;
    assert_eq!(answer.status.as_u16(), 200);
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    read(&answer.text())
}

fn value(samples: &Samples, name: &str, labels: &str) -> f64 {
    samples.get(&(name.to_owned(), labels.to_owned())).copied().unwrap_or_default()
}

/// The counters belong to the process, in which there may have been another server before, so what is looked at is how much
/// they grew.
#[test]
fn what_happens_is_counted_once_and_by_words_of_ours() {
    on_each_database(async |world| {
        let before = fetch(&world).await;
        let good = Sample::default().segment();
        let mut bad = Sample { name: "b.log", ..Sample::default() }.segment();
        bad.end = bad.start;
        let body = serde_json::to_vec(&batch(1, vec![good, bad])).expect("plain data");
        let bytes = body.len() as f64;
        let answer = world.post(None, body).await;
        assert_eq!(answer.json()["refused"].as_array().map(Vec::len), Some(1), "{}", answer.text());
        world.get("/api/v1/logs/00000000000000000000000000000000").await.assert_problem(404);
        world.get("/somewhere/else").await.assert_problem(404);
        world.send(request("BREW", "/api/v1/summary", None, Body::empty())).await.assert_problem(405);
        world.send(request("GET", "/api/v1/summary", Some("ww_guess"), Body::empty())).await.assert_problem(401);

        let after = fetch(&world).await;
        let grew = |name: &str, labels: &str| value(&after, name, labels) - value(&before, name, labels);
        for (name, labels, by) in [
            ("weavewatch_ingest_batches_total", "", 1.0),
            ("weavewatch_ingest_segments_total", "", 1.0),
            ("weavewatch_ingest_refused_segments_total", "", 1.0),
            ("weavewatch_ingest_events_total", "", 1.0),
            ("weavewatch_ingest_bytes_total", "", bytes),
            ("weavewatch_auth_failures_total", "", 1.0),
            ("weavewatch_http_requests_total", "method=POST route=/api/v1/ingest status=200 ", 1.0),
            ("weavewatch_http_requests_total", "method=GET route=/api/v1/logs/{id} status=404 ", 1.0),
            ("weavewatch_http_requests_total", "method=GET route=none status=404 ", 1.0),
            ("weavewatch_http_requests_total", "method=other route=none status=405 ", 1.0),
            ("weavewatch_http_requests_total", "method=GET route=/api/v1/summary status=401 ", 1.0),
            ("weavewatch_http_request_duration_seconds_count", "method=POST route=/api/v1/ingest ", 1.0),
        ] {
            assert!((grew(name, labels) - by).abs() < f64::EPSILON, "{name} {labels}: {}", grew(name, labels));
        }
        assert!(grew("weavewatch_commit_duration_seconds_count", "") >= 1.0);
        assert!((grew("weavewatch_commit_group_size_sum", "") - 1.0).abs() < f64::EPSILON, "nobody came with it");
        assert!(after.keys().all(|(_, labels)| !labels.contains("BREW") && !labels.contains("else")), "{after:?}");
        assert!((value(&after, "weavewatch_ingest_uploads_under_way", "")).abs() < f64::EPSILON);
    });
}

#[test]
fn what_there_is_is_told_and_a_database_that_is_away_too() {
    on_each_database(async |world| {
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let samples = fetch(&world).await;
        for (name, labels, expected) in [
            ("weavewatch_database_up", "", 1.0),
            ("weavewatch_machines", "", 1.0),
            ("weavewatch_logs", "split=off ", 1.0),
            ("weavewatch_logs", "split=engaged ", 0.0),
            ("weavewatch_tokens", "scope=agent ", 1.0),
            ("weavewatch_tokens", "scope=admin ", 0.0),
        ] {
            let key = (name.to_owned(), labels.to_owned());
            assert_eq!(samples.get(&key), Some(&expected), "{name} {labels}");
        }
        for name in [
            "weavewatch_database_bytes",
            "weavewatch_last_upload_timestamp_seconds",
            "process_start_time_seconds",
            "process_resident_memory_bytes",
            "process_cpu_seconds_total",
        ] {
            assert!(value(&samples, name, "") > 0.0, "{name}");
        }
        let build = samples.keys().find(|(name, _)| name == "weavewatch_build_info").expect("it is told");
        assert!(build.1.contains(concat!("version=", env!("CARGO_PKG_VERSION"))), "{build:?}");
    });
    on_each_database(async |world| {
        world.app.store.close().await;
        let samples = fetch(&world).await;
        let up = samples[&("weavewatch_database_up".to_owned(), String::new())];
        assert!(up.abs() < f64::EPSILON, "{up}");
        assert!(!samples.keys().any(|(name, _)| name == "weavewatch_machines"), "nobody knows");
    });
}
