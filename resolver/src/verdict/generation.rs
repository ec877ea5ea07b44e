//! Which build wrote a log: the version it prints, and the generation that its records give away (contract section 1).

use wire::{Event, Flaw, Generation, Kind, Placement, Runtime};

/// The marker of placement records, as flaws name it.
const PLACEMENT_MARKER: &str = "weave placement:";

/// Shapes whose line carries `(#1000)`; builds from v2.7.0 on print them.
const ISSUE_1000_SHAPES: [&str; 3] = ["t.d11dev", "t.d12dev", "od.requirements"];

/// The first version whose builds can print a placement line.
const PLACEMENT_SINCE: (u64, u64) = (2, 9);

/// What the records seen so far tell about the build.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildMarks {
    version: Option<(u64, u64, u64)>,
    build: Option<String>,
    newest: Option<Generation>,
    /// A placement record was seen, readable or not.
    placement_seen: bool,
    issue_1000_seen: bool,
}

impl BuildMarks {
    /// Takes the next event.
    pub(crate) fn event(&mut self, event: &Event) {
        match event.kind {
            Kind::RuntimeVersion => self.runtime_record(event),
            Kind::Placement => {
                // A record without its values is read as one of the newest wording that we know.
                let generation = Placement::from_event(event).map_or(Generation::G2, |placement| placement.generation);
                self.placement(Some(generation));
            }
            // Only builds with `(split=…)` take a split back, or lose a body under the function that tells us so.
            Kind::PlacementChanged | Kind::PlacementUnreadable => self.placement(Some(Generation::G2)),
            _ => {}
        }
        self.issue_1000_seen |= ISSUE_1000_SHAPES.contains(&event.shape.as_ref());
    }

    /// Takes the next flaw: a placement record of unknown shape is one all the same.
    pub(crate) fn flaw(&mut self, flaw: &Flaw) {
        if flaw.marker.as_deref() == Some(PLACEMENT_MARKER) {
            self.placement(None);
        }
    }

    /// True once a placement record was seen, readable or not.
    pub(crate) const fn placement_seen(&self) -> bool {
        self.placement_seen
    }

    /// True when something says that the build is older than the placement line.
    pub(crate) fn predates_placement(&self) -> bool {
        match self.version {
            Some((major, minor, _)) => (major, minor) < PLACEMENT_SINCE,
            None => self.issue_1000_seen,
        }
    }

    /// `v2.8.0`, for messages.
    pub(crate) fn version(&self) -> Option<String> {
        self.version.map(|(major, minor, patch)| format!("{major}.{minor}.{patch}"))
    }

    /// Version and build tag; the generation is asked for on its own.
    pub(crate) fn runtime(&self) -> Runtime {
        Runtime { version: self.version(), build: self.build.clone(), generation: None }
    }

    /// Null when nothing tells (contract section 1).
    pub(crate) fn generation(&self) -> Option<Generation> {
        let old = self.version.is_some_and(|(major, minor, _)| (major, minor) < PLACEMENT_SINCE);
        match self.newest {
            Some(generation) => Some(generation),
            None if self.placement_seen => None,
            None => (old || self.issue_1000_seen).then_some(Generation::G0),
        }
    }

    fn placement(&mut self, generation: Option<Generation>) {
        self.placement_seen = true;
        self.newest = self.newest.max(generation);
    }

    /// A process prints its version once; of several instances in one log the first speaks for the process.
    fn runtime_record(&mut self, event: &Event) {
        if self.version.is_some() {
            return;
        }
        let number = |name| event.fields.int(name).and_then(|value| u64::try_from(value).ok());
        if let (Some(major), Some(minor), Some(patch)) = (number("major"), number("minor"), number("patch")) {
            self.version = Some((major, minor, patch));
            self.build = event.fields.text("build").filter(|tag| !tag.is_empty()).map(str::to_owned);
        }
    }
}
