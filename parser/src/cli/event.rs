//! How does a line of `displayxr-cli` travel? As an event with typed values, like a record of a log.
//!
//! No kind used here opens a session or tells a path: the tool says what would happen on a machine, never what happened
//! in a session.

use wire::{Event, Fields, Kind, Level, Value};

use super::line::{Choice, Line, Section, ServiceSplit};
use super::words::Gpu;

/// The event for what was said at `offset`, on `line`.
pub(super) fn event(offset: u64, line: u64, said: &Line<'_>) -> Event {
    let (shape, kind, fields) = describe(said);
    Event {
        offset,
        line,
        time: None,
        level: Level::Raw,
        function: None,
        shape: shape.into(),
        kind,
        hint: None,
        fields: fields.0,
        spelling: Vec::new(),
    }
}

fn describe(said: &Line<'_>) -> (&'static str, Kind, List) {
    let list = List::default();
    match *said {
        Line::Heading(section) => ("cli.heading", Kind::Instance, list.text("section", title(section))),
        Line::Adapters(count) => ("cli.adapters", Kind::Instance, list.uint("count", count)),
        Line::Adapter { index, gpu, vram_mib } => (
            "cli.adapter",
            Kind::RenderCandidate,
            list.uint("index", index).gpu(gpu).uint("dedicated_vram_mib", vram_mib),
        ),
        Line::Scanout(Ok(gpu)) => ("cli.scanout", Kind::Scanout, list.gpu(gpu)),
        Line::Scanout(Err(cause)) => ("cli.scanout_unresolved", Kind::Scanout, list.text("cause", cause)),
        // A suggestion by memory alone; what the resolver itself would choose stands on the ingest line.
        Line::Render(choice) => ("cli.render", Kind::RenderChoice, list.choice(choice)),
        Line::Topology(verdict) => ("cli.topology", Kind::Instance, list.text("verdict", verdict)),
        Line::NotEvaluated => ("cli.not_evaluated", Kind::Instance, list),
        Line::WeaveEnv(value) => {
            ("cli.weave_env", Kind::Instance, list.text("variable", "DXR_WEAVE_ON_SCANOUT").optional("value", value))
        }
        Line::ServiceSplit { state, text } => ("cli.service_split", Kind::Instance, split(list, state, text)),
        Line::ServiceIngest { choice, provenance, forced } => {
            let list = list.choice(choice).optional("provenance", provenance);
            match forced {
                None => ("cli.service_ingest", Kind::RenderChoice, list),
                Some(forced) => {
                    let kind = if forced.honoured { Kind::OverrideFollowed } else { Kind::OverrideIgnored };
                    ("cli.service_ingest", kind, list.text("variable", forced.variable).text("value", forced.value))
                }
            }
        }
        Line::Check { name, passed, detail } => (
            "cli.selftest_check",
            Kind::Instance,
            list.text("name", name).uint("passed", passed.into()).text("detail", detail),
        ),
        Line::SelftestEnd { passed, code } => {
            let mut list = list.uint("passed", passed.into());
            if let Some(code) = code {
                list.0.push("rc", Value::Int(code));
            }
            ("cli.selftest_end", Kind::Instance, list)
        }
        Line::Store { path, written } => {
            ("cli.perf_store", Kind::Instance, list.optional("store", path).uint("written", written.into()))
        }
        Line::Written(when) => ("cli.perf_written", Kind::Instance, list.text("written", when)),
        Line::Lever { name, value, source } => (
            "cli.perf_lever",
            Kind::Instance,
            list.text("variable", name).optional("value", value).text("source", source),
        ),
        Line::Hint => ("cli.perf_hint", Kind::Instance, list),
    }
}

fn split(list: List, state: ServiceSplit<'_>, text: &str) -> List {
    match state {
        ServiceSplit::Killed(value) => list.text("state", "killed").text("value", value),
        ServiceSplit::Off => list.text("state", "off"),
        ServiceSplit::Inert => list.text("state", "inert"),
        ServiceSplit::WouldEngage(ingress) => list.text("state", "would_engage").text("ingress", ingress),
        ServiceSplit::Other => list.text("state", text),
    }
}

fn title(section: Section) -> &'static str {
    match section {
        Section::Topology => "topology",
        Section::Selftest => "selftest",
        Section::Perf => "perf",
        Section::Any | Section::Other => "other",
    }
}

/// Fields under construction.
#[derive(Default)]
struct List(Fields);

impl List {
    fn text(mut self, name: &'static str, text: &str) -> Self {
        self.0.push(name, Value::Text(text.to_owned()));
        self
    }

    fn optional(self, name: &'static str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    fn uint(mut self, name: &'static str, number: u64) -> Self {
        self.0.push(name, Value::Uint(number));
        self
    }

    fn gpu(self, gpu: Gpu<'_>) -> Self {
        let mut list = self.text("adapter.name", gpu.name);
        list.0.push("adapter.luid", Value::Luid(gpu.luid));
        list
    }

    fn choice(self, choice: Choice<'_>) -> Self {
        match choice {
            Ok(gpu) => self.gpu(gpu),
            Err(cause) => self.text("cause", cause),
        }
    }
}
