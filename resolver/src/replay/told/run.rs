//! One run of the render resolver: its candidate and skip records, in enumeration order.

use wire::{Fields, MachineAdapter};

/// Adapters kept of one run; a hostile log must not grow the memory.
const ADAPTERS_MAX: usize = 256;

/// The runs of a log, of which one may be open.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Of the complete run that told the most.
    pub adapters: Vec<MachineAdapter>,
    /// The run that is being read, and how long it was behind its last candidate.
    open: Vec<MachineAdapter>,
    last_candidate: usize,
}

impl Run {
    /// A candidate says its number. Skipped adapters do not, but they stand in enumeration order between the candidates: a
    /// number that was passed already begins a new run, and the skips just before it belong there.
    pub fn candidate(&mut self, fields: &Fields) {
        let Some(index) = fields.int("index").and_then(|index| usize::try_from(index).ok()) else { return };
        if index >= ADAPTERS_MAX {
            return;
        }
        if index < self.open.len() {
            let skips = self.open.split_off(self.open.len() - index.min(self.open.len() - self.last_candidate));
            self.end();
            self.open = skips;
        }
        while self.open.len() < index {
            self.open.push(MachineAdapter::new("<unknown>", None));
        }
        let vram = fields.int("vram_mib").and_then(|mib| u64::try_from(mib).ok());
        self.open.push(MachineAdapter {
            dedicated_vram_mib: vram,
            // It survived, so none of the exclusions holds; the level is at least the least one.
            software: Some(fields.int("adapter_kind") == Some(0)),
            remote: Some(false),
            feature_level: Some("11_0".to_owned()),
            vulkan_type: Some("unknown".to_owned()),
            ..MachineAdapter::new(fields.text("adapter.name").unwrap_or("<unknown>"), None)
        });
        self.last_candidate = self.open.len();
    }

    /// Left out of rendering, which the machine can say with `remote`; that leaves it its outputs.
    pub fn skipped(&mut self, fields: &Fields) {
        if let Some(name) = fields.text("adapter.name").filter(|_| self.open.len() < ADAPTERS_MAX) {
            self.open.push(MachineAdapter { remote: Some(true), ..MachineAdapter::new(name, None) });
        }
    }

    /// Another record came: the run is complete. The longest one counts, because a log may be cut.
    pub fn end(&mut self) {
        self.last_candidate = 0;
        let run = std::mem::take(&mut self.open);
        if run.len() >= self.adapters.len() {
            self.adapters = run;
        }
    }
}
