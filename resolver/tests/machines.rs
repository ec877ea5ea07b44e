//! The table of cases: every folder of `fixtures/machines/` is a machine, a path, a policy and the answer that the documents
//! give for it (`why.md` names them). `expected.json` holds the keys that the case is about; its `rules` are those that
//! must have been asked with that outcome, among others.
//!
//! Together the cases must reach every outcome of every rule; the second test prints how many reach each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use resolver::replay::{EXCLUSIONS, GATES, RULES, gates, replay};
use serde_json::Value;
use wire::{Machine, Path, Policy, Replay};

/// Why an outcome is not reached by any machine.
const UNREACHABLE: &[(&str, &str)] = &[
    // The type follows from the memory, which is compared first (vocabulary 9.1).
    ("render.rank", "adapter type"),
];

struct Case {
    name: String,
    folder: PathBuf,
    answer: Replay,
}

/// A file of a case as JSON.
fn json(folder: &FilePath, name: &str) -> Value {
    let text = fs::read_to_string(folder.join(name)).expect("the case is complete");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}/{name}: {error}", folder.display()))
}

fn cases() -> Vec<Case> {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/machines");
    let mut folders: Vec<_> = fs::read_dir(root)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.into_iter().map(case).collect()
}

fn case(folder: PathBuf) -> Case {
    let mut machine: Machine = serde_json::from_value(json(&folder, "machine.json")).expect("a machine file");
    let asked = json(&folder, "case.json");
    for (name, value) in asked["set"].as_object().expect("settings by name") {
        machine.settings.env.insert(name.clone(), value.as_str().expect("settings are text").to_owned());
    }
    let path: Path = serde_json::from_value(asked["path"].clone()).expect("a path of the contract");
    let policy: Policy = serde_json::from_value(asked["policy"].clone()).expect("a policy of the contract");
    let name = folder.file_name().expect("folders have names").to_string_lossy().into_owned();
    Case { name, answer: replay(&machine, path, policy), folder }
}

#[test]
fn every_case_gets_its_answer() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for Case { name, folder, answer } in &cases {
        let answer = serde_json::to_value(answer).expect("an answer is plain data");
        for (key, expected) in json(folder, "expected.json").as_object().expect("answers by key") {
            let got = &answer[key];
            let fits = match (key.as_str(), got.as_array(), expected.as_array()) {
                ("rules", Some(got), Some(expected)) => expected.iter().all(|rule| got.contains(rule)),
                _ => got == expected,
            };
            if !fits {
                wrong.push(format!("{name}: {key}\n  expected {expected}\n  got      {got}"));
            }
        }
        let why = fs::read_to_string(folder.join("why.md")).unwrap_or_default();
        assert!(why.lines().any(|line| line.starts_with("- ")), "{name}: why.md gives no reason");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_cases_reach_every_outcome_of_every_rule() {
    let cases = cases();
    // One row a gate of a path under a policy, then one a rule of its own.
    let mut rows: BTreeMap<(String, &str, &str), usize> = BTreeMap::new();
    for policy in Policy::ALL {
        for path in GATES {
            for (rule, outcomes) in gates(path, policy) {
                for outcome in outcomes {
                    rows.insert((format!("{} {}", path.as_str(), policy.as_str()), rule, outcome), 0);
                }
            }
        }
    }
    for (rule, outcomes) in RULES {
        for outcome in outcomes.iter().filter(|outcome| !UNREACHABLE.contains(&(rule, outcome))) {
            rows.insert(("any".to_owned(), rule, outcome), 0);
        }
    }
    for ((place, rule, outcome), count) in &mut rows {
        let here = |answer: &Replay| {
            place == "any" || *place == format!("{} {}", answer.path.as_str(), answer.policy.as_str())
        };
        let asked = |answer: &Replay| answer.rules.iter().any(|fired| fired.rule == *rule && fired.outcome == *outcome);
        *count = cases.iter().filter(|case| here(&case.answer) && asked(&case.answer)).count();
    }
    for exclusion in EXCLUSIONS {
        let left_out = |answer: &Replay| answer.ranking.iter().any(|own| own.excluded.as_deref() == Some(*exclusion));
        let count = cases.iter().filter(|case| left_out(&case.answer)).count();
        rows.insert(("any".to_owned(), "ranking.excluded", exclusion), count);
    }
    for ((place, rule, outcome), count) in &rows {
        println!("{count:4}  {place:18} {rule:30} {outcome}");
    }
    let none: Vec<_> = rows.iter().filter(|(_, count)| **count == 0).map(|(row, _)| row).collect();
    assert!(none.is_empty(), "no case reaches {none:#?}");
}

#[test]
fn no_rule_says_what_its_table_does_not_know() {
    let gated: BTreeSet<_> = Policy::ALL
        .into_iter()
        .flat_map(|policy| GATES.into_iter().flat_map(move |path| gates(path, policy)))
        .map(|(rule, _)| rule)
        .collect();
    for Case { name, answer, .. } in cases() {
        for fired in &answer.rules {
            if let Some((_, outcomes)) = RULES.iter().find(|(rule, _)| *rule == fired.rule) {
                assert!(outcomes.contains(&&*fired.outcome), "{name}: {fired:?}");
            } else if !gated.contains(&*fired.rule) {
                let own = ["settings.DXR_SPLIT_SAME_ADAPTER", "gl.interop", "line.name"];
                assert!(own.contains(&&*fired.rule), "{name}: {fired:?}");
            }
        }
    }
}
