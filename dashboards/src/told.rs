//! What `weavewatch explain` says of a log, as the rows of a page: expected beside observed, the rules, the adapters.

use std::borrow::Cow;

use wire::{Adapter, Agreement, ScanReport};

use crate::log_page::{Moment, Told};
use crate::pieces::Piece;
use crate::share::{counted, thousands};
use crate::words;

/// As comparisons name what decides over the kill switch.
const KILL_FACT: &str = "settings.DXR_WEAVE_ON_SCANOUT";

/// One line of expected beside observed.
pub(crate) struct Pair {
    pub(crate) what: &'static str,
    pub(crate) expected: String,
    pub(crate) observed: String,
    pub(crate) differs: bool,
    /// Beside two values that are not the same.
    pub(crate) mark: &'static str,
    /// The values are names from a log, and not our words.
    pub(crate) verbatim: bool,
}

/// A rule of the replay.
pub(crate) struct RuleRow<'p> {
    pub(crate) rule: &'p str,
    pub(crate) asks: String,
    pub(crate) outcome: Cow<'p, str>,
    pub(crate) differs: bool,
}

/// An adapter with its part.
pub(crate) struct AdapterRow {
    pub(crate) roles: String,
    pub(crate) name: String,
    pub(crate) luid: String,
    pub(crate) memory: String,
    pub(crate) rank: String,
}

impl Told {
    /// Whether the line has a place on the page.
    pub(crate) fn is_shown(&self, line: u64) -> bool {
        self.known.lines.contains(&line)
    }

    pub(crate) fn pieces<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        self.known.sentence(text)
    }

    pub(crate) fn record<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        self.known.record(text)
    }

    pub(crate) fn disagrees(&self) -> bool {
        self.comparison.result == Agreement::Disagrees
    }

    /// Expected beside observed, in the order in which the runtime decides.
    pub(crate) fn pairs(&self, report: &ScanReport) -> Vec<Pair> {
        let verdict = &report.verdict;
        let told = |name: Option<&str>| name.unwrap_or("not told").to_owned();
        let seen = |adapter: Option<&Adapter>| told(adapter.map(|own| own.name.as_str()));
        let word = |name, value: &str| words::word(name, value).label;
        let reasons: Vec<_> = verdict.reasons.iter().map(wire::Reason::as_str).collect();
        let answer = &self.answer;
        let rows = [
            (
                "Renders on",
                told(answer.render.as_ref().map(|own| own.name.as_str())),
                seen(verdict.render.as_ref()),
                true,
            ),
            (
                "Panel driven by",
                told(answer.scanout.as_ref().map(|own| own.name.as_str())),
                seen(verdict.scanout.as_ref()),
                true,
            ),
            ("Split", word("split", answer.split.as_str()), word("split", verdict.split.as_str()), false),
            (
                "Reason",
                answer.reason.as_deref().unwrap_or("none").to_owned(),
                if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") },
                true,
            ),
            ("Crosses", word("crossing", answer.crossing.as_str()), word("crossing", verdict.crossing.as_str()), false),
        ];
        // Where the rules agree, another word is one that the line masks, and no difference.
        let mark = |expected: &str, observed: &str| match self.comparison.result {
            _ if expected == observed => "",
            Agreement::Agrees => "the line hides it",
            Agreement::Disagrees => "differs",
            Agreement::CannotTell => "cannot be compared",
        };
        rows.into_iter()
            .map(|(what, expected, observed, verbatim)| Pair {
                what,
                differs: self.disagrees() && expected != observed,
                mark: mark(&expected, &observed),
                expected,
                observed,
                verbatim,
            })
            .collect()
    }

    /// Every rule that was asked; the first that differs is marked.
    pub(crate) fn rules(&self) -> Vec<RuleRow<'_>> {
        let differing = self.comparison.rule.as_deref().filter(|_| self.disagrees());
        let mut marked = false;
        let mut rows: Vec<_> = self
            .answer
            .rules
            .iter()
            .map(|own| {
                let differs = !marked && differing == Some(own.rule.as_ref());
                marked |= differs;
                // Who set the switch, if anybody, no log tells of a build that wants to be asked: the replay takes its default.
                let is_open = own.rule == "kill" && self.comparison.missing.iter().any(|fact| fact == KILL_FACT);
                let outcome = if is_open {
                    Cow::from(format!("{}, if nobody set it: the log does not tell", own.outcome))
                } else {
                    Cow::from(&*own.outcome)
                };
                RuleRow { rule: &own.rule, asks: asks(&own.rule), outcome, differs }
            })
            .collect();
        // The log names a rule that the replay never came to.
        if let Some(rule) = differing.filter(|_| !marked) {
            rows.push(RuleRow {
                rule,
                asks: asks(rule),
                outcome: "decided by the log, not asked by the replay".into(),
                differs: true,
            });
        }
        rows
    }

    pub(crate) fn adapters(&self, report: &ScanReport) -> Vec<AdapterRow> {
        let verdict = &report.verdict;
        let parts = [("renders", verdict.render.as_ref()), ("drives the panel", verdict.scanout.as_ref())];
        let roles = |is: &dyn Fn(&Adapter) -> bool| {
            let own = parts.iter().filter(|(_, adapter)| adapter.is_some_and(is)).map(|(role, _)| *role);
            own.collect::<Vec<_>>().join(", ")
        };
        let not_told = || "not told".to_owned();
        let mut rows: Vec<_> = self
            .answer
            .ranking
            .iter()
            .map(|own| AdapterRow {
                roles: roles(&|adapter| own.luid.map_or(adapter.name == own.name, |luid| adapter.luid == luid)),
                name: own.name.clone(),
                luid: own.luid.map_or_else(not_told, |luid| luid.to_string()),
                memory: own.dedicated_vram_mib.map_or_else(not_told, |mib| format!("{} MiB", thousands(mib))),
                rank: match (&own.excluded, own.rank) {
                    (Some(why), _) => format!("left out: {why}"),
                    (None, Some(rank)) => rank.to_string(),
                    (None, None) => not_told(),
                },
            })
            .collect();
        let listed = |adapter: &Adapter| {
            let mut ranking = self.answer.ranking.iter();
            ranking.any(|own| own.luid.map_or(adapter.name == own.name, |luid| adapter.luid == luid))
        };
        let mut unlisted: Vec<&Adapter> =
            parts.iter().filter_map(|(_, adapter)| adapter.filter(|own| !listed(own))).collect();
        unlisted.dedup_by_key(|own| own.luid);
        for own in unlisted {
            rows.push(AdapterRow {
                roles: roles(&|adapter| adapter.luid == own.luid),
                name: own.name.clone(),
                luid: own.luid.to_string(),
                memory: not_told(),
                rank: not_told(),
            });
        }
        rows
    }

    /// The evidence; of several records on one line the first is the one that is jumped to. The last value marks the record
    /// that decides.
    pub(crate) fn moments(&self, report: &ScanReport) -> Vec<(&Moment, bool, bool)> {
        let decides = |own: &Moment| report.verdict.line == Some(own.line);
        let before = std::iter::once(None).chain(self.timeline.iter().map(|own| Some(own.line)));
        self.timeline.iter().zip(before).map(|(own, before)| (own, before != Some(own.line), decides(own))).collect()
    }

    pub(crate) fn left_out(&self) -> String {
        counted(self.timeline_left_out, "further record")
    }

    pub(crate) fn markdown_lines(&self) -> impl Iterator<Item = &str> {
        self.markdown.lines()
    }
}

/// What a rule asks, in words.
fn asks(rule: &str) -> String {
    if let Some(token) = rule.strip_prefix("gate.") {
        return match wire::ReasonFacts::ALL.iter().find(|facts| facts.token == token) {
            Some(facts) => format!("Refuses the split if: {}", facts.meaning),
            None => "A gate of the split.".to_owned(),
        };
    }
    if let Some(name) = rule.strip_prefix("settings.") {
        return format!("Which source sets {name}?");
    }
    if let Some(name) = rule.strip_prefix("override.") {
        return format!("Does {name} force a GPU?");
    }
    match rule {
        "scanout.panel" => "Does the display plug-in say where the panel is?",
        "scanout.monitor" => "Which monitor is that?",
        "scanout.path" => "Which GPU does the display path name?",
        "scanout.walk" => "Whose outputs claim the monitor?",
        "render.exclude" => "Which GPUs are left out of the ranking?",
        "render.rank" => "Which GPU comes first, and why?",
        "render.device" => "Which GPU is the app’s device on?",
        "kill" => "Does the kill switch stop the split?",
        "deposit" => "Does the Vulkan deposit come up?",
        "service.ingest" => "On which GPU does the service take pictures?",
        "line" => "What does the placement line print?",
        _ if rule.starts_with("gl.") => "Which GPU does OpenGL draw on?",
        _ => "",
    }
    .to_owned()
}
