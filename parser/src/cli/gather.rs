//! What does a whole capture of `displayxr-cli` say, in the end?
//!
//! Text and JSON meet here. Where one capture holds the same command twice, the later answer replaces the earlier one.

use wire::{Adapter, CliAdapter, CliOutput, IngestLine, Lever, PerfList, Resolved, SelftestCheck, Topology};

use super::line::{Choice, Line, Section};

/// The real tool prints at most 16 rows of each table; a hostile capture must not fill the memory.
const MOST_ROWS: usize = 256;

/// The output so far.
#[derive(Default)]
pub(super) struct Gather {
    pub output: CliOutput,
}

impl Gather {
    /// Adds what one line says.
    pub fn take(&mut self, said: &Line<'_>) {
        match *said {
            Line::Heading(Section::Topology) => self.output.topology = Some(Topology::default()),
            Line::Heading(Section::Perf) => self.output.perf = Some(PerfList::default()),
            Line::Heading(Section::Selftest) => {
                self.output.checks.clear();
                self.output.passed = None;
            }
            Line::Heading(Section::Any | Section::Other) | Line::Hint => {}
            Line::Adapters(_) => self.topology().adapters.clear(),
            Line::Adapter { gpu, vram_mib, .. } => {
                let row = CliAdapter { name: gpu.name.to_owned(), luid: gpu.luid, dedicated_vram_mib: vram_mib };
                push(&mut self.topology().adapters, row);
            }
            Line::Scanout(choice) => self.topology().scanout = Some(resolved(choice)),
            Line::Render(choice) => self.topology().render_suggestion = Some(resolved(choice)),
            Line::Topology(verdict) => self.topology().verdict = Some(verdict.to_owned()),
            Line::NotEvaluated => self.topology().verdict = Some("not evaluated".to_owned()),
            Line::WeaveEnv(value) => self.topology().weave_on_scanout = Some(value.map(str::to_owned)),
            Line::ServiceSplit { text, .. } => self.topology().service_split = Some(text.to_owned()),
            Line::ServiceIngest { choice, provenance, forced } => {
                self.topology().service_ingest = Some(IngestLine {
                    adapter: resolved(choice),
                    provenance: provenance.map(str::to_owned),
                    forced: forced.map(|forced| (forced.value.to_owned(), forced.honoured)),
                });
            }
            Line::Check { name, passed, detail } => {
                let check = SelftestCheck { name: name.to_owned(), passed, detail: detail.to_owned() };
                push(&mut self.output.checks, check);
            }
            Line::SelftestEnd { passed, .. } => self.output.passed = Some(passed),
            Line::Store { path, .. } => self.perf().store = path.map(str::to_owned),
            Line::Written(when) => self.perf().written = Some(when.to_owned()),
            Line::Lever { name, value, source } => {
                let (name, source) = (name.to_owned(), source.to_owned());
                push(&mut self.perf().levers, Lever { name, value: value.map(str::to_owned), source });
            }
        }
    }

    fn topology(&mut self) -> &mut Topology {
        self.output.topology.get_or_insert_default()
    }

    fn perf(&mut self) -> &mut PerfList {
        self.output.perf.get_or_insert_default()
    }
}

fn resolved(choice: Choice<'_>) -> Resolved {
    match choice {
        Ok(gpu) => Resolved::Adapter(Adapter { name: gpu.name.to_owned(), luid: gpu.luid }),
        Err(cause) => Resolved::Unresolved(cause.to_owned()),
    }
}

fn push<T>(rows: &mut Vec<T>, row: T) {
    if rows.len() < MOST_ROWS {
        rows.push(row);
    }
}
