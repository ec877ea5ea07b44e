//! Logs with several sessions: where one ends, what the last one says, and what stays of the others.

use wire::Kind::{
    BridgeEngaged, Compositor, Device, DeviceFailed, GlCrossing, Ingest, Scanout, SplitDisabled, SplitEngaged,
    SplitNoop, SplitRefused, SplitRetired, StageTook, Window,
};
use wire::{FlawKind, Observation, Path, Reason};

use super::build::*;

/// Sessions as `line:split[reasons]>changed-line[reasons]`.
fn list(script: &[Observation]) -> Vec<String> {
    let words = |reasons: &[Reason]| reasons.iter().map(Reason::as_str).collect::<Vec<_>>().join(",");
    let text = |session: &wire::Session| {
        let own = format!("{}:{}[{}]", session.line, session.split.as_str(), words(&session.reasons));
        let changed = session.changed.iter().map(|record| format!("{}[{}]", record.line, words(&record.reasons)));
        std::iter::once(own).chain(changed).collect::<Vec<_>>().join(">")
    };
    judge(script).sessions.iter().map(text).collect()
}

fn check(script: &[Observation], sessions: &[&str], verdict: &str) {
    assert_eq!(list(script), sessions, "{script:#?}");
    assert_eq!(say(&judge(script)), verdict, "{script:#?}");
}

#[test]
fn every_opener_behind_a_full_record_opens_a_session() {
    for kind in [Device, Ingest, SplitNoop, SplitEngaged, SplitDisabled, SplitRefused, StageTook, DeviceFailed] {
        let script = [plain(BridgeEngaged), full("split=1"), plain(kind), cause(SplitRetired, "x y"), full("no_hwnd")];
        check(&script, &["2:engaged[]", "5:off[no_hwnd]"], "off every_present [no_hwnd] stated 5");
    }
}

#[test]
fn other_records_belong_to_the_open_session() {
    for kind in [Compositor, Scanout, Window, BridgeEngaged, GlCrossing] {
        let judgement = judge(&[full("split=1"), plain(kind), changed("authored_mask")]);
        assert_eq!(judgement.sessions.len(), 1, "{kind:?}");
        assert!(judgement.verdict.retired, "{kind:?}");
    }
}

#[test]
fn a_further_full_record_opens_a_session() {
    let script = [full("split=1"), full("no_hwnd"), changed("authored_mask")];
    check(&script, &["1:engaged[]", "2:off[no_hwnd]>3[authored_mask]"], "off every_present [authored_mask] stated 3");
    check(&[full("split=1"), unreadable()], &["1:engaged[]", "2:unknown[]"], "unknown unknown [] absent -");
}

#[test]
fn evidence_stays_within_its_session() {
    let script = [plain(SplitEngaged), same("same_adapter"), plain(Device), same("same_adapter")];
    check(&script, &["2:off[same_adapter]", "4:off[same_adapter]"], "off none [same_adapter] stated 4");
    let script = [full("split=1"), plain(Device), full("no_hwnd"), changed("authored_mask")];
    check(&script, &["1:engaged[]", "3:off[no_hwnd]>4[authored_mask]"], "off every_present [authored_mask] stated 4");
    // The bridge of a second session on one adapter.
    let script = [same("same_adapter"), plain(StageTook), same("same_adapter"), plain(BridgeEngaged)];
    check(&script, &["1:off[same_adapter]", "3:off[same_adapter]"], "engaged none [] corrected 4");
}

#[test]
fn trailing_openers_are_no_session() {
    let script = [
        full("split=1"),
        plain(Device),
        cause(SplitDisabled, "brand_new"),
        cause(SplitRetired, "x y"),
        changed("odd_one"),
    ];
    check(&script, &["1:engaged[]"], "engaged atlas_per_frame [] stated 1");
    assert_eq!(codes(&judge(&script)), ["unknown_reason_token@3", "unknown_reason_token@5"]);
    let script = [full("no_hwnd"), plain(Device), plain(GlCrossing)];
    assert_eq!(say(&judge(&script)), "off every_present [no_hwnd] stated 1 interop");
}

#[test]
fn changed_before_the_full_line_is_listed_with_it() {
    let script = [cause(SplitRetired, "x y"), changed("stage_a_failed"), full("unknown")];
    check(&script, &["3:off[unknown]>2[stage_a_failed]"], "off every_present [unknown] stated 3");
}

#[test]
fn a_log_without_a_full_record_has_one_verdict_and_no_session() {
    let script = [plain(SplitEngaged), plain(Device), plain(StageTook), window(1, 0)];
    check(&script, &[], "engaged unknown [] inferred 1");
    let script = [cause(SplitDisabled, "no_hwnd"), plain(Device), plain(SplitNoop)];
    check(&script, &[], "off unknown [no_hwnd] inferred 1");
}

#[test]
fn a_record_of_unknown_shape_opens_nothing() {
    let strange = flaw(FlawKind::Unrecognised, Some("weave placement:"));
    check(&[full("split=1"), strange], &["1:engaged[]"], "engaged atlas_per_frame [] stated 1");
}

#[test]
fn findings_come_from_every_session() {
    let script = [
        full("killed_by_env"),
        plain(SplitEngaged),
        same("same_adapter"),
        plain(Device),
        full("split=1"),
        changed("authored_mask"),
        plain(Device),
        same("same_adapter"),
    ];
    let expected = ["killed@1", "crossing_every_present@1", "placement_corrected@2", "retired@6"];
    assert_eq!(codes(&judge(&script)), expected);
    assert_eq!(say(&judge(&script)), "off none [same_adapter] stated 8");
}

#[test]
fn the_path_is_that_of_the_last_session_else_of_the_log() {
    let path = |script: &[Observation]| judge(script).path;
    let d3d11 = || hinting(plain(Device), Path::D3d11, true);
    let vulkan = || hinting(plain(Compositor), Path::Vulkan, true);
    assert_eq!(path(&[]), Path::Unknown);
    assert_eq!(path(&[d3d11(), full("split=1"), plain(StageTook), full("split=1"), vulkan()]), Path::Vulkan);
    assert_eq!(path(&[d3d11(), full("split=1"), vulkan()]), Path::D3d11);
    // A last session that tells nothing falls back on the log; so does a log without a session.
    assert_eq!(path(&[vulkan(), full("split=1"), plain(StageTook), full("split=1")]), Path::Vulkan);
    assert_eq!(path(&[vulkan(), plain(StageTook)]), Path::Vulkan);
    // Trailing openers are not the last session, but they are the log.
    assert_eq!(path(&[vulkan(), full("split=1"), d3d11()]), Path::Vulkan);
    assert_eq!(path(&[full("split=1"), d3d11()]), Path::D3d11);
    // Within the session a named neighbour outranks a mere shape; so does the session the rest of the log.
    let shape = || hinting(plain(Window), Path::Service, false);
    assert_eq!(path(&[shape(), full("split=1"), vulkan()]), Path::Vulkan);
    assert_eq!(path(&[vulkan(), full("split=1"), plain(StageTook), full("split=1"), shape()]), Path::Service);
}

#[test]
fn memory_is_bounded_and_the_last_session_is_exact() {
    let long = "a".repeat(4_000);
    let mut script = Vec::new();
    for _ in 0..1_000 {
        script.push(full(&long));
    }
    script.push(full("split=1"));
    script.push(changed("authored_mask"));
    let judgement = judge(&script);
    assert!(judgement.sessions.len() < 300, "{}", judgement.sessions.len());
    let last = judgement.sessions.last().expect("the last is always kept");
    assert_eq!((last.line, last.changed.len()), (1_001, 1));
    assert_eq!(say(&judgement), "off every_present [authored_mask] stated 1002 retired");
    let omitted = judgement.findings.iter().find(|finding| finding.code == "evidence_omitted").expect("it says so");
    let kept = judgement.sessions.len();
    assert!(omitted.message.starts_with(&format!("{} sessions", 1_001 - kept)), "{}", omitted.message);
    assert_eq!(omitted.line, Some(kept as u64));
}

#[test]
fn changed_records_of_one_session_are_bounded() {
    let mut script = vec![full("split=1")];
    for number in 0..5_000 {
        script.push(changed(if number % 2 == 0 { "authored_mask" } else { "dp_refused_scanout" }));
    }
    let judgement = judge(&script);
    let session = &judgement.sessions[0];
    assert!(session.changed.len() < 1_000);
    assert_eq!(session.changed.last().map(|record| record.line), Some(5_001));
    assert_eq!(say(&judgement), "off every_present [dp_refused_scanout] stated 5001 retired");
    let omitted = judgement.findings.iter().find(|finding| finding.code == "evidence_omitted").expect("it says so");
    assert_eq!(omitted.line, Some(session.changed.len() as u64 + 1), "the first that is not listed");
    assert!(omitted.message.starts_with(&format!("{} CHANGED", 5_000 - session.changed.len())), "{}", omitted.message);
}
