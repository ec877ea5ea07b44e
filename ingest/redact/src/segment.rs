//! Walks through everything that an agent sends and redacts every text in it.
//!
//! Each struct is taken apart field by field, without `..`, so that a new field does not compile here until somebody has
//! decided what it is.

use std::borrow::Cow;

use wire::{
    Adapter, CliAdapter, CliOutput, Clock, Event, Fields, Flaw, Heartbeat, IngestLine, Lever, LogFacts, Loss,
    Observation, PerfList, Process, Reason, Resolved, Segment, SelftestCheck, Topology, Value,
};

use crate::{Counts, Redactor};

impl Redactor {
    /// A range of a log, with the name of its program taken as known.
    pub fn segment(&self, segment: &mut Segment) -> Counts {
        let exe = segment.facts.process.as_ref().map(|process| process.exe.clone());
        let redactor = exe.map_or_else(|| self.clone(), |exe| self.knowing(&exe));
        let mut walk = Walk { redactor: &redactor, counts: Counts::default() };
        let Segment { log, file, start: _, end: _, facts, observations, clock, unfinished: _ } = segment;
        walk.text(log);
        walk.file(file);
        walk.facts(facts);
        for observation in observations {
            walk.observation(observation);
        }
        if let Some(Clock { zone, offset_s: _, repeated: _ }) = clock {
            walk.optional(zone);
        }
        walk.counts
    }

    /// Header and totals of a log.
    pub fn facts(&self, facts: &mut LogFacts) -> Counts {
        let mut walk = Walk { redactor: self, counts: Counts::default() };
        walk.facts(facts);
        walk.counts
    }

    /// What was lost of a log.
    pub fn loss(&self, loss: &mut Loss) -> Counts {
        let mut walk = Walk { redactor: self, counts: Counts::default() };
        let Loss { log, file, reason, bytes: _, events: _ } = loss;
        walk.optional(log);
        if let Some(file) = file {
            walk.file(file);
        }
        walk.text(reason);
        walk.counts
    }

    /// How an agent is; its configuration holds paths. Keys are the agent's own words.
    pub fn heartbeat(&self, heartbeat: &mut Heartbeat) -> Counts {
        let mut walk = Walk { redactor: self, counts: Counts::default() };
        let Heartbeat { logs_followed: _, logs_finished: _, queue_bytes: _, lag_s: _, dropped: _, slowed, config } =
            heartbeat;
        walk.optional(slowed);
        for value in config.values_mut() {
            walk.text(value);
        }
        walk.counts
    }
}

struct Walk<'r> {
    redactor: &'r Redactor,
    counts: Counts,
}

impl Walk<'_> {
    fn text(&mut self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redactor.text(text, &mut self.counts) {
            *text = redacted;
        }
    }

    fn word(&mut self, word: &mut Cow<'static, str>) {
        if let Cow::Owned(redacted) = self.redactor.text(word, &mut self.counts) {
            *word = Cow::Owned(redacted);
        }
    }

    fn optional(&mut self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn file(&mut self, name: &mut String) {
        if let Cow::Owned(redacted) = self.redactor.file_name(name, &mut self.counts) {
            *name = redacted;
        }
    }

    fn facts(&mut self, facts: &mut LogFacts) {
        let LogFacts { input: _, process, end: _, counts: _, bytes: _, last_time: _, cli } = facts;
        if let Some(Process { exe, pid: _, started }) = process {
            if let Cow::Owned(own) = self.redactor.exes.name(exe, &mut self.counts) {
                *exe = own;
            }
            self.text(exe);
            self.optional(started);
        }
        if let Some(cli) = cli {
            self.cli(cli);
        }
    }

    fn observation(&mut self, observation: &mut Observation) {
        match observation {
            Observation::Event(event) => self.event(event),
            Observation::Flaw(Flaw { offset: _, line: _, kind: _, marker, hint: _ }) => {
                if let Some(marker) = marker {
                    self.word(marker);
                }
            }
        }
    }

    fn event(&mut self, event: &mut Event) {
        let Event { offset: _, line: _, time, level: _, function, shape, kind: _, hint: _, fields, spelling } = event;
        self.optional(time);
        self.optional(function);
        self.word(shape);
        if let Some(redacted) = self.fields(fields) {
            *fields = redacted;
            // They say where the line strayed from its shape, by places that are gone.
            spelling.clear();
        }
    }

    /// The fields anew, when one of them changes.
    fn fields(&mut self, fields: &Fields) -> Option<Fields> {
        let before = self.counts;
        let mut redacted = Vec::new();
        for (name, value) in fields.iter() {
            let name = self.redactor.text(name, &mut self.counts);
            redacted.push((name, self.value(value)));
        }
        if self.counts == before {
            return None;
        }
        let mut all = Fields::new();
        for ((name, changed), (_, value)) in redacted.into_iter().zip(fields.iter()) {
            all.push(name.into_owned(), changed.unwrap_or_else(|| value.clone()));
        }
        Some(all)
    }

    /// The value anew, when it changes.
    fn value(&mut self, value: &Value) -> Option<Value> {
        let before = self.counts;
        let changed = match value {
            Value::Text(text) => Value::Text(self.redactor.text(text, &mut self.counts).into_owned()),
            Value::Decimal(text) => Value::Decimal(self.redactor.text(text, &mut self.counts).into_owned()),
            Value::Reasons(reasons) => Value::Reasons(reasons.iter().map(|reason| self.reason(reason)).collect()),
            Value::Luid(_) | Value::Uint(_) | Value::Int(_) | Value::Hex(_) => return None,
        };
        (self.counts != before).then_some(changed)
    }

    fn reason(&mut self, reason: &Reason) -> Reason {
        match reason {
            Reason::Known(_) => reason.clone(),
            Reason::Other(token) => Reason::new(&self.redactor.text(token, &mut self.counts)),
        }
    }

    fn cli(&mut self, cli: &mut CliOutput) {
        let CliOutput { topology, checks, passed: _, perf } = cli;
        if let Some(topology) = topology {
            self.topology(topology);
        }
        for SelftestCheck { name, passed: _, detail } in checks {
            self.text(name);
            self.text(detail);
        }
        if let Some(PerfList { store, written, levers }) = perf {
            self.optional(store);
            self.optional(written);
            for Lever { name, value, source } in levers {
                self.text(name);
                self.optional(value);
                self.text(source);
            }
        }
    }

    fn topology(&mut self, topology: &mut Topology) {
        let Topology { adapters, scanout, render_suggestion, verdict, weave_on_scanout, service_split, service_ingest } =
            topology;
        for CliAdapter { name, luid: _, dedicated_vram_mib: _ } in adapters {
            self.text(name);
        }
        for resolved in [scanout, render_suggestion].into_iter().flatten() {
            self.resolved(resolved);
        }
        self.optional(verdict);
        if let Some(setting) = weave_on_scanout {
            self.optional(setting);
        }
        self.optional(service_split);
        if let Some(IngestLine { adapter, provenance, forced }) = service_ingest {
            self.resolved(adapter);
            self.optional(provenance);
            if let Some((value, _)) = forced {
                self.text(value);
            }
        }
    }

    fn resolved(&mut self, resolved: &mut Resolved) {
        match resolved {
            Resolved::Adapter(Adapter { name, luid: _ }) => self.text(name),
            Resolved::Unresolved(why) => self.text(why),
        }
    }
}
