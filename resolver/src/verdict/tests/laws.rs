//! Laws: what holds for any mixture of records, in any order.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use wire::Kind::{
    BridgeDegraded, BridgeEngaged, ClientCrossing, Device, GlCrossing, Ingest, OverrideIgnored, SplitDisabled,
    SplitEngaged, SplitNoop, SplitRefused, SplitRetired, StageTook, Window,
};
use wire::{Basis, Crossing, End, FlawKind, LogFacts, Observation, Path, Split};

use super::build::*;
use crate::Judge;

/// Any observation that a verdict depends on.
fn observation() -> impl Strategy<Value = Observation> {
    let kinds = vec![
        BridgeDegraded,
        BridgeEngaged,
        ClientCrossing,
        Device,
        GlCrossing,
        Ingest,
        OverrideIgnored,
        SplitEngaged,
        SplitNoop,
        StageTook,
        Window,
    ];
    let causes = vec![SplitDisabled, SplitRefused, SplitRetired];
    let flaws = vec![FlawKind::EmptyBody, FlawKind::Truncated, FlawKind::Spliced, FlawKind::Unrecognised];
    let markers = vec![None, Some("weave placement:"), Some("[RENDER] ")];
    prop_oneof![
        4 => placement(),
        4 => select(kinds).prop_map(plain),
        2 => (select(causes), reasons()).prop_map(|(kind, words)| cause(kind, &words)),
        1 => select(vec![SplitDisabled, SplitRetired]).prop_map(|kind| cause(kind, "egress share failed")),
        2 => reasons().prop_map(|words| changed(&words)),
        1 => reasons().prop_map(|words| render_off(&words)),
        2 => (0..3_i64, 0..2_i64).prop_map(|(split, degraded)| window(split, degraded)),
        1 => (select(flaws), select(markers)).prop_map(|(kind, marker)| flaw(kind, marker)),
        1 => (select(Path::ALL.to_vec()), any::<bool>())
            .prop_map(|(path, named)| hinting(plain(Window), path, named)),
        1 => (0..4_u64, 0..12_u64).prop_map(|(major, minor)| runtime(major, minor, 0, "build")),
    ]
}

fn placement() -> impl Strategy<Value = Observation> {
    prop_oneof![
        reasons().prop_map(|words| full(&words)),
        reasons().prop_map(|words| same(&words)),
        Just(full("split=1")),
        Just(same("same_adapter")),
        reasons().prop_map(|words| half(None, Some(IGPU), &words)),
        any::<bool>().prop_map(|engaged| old(DGPU, IGPU, engaged)),
        Just(unreadable()),
    ]
}

fn reasons() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        3 => select(wire::ReasonFacts::ALL.iter().map(|facts| facts.token.to_owned()).collect::<Vec<_>>()),
        1 => "[a-z_]{1,12}",
    ];
    vec(token, 1..3).prop_map(|tokens| tokens.join(","))
}

fn is_full(event: &wire::Event) -> bool {
    matches!(event.kind, wire::Kind::Placement | wire::Kind::PlacementUnreadable)
}

proptest! {
    #[test]
    fn verdicts_agree_with_themselves(script in vec(observation(), 0..40)) {
        let judgement = judge(&script);
        let verdict = &judgement.verdict;
        if verdict.split == Split::Engaged {
            prop_assert!(verdict.reasons.is_empty() && !verdict.retired);
        }
        prop_assert_eq!(verdict.killed, verdict.reasons.iter().any(|reason| reason.as_str() == "killed_by_env"));
        let expected = match (&verdict.render, &verdict.scanout) {
            (Some(render), Some(scanout)) if render.luid == scanout.luid => Crossing::None,
            (Some(_), Some(_)) if verdict.split == Split::Engaged => Crossing::AtlasPerFrame,
            (Some(_), Some(_)) => Crossing::EveryPresent,
            _ => Crossing::Unknown,
        };
        prop_assert_eq!(verdict.crossing, expected);
        prop_assert_eq!(verdict.split == Split::Unknown, verdict.basis == Basis::Absent);
        prop_assert_eq!(verdict.line.is_none(), verdict.basis == Basis::Absent);
        if matches!(verdict.basis, Basis::Inferred | Basis::Absent) {
            prop_assert!(verdict.render.is_none() && verdict.scanout.is_none());
        }
    }

    #[test]
    fn sessions_are_the_full_records(script in vec(observation(), 0..40)) {
        let lines: Vec<_> = numbered(&script)
            .iter()
            .filter_map(|observation| match observation {
                Observation::Event(event) if is_full(event) => Some(event.line),
                _ => None,
            })
            .collect();
        let sessions = judge(&script).sessions;
        prop_assert_eq!(sessions.iter().map(|session| session.line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn the_answer_depends_on_the_observations_only(
        script in vec(observation(), 0..40),
        other in vec(observation(), 0..10),
    ) {
        let script = numbered(&script);
        let mut judge = Judge::new();
        let mut noise = Judge::new();
        for (index, observation) in script.iter().enumerate() {
            judge.push(observation);
            if let Some(observation) = other.get(index) {
                noise.push(observation);
            }
        }
        prop_assert_eq!(judge.finish(&LogFacts::default()), super::build::judge(&script));
    }

    #[test]
    fn a_full_line_at_the_very_end_wins_unless_it_is_corrected(
        script in vec(observation(), 0..30),
        last in placement(),
    ) {
        let mut script = script;
        script.push(last.clone());
        let whole = judge(&script).verdict;
        let alone = judge(&[last]).verdict;
        match whole.basis {
            Basis::Corrected => prop_assert_eq!(whole.split, Split::Engaged),
            // Its body is lost: what came before it in its session may decide.
            _ if alone.basis == Basis::Absent => {}
            _ => {
                prop_assert_eq!(whole.line, Some(script.len() as u64));
                prop_assert_eq!((whole.split, whole.reasons, whole.retired), (alone.split, alone.reasons, false));
                prop_assert_eq!((whole.render, whole.scanout), (alone.render, alone.scanout));
            }
        }
    }

    #[test]
    fn a_session_behind_an_opener_is_judged_as_if_it_were_alone(
        before in vec(observation(), 0..20),
        after in vec(observation(), 0..20),
    ) {
        // A full record and an opener fence the past off; only what concerns the whole log goes on.
        let mut script = before;
        script.extend([full("no_hwnd"), plain(StageTook)]);
        let fence = script.len() as u64;
        let mut session = vec![plain(StageTook), full("unknown")];
        session.extend(after);
        script.extend(session.clone());
        let (whole, alone) = (judge(&script).verdict, judge(&session).verdict);
        prop_assert_eq!(whole.line, alone.line.map(|line| line + fence));
        prop_assert_eq!((whole.split, whole.reasons, whole.retired), (alone.split, alone.reasons, alone.retired));
        prop_assert_eq!((whole.basis, whole.render, whole.scanout), (alone.basis, alone.render, alone.scanout));
    }

    #[test]
    fn trailing_openers_change_no_verdict(script in vec(observation(), 0..20), tail in vec(observation(), 0..20)) {
        let mut script = script;
        script.push(full("split=1"));
        let before = judge(&script).verdict;
        script.push(plain(Device));
        let no_full = |observation: &Observation| !matches!(observation, Observation::Event(event) if is_full(event));
        script.extend(tail.into_iter().filter(no_full));
        let after = judge(&script).verdict;
        prop_assert_eq!(wire::Verdict { interop_crossing: before.interop_crossing, ..after }, before);
    }

    #[test]
    fn findings_are_in_order_and_known(script in vec(observation(), 0..40)) {
        let mut judge = Judge::new();
        for observation in &numbered(&script) {
            judge.push(observation);
        }
        let findings = judge.finish(&LogFacts { end: End::Footer, ..LogFacts::default() }).findings;
        prop_assert!(findings.is_sorted_by_key(|finding| (finding.line.is_none(), finding.line)));
        for finding in &findings {
            let code = crate::Code::ALL.into_iter().find(|code| code.as_str() == finding.code);
            prop_assert_eq!(code.map(crate::Code::severity), Some(finding.severity));
            prop_assert!(finding.line.is_none_or(|line| line >= 1 && line <= script.len() as u64));
        }
    }
}
