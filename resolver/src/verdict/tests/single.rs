//! Logs with one session at most: what decides, and how sure it is.

use wire::Kind::{
    BridgeDetail, BridgeEngaged, Device, SplitDisabled, SplitEngaged, SplitNoop, SplitRefused, SplitRetired, StageTook,
};
use wire::Observation;

use super::build::*;

fn check(script: &[Observation], expected: &str) {
    assert_eq!(say(&judge(script)), expected, "{script:#?}");
}

#[test]
fn the_last_placement_record_speaks_for_itself() {
    check(&[full("split=1")], "engaged atlas_per_frame [] stated 1");
    check(&[full("no_hwnd")], "off every_present [no_hwnd] stated 1");
    check(&[full("killed_by_env")], "off every_present [killed_by_env] stated 1 killed");
    check(&[same("same_adapter")], "off none [same_adapter] stated 1");
    check(&[half(Some(DGPU), None, "scanout_unresolvable")], "off unknown [scanout_unresolvable] stated 1");
    check(&[half(None, None, "scanout_unresolvable")], "off unknown [scanout_unresolvable] stated 1");
    check(&[half(None, Some(IGPU), "api_unsupported")], "off unknown [api_unsupported] stated 1");
    check(&[full("brand_new,no_hwnd")], "off every_present [brand_new,no_hwnd] stated 1");
}

#[test]
fn the_first_generation_has_no_reasons_and_is_never_corrected() {
    check(&[old(DGPU, IGPU, true)], "engaged atlas_per_frame [] stated 1");
    check(&[old(DGPU, IGPU, false)], "off every_present [] stated 1");
    check(&[plain(SplitEngaged), old(IGPU, IGPU, false)], "off none [] stated 2");
    check(&[old(("<unknown>", 0), IGPU, false)], "off unknown [] stated 1");
    check(&[old(("<unknown>", 7), IGPU, false)], "off every_present [] stated 1");
}

#[test]
fn an_engaging_record_overrules_the_two_masks_only() {
    check(&[plain(SplitEngaged), same("same_adapter")], "engaged none [] corrected 1");
    check(&[same("same_adapter"), plain(BridgeEngaged)], "engaged none [] corrected 2");
    check(&[plain(SplitEngaged), full("unknown")], "engaged atlas_per_frame [] corrected 1");
    check(&[plain(SplitEngaged), full("no_hwnd")], "off every_present [no_hwnd] stated 2");
    check(&[plain(SplitEngaged), same("same_adapter,no_hwnd")], "off none [same_adapter,no_hwnd] stated 2");
    check(&[plain(SplitEngaged), full("split=1")], "engaged atlas_per_frame [] stated 2");
    check(&[plain(SplitNoop), same("same_adapter")], "off none [same_adapter] stated 2");
}

#[test]
fn the_last_engaging_record_is_named() {
    let script = [plain(SplitEngaged), plain(StageTook), same("same_adapter"), plain(BridgeEngaged), window(1, 0)];
    check(&script, "engaged none [] corrected 4");
}

#[test]
fn a_live_window_overrules_when_no_engaging_record_does() {
    check(&[same("same_adapter"), window(1, 0), window(1, 0)], "engaged none [] corrected 3");
    check(&[same("same_adapter"), window(1, 0), window(0, 0)], "off none [same_adapter] stated 1");
    check(&[same("same_adapter"), render_off("same_adapter")], "off none [same_adapter] stated 1");
    check(&[full("split=1"), window(0, 0)], "engaged atlas_per_frame [] stated 1");
    check(&[full("stage_a_failed"), window(1, 0)], "off every_present [stage_a_failed] stated 1");
    // A window without the bridge's bytes is no evidence.
    check(&[same("same_adapter"), plain(wire::Kind::RenderSplit)], "off none [same_adapter] stated 1");
}

#[test]
fn what_takes_back_ends_the_evidence() {
    let engaged = plain(SplitEngaged);
    check(
        &[engaged.clone(), cause(SplitDisabled, "egress share failed"), full("unknown")],
        "off every_present [unknown] stated 3",
    );
    check(
        &[engaged.clone(), cause(SplitRefused, "stage_a_failed"), full("unknown")],
        "off every_present [unknown] stated 3",
    );
    check(&[engaged.clone(), cause(SplitRetired, "x y"), same("same_adapter")], "off none [same_adapter] stated 3");
    check(&[window(1, 0), changed("authored_mask"), same("same_adapter")], "off none [same_adapter] stated 3");
    check(
        &[engaged.clone(), cause(SplitDisabled, "x y"), engaged, same("same_adapter")],
        "engaged none [] corrected 3",
    );
}

#[test]
fn changed_behind_the_full_line_wins_and_keeps_its_adapters() {
    let script = [full("split=1"), cause(SplitRetired, "x y"), changed("dp_refused_scanout")];
    check(&script, "off every_present [dp_refused_scanout] stated 3 retired");
    check(&[full("split=1"), changed("killed_by_env")], "off every_present [killed_by_env] stated 2 retired killed");
    // Under ADR-039 the full line says same_adapter, yet the split ran.
    let script = [plain(SplitEngaged), same("same_adapter"), cause(SplitRetired, "x y"), changed("authored_mask")];
    check(&script, "off none [authored_mask] stated 4 retired");
    let script = [same("same_adapter"), plain(BridgeEngaged), changed("authored_mask")];
    check(&script, "off none [authored_mask] stated 3 retired");
}

#[test]
fn retired_needs_a_split_that_ran() {
    check(&[full("no_hwnd"), changed("authored_mask")], "off every_present [authored_mask] stated 2");
    check(&[same("same_adapter"), window(1, 0), changed("authored_mask")], "off none [authored_mask] stated 3");
    let script = [plain(SplitEngaged), cause(SplitDisabled, "x y"), same("same_adapter"), changed("authored_mask")];
    check(&script, "off none [authored_mask] stated 4");
    let script = [plain(SplitEngaged), cause(SplitRefused, "x"), full("unknown"), changed("authored_mask")];
    check(&script, "off every_present [authored_mask] stated 4");
}

#[test]
fn a_full_line_behind_changed_wins() {
    let script = [plain(SplitEngaged), cause(SplitRetired, "x y"), changed("stage_a_failed"), full("unknown")];
    check(&script, "off every_present [unknown] stated 4");
    check(&[changed("authored_mask"), full("split=1")], "engaged atlas_per_frame [] stated 2");
}

#[test]
fn retired_without_changed_is_a_cut_log() {
    check(&[full("split=1"), cause(SplitRetired, "x y")], "off every_present [] corrected 2 retired");
    check(&[plain(SplitEngaged), same("same_adapter"), cause(SplitRetired, "x y")], "off none [] corrected 3 retired");
    // Nothing ran, so nothing was taken back.
    check(&[full("no_hwnd"), cause(SplitRetired, "x y")], "off every_present [no_hwnd] stated 1");
    check(&[same("same_adapter"), window(1, 0), cause(SplitRetired, "x y")], "off none [same_adapter] stated 1");
    // Evidence (a) is engagement even where it does not overrule, and a retired split does not come back.
    check(
        &[plain(SplitEngaged), full("stage_a_failed"), cause(SplitRetired, "x y")],
        "off every_present [] corrected 3 retired",
    );
    check(
        &[full("split=1"), cause(SplitRetired, "x y"), plain(BridgeEngaged)],
        "off every_present [] corrected 2 retired",
    );
    // Printed before the full line, it is history.
    check(&[plain(SplitEngaged), cause(SplitRetired, "x y"), full("split=1")], "engaged atlas_per_frame [] stated 3");
    check(
        &[full("split=1"), changed("authored_mask"), cause(SplitRetired, "x y")],
        "off every_present [authored_mask] stated 2 retired",
    );
}

#[test]
fn changed_without_a_full_line_is_readable() {
    check(&[changed("authored_mask")], "off unknown [authored_mask] stated 1");
    check(
        &[plain(SplitEngaged), cause(SplitRetired, "x y"), changed("authored_mask")],
        "off unknown [authored_mask] stated 3",
    );
    check(&[changed("authored_mask"), changed("killed_by_env")], "off unknown [killed_by_env] stated 2 killed");
}

#[test]
fn changed_beside_an_unreadable_full_line_decides() {
    check(&[changed("authored_mask"), unreadable()], "off unknown [authored_mask] stated 1");
    check(&[unreadable(), changed("authored_mask")], "off unknown [authored_mask] stated 2");
    check(
        &[plain(SplitEngaged), unreadable(), changed("authored_mask")],
        "off unknown [authored_mask] stated 3 retired",
    );
}

#[test]
fn without_a_readable_line_the_others_decide() {
    check(&[], "unknown unknown [] absent -");
    check(&[unreadable()], "unknown unknown [] absent -");
    check(&[plain(Device), plain(BridgeDetail)], "unknown unknown [] absent -");
    check(&[plain(SplitEngaged), unreadable()], "engaged unknown [] inferred 1");
    check(&[plain(SplitEngaged), window(1, 0)], "engaged unknown [] inferred 1");
    check(&[window(1, 0)], "engaged unknown [] inferred 1");
    check(&[window(0, 0)], "unknown unknown [] absent -");
    check(&[render_off("killed_by_env"), unreadable()], "off unknown [killed_by_env] inferred 1 killed");
    check(&[cause(SplitDisabled, "no_panel_dimensions")], "off unknown [no_panel_dimensions] inferred 1");
    check(
        &[cause(SplitDisabled, "presenter_ineligible,weave_on_ingest")],
        "off unknown [presenter_ineligible,weave_on_ingest] inferred 1",
    );
    check(&[cause(SplitDisabled, "egress share failed")], "unknown unknown [] absent -");
    check(&[cause(SplitDisabled, "no_hwnd,")], "unknown unknown [] absent -");
    check(&[cause(SplitRefused, "stage_a_failed")], "unknown unknown [] absent -");
    check(&[cause(SplitRetired, "x y")], "off unknown [] inferred 1 retired");
    check(&[plain(SplitEngaged), unreadable(), cause(SplitRetired, "x y")], "off unknown [] inferred 3 retired");
}

#[test]
fn of_two_refusals_the_later_decides_and_both_outrank_retired() {
    check(&[cause(SplitDisabled, "no_hwnd"), render_off("same_adapter")], "off unknown [same_adapter] inferred 2");
    check(&[render_off("same_adapter"), cause(SplitDisabled, "no_hwnd")], "off unknown [no_hwnd] inferred 2");
    check(&[render_off("no_hwnd"), cause(SplitRetired, "x y")], "off unknown [no_hwnd] inferred 1");
    check(&[render_off("no_hwnd"), plain(SplitEngaged)], "engaged unknown [] inferred 2");
}
