//! Findings of single records, both kinds of silence, and what is told about the build.

use wire::Kind::{
    BridgeDegraded, ClientCrossing, Device, DeviceRemoved, GlCrossing, IngestForced, OverrideFollowed, OverrideIgnored,
    PluginFallback, Requirements, SplitDisabled, SplitRefused, SuggestedGpuMissing,
};
use wire::{End, FlawKind, Generation, InputKind, Level, LogFacts, Observation, Path, Severity};

use super::build::*;
use crate::{Code, Judge};

fn check(script: &[Observation], expected: &[&str]) {
    assert_eq!(codes(&judge(script)), expected, "{script:#?}");
}

#[test]
fn single_records_give_findings() {
    check(&[plain(BridgeDegraded)], &["bridge_degraded@1"]);
    check(&[window(1, 1)], &["bridge_degraded@1"]);
    check(&[window(1, 0)], &[]);
    check(&[plain(GlCrossing)], &["gl_interop_crossing@1"]);
    check(&[plain(ClientCrossing)], &["client_crossing_override@1"]);
    check(&[plain(IngestForced)], &["ingest_forced@1"]);
    check(&[plain(DeviceRemoved)], &["device_removed@1"]);
    check(&[plain(PluginFallback)], &["plugin_fallback@1"]);
    check(&[plain(SuggestedGpuMissing)], &["vk_suggested_gpu_missing@1"]);
    check(&[plain(OverrideIgnored)], &["override_not_honoured@1"]);
    check(&[plain(OverrideFollowed)], &[]);
    check(&[render_off("killed_by_env")], &["killed@1"]);
    check(&[flaw(FlawKind::EmptyBody, None)], &["empty_body@1"]);
    check(&[flaw(FlawKind::Truncated, None)], &["truncated_record@1"]);
    check(&[flaw(FlawKind::Spliced, None)], &["spliced_record@1"]);
    check(&[flaw(FlawKind::Unrecognised, Some("[RENDER] "))], &["unrecognised_shape@1"]);
    check(&[flaw(FlawKind::Unknown, None)], &[]);
}

#[test]
fn repeats_become_one_finding_with_a_count() {
    let script = [plain(BridgeDegraded), window(1, 1), window(1, 1)];
    check(&script, &["bridge_degraded@1"]);
    assert!(judge(&script).findings[0].message.ends_with("Seen 3 times."));
    // A session's verdict is known late, yet its line is the earlier one.
    check(&[full("killed_by_env"), render_off("killed_by_env")], &["killed@1", "crossing_every_present@1"]);
    let deposit = flaw(FlawKind::Unrecognised, Some("vk deposit:"));
    let render = flaw(FlawKind::Unrecognised, Some("[RENDER] "));
    let script = [deposit.clone(), render, deposit];
    check(&script, &["unrecognised_shape@1", "unrecognised_shape@2"]);
    let findings = judge(&script).findings;
    assert!(findings[0].message.contains("'vk deposit:'") && findings[0].message.ends_with("Seen 2 times."));
    assert!(!findings[1].message.contains("Seen"));
    let ignored = |value| texts(OverrideIgnored, &[("variable", "DXR_D3D_FORCE_GPU"), ("value", value)]);
    check(
        &[ignored("scanout "), ignored("scanout "), ignored("7")],
        &["override_not_honoured@1", "override_not_honoured@3"],
    );
}

#[test]
fn unknown_tokens_are_reported_once_each_from_four_records() {
    check(
        &[full("brand_new,no_hwnd"), changed("brand_new"), full("other_new")],
        &["unknown_reason_token@1", "crossing_every_present@2", "unknown_reason_token@3"],
    );
    check(&[render_off("brand_new")], &["unknown_reason_token@1"]);
    check(&[changed("brand_new")], &["unknown_reason_token@1"]);
    check(&[cause(SplitDisabled, "brand_new,no_hwnd")], &["unknown_reason_token@1"]);
    // Prose, the one word that is both, and a refusal that is no gate's.
    check(&[cause(SplitDisabled, "egress share failed")], &[]);
    check(&[cause(SplitDisabled, "DXR_TEST_SPLIT_FAIL_STAGEA")], &[]);
    check(&[cause(SplitDisabled, "unknown")], &[]);
    check(&[cause(SplitRefused, "brand_new")], &[]);
}

#[test]
fn a_flood_of_subjects_is_capped_and_said() {
    let script: Vec<_> = (0..1_000).map(|number| render_off(&format!("flood_{}", "x".repeat(number % 40)))).collect();
    let findings = judge(&script).findings;
    assert_eq!(findings.iter().filter(|finding| finding.code == "unknown_reason_token").count(), 24);
    let omitted = findings.iter().find(|finding| finding.code == "evidence_omitted").expect("it says so");
    assert_eq!(omitted.line, Some(25));
}

#[test]
fn control_characters_stay_out_of_messages() {
    let script = [texts(OverrideIgnored, &[("variable", "V"), ("value", "\u{1b}[31m\n")])];
    let message = &judge(&script).findings[0].message;
    assert!(!message.chars().any(char::is_control), "{message:?}");
}

#[test]
fn findings_come_by_line_and_silence_last() {
    let judgement = judge(&[plain(Device), plain(BridgeDegraded), render_off("killed_by_env")]);
    let told: Vec<_> = judgement.findings.iter().map(|finding| (finding.code.as_str(), finding.line)).collect();
    assert_eq!(told, [("bridge_degraded", Some(2)), ("killed", Some(3)), ("no_placement", None), ("no_footer", None)]);
    assert_eq!(judgement.findings[0].severity, Severity::Error);
}

fn finish(script: &[Observation], facts: &LogFacts) -> wire::Judgement {
    let mut judge = Judge::new();
    for observation in &numbered(script) {
        judge.push(observation);
    }
    judge.finish(facts)
}

#[test]
fn silence_is_told_only_where_it_is_one() {
    let silent = |script: &[Observation], facts: &LogFacts| -> Vec<String> {
        let findings = finish(script, facts).findings;
        findings.iter().filter(|finding| finding.line.is_none()).map(|finding| finding.code.clone()).collect()
    };
    let log = LogFacts::default();
    let ended = LogFacts { end: End::Footer, ..LogFacts::default() };
    let cli = LogFacts { input: InputKind::Cli, ..LogFacts::default() };
    assert_eq!(silent(&[], &log), ["no_placement", "no_footer"]);
    assert_eq!(silent(&[], &ended), ["no_placement"]);
    assert!(silent(&[], &cli).is_empty());
    assert!(silent(&[full("split=1")], &ended).is_empty());
    // Unreadable, CHANGED, cut and strange records are placement records all the same.
    assert!(silent(&[unreadable()], &ended).is_empty());
    assert!(silent(&[changed("authored_mask")], &ended).is_empty());
    assert!(silent(&[flaw(FlawKind::Unrecognised, Some("weave placement:"))], &ended).is_empty());
    assert!(silent(&[flaw(FlawKind::Truncated, Some("weave placement:"))], &ended).is_empty());
    assert_eq!(silent(&[flaw(FlawKind::Truncated, Some("vk deposit:"))], &ended), ["no_placement"]);
}

#[test]
fn the_message_on_silence_gives_the_likeliest_reason() {
    let why = |script: &[Observation], records: u64| {
        let mut facts = LogFacts::default();
        facts.counts.records = records;
        let findings = finish(script, &facts).findings;
        findings.into_iter().find(|finding| finding.code == "no_placement").expect("no placement record").message
    };
    let client = hinting(plain(wire::Kind::ClientAdapter), Path::IpcClient, true);
    assert!(why(&[client], 5).contains("through the service"));
    assert!(why(&[flaw(FlawKind::EmptyBody, None)], 5).contains("1 of 5 records lost their text"));
    assert!(why(&[runtime(2, 8, 0, "v2.8.0")], 5).contains("(2.8.0) is older"));
    assert!(why(&[shaped(Requirements, "od.requirements")], 5).contains("older"));
    assert!(why(&[], 0).contains("no records"));
    let Observation::Event(mut loud) = plain(DeviceRemoved) else { unreachable!("plain makes events") };
    loud.level = Level::Error;
    assert!(why(&[Observation::Event(loud)], 5).contains("XRT_LOG=error"));
    assert!(why(&[runtime(2, 13, 0, "v2.13.0")], 5).contains("stops after 5 records"));
}

#[test]
fn the_generation_is_told_by_what_is_printed() {
    let check = |script: &[Observation], expected: Option<Generation>| {
        assert_eq!(judge(script).runtime.generation, expected, "{script:#?}");
    };
    check(&[], None);
    check(&[full("split=1")], Some(Generation::G2));
    check(&[changed("authored_mask")], Some(Generation::G2));
    check(&[unreadable()], Some(Generation::G2));
    check(&[old(DGPU, IGPU, true)], Some(Generation::G1));
    check(&[old(DGPU, IGPU, true), full("split=1")], Some(Generation::G2));
    check(&[full("split=1"), old(DGPU, IGPU, true)], Some(Generation::G2));
    check(&[runtime(2, 8, 0, "v2.8.0")], Some(Generation::G0));
    check(&[runtime(1, 12, 0, "v1.12.0")], Some(Generation::G0));
    check(&[runtime(2, 9, 0, "v2.9.0")], None);
    check(&[runtime(2, 8, 0, "v2.8.0"), old(DGPU, IGPU, true)], Some(Generation::G1));
    check(&[shaped(Device, "t.d11dev")], Some(Generation::G0));
    check(&[shaped(Device, "t.d12dev")], Some(Generation::G0));
    check(&[shaped(Requirements, "od.requirements")], Some(Generation::G0));
    check(&[shaped(Device, "sv.luid")], None);
    check(&[runtime(2, 8, 0, "v2.8.0"), flaw(FlawKind::Unrecognised, Some("weave placement:"))], None);
}

#[test]
fn the_first_runtime_record_names_the_build() {
    let runtime_of = |script: &[Observation]| judge(script).runtime;
    let told = runtime_of(&[runtime(2, 13, 0, "v2.13.0-4-gabc123def"), runtime(2, 14, 1, "v2.14.1")]);
    assert_eq!(told.version.as_deref(), Some("2.13.0"));
    assert_eq!(told.build.as_deref(), Some("v2.13.0-4-gabc123def"));
    assert_eq!(runtime_of(&[runtime(2, 13, 0, "")]).build, None);
    assert_eq!(runtime_of(&[]).version, None);
}

#[test]
fn codes_have_distinct_names_in_the_order_of_the_enum() {
    let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
    assert!(Code::ALL.is_sorted());
}
