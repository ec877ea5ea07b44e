//! `cost`: whole pages against the files in `fixtures/cost`, the worked example of `docs/cost.md`, and what is refused.
//!
//! `WEAVEWATCH_BLESS=1` writes both anew. Read each number as somebody who checks it by hand, before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wire::{COST_SCHEMA, CostReport, Crossing, Span, Way};

use crate::common::{run, run_with_stdin};

/// What a page shows, and the arguments behind it.
const PAGES: [(&str, &[&str]); 7] = [
    ("measured_on_d3d12", &["logs/ok/d3d12_split_engaged.log", "--refresh-hz", "60", "--link-gb-per-s", "3.04"]),
    ("measured_on_vulkan", &["logs/ok/vk_split_engaged.log", "--reference", "--page-levels", "9,9,9,9"]),
    ("killed_and_nothing_measured", &["logs/ok/d3d11_killed_by_env.log"]),
    ("opengl_reads_across", &["logs/ok/gl_interop_crosses.log", "--reference"]),
    (
        "half_width_link",
        &["--machine", "machines/cost_of_every_present/machine.json", "--reference", "--link-gb-per-s", "1.52..1.60"],
    ),
    (
        "strategies_of_a_hybrid_laptop",
        &["--machine", "machines/cost_of_an_atlas_per_frame/machine.json", "--strategies", "--reference"],
    ),
    (
        "strategies_of_virtual_instances",
        &[
            "--machine",
            "machines/cost_of_one_adapter/machine.json",
            "--strategies",
            "--reference",
            "--virtual-instances",
            "3",
            "--frame-ms",
            "0=20",
            "--frame-ms",
            "1=20",
            "--frame-ms",
            "2=20",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn is_blessing() -> bool {
    std::env::var_os("WEAVEWATCH_BLESS").is_some()
}

fn answer(args: &[&str]) -> CostReport {
    let run = run(&root().join("fixtures"), &[&["cost", "--json"], args].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    serde_json::from_str(&run.stdout).expect("the answer is one object")
}

fn of(report: &CostReport, way: Way) -> &wire::PlacementCost {
    report.placements.iter().find(|own| own.placement == way).expect("every way has its row")
}

#[test]
fn every_page_is_the_one_in_its_file() {
    let mut wrong = Vec::new();
    for (name, args) in PAGES {
        for (format, extension) in [("text", "txt"), ("markdown", "md"), ("json", "json")] {
            let run = run(&root().join("fixtures"), &[&["cost", "--format", format], args].concat());
            assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
            let file = root().join("fixtures/cost").join(format!("{name}.{extension}"));
            if is_blessing() {
                fs::write(&file, &run.stdout).expect("the fixtures are writable");
                continue;
            }
            let expected = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
            if expected != run.stdout {
                let difference = expected.lines().zip(run.stdout.lines()).find(|(old, new)| old != new);
                wrong.push(format!("{}: {difference:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "pages differ from their files:\n{}", wrong.join("\n"));
}

/// Each block of the document that starts with `$ weavewatch` is what that command prints.
#[test]
fn the_worked_example_is_what_the_program_says() {
    let file = root().join("docs/cost.md");
    let document = fs::read_to_string(&file).expect("the document is there").replace("\r\n", "\n");
    let mut parts = document.split("```console\n$ weavewatch ");
    let mut anew = parts.next().unwrap_or_default().to_owned();
    let mut examples = 0;
    for part in parts {
        let (block, behind) = part.split_once("```\n").expect("a block ends");
        let (command, expected) = block.split_once('\n').expect("a command is a line");
        let args: Vec<&str> = command.split_whitespace().collect();
        let run = run(&root(), &args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
        assert!(is_blessing() || expected == run.stdout, "`weavewatch {command}` prints\n{}", run.stdout);
        anew.extend(["```console\n$ weavewatch ", command, "\n", &run.stdout, "```\n", behind]);
        examples += 1;
    }
    assert_eq!(examples, 2);
    if is_blessing() {
        fs::write(&file, &anew).expect("the document is writable");
    }
    // Lines are broken where a page wants it.
    let words = anew.split_whitespace().collect::<Vec<_>>().join(" ");
    let (example, by_hand) = words.split_once("By hand:").expect("the example is worked out");
    for figure in ["33.2 MB", "2.0 GB/s", "10.9 ms of 16.7 ms", "16.6 MB", "1.0 GB/s"] {
        assert!(example.contains(figure), "{figure} is not in what the program says");
        let figure = figure.replace("of 16.7", "of the 16.7");
        assert!(by_hand.contains(&figure), "{figure} is not worked out by hand");
    }
}

#[test]
fn the_reference_figures_are_those_of_the_design() {
    let machine = "machines/cost_of_every_present/machine.json";
    let report = answer(&["--machine", machine, "--reference"]);
    assert_eq!((report.schema.as_ref(), report.crossing), (COST_SCHEMA, Crossing::EveryPresent));
    let woven = of(&report, Way::EveryPresentOneCopy);
    assert_eq!(woven.bytes_per_frame, Some(Span::exact(33_177_600)));
    assert_eq!(woven.bytes_per_second, Some(Span::exact(1_990_656_000.0)));
    let copy_ms = woven.copy_ms.expect("everything is told");
    assert!((copy_ms.high - 10.9).abs() < 0.05 && (copy_ms.low - copy_ms.high).abs() < 1e-9, "{copy_ms:?}");
    assert_eq!(of(&report, Way::AtlasPerFrame).bytes_per_second, Some(Span::exact(995_328_000.0)));
    assert_eq!((woven.happened, woven.holds), (true, Some(true)));
    // The replay of the same machine says the same, in the contract's words.
    let replay =
        run(&root().join("fixtures"), &["replay", "--machine", machine, "--path", "d3d11", "--format", "json"]);
    let replay: Value = serde_json::from_str(&replay.stdout).expect("the answer is one object");
    assert_eq!(replay["cost"]["bytes_per_second"], 1_990_656_000);
    assert_eq!(replay["cost"]["frame_share"].as_f64(), woven.frame_share.map(|own| own.high));
    assert_eq!(replay["cost"].as_object().map(serde_json::Map::len), Some(2), "the contract's block");
}

#[test]
fn what_is_not_told_is_named_and_what_is_typed_wins() {
    let machine = "machines/cost_of_every_present/machine.json";
    let bare = answer(&["--machine", machine, "--strategies"]);
    assert_eq!(bare.missing, ["atlas_px", "bytes_per_pixel", "refresh_hz", "rendered_hz", "link_bytes_per_second"]);
    let strategies = bare.strategies.as_ref().expect("they were asked for");
    assert_eq!(strategies.cheapest, None);
    let on_reference = strategies.on_reference.as_ref().and_then(|own| own.cheapest.as_deref());
    assert_eq!(on_reference, Some("split_weave"));
    assert!(of(&bare, Way::EveryPresentOneCopy).bytes_per_second.is_none());
    let typed = answer(&[
        "--machine",
        machine,
        "--refresh-hz",
        "120",
        "--link-gb-per-s",
        "3.04",
        "--bytes-per-pixel",
        "4",
        "--panel",
        "1920x1080",
    ]);
    let woven = of(&typed, Way::EveryPresentOneCopy);
    assert_eq!(woven.bytes_per_frame, Some(Span::exact(8_294_400)));
    assert_eq!(woven.verdict, "holds 120 Hz on this link: 2.7 ms of 8.3 ms, 33 %");
    let fast =
        answer(&["--machine", machine, "--refresh-hz", "120", "--link-gb-per-s", "3.04", "--bytes-per-pixel", "4"]);
    assert!(of(&fast, Way::EveryPresentOneCopy).verdict.starts_with("cannot hold 120 Hz on this link"));
    let no_panel = answer(&["--machine", "machines/no_plugin_reports_the_panel/machine.json", "--reference"]);
    assert_eq!(no_panel.missing, ["panel_px"]);
    assert!(of(&no_panel, Way::EveryPresentOneCopy).bytes_per_frame.is_none() && no_panel.surfaces.is_empty());
}

#[test]
fn a_bridge_on_one_adapter_crosses_nothing() {
    let report = answer(&["logs/ok/vk_adr039_bridge_names_the_line.log"]);
    assert_eq!(report.crossing, Crossing::None);
    assert_eq!(report.conclusion, "Nothing crosses: the 29.9 MB/s of the bridge stay on one GPU.");
}

#[test]
fn every_machine_and_every_log_of_the_fixtures_has_an_answer() {
    let fixtures = root().join("fixtures");
    let mut asked = 0;
    for case in fs::read_dir(fixtures.join("machines")).expect("the fixtures are there").step_by(9) {
        let machine = case.expect("the folder can be read").path().join("machine.json");
        if machine.is_file() {
            let report = answer(&["--machine", &machine.to_string_lossy(), "--strategies", "--reference"]);
            let strategies = report.strategies.expect("they were asked for");
            assert_eq!(strategies.strategies.len(), 6, "{}", machine.display());
            asked += 1;
        }
    }
    let (mut logs, mut measured) = (0, 0);
    for log in fs::read_dir(fixtures.join("logs/ok")).expect("the fixtures are there") {
        let log = log.expect("the folder can be read").path();
        if log.extension().is_some_and(|own| own == "log") {
            let report = answer(&[&log.to_string_lossy()]);
            logs += 1;
            measured += usize::from(report.measured.is_some());
            assert!(report.placements.iter().filter(|own| own.happened).count() <= 2, "{}", log.display());
        }
    }
    assert!(asked >= 10 && logs >= 60 && measured >= 10, "{asked} machines, {logs} logs, {measured} with counters");
}

#[test]
fn wrong_usage_ends_with_2_and_what_cannot_be_read_with_3() {
    let fixtures = root().join("fixtures");
    let machine = "machines/cost_of_every_present/machine.json";
    let refused: [(&[&str], i32, &str); 10] = [
        (&[], 2, "required"),
        (&["a.log", "--machine", "b.json"], 2, "cannot be used with"),
        (&["a.log", "--path", "d3d11"], 2, "cannot be used with"),
        (&["a.log", "--refresh-hz", "0"], 2, "no number above 0"),
        (&["a.log", "--refresh-hz", "90..60"], 2, "90 is more than 60"),
        (&["a.log", "--panel", "4k"], 2, "such as 3840x2160"),
        (&["a.log", "--frame-ms", "12"], 2, "such as 1=12.5"),
        (&["--machine", machine, "--page-levels", "60"], 2, "a level has 1 to 32 bits"),
        (&["no such.log"], 3, "no such.log"),
        (&["--machine", "memory/by_hand.json"], 3, "no machine file"),
    ];
    for (args, code, words) in refused {
        let run = run(&fixtures, &[&["cost"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
    let log = fs::read(fixtures.join("logs/ok/vk_split_engaged.log")).expect("the fixture is there");
    let piped = run_with_stdin(&fixtures, &["cost", "-", "--json"], &log);
    assert_eq!(piped.code, 0, "{}", piped.stderr);
    let help = run(&fixtures, &["cost", "--help"]).stdout;
    for word in ["Examples:", "--strategies", "weavewatch.cost/1", "never made up"] {
        assert!(help.contains(word), "{word} is not in\n{help}");
    }
}
