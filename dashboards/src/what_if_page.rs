//! The page at `/what-if`: choose other rules or a setting for everybody, and see which sessions and machines would change.

use askama::Template;
use wire::Policy;

use crate::frame::Frame;
use crate::selection::Selection;
use crate::share::{Share, counted, thousands};
use crate::words;
use crate::{Outcome, Query, Tally, table};

/// What is offered for everybody, as a setting and its words, by the field of the form.
const OFFERS: [(&str, &[(&str, &str)]); 3] = [
    (
        "Kill switch (DXR_WEAVE_ON_SCANOUT)",
        &[
            ("DXR_WEAVE_ON_SCANOUT=", "nobody sets it"),
            ("DXR_WEAVE_ON_SCANOUT=1", "1 for all: the split is asked for"),
            ("DXR_WEAVE_ON_SCANOUT=0", "0 for all: the split is switched off"),
        ],
    ),
    (
        "Direct3D override (DXR_D3D_FORCE_GPU)",
        &[("DXR_D3D_FORCE_GPU=", "nobody sets it"), ("DXR_D3D_FORCE_GPU=scanout", "the panel’s GPU for all")],
    ),
    (
        "Vulkan override (DXR_VK_FORCE_GPU)",
        &[("DXR_VK_FORCE_GPU=", "nobody sets it"), ("DXR_VK_FORCE_GPU=scanout", "the panel’s GPU for all")],
    ),
];

/// The question, and its answer when something was chosen.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "what_if.html")]
pub struct WhatIfPage {
    /// What stands around it.
    pub frame: Frame,
    /// Which sessions are asked; what is chosen stands in its query under `policy` and `set`.
    pub selection: Selection,
    /// `None` while nothing is chosen.
    pub answer: Option<WhatIfView>,
}

/// What would become of every session.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WhatIfView {
    /// What was asked.
    pub total: Tally,
    /// Different situations, each replayed once.
    pub situations: u64,
    /// In the order better, worse, sideways, stay, cannot replay.
    pub effects: Vec<EffectView>,
    /// Why sessions cannot be replayed, in words.
    pub missing: Vec<(String, Tally)>,
    /// What is taken for granted, in words.
    pub assumed: Vec<(String, Tally)>,
    /// What it does to what crosses between GPUs, in sentences.
    pub bus: Vec<String>,
}

/// Sessions to which the change does the same.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EffectView {
    /// The word of the API.
    pub effect: &'static str,
    /// How many.
    pub tally: Tally,
    /// From what to what, most logs first.
    pub groups: Vec<GroupView>,
    /// More of them.
    pub groups_left_out: u64,
    /// Kinds of PC: id, name, how many; most logs first.
    pub cohorts: Vec<(Option<String>, Option<String>, Tally)>,
    /// More of them.
    pub cohorts_left_out: u64,
}

/// Sessions that become the same from the same.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GroupView {
    /// What the logs say that they did.
    pub did: Option<Outcome>,
    /// What the rules say of them as they are, and under the change.
    pub ends: [Option<EndView>; 2],
    /// How many.
    pub tally: Tally,
    /// The query string of the logs behind it, without its `?`.
    pub logs_query: Option<String>,
    /// Situations that the link does not name.
    pub situations_left_out: u64,
}

/// How a session ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndView {
    /// In one word.
    pub outcome: Option<Outcome>,
    /// The runtime's token.
    pub reason: Option<&'static str>,
    /// OpenGL's interop devices cross adapters.
    pub interop_crossing: bool,
}

/// A field of the form: its label and what can be chosen.
pub(crate) struct Offer {
    pub(crate) label: &'static str,
    pub(crate) options: Vec<(&'static str, &'static str, bool)>,
}

impl WhatIfPage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        let Some(answer) = &self.answer else {
            return "What if the rules or a setting were another?".to_owned();
        };
        let of = |word| answer.effects.iter().find(|own| own.effect == word).map_or(0, |own| own.tally.logs);
        match (of("better"), of("worse")) {
            (0, 0) => "Nothing would get better or worse".to_owned(),
            (better, 0) => format!("{} would get better, none worse", counted(better, "log")),
            (0, worse) => format!("{} would get worse, none better", counted(worse, "log")),
            (better, worse) => format!("{} would get better, {} worse", counted(better, "log"), thousands(worse)),
        }
    }

    /// What was chosen, as a clause.
    fn chosen(&self) -> Vec<String> {
        let query = &self.selection.query;
        let offered = |set: &str| OFFERS.iter().flat_map(|(_, options)| *options).find(|(own, _)| *own == set);
        let mut chosen: Vec<_> = query.all("policy").map(|policy| format!("the rules are {policy}")).collect();
        chosen.extend(query.all("set").map(|set| match (offered(set), set.split_once('=')) {
            (Some((_, words)), Some((name, _))) => format!("{name}: {words}"),
            _ => format!("{set} for all"),
        }));
        chosen
    }

    fn policies(&self) -> Vec<(&'static str, &'static str, bool)> {
        let chosen = self.selection.query.get("policy");
        let option = |policy: Policy| (policy.as_str(), policy_words(policy), chosen == Some(policy.as_str()));
        Policy::ALL.into_iter().map(option).collect()
    }

    fn offers(&self) -> Vec<Offer> {
        let query = &self.selection.query;
        let is_chosen = |set: &str| query.all("set").any(|own| own == set);
        OFFERS
            .into_iter()
            .map(|(label, options)| Offer {
                label,
                options: options.iter().map(|(set, words)| (*set, *words, is_chosen(set))).collect(),
            })
            .collect()
    }

    /// A setting that is not offered.
    fn other(&self) -> &str {
        let is_offered = |set: &str| OFFERS.iter().flat_map(|(_, options)| *options).any(|(own, _)| *own == set);
        self.selection.query.all("set").find(|set| !is_offered(set)).unwrap_or_default()
    }

    /// The filters, which the form carries along.
    fn carried(&self) -> Vec<(&'static str, &str)> {
        let query = &self.selection.query;
        query.filters().flat_map(|name| query.all(name).map(move |value| (name, value))).collect()
    }

    fn json_href(&self) -> String {
        self.selection.query.href("/api/v1/what-if")
    }

    fn cohort_href(&self, id: Option<&str>) -> String {
        let query = self.selection.query.with("cohort", id.unwrap_or(crate::query::NOT_TOLD));
        table::behind(&query)
    }
}

impl WhatIfView {
    fn logs(&self, tally: &Tally) -> Share {
        Share { count: tally.logs, total: self.total.logs }
    }

    fn machines(&self, tally: &Tally) -> Share {
        Share { count: tally.machines, total: self.total.machines }
    }

    fn replayed(&self) -> String {
        format!("{} of {}", counted(self.situations, "different situation"), self.total.logs())
    }
}

impl EffectView {
    fn label(&self) -> &'static str {
        match self.effect {
            "better" => "Better",
            "worse" => "Worse",
            "sideways" => "Another outcome, neither better nor worse",
            "stay" => "Stays as it is",
            _ => "Cannot be replayed",
        }
    }

    /// Whether its groups are shown at once.
    fn is_news(&self) -> bool {
        matches!(self.effect, "better" | "worse" | "sideways")
    }

    fn more_groups(&self) -> String {
        counted(self.groups_left_out, "further group")
    }

    fn more_cohorts(&self) -> String {
        counted(self.cohorts_left_out, "further kind of PC")
    }
}

impl GroupView {
    /// The logs behind it, and their machines.
    fn hrefs(&self) -> Option<[String; 2]> {
        let query = Query::parse(self.logs_query.as_deref()?);
        Some([table::behind(&query), query.filters_only().href("/machines")])
    }

    fn more(&self) -> String {
        counted(self.situations_left_out, "further situation")
    }
}

impl EndView {
    fn words(&self) -> String {
        let outcome = self.outcome.map_or("Cannot tell", Outcome::label);
        let reason = self.reason.map(|token| format!(" ({token})")).unwrap_or_default();
        let interop = if self.interop_crossing { ", OpenGL pictures cross" } else { "" };
        format!("{outcome}{reason}{interop}")
    }

    fn meaning(&self) -> &'static str {
        self.reason.map_or("", |token| words::word("reason", token).meaning)
    }
}

const fn policy_words(policy: Policy) -> &'static str {
    match policy {
        Policy::Document => "document: no split on Vulkan, none on one GPU",
        Policy::Adr039 => "adr039: Vulkan splits, one GPU engages too",
    }
}
