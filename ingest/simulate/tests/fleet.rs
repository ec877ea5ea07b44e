//! A fleet is the same each time, whole or in parts; everything that a description can ask for happens; what it cannot ask
//! for is said.

use std::collections::{BTreeMap, BTreeSet};

use simulate::{EXAMPLE, Fault, Fleet, Made, Mutation, Quirk, Simulation, Totals};
use wire::Split;

fn fleet(machines: u64) -> Fleet {
    let mut fleet = Fleet::example().expect("the built-in fleet is sound");
    fleet.machines = machines;
    fleet
}

fn bytes(made: &[Made]) -> Vec<(String, Vec<u8>)> {
    made.iter().map(|made| (made.truth.file.clone(), made.bytes.clone())).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_the_same_truth() {
    let (one, two) = (Simulation::new(fleet(40), 7), Simulation::new(fleet(40), 7));
    for index in 0..40 {
        let (a, b) = (one.machine(index), two.machine(index));
        assert_eq!(bytes(&a), bytes(&b), "machine {index}");
        assert!(a.iter().zip(&b).all(|(a, b)| a.truth == b.truth), "machine {index}");
    }
    let other = Simulation::new(fleet(40), 8);
    assert_ne!(bytes(&one.machine(3)), bytes(&other.machine(3)));
}

#[test]
fn a_machine_is_the_same_in_any_fleet_and_in_any_order() {
    let (small, large) = (Simulation::new(fleet(3), 7), Simulation::new(fleet(1_000_000), 7));
    let backwards: Vec<_> = (0..3).rev().map(|index| bytes(&small.machine(index))).collect();
    for (at, index) in (0..3).rev().enumerate() {
        assert_eq!(bytes(&large.machine(index)), backwards[at]);
    }
    assert!(!large.machine(999_999).is_empty());
}

#[test]
fn more_days_leave_the_first_ones_as_they_are() {
    let mut longer = fleet(5);
    longer.days *= 2;
    let (short, long) = (Simulation::new(fleet(5), 7), Simulation::new(longer, 7));
    for index in 0..5 {
        let (first, all) = (bytes(&short.machine(index)), bytes(&long.machine(index)));
        assert!(all.len() > first.len());
        assert_eq!(all[..first.len()], first);
    }
}

#[test]
fn names_of_files_are_those_of_the_runtime_and_no_two_are_the_same() {
    let simulation = Simulation::new(fleet(60), 1);
    let mut names = BTreeSet::new();
    for made in (0..60).flat_map(|index| simulation.machine(index)) {
        let base = made.truth.file.rsplit('/').next().expect("a name");
        assert_eq!(parser::file_name::process(base), Some(made.truth.process.clone()));
        assert!(names.insert(made.truth.file));
    }
}

#[test]
fn totals_add_up_and_do_not_depend_on_the_order_of_machines() {
    let simulation = Simulation::new(fleet(30), 5);
    let truths: Vec<Vec<_>> =
        (0..30).map(|index| simulation.machine(index).into_iter().map(|made| made.truth).collect()).collect();
    let add = |parts: &mut dyn Iterator<Item = &Vec<_>>| {
        let mut totals = Totals::new();
        parts.for_each(|logs| totals.add_machine(logs));
        totals
    };
    let (totals, backwards) = (add(&mut truths.iter()), add(&mut truths.iter().rev()));
    assert_eq!(totals, backwards);
    let logs: u64 = truths.iter().map(|logs| logs.len() as u64).sum();
    let with_logs = truths.iter().filter(|logs| !logs.is_empty()).count() as u64;
    assert_eq!((totals.total.logs, totals.total.machines), (logs, with_logs));
    let split = totals.total.split;
    assert_eq!(split.engaged + split.off + split.unknown, logs);
    assert_eq!(totals.path.values().map(|count| count.logs).sum::<u64>(), logs);
}

#[test]
fn every_damage_is_done_somewhere() {
    let mut fleet = fleet(120);
    fleet.mutations = Mutation::ALL.iter().map(|mutation| (*mutation, 0.1)).collect();
    let simulation = Simulation::new(fleet, 3);
    let mut done: BTreeMap<String, u64> = BTreeMap::new();
    for made in (0..120).flat_map(|index| simulation.machine(index)) {
        if let Some(mutation) = made.truth.mutation {
            *done.entry(mutation.into_owned()).or_default() += 1;
        }
    }
    let names: Vec<_> = done.keys().map(String::as_str).collect();
    let mut all: Vec<_> = Mutation::ALL.iter().map(|mutation| mutation.as_str()).collect();
    all.sort_unstable();
    assert_eq!(names, all);
}

#[test]
fn the_example_names_every_fault_quirk_and_damage() {
    let fleet = fleet(1);
    assert!(Fault::ALL.iter().all(|fault| fleet.faults.contains_key(fault)));
    assert!(Quirk::ALL.iter().all(|quirk| fleet.quirks.contains_key(quirk)));
    assert!(Mutation::ALL.iter().all(|mutation| fleet.mutations.contains_key(mutation)));
}

#[test]
fn the_story_of_the_example_is_told_by_its_logs() {
    let fleet = fleet(120);
    let simulation = Simulation::new(fleet.clone(), 1);
    let truths: Vec<_> = (0..120).flat_map(|index| simulation.machine(index)).map(|made| made.truth).collect();
    for regression in &fleet.regressions {
        // How often it happens in sessions that could have split, by what the log itself tells of its build.
        let share = |is_hit: &dyn Fn(&str) -> bool| {
            let told = truths.iter().filter(|own| own.cohort.kind == regression.kind);
            let told = told.filter(|own| own.version.as_deref().is_some_and(is_hit));
            let told = told.filter(|own| regression.path.is_none_or(|path| path == own.path));
            let could: Vec<_> = told.filter(|own| own.verdict.split != Split::Unknown).collect();
            let failed = could.iter().filter(|own| own.cohort.outcomes.contains(&"stage_a_failed".into())).count();
            assert!(could.len() > 20, "{} logs", could.len());
            failed as f64 / could.len() as f64
        };
        let (with, before) = (share(&|version| version == regression.build), share(&|version| version < "2.14.0"));
        assert!(with > 0.5 && before < 0.2, "{with} with {}, {before} before", regression.build);
    }
    for setting in fleet.settings.iter().filter(|own| own.name.as_str() == "DXR_WEAVE_ON_SCANOUT") {
        let killed = truths.iter().filter(|own| own.verdict.killed && own.cohort.day >= setting.from_day);
        let there = killed.filter(|own| own.cohort.settings.iter().any(|lever| lever.source == setting.source));
        assert!(there.count() > 0, "{} in {:?}", setting.value, setting.source);
    }
    for token in fleet.builds.iter().filter_map(|build| build.new_token.as_deref()) {
        assert!(truths.iter().any(|own| own.verdict.reasons.iter().any(|reason| reason.as_str() == token)), "{token}");
    }
}

#[test]
fn what_a_description_gets_wrong_is_said() {
    let cases = [
        ("machines = 500 ", "machines = 0 ", "machines must be"),
        ("days = 30 ", "days = 0 ", "days must be"),
        ("old_builds = 0.08", "old_builds = 1.5", "rate 1.5"),
        ("old_builds = 0.08", "old_bilds = 0.08", "old_bilds"),
        ("machine = \"mux-4090.json\"", "machine = \"nowhere.json\"", "nowhere.json"),
        (
            "render = 0\nscanout = 0\ndriver = [{ name = \"576.02\", share = 1 }]",
            "render = 7\ndriver = []",
            "adapter 7",
        ),
        ("build = \"2.14.0\"", "build = \"9.9.9\"", "9.9.9"),
        ("kind = \"hybrid-4080\"", "kind = \"hybrid-4060\"", "no log of hybrid-4060"),
        ("version = \"2.6.2\"", "version = \"2.6\"", "three numbers"),
        ("path = \"opengl\"", "path = \"service\"", "graphics API"),
        ("value = \"igpu\"", "value = \"1\"", "by number"),
        ("kinds = [\"hybrid-3080\"]", "kinds = [\"hybrid-9\"]", "hybrid-9"),
    ];
    for (from, to, says) in cases {
        assert!(EXAMPLE.contains(from), "{from}");
        let error = Fleet::parse(&EXAMPLE.replacen(from, to, 1), &mut |_| None).expect_err(to);
        assert!(error.to_string().contains(says), "{to}: {error}");
    }
}

#[test]
fn a_machine_file_of_ones_own_goes_before_the_built_in_one() {
    let mut asked = Vec::new();
    let own = simulate::built_in_machine("mux-4090.json").expect("built in").replace("RTX 4090", "RTX 5090");
    let fleet = Fleet::parse(EXAMPLE, &mut |name| {
        asked.push(name.to_owned());
        (name == "mux-4090.json").then(|| own.clone())
    })
    .expect("a sound description");
    assert!(asked.contains(&"old-2060.json".to_owned()));
    let kind = fleet.kinds.iter().find(|kind| kind.name == "mux-4090").expect("the kind");
    assert!(kind.facts.as_ref().expect("read").adapters[0].name.contains("5090"));
}
