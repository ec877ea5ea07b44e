//! A log against its own replay: machines read from whole logs, comparisons, and advice.
//!
//! The logs are written here, record by record, so that each shows one thing; they are read through the parser.

use parser::LogReader;
use resolver::replay::{GATES, MachineFold, Told, advise, advise_on_log, compare, depends_on, replay};
use wire::{
    Agreement, Comparison, Machine, MachineAdapter, Monitor, Observation, Path, Placement, Policy, Rect, Source,
};

const NVIDIA: &str = "'NVIDIA GeForce RTX 3080 Laptop GPU' LUID=00000000:00024f0b";
const INTEL: &str = "'Intel(R) UHD Graphics' LUID=00000000:00024bbf";

/// What the resolvers of a hybrid laptop say.
const HYBRID: [&str; 6] = [
    "[INFO ] [gather_candidates] render adapter: candidate[0] 'NVIDIA GeForce RTX 3080 Laptop GPU', dedicated VRAM 8018 MB, kind 2.",
    "[INFO ] [gather_candidates] render adapter: candidate[1] 'Intel(R) UHD Graphics', dedicated VRAM 128 MB, kind 1.",
    "[INFO ] [gather_candidates] render adapter: skipping 'Microsoft Basic Render Driver' (software or remote).",
    "[WARN ] [log_choice_once] ADR-037 render adapter: 'NVIDIA GeForce RTX 3080 Laptop GPU' LUID=00000000:00024f0b (most VRAM); DXGI HIGH_PERFORMANCE picks 'NVIDIA GeForce RTX 3080 Laptop GPU' — MATCH (#918)",
    "[WARN ] [comp_d3d11_compositor_create] D3D11 compositor: app device on adapter 'NVIDIA GeForce RTX 3080 Laptop GPU' LUID=00000000:00024f0b (#1000)",
    "[INFO ] [getScanoutAdapter] scanout: display path '\\\\.\\DISPLAY1' is driven by adapter 'Intel(R) UHD Graphics' (LUID 00000000:00024bbf).",
];

fn read(records: &[&str]) -> (Told, Option<Placement>) {
    let mut log =
        "=== DisplayXR Log Started ===\nLog file: x\nProcess: a.exe (PID 1)\nTimestamp: 2026-09-14 12:00:00\n\
                   ============================\n\n"
            .to_owned();
    for record in records {
        log.extend(["[2026-09-14 12:00:01.370] ", record, "\n"]);
    }
    let mut fold = MachineFold::new();
    let mut placement = None;
    let mut reader = LogReader::new();
    let mut push = |observation: Observation| {
        fold.push(&observation);
        match &observation {
            Observation::Event(event) => placement = Placement::from_event(event).or(placement.take()),
            Observation::Flaw(flaw) => panic!("{flaw:?}"),
        }
    };
    reader.feed(log.as_bytes(), &mut push);
    reader.finish(&mut push);
    (fold.finish(), placement)
}

/// A hybrid laptop's log that ends in this line.
fn hybrid(between: &[&str], line: &str) -> (Told, Placement) {
    let line = format!("[WARN ] [d3d_log_weave_placement] {line}");
    let records: Vec<&str> = HYBRID.iter().chain(between).copied().chain([line.as_str()]).collect();
    let (told, placement) = read(&records);
    (told, placement.expect("the line is a placement"))
}

fn compared(between: &[&str], line: &str) -> Comparison {
    let (told, observed) = hybrid(between, line);
    compare(&replay(&told.machine, Path::D3d11, Policy::Document), &observed, &told.missing)
}

fn on_render(reason: &str) -> String {
    format!(
        "weave placement: render={NVIDIA}, panel scanout={INTEL} — weave on the RENDER adapter; every present crosses \
         adapters to reach scanout (split=0 reason={reason}) (#918)"
    )
}

fn on_scanout() -> String {
    format!(
        "weave placement: render={NVIDIA}, panel scanout={INTEL} — weave/present on the SCANOUT adapter (split=1) (#918)"
    )
}

#[test]
fn a_log_tells_its_machine() {
    let (told, _) = hybrid(&[], &on_scanout());
    let machine = &told.machine;
    let names: Vec<_> = machine.adapters.iter().map(|adapter| adapter.name.as_str()).collect();
    assert_eq!(names, ["NVIDIA GeForce RTX 3080 Laptop GPU", "Intel(R) UHD Graphics", "Microsoft Basic Render Driver"]);
    assert_eq!(machine.adapters[1].luid.map(|luid| luid.to_string()).as_deref(), Some("00000000:00024bbf"));
    assert_eq!(machine.adapters[2].luid, None, "nothing names its LUID");
    assert_eq!(machine.session.device_luid, machine.adapters[0].luid);
    assert!(told.missing.iter().any(|fact| fact == "session.hwnd"));
    let answer = replay(machine, Path::D3d11, Policy::Document);
    assert_eq!(answer.line.as_deref(), Some(on_scanout().as_str()));
}

/// Two cards of one name: the ranking's own answer tells which of them is which.
#[test]
fn twins_are_told_apart_by_what_the_ranking_answered() {
    const CARD: &str = "'NVIDIA RTX A2000' LUID=00000000:000";
    let candidate = |index| {
        format!(
            "[INFO ] [gather_candidates] render adapter: candidate[{index}] 'NVIDIA RTX A2000', dedicated VRAM 5954 MB, kind 2."
        )
    };
    let choice = |words| {
        format!(
            "[WARN ] [log_choice_once] ADR-037 render adapter: {CARD}0b002 ({words}); DXGI HIGH_PERFORMANCE picks 'NVIDIA \
             RTX A2000' — MATCH (#918)"
        )
    };
    let device = "[WARN ] [comp_d3d11_compositor_create] D3D11 compositor: app device on adapter 'NVIDIA RTX A2000' \
                  LUID=00000000:0000b002 (#1000)";
    let scanout = "[INFO ] [getScanoutAdapter] scanout: display path '\\\\.\\DISPLAY1' is driven by adapter 'NVIDIA RTX A2000' \
                   (LUID 00000000:0000a001).";
    let line = format!(
        "weave placement: render={CARD}0b002, panel scanout={CARD}0a001 — weave/present on the SCANOUT adapter (split=1) (#918)"
    );
    let luids = |records: &[&str]| {
        let (told, _) = read(records);
        let luids: Vec<_> = told.machine.adapters.iter().map(|own| own.luid.map(|luid| luid.0)).collect();
        (luids, replay(&told.machine, Path::D3d11, Policy::Document).line)
    };
    let (first, second) = (candidate(0), candidate(1));
    let ranked = choice("lowest index (tie)");
    let told = luids(&[&first, &second, &ranked, device, scanout]);
    assert_eq!(told, (vec![Some(0xb002), Some(0xa001)], Some(line.clone())));
    // The runtime itself names both, whichever place they have.
    assert_eq!(luids(&[device, scanout]).1, Some(line));
    // A forced choice says nothing of the ranking, and one LUID too many is no twin.
    assert_eq!(luids(&[&first, &second, &choice("env-forced: index"), device, scanout]).0, [None, None]);
    assert_eq!(luids(&[&first, &ranked, device, scanout]).0, [None]);
}

#[test]
fn a_second_run_of_the_resolver_adds_no_adapters() {
    let skip_first = [
        "[INFO ] [gather_candidates] render adapter: skipping 'Old card' (below the required feature level).",
        "[INFO ] [gather_candidates] render adapter: candidate[1] 'New card', dedicated VRAM 8018 MB, kind 2.",
    ];
    let (told, _) = read(&[skip_first, skip_first].concat());
    let names: Vec<_> = told.machine.adapters.iter().map(|adapter| adapter.name.as_str()).collect();
    assert_eq!(names, ["Old card", "New card"]);
    assert!(told.missing.iter().any(|fact| fact == "monitors"));
}

#[test]
fn a_log_that_does_what_the_rules_say_agrees() {
    assert_eq!(compared(&[], &on_scanout()).result, Agreement::Agrees);
}

#[test]
fn a_reason_that_rests_on_an_untold_fact_names_it() {
    for (token, fact) in [
        ("killed_by_env", "settings.DXR_WEAVE_ON_SCANOUT"),
        ("no_hwnd", "session.hwnd"),
        ("stage_a_failed", "session.stage_a_ok"),
        ("dp_refused_scanout", "session.dp_accepts_scanout"),
    ] {
        let comparison = compared(&[], &on_render(token));
        assert_eq!(comparison.result, Agreement::CannotTell, "{token}");
        assert_eq!(comparison.missing, [fact]);
    }
}

#[test]
fn what_the_log_tells_beside_its_line_counts() {
    let failed =
        ["[WARN ] [comp_d3d11_compositor_create] D3D11 output-device split: D3D11CreateDevice failed 0x887a0004"];
    assert_eq!(compared(&failed, &on_render("stage_a_failed")).result, Agreement::Agrees);
    let comparison = compared(&failed, &on_scanout());
    assert_eq!(comparison.result, Agreement::Disagrees);
    assert_eq!(comparison.rule.as_deref(), Some("gate.stage_a_failed"));
}

#[test]
fn a_reason_that_no_fact_explains_disagrees() {
    let comparison = compared(&[], &on_render("api_unsupported"));
    assert_eq!((comparison.result, comparison.rule.as_deref()), (Agreement::Disagrees, Some("gate.api_unsupported")));
}

#[test]
fn another_scanout_adapter_disagrees_by_its_rule() {
    let line = format!(
        "weave placement: render={NVIDIA}, panel scanout={NVIDIA} — render and scanout share one adapter; weave is local \
         (split=0 reason=same_adapter) (#918)"
    );
    let comparison = compared(&[], &line);
    assert_eq!((comparison.result, comparison.rule.as_deref()), (Agreement::Disagrees, Some("scanout.path")));
    assert!(comparison.because.is_some_and(|because| because.contains("Intel") && because.contains("NVIDIA")));
}

/// Generation G1 had the split behind an opt-in, which is the same variable with the opposite sense.
#[test]
fn what_only_a_newer_build_would_do_is_no_mismatch_of_an_old_one() {
    let line = format!(
        "weave placement: render={NVIDIA}, panel scanout={INTEL} — weave on the RENDER adapter; every present crosses \
         adapters to reach scanout (set DXR_WEAVE_ON_SCANOUT=1 to move the weave) (#918)"
    );
    let comparison = compared(&[], &line);
    assert_eq!(comparison.result, Agreement::CannotTell);
    assert_eq!(comparison.missing, ["settings.DXR_WEAVE_ON_SCANOUT"]);
    assert!(comparison.because.is_some_and(|because| because.contains("generation G1 splits only where")));
    // Where everything is told, the generation stays the explanation of a real difference.
    let (told, observed) = hybrid(&[], &line);
    let comparison = compare(&replay(&told.machine, Path::D3d11, Policy::Document), &observed, &[]);
    assert_eq!(comparison.result, Agreement::Disagrees);
    assert!(comparison.because.is_some_and(|because| because.contains("generation G1 splits only where")));
}

/// An old line without a reason agrees with any reason that the log tells elsewhere, and with no other adapter.
#[test]
fn an_old_line_is_compared_by_split_and_adapters() {
    let old = |render: &str, scanout: &str, regime: &str| {
        format!("weave placement: render={render}, panel scanout={scanout} — {regime} (#918)")
    };
    let off = "weave on the RENDER adapter; every present crosses adapters to reach scanout (set DXR_WEAVE_ON_SCANOUT=1 to \
               move the weave)";
    let on = "weave/present on the SCANOUT adapter (DXR_WEAVE_ON_SCANOUT split active)";
    let no_window = [
        "[WARN ] [comp_d3d11_compositor_create] D3D11 output-device split DISABLED (no HWND) — falling back to the stock \
         single-device path (#918)",
    ];
    assert_eq!(compared(&no_window, &old(NVIDIA, INTEL, off)).result, Agreement::Agrees);
    assert_eq!(compared(&[], &old(NVIDIA, INTEL, on)).result, Agreement::Agrees);
    let comparison = compared(&no_window, &old(NVIDIA, INTEL, on));
    assert_eq!((comparison.result, comparison.rule.as_deref()), (Agreement::Disagrees, Some("gate.no_hwnd")));
    let comparison = compared(&[], &old(NVIDIA, NVIDIA, "render and scanout share one adapter; weave is local"));
    assert_eq!((comparison.result, comparison.rule.as_deref()), (Agreement::Disagrees, Some("scanout.path")));
}

/// A Vulkan log whose build splits although no record of the split is in it: the newer rules are named.
#[test]
fn a_newer_build_is_named_where_the_document_knows_no_split() {
    let (told, observed) = hybrid(&[], &on_render("no_timeline_semaphore"));
    let comparison = compare(&replay(&told.machine, Path::Vulkan, Policy::Document), &observed, &told.missing);
    assert_eq!(comparison.result, Agreement::CannotTell);
    assert!(comparison.because.is_some_and(|because| because.contains("policy adr039")));
}

#[test]
fn a_retired_session_agrees_with_its_changed_line() {
    let (mut told, observed) = hybrid(
        &[
            "[WARN ] [d3d12_split_retire] #918 output-device split RETIRED (dp_refused_scanout) — moving the weave back to \
             the app adapter for the rest of the session (#918 D12-5)",
        ],
        "weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session (split=0 \
         reason=dp_refused_scanout) (#918)",
    );
    let answer = replay(&told.machine, Path::D3d12, Policy::Document);
    assert!(answer.retired);
    assert_eq!(compare(&answer, &observed, &told.missing).result, Agreement::Agrees);
    told.machine.session.dp_accepts_scanout = true;
    let answer = replay(&told.machine, Path::D3d12, Policy::Document);
    let comparison = compare(&answer, &observed, &[]);
    assert_eq!(
        (comparison.result, comparison.rule.as_deref()),
        (Agreement::Disagrees, Some("gate.dp_refused_scanout"))
    );
}

/// The document's token for layers is not the one that newer builds print: a difference, and the generation explains it.
#[test]
fn a_mask_that_retires_a_split_differs_from_the_document_and_says_why() {
    let retired = [
        "[WARN ] [d3d12_split_retire] #918 output-device split RETIRED (authored_mask) — moving the weave back to the app \
         adapter for the rest of the session (#918 D12-5)",
    ];
    let changed = "weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session \
                   (split=0 reason=authored_mask) (#918)";
    let (told, observed) = hybrid(&retired, changed);
    let comparison = compare(&replay(&told.machine, Path::D3d12, Policy::Document), &observed, &told.missing);
    assert_eq!(
        (comparison.result, comparison.rule.as_deref()),
        (Agreement::Disagrees, Some("gate.layers_unsupported"))
    );
    assert!(comparison.because.is_some_and(|because| because.contains("newer builds")));
}

#[test]
fn the_prose_of_a_retired_split_tells_what_its_token_tells() {
    let (told, observed) = hybrid(
        &[
            "[WARN ] [d3d12_split_retire] #918 output-device split RETIRED (the display processor declined a weaver on the \
             scanout adapter) — moving the weave back to the app adapter for the rest of the session (#918 D12-5)",
        ],
        "weave placement: CHANGED — weave/present move back to the RENDER adapter for the rest of this session (split=0 \
         reason=dp_refused_scanout) (#918)",
    );
    assert!(!told.machine.session.dp_accepts_scanout);
    let answer = replay(&told.machine, Path::D3d12, Policy::Document);
    assert_eq!(compare(&answer, &observed, &told.missing).result, Agreement::Agrees);
}

/// Vocabulary section 5: the words that may stand in `DISABLED (…)`, and what each tells of the session.
#[test]
fn every_known_cause_of_a_disabled_split_is_a_fact_of_the_session() {
    let causes = [
        ("D3D11CreateDevice failed", "session.stage_a_ok"),
        ("scanout DXGI factory unavailable", "session.stage_a_ok"),
        ("ID3D10Multithread unavailable on the scanout device", "session.stage_a_ok"),
        ("D3D12CreateDevice failed", "session.stage_a_ok"),
        ("out device objects failed", "session.stage_a_ok"),
        ("out DP SRV heap failed", "session.stage_a_ok"),
        ("cross-adapter heap unsupported", "session.stage_a_ok"),
        ("egress share failed", "session.stage_a_ok"),
        ("app device lacks D3D11.4 fences", "session.stage_a_ok"),
        ("app fence share failed", "session.stage_a_ok"),
        ("ingress back-fence unavailable", "session.stage_a_ok"),
        ("staged ingress ring unavailable", "session.stage_a_ok"),
        ("scanout swapchain creation failed", "session.stage_a_ok"),
        ("DXR_TEST_SPLIT_FAIL_STAGEA", "session.stage_a_ok"),
        ("stage_a_failed", "session.stage_a_ok"),
        ("unknown", "session.stage_a_ok"),
        ("the display processor declined a weaver on the scanout adapter", "session.dp_accepts_scanout"),
        ("dp_refused_scanout", "session.dp_accepts_scanout"),
        ("no HWND", "session.hwnd"),
        ("no_hwnd", "session.hwnd"),
        ("shared-texture session", "session.shared_texture"),
        ("DXR_LEGACY_STANDALONE", "session.legacy_standalone"),
    ];
    for (cause, fact) in causes {
        let record = format!(
            "[WARN ] [comp_d3d11_compositor_create] D3D11 output-device split DISABLED ({cause}) — falling back to the stock \
             single-device path (#918)"
        );
        let (told, _) = hybrid(&[&record], &on_render("stage_a_failed"));
        assert!(!told.missing.iter().any(|own| own == fact), "{cause} tells {fact}");
        let session = &told.machine.session;
        let defaults = Machine::new(Vec::new()).session;
        assert_eq!(session.stage_a_ok, fact != "session.stage_a_ok", "{cause}");
        assert_eq!(session.dp_accepts_scanout, fact != "session.dp_accepts_scanout", "{cause}");
        assert_eq!(session.unsupported_layers, defaults.unsupported_layers, "{cause}");
    }
    // Adapters, the panel and the kill switch are no facts of the session.
    for cause in ["same_adapter", "scanout unresolvable", "no panel dimensions", "killed_by_env", "a_token_of_tomorrow"]
    {
        let record = format!(
            "[WARN ] [comp_d3d11_compositor_create] D3D11 output-device split DISABLED ({cause}) — falling back to the stock \
             single-device path (#918)"
        );
        let (told, _) = hybrid(&[&record], &on_render(cause.split(' ').next().unwrap_or(cause)));
        assert!(told.machine.session.stage_a_ok && told.machine.session.hwnd, "{cause}");
    }
}

#[test]
fn a_machine_of_another_boot_is_compared_by_name() {
    let (_, observed) = hybrid(&[], &on_scanout());
    let answer = replay(&laptop(), Path::D3d11, Policy::Document);
    assert_ne!(answer.render.as_ref().and_then(|own| own.luid), observed.render.as_ref().map(|own| own.luid));
    assert_eq!(compare(&answer, &observed, &[]).result, Agreement::Agrees);
}

/// A fact that is left open is worth a word only where a rule of the path reads it.
#[test]
fn facts_count_where_a_gate_asks_for_them() {
    let asked = |path, fact| depends_on(path, Policy::Document, fact);
    for (fact, paths) in [
        ("session.hwnd", vec![Path::D3d11, Path::D3d12]),
        ("session.unsupported_layers", vec![Path::D3d12]),
        ("session.legacy_standalone", vec![Path::Service]),
        ("session.presenter", vec![Path::Service]),
        ("session.timeline_semaphore", vec![]),
        ("settings.DXR_WEAVE_ON_SCANOUT", vec![Path::D3d11, Path::D3d12, Path::Service]),
        ("session.device_luid", vec![Path::D3d11, Path::D3d12, Path::Vulkan, Path::Service]),
        ("monitors", GATES.to_vec()),
    ] {
        let found: Vec<_> = GATES.into_iter().filter(|path| asked(*path, fact)).collect();
        assert_eq!(found.len(), paths.len(), "{fact}: {found:?}");
        assert!(paths.iter().all(|path| found.contains(path)), "{fact}: {found:?}");
    }
    assert!(depends_on(Path::Vulkan, Policy::Adr039, "session.timeline_semaphore"));
}

/// The laptop of the logs above, after a restart.
fn laptop() -> Machine {
    let adapter = |name: &str, luid, vram| MachineAdapter {
        name: name.to_owned(),
        luid: Some(wire::Luid(luid)),
        vendor_id: None,
        device_id: None,
        dedicated_vram_mib: Some(vram),
        software: Some(false),
        remote: Some(false),
        feature_level: Some("12_1".to_owned()),
        vulkan_type: None,
    };
    let rect = Rect { left: 0, top: 0, width: 3840, height: 2160 };
    let mut machine = Machine::new(vec![
        adapter("NVIDIA GeForce RTX 3080 Laptop GPU", 0x11, 8018),
        adapter("Intel(R) UHD Graphics", 0x22, 128),
    ]);
    machine.panel = Some(rect);
    machine.monitors = vec![Monitor {
        gdi_name: "panel".to_owned(),
        rect,
        path_luid: Some(wire::Luid(0x22)),
        enumerated_by: Vec::new(),
    }];
    machine
}

#[test]
fn a_good_session_needs_no_advice() {
    assert_eq!(advise(&laptop(), Path::D3d11, Policy::Document), []);
}

#[test]
fn a_kill_from_a_store_is_removed_there_first() {
    let mut machine = laptop();
    machine.settings.user.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), "off".to_owned());
    let advice = advise(&machine, Path::D3d11, Policy::Document);
    let first = &advice.first().expect("something helps").change;
    assert_eq!((first.unset[0].name.as_str(), first.unset[0].source), ("DXR_WEAVE_ON_SCANOUT", Some(Source::User)));
    assert!(advice.iter().any(|own| own.change.set.get("DXR_WEAVE_ON_SCANOUT").is_some_and(|value| value == "1")));
    // Rendering on the panel's GPU does not need the split at all.
    assert!(advice.iter().any(|own| own.change.set.contains_key("DXR_D3D_FORCE_GPU")));
}

#[test]
fn two_causes_need_two_changes() {
    let mut machine = laptop();
    machine.settings.env.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), "0".to_owned());
    machine.session.hwnd = false;
    machine.session.device_luid = Some(wire::Luid(0x11));
    let advice = advise(&machine, Path::D3d12, Policy::Document);
    let words = advice.iter().map(|own| own.change.text.as_str()).collect::<Vec<_>>();
    // One change of the wiring helps as well, and is smaller.
    assert_eq!(words, ["connect the panel to 'NVIDIA GeForce RTX 3080 Laptop GPU'"]);
    machine.told_scanout = None;
    machine.monitors.clear();
    machine.panel = None;
    machine.session.device_luid = None;
    let advice = advise(&machine, Path::D3d12, Policy::Document);
    assert!(!advice.is_empty() && advice.iter().all(|own| own.change.wiring.is_some()), "{advice:#?}");
}

#[test]
fn a_log_does_not_tell_who_killed_the_split() {
    let (told, observed) = hybrid(&[], &on_render("killed_by_env"));
    let advice = advise_on_log(&told, &observed, Path::D3d11, Policy::Document);
    let first = advice.first().expect("something helps");
    assert!(first.change.text.contains("perf list") && first.change.unset[0].source.is_none(), "{first:?}");
    assert!(first.outcome.contains("the split engages"), "{first:?}");
}

#[test]
fn a_kill_whose_source_is_told_is_removed_there() {
    let (mut told, observed) = hybrid(&[], &on_render("killed_by_env"));
    told.machine.settings.user.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), "0".to_owned());
    told.missing.retain(|fact| fact != "settings.DXR_WEAVE_ON_SCANOUT");
    let advice = advise_on_log(&told, &observed, Path::D3d11, Policy::Document);
    let first = &advice.first().expect("something helps").change;
    assert_eq!(first.unset[0].source, Some(Source::User), "{first:?}");
}

#[test]
fn an_old_build_is_asked_to_split_and_not_freed_from_a_kill() {
    let line = format!(
        "weave placement: render={NVIDIA}, panel scanout={INTEL} — weave on the RENDER adapter; every present crosses \
         adapters to reach scanout (set DXR_WEAVE_ON_SCANOUT=1 to move the weave) (#918)"
    );
    let (told, observed) = hybrid(&[], &line);
    let advice = advise_on_log(&told, &observed, Path::D3d11, Policy::Document);
    let first = advice.first().expect("something helps");
    assert_eq!(first.change.set.get("DXR_WEAVE_ON_SCANOUT").map(String::as_str), Some("1"), "{first:?}");
    assert!(advice.iter().all(|own| own.change.unset.is_empty()), "{advice:#?}");
}

#[test]
fn opengl_is_advised_to_move_to_the_panel() {
    let mut machine = laptop();
    machine.session.gl_luid = Some(wire::Luid(0x11));
    let advice = advise(&machine, Path::OpenGl, Policy::Document);
    assert!(advice.iter().any(|own| own.change.text.contains("graphics settings of Windows")), "{advice:#?}");
}

/// What helps according to the advice must help according to the resolver: the settings part can be applied by hand.
#[test]
fn advice_holds_when_it_is_followed() {
    let mut machine = laptop();
    machine.settings.machine.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), "no".to_owned());
    for advice in advise(&machine, Path::Service, Policy::Document) {
        if advice.change.wiring.is_some() || !advice.change.session.is_empty() {
            continue;
        }
        let mut changed = machine.clone();
        changed.settings.env.extend(advice.change.set.clone());
        for unset in &advice.change.unset {
            assert_eq!(unset.source, Some(Source::Machine));
            changed.settings.machine.remove(&unset.name);
        }
        let then = replay(&changed, Path::Service, Policy::Document);
        assert!(then.split == wire::Split::Engaged || then.crossing == wire::Crossing::None, "{advice:?}");
    }
}
