//! Expected against observed: does a log's placement say what the replay says?
//!
//! What is compared is the printed line, never the reason behind it, because the line masks reasons (contract section 3).
//! A difference that rests on a fact which the log does not tell is no disagreement: then the fact is named. That holds for
//! old builds too: in generation G1 the split had to be asked for, and no log of it tells whether somebody asked.

use std::borrow::Cow;

use wire::{Adapter, Agreement, Comparison, Generation, Luid, Path, Placement, Policy, Reason, Replay, Split};

use super::gate::{PRESENTER_REASON, fact_of};

/// What the replayed line says when it is read.
struct Expected<'a> {
    engaged: bool,
    /// As printed; empty when engaged.
    reason: &'a str,
    /// A `CHANGED` line names no adapters.
    changed: bool,
}

/// Compares an answer with the placement of a log. `untold` are the facts that the log leaves open, as
/// [`Told::missing`](super::Told) lists them; empty for a machine file that tells everything.
pub fn compare(answer: &Replay, observed: &Placement, untold: &[Cow<'static, str>]) -> Comparison {
    let Some(expected) = expected(answer) else {
        let mut missing = answer.missing.clone();
        if answer.scanout.is_none() && untold.iter().any(|fact| fact == "monitors") && missing.is_empty() {
            missing.push(Cow::Borrowed("monitors"));
        } else if missing.is_empty() {
            missing.push(Cow::Borrowed("path"));
        }
        return cannot_tell(missing, "the replay needs facts that are not told".to_owned());
    };
    // Only `CHANGED` has neither adapter and still another reason than an unresolved scanout.
    let observed_token = observed.reasons.iter().map(Reason::as_str).collect::<Vec<_>>().join(",");
    let observed_changed = observed.render.is_none()
        && observed.scanout.is_none()
        && observed.generation == Generation::G2
        && observed_token != "scanout_unresolvable";
    if !expected.changed
        && !observed_changed
        && let Some(difference) = adapters(answer, observed, untold)
    {
        return difference;
    }
    let older = observed.generation == Generation::G1;
    let same_split = expected.engaged == (observed.split == Split::Engaged);
    if same_split && (older || expected.engaged || expected.reason == observed_token) {
        return Comparison { result: Agreement::Agrees, rule: None, because: None, missing: Vec::new() };
    }
    let log = words(observed.split == Split::Engaged, &observed_token);
    let because = format!(
        "the replay says {}, the log says {log}{}",
        words(expected.engaged, expected.reason),
        explanation(answer, observed, &observed_token)
    );
    // Without a token the line of an old build still says that nobody asked for the split, or that it failed.
    let off_in_g1 = older && observed.split == Split::Off;
    let rests_on = if off_in_g1 { fact_of("killed_by_env") } else { observed_token.split(',').find_map(fact_of) };
    if let Some(fact) = rests_on.filter(|fact| untold.contains(fact)) {
        return cannot_tell(vec![fact], because);
    }
    let token = match (observed.split, expected.reason) {
        (Split::Off, _) if expected.engaged || expected.reason == "same_adapter" => observed_token.as_str(),
        (_, reason) => reason,
    };
    Comparison { result: Agreement::Disagrees, rule: Some(rule_of(token)), because: Some(because), missing: Vec::new() }
}

/// Masking as in the line; null when the line cannot be told. A client's presenter leaves the service's own line alone.
fn expected(answer: &Replay) -> Option<Expected<'_>> {
    let presenter = answer.path == Path::Service && answer.reason.as_deref() == Some(PRESENTER_REASON);
    if answer.split == Split::Unknown || answer.line.is_none() {
        return None;
    }
    let off = |reason| Some(Expected { engaged: false, reason, changed: false });
    let reason = answer.reason.as_deref().unwrap_or("unknown");
    if answer.retired {
        return Some(Expected { engaged: false, reason, changed: true });
    }
    match (&answer.render, &answer.scanout) {
        (_, None) => off("scanout_unresolvable"),
        (None, Some(_)) => off(reason),
        _ if answer.crossing == wire::Crossing::None => off("same_adapter"),
        _ if answer.split == Split::Engaged || presenter => {
            Some(Expected { engaged: true, reason: "", changed: false })
        }
        _ => off(reason),
    }
}

/// The first adapter that differs.
fn adapters(answer: &Replay, observed: &Placement, untold: &[Cow<'static, str>]) -> Option<Comparison> {
    let render = answer.render.as_ref().map(|own| (own.name.as_str(), own.luid));
    let scanout = answer.scanout.as_ref().map(|own| (own.name.as_str(), own.luid));
    let scanout_rule = match answer.scanout.as_ref().and_then(|own| own.via) {
        Some(wire::Via::DisplayPath) => "scanout.path",
        Some(wire::Via::OutputWalk) => "scanout.walk",
        None => "scanout.panel",
    };
    let pairs = [
        ("scanout", scanout, observed.scanout.as_ref(), scanout_rule, "monitors"),
        ("render", render, observed.render.as_ref(), "render.device", "session.device_luid"),
    ];
    for (role, expected, seen, rule, fact) in pairs {
        if same(answer, expected, seen) {
            continue;
        }
        let because = format!(
            "{role}: the replay says {}, the log says {}",
            expected.map_or("none".to_owned(), |(name, luid)| named(name, luid)),
            seen.map_or("none".to_owned(), |own| named(&own.name, Some(own.luid)))
        );
        // The device is the app's to choose: only a log that names it can contradict the replay.
        let fact = [fact, "adapters"].into_iter().find(|fact| untold.iter().any(|own| own == fact));
        return Some(match fact {
            Some(fact) => cannot_tell(vec![Cow::Owned(fact.to_owned())], because),
            None => Comparison {
                result: Agreement::Disagrees,
                rule: Some(rule.to_owned()),
                because: Some(because),
                missing: Vec::new(),
            },
        });
    }
    None
}

/// By LUID within a boot; by name when the log's LUID is not one of the machine's, which is another boot then.
fn same(answer: &Replay, expected: Option<(&str, Option<Luid>)>, seen: Option<&Adapter>) -> bool {
    match (expected, seen) {
        (None, None) => true,
        (Some((name, luid)), Some(seen)) => {
            luid == Some(seen.luid)
                || name == seen.name && answer.ranking.iter().all(|ranked| ranked.luid != Some(seen.luid))
        }
        _ => false,
    }
}

/// What else may lie behind a difference.
fn explanation(answer: &Replay, observed: &Placement, token: &str) -> &'static str {
    match (observed.generation, answer.path, answer.policy, token) {
        (Generation::G1, ..) => "; a build of generation G1 splits only where DXR_WEAVE_ON_SCANOUT=1 asks for it",
        (_, Path::Vulkan, Policy::Adr039, "api_unsupported") => "; builds before the Vulkan split print this",
        (_, Path::Vulkan, Policy::Document, _) => "; a newer build may split on Vulkan: policy adr039",
        (_, Path::D3d12, _, "unknown") => "; a re-routed D3D12 session prints `unknown` although its fill arm runs",
        (_, Path::D3d12, Policy::Document, "authored_mask") => {
            "; newer builds carry most layers across and print this where the document says layers_unsupported"
        }
        _ if observed.reasons.iter().any(|own| !own.is_known()) => {
            "; no rule here knows that token: it is of a newer build"
        }
        (_, _, _, "same_adapter") => "; equality masks every other reason",
        (_, _, _, "scanout_unresolvable") => "; an unresolved scanout masks every other reason",
        _ => "",
    }
}

fn rule_of(token: &str) -> String {
    match token.split(',').next().unwrap_or_default() {
        "killed_by_env" => "kill".to_owned(),
        // A token that no gate has, and the one that means "no token".
        first if !Reason::new(first).is_known() || first == "unknown" => "line".to_owned(),
        first => format!("gate.{first}"),
    }
}

fn words(engaged: bool, reason: &str) -> String {
    match (engaged, reason) {
        (true, _) => "split=1".to_owned(),
        (false, "") => "split=0 without a reason".to_owned(),
        (false, reason) => format!("split=0 reason={reason}"),
    }
}

fn named(name: &str, luid: Option<Luid>) -> String {
    luid.map_or_else(|| format!("'{name}'"), |luid| format!("'{name}' LUID={luid}"))
}

fn cannot_tell(missing: Vec<Cow<'static, str>>, because: String) -> Comparison {
    Comparison { result: Agreement::CannotTell, rule: None, because: Some(because), missing }
}
