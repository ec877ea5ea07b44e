//! `POST /api/v1/replay`: every machine of the fixtures, each kind of input, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use axum::body::Body;
use serde_json::{Value, json};
use server::auth::Scope;

use crate::described::Described;
use crate::sample::{Sample, batch};
use crate::world::{Answer, World, on_each_database, request};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

async fn ask(world: &World, question: impl Into<Body>) -> Answer {
    let reader = world.app.store.create_token(Scope::Reader, "").await.expect("a token").secret;
    world.send(request("POST", "/api/v1/replay", Some(&reader), question.into())).await
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).expect("the case is complete")).expect("it is JSON")
}

#[test]
fn every_machine_of_the_fixtures_gets_the_resolver_s_answer() {
    on_each_database(async |world| {
        let described = Described::new();
        let entries = fs::read_dir(fixtures().join("machines")).expect("the fixtures are there");
        let mut cases: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
        cases.retain(|path| path.join("case.json").is_file());
        assert!(cases.len() >= 60, "{} cases", cases.len());
        for case in &cases {
            let text = fs::read_to_string(case.join("machine.json")).expect("the case is complete");
            let mut machine: wire::Machine = serde_json::from_str(&text).expect("a machine file");
            let mut question = json(case, "case.json");
            let set = question["set"].as_object().expect("settings by name");
            machine
                .settings
                .env
                .extend(set.iter().map(|(name, value)| (name.clone(), value.as_str().expect("a text").to_owned())));
            let word = |key: &str| question[key].clone();
            let path = serde_json::from_value(word("path")).expect("a path");
            let policy = serde_json::from_value(word("policy")).expect("a policy");
            let expected = resolver::replay::replay(&machine, path, policy);
            let expected = serde_json::to_string_pretty(&expected).expect("plain data");
            let expected: String = expected.lines().flat_map(|line| [wire::cell::json(line), "\n".into()]).collect();
            // As an object, and as the text of the file.
            question
                .as_object_mut()
                .expect("an object")
                .retain(|key, _| ["path", "policy", "set"].contains(&key.as_str()));
            for machine in [json(case, "machine.json"), json!(text)] {
                question["machine"] = machine;
                let answer = ask(&world, question.to_string()).await;
                assert_eq!(answer.text(), expected, "{}", case.display());
                let fault = described.fault("POST", "/api/v1/replay", &answer);
                assert!(fault.is_none(), "{}: {}", case.display(), fault.unwrap_or_default());
            }
        }
    });
}

#[test]
fn a_log_and_the_tool_s_output_tell_a_machine_too() {
    on_each_database(async |world| {
        let mut kinds = 0;
        for folder in ["cli", "logs/ok"] {
            for entry in fs::read_dir(fixtures().join(folder)).expect("the fixtures are there") {
                let path = entry.expect("the folder can be read").path();
                let Some("txt" | "log") = path.extension().and_then(|end| end.to_str()) else { continue };
                let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
                let answer = ask(&world, json!({"machine": text, "path": "d3d11"}).to_string()).await;
                if answer.status.is_success() {
                    assert_eq!(answer.json()["schema"], "weavewatch.replay/1");
                    kinds += 1;
                } else {
                    answer.assert_problem(400);
                }
            }
        }
        assert!(kinds > 20, "{kinds} files tell a machine");
    });
}

#[test]
fn a_situation_that_logs_have_told_is_replayed_by_its_id() {
    on_each_database(async |world| {
        let described = Described::new();
        world.upload(&batch(1, vec![Sample::default().segment()])).await;
        let link = world.json("/api/v1/what-if?set=DXR_WEAVE_ON_SCANOUT%3D0").await["effects"]
            .as_array()
            .expect("a list")
            .iter()
            .flat_map(|effect| effect["pairs"].as_array().expect("a list").clone())
            .find_map(|pair| pair["logs_link"].as_str().map(str::to_owned))
            .expect("one pair has logs");
        let id = link.split(['?', '&']).find_map(|pair| pair.strip_prefix("situation=")).expect(&link).to_owned();
        let stored = world.app.store.situations_of(&[i64::from_str_radix(&id, 16).expect("hex")]).await.expect("rows");
        let own: wire::Situation = serde_json::from_str(&stored[0].1).expect("a situation");

        let other = wire::Path::Vulkan;
        assert_ne!(own.path, other);
        let off = BTreeMap::from([("DXR_WEAVE_ON_SCANOUT".to_owned(), "0".to_owned())]);
        for (path, policy, set) in
            [(None, None, None), (Some(other), Some(wire::Policy::Adr039), None), (None, None, Some(off))]
        {
            let mut machine = own.machine.clone();
            machine.settings.env.extend(set.clone().unwrap_or_default());
            let expected = resolver::replay::replay(&machine, path.unwrap_or(own.path), policy.unwrap_or(own.policy));
            let mut question = json!({"situation": id});
            for (name, value) in [("path", json!(path)), ("policy", json!(policy)), ("set", json!(set))] {
                if !value.is_null() {
                    question[name] = value;
                }
            }
            let answer = ask(&world, question.to_string()).await;
            assert_eq!(answer.json(), serde_json::to_value(expected).expect("plain data"), "{question}");
            let fault = described.fault("POST", "/api/v1/replay", &answer);
            assert!(fault.is_none(), "{}", fault.unwrap_or_default());
        }
        ask(&world, json!({"situation": "0000000000000000"}).to_string()).await.assert_problem(404);
    });
}

#[test]
fn what_is_no_question_is_a_problem() {
    on_each_database(async |world| {
        let machine = json!({"schema": "weavewatch.machine/1", "os": "windows", "panel": null, "adapters": []});
        for question in [
            json!([]),
            json!({"machine": machine}),
            json!({"machine": machine, "path": "metal"}),
            json!({"machine": machine, "path": "d3d11", "policy": "none"}),
            json!({"machine": machine, "path": "d3d11", "set": {"": "1"}}),
            json!({"machine": machine, "path": "d3d11", "set": {"DXR_WEAVE_ON_SCANOUT": 0}}),
            json!({"machine": machine, "path": "d3d11", "more": 1}),
            json!({"machine": {"schema": "weavewatch.machine/1", "os": 1}, "path": "d3d11"}),
            json!({"machine": "hello", "path": "d3d11"}),
            json!({"machine": "", "path": "d3d11"}),
            json!({"machine": null, "path": "d3d11"}),
            json!({"machine": 7, "path": "d3d11"}),
            json!({"path": "d3d11"}),
            json!({"machine": machine, "situation": "0000000000000000", "path": "d3d11"}),
            json!({"machine": machine, "path": null}),
            json!({"situation": "12"}),
            json!({"situation": 12}),
            json!({"situation": "0000000000000000", "path": "metal"}),
            json!({"situation": "0000000000000000", "more": 1}),
        ] {
            ask(&world, question.to_string()).await.assert_problem(400);
        }
        ask(&world, "").await.assert_problem(400);
        ask(&world, "[".repeat(100_000)).await.assert_problem(400);
        ask(&world, vec![b' '; (8 << 20) + 1]).await.assert_problem(400);
        let deep = format!(r#"{{"machine":{}1{},"path":"d3d11"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        ask(&world, deep).await.assert_problem(400);
    });
}
