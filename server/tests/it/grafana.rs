//! The dashboards for Grafana ask only for what there is: every query runs, and every metric is told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axum::body::Body;
use serde_json::{Value, json};
use server::store::Place;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::sample::{Sample, batch};
use crate::summary::fleet;
use crate::world::{connect, on_each_database, request};

fn dashboard(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dashboards/grafana").join(name);
    serde_json::from_str(&std::fs::read_to_string(file).expect("it is checked in")).expect("JSON")
}

/// What each panel asks, under this field of its targets, by the panel's title.
fn asked(dashboard: &Value, field: &str, source: &str) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        let title = panel["title"].as_str().expect("a title").to_owned();
        let mut own = Vec::new();
        for target in panel["targets"].as_array().expect("targets") {
            assert_eq!(
                (&target["datasource"], &panel["datasource"]["uid"]),
                (&panel["datasource"], &json!(source)),
                "{title}"
            );
            own.push(target[field].as_str().unwrap_or_else(|| panic!("{title} asks something")).to_owned());
        }
        assert!(!own.is_empty() && all.insert(title.clone(), own).is_none(), "{title}");
    }
    all
}

/// The words of a text, of letters, digits and `_`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// What Grafana makes of it for a month.
fn plain(sql: &str, month: &str) -> String {
    let sql =
        sql.replace("$__timeFilter(time)", &format!("time between '{month}-01T00:00:00Z' and '{month}-30T23:59:59Z'"));
    assert!(!sql.contains("$_"), "{sql}");
    sql
}

/// The rows as objects.
async fn rows(connection: &mut AnyConnection, sql: &str) -> Vec<Value> {
    let sql = format!("select coalesce(json_agg(answer), '[]')::text from ({sql}) as answer");
    let text: String = sqlx::query_scalar(AssertSqlSafe(sql.clone()))
        .fetch_one(connection)
        .await
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
    serde_json::from_str(&text).expect("rows")
}

#[test]
fn every_query_of_the_fleet_runs_and_counts_what_the_server_counts() {
    on_each_database(async |world| {
        let Place::Postgres(_) = &world.place else { return };
        fleet(&world).await;
        // Days that PostgreSQL cannot read, and a name that is no SQL.
        for (number, day) in ["-000001-01-01T00:00:00", "0000-01-01T00:00:00"].into_iter().enumerate() {
            let odd =
                Sample { started: Some(day), exe: "'; drop table logs; --", reasons: &["'"], ..Sample::default() };
            world.upload(&batch(7 + u32::try_from(number).expect("two"), vec![odd.segment()])).await;
        }
        let mut connection = connect(&world.place).await;
        let queries = asked(&dashboard("fleet.json"), "rawSql", "weavewatch-postgresql");
        let mut answers = BTreeMap::new();
        for (title, own) in &queries {
            for sql in own {
                // A role that may read these two is enough, as the README says.
                let all: Vec<_> = words(sql).collect();
                let tables = all.windows(2).filter(|pair| ["from", "join"].contains(&pair[0])).map(|pair| pair[1]);
                let tables: BTreeSet<_> =
                    tables.filter(|name| !["kinds", "select", "lateral"].contains(name)).collect();
                assert!(tables.iter().all(|name| ["rollups", "cohorts"].contains(name)), "{title}: {tables:?}");
                let found = rows(&mut connection, &plain(sql, "2026-09")).await;
                assert!(!found.is_empty(), "{title}: {sql}");
                // A month without logs is no error, and no row but of sums.
                let empty = rows(&mut connection, &plain(sql, "2025-09")).await;
                assert!(empty.len() <= 1, "{title}: {empty:?}");
                answers.insert(title.as_str(), found);
            }
        }
        assert_eq!(answers["Logs"], [json!({"Logs": 6})], "but for the one without a start");
        let filters = "from=2026-09-01&to=2026-09-30";
        for (title, dimension, name, skipped) in
            [("GPU pairs by outcome", "gpu_pair", "GPU pair", false), ("Reasons", "reason", "Reason", true)]
        {
            let summary = world.json(&format!("/api/v1/summary?group_by={dimension}&{filters}")).await;
            let groups = summary["groups"].as_array().expect("groups").iter();
            let expected: BTreeMap<_, _> = groups
                .filter(|group| !(skipped && group["key"][dimension].is_null()))
                .map(|group| (group["key"][dimension].as_str().unwrap_or("not told").to_owned(), group["logs"].clone()))
                .collect();
            let found: BTreeMap<_, _> = answers[title]
                .iter()
                .map(|row| (row[name].as_str().expect("a name").to_owned(), row["Logs"].clone()))
                .collect();
            assert_eq!(found, expected, "{title}");
        }
        let days = &answers["Outcomes by day"];
        let killed: u64 = days.iter().map(|day| day["Killed by setting"].as_u64().expect("a count")).sum();
        assert_eq!((days.len(), killed), (2, 3), "{days:?}");
        // The same interval as on the pages.
        for row in &answers["Worst kinds of PC"] {
            let count = |name: &str| row[name].as_u64().expect("a count");
            let number = |name: &str| row[name].as_f64().expect("a number");
            let bad = count("Crosses every present") + count("Killed by setting") + count("Taken back");
            let (low, high) = dashboards::share::wilson_95(bad, count("Logs")).expect("logs");
            let share = bad as f64 / count("Logs") as f64;
            for (name, expected) in [("95 % low", low), ("95 % high", high), ("Share", share)] {
                assert!((number(name) - expected).abs() < 1e-6, "{name}: {row}");
            }
        }
    });
}

#[test]
fn every_metric_of_the_server_s_dashboard_is_told_with_its_labels() {
    on_each_database(async |world| {
        fleet(&world).await;
        world.get("/").await;
        world.get("/api/v1/nothing").await;
        let text = world.send(request("GET", "/metrics", None, Body::empty())).await.text();
        let told: BTreeMap<&str, &str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| Some((line.split(['{', ' ']).next()?, line)))
            .collect();
        let queries = asked(&dashboard("server.json"), "expr", "weavewatch-prometheus");
        let mut seen = BTreeSet::new();
        for (title, own) in &queries {
            for query in own {
                let metrics =
                    words(query).filter(|word| word.starts_with("weavewatch_") || word.starts_with("process_"));
                let metrics: Vec<_> = metrics.collect();
                assert!(!metrics.is_empty(), "{title}: {query}");
                for name in &metrics {
                    // PostgreSQL looks after its own disk.
                    let unknown = *name == "weavewatch_disk_free_bytes" && matches!(world.place, Place::Postgres(_));
                    assert!(unknown || told.contains_key(name), "{title}: {name}");
                    seen.insert((*name).to_owned());
                }
                for group in query.split("by (").skip(1) {
                    let labels = group.split(')').next().expect("it ends");
                    for label in labels.split(", ") {
                        let line = told[metrics[0]];
                        assert!(line.contains(&format!("{label}=\"")), "{title}: {label} is no label of {line}");
                    }
                }
            }
        }
        // Nothing that is counted for itself is forgotten.
        for name in told.keys().filter(|name| name.ends_with("_total")) {
            assert!(seen.contains(*name), "{name} is on no panel");
        }
    });
}

#[test]
fn the_dashboards_name_the_sources_that_are_provisioned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dashboards/grafana/provisioning");
    let sources = std::fs::read_to_string(folder.join("datasources/weavewatch.yaml")).expect("it is checked in");
    let readme = std::fs::read_to_string(folder.join("../README.md")).expect("it is checked in");
    for name in ["fleet.json", "server.json"] {
        let dashboard = dashboard(name);
        let panels = dashboard["panels"].as_array().expect("panels");
        let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
        assert_eq!(ids.len(), panels.len(), "{name}: every panel has an id of its own");
        for panel in panels {
            let (kind, uid) = (&panel["datasource"]["type"], &panel["datasource"]["uid"]);
            let block = sources
                .split("  - name: ")
                .find(|block| block.contains(&format!("uid: {}\n", uid.as_str().expect("text"))));
            let kind = format!("type: {}\n", kind.as_str().expect("text"));
            assert!(block.is_some_and(|block| block.contains(&kind)), "{name}: {uid}");
        }
        assert!(readme.contains(name));
    }
    let provider = std::fs::read_to_string(folder.join("dashboards/weavewatch.yaml")).expect("it is checked in");
    let path = provider.split("path: ").nth(1).expect("a path").trim();
    assert!(readme.contains(path), "{path}");
    for variable in
        sources.split('$').skip(1).filter_map(|rest| words(rest).next()).filter(|word| word.starts_with("WEAVE"))
    {
        let tail = variable.trim_start_matches("WEAVEWATCH_POSTGRES");
        assert!(readme.contains(variable) || readme.contains(&format!("`{tail}`")), "{variable}");
    }
}
