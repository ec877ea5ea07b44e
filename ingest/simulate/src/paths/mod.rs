//! What each compositor writes in a session: one file a path, and here what several share.
//!
//! The order of records is the runtime's (vocabulary sections 2 and 5 to 9). Each session answers what became of it and how
//! it ended; `None` where no session opens at all.

pub(crate) mod client;
pub(crate) mod d3d11;
pub(crate) mod d3d12;
pub(crate) mod opengl;
pub(crate) mod service;
pub(crate) mod vulkan;

use wire::{Basis, Generation, Level, Reason, Split};

use crate::description::Fault;
use crate::log::{Ended, Log};
use crate::outcome::Outcome;
use crate::writer::{Record, record};

impl Log<'_> {
    /// The runtime's helper that prints the placement line. What is printed depends on what is known, in this order: scanout,
    /// render, equality, the split, the caller's reason (vocabulary section 2). Answers what the line says.
    pub(crate) fn placement(
        &mut self,
        render: Option<usize>,
        scanout: Option<usize>,
        split: bool,
        reason: &str,
    ) -> Ended {
        self.w.pass(1);
        self.placed = true;
        let (from, to) = (render.and_then(|at| self.adapter(at)), scanout.and_then(|at| self.adapter(at)));
        let shape = match (&from, &to) {
            (None, None) => "wp.g2.both_unknown",
            (Some(_), None) => "wp.g2.unresolved",
            (None, Some(_)) => "wp.g2.render_unknown",
            (Some(from), Some(to)) if from.luid == to.luid => "wp.g2.same",
            _ if split => "wp.g2.on_scanout",
            _ => "wp.g2.on_render",
        };
        let mut line = record(shape);
        if let Some(from) = &from {
            line = line.wide("render.name", &from.name).luid("render.luid", from.luid);
        }
        if let Some(to) = &to {
            line = line.wide("scanout.name", &to.name).luid("scanout.luid", to.luid);
        }
        if matches!(shape, "wp.g2.render_unknown" | "wp.g2.on_render") {
            line = line.reasons("reasons", reason);
        }
        let line = self.put(line);
        let (split, reasons) = match shape {
            "wp.g2.both_unknown" | "wp.g2.unresolved" => (Split::Off, Reason::list("scanout_unresolvable")),
            "wp.g2.same" => (Split::Off, Reason::list("same_adapter")),
            "wp.g2.on_scanout" => (Split::Engaged, Vec::new()),
            _ => (Split::Off, Reason::list(reason)),
        };
        Ended { split, reasons, retired: false, basis: Basis::Stated, render: from, scanout: to, line: Some(line) }
    }

    /// The placement line of this process's own adapters.
    pub(crate) fn own_placement(&mut self, split: bool, reason: &str) -> Ended {
        self.placement(Some(self.render), self.scanout, split, reason)
    }

    /// A line of the generation before `(split=…)`, which nobody asked to split.
    pub(crate) fn first_placement(&mut self, function: &'static str) -> Ended {
        self.w.pass(1);
        let (from, to) = (self.adapter(self.render), self.scanout.and_then(|at| self.adapter(at)));
        let shape = match (&from, &to) {
            (_, None) => "wp.g1.unresolved",
            (Some(from), Some(to)) if from.luid == to.luid => "wp.g1.same",
            _ => "wp.g1.on_render",
        };
        let mut line = record(shape).by(function);
        if let Some(from) = &from {
            line = line.wide("render.name", &from.name).luid("render.luid", from.luid);
        }
        if let Some(to) = &to {
            line = line.wide("scanout.name", &to.name).luid("scanout.luid", to.luid);
        }
        if line.is_unprintable() {
            // Only newer builds print it in a function of its own, so nobody can know what was lost here.
            self.put(line);
            return Ended::absent();
        }
        self.placed = true;
        let line = self.put(line);
        let (split, basis) = (Split::Off, Basis::Stated);
        Ended { split, reasons: Vec::new(), retired: false, basis, render: from, scanout: to, line: Some(line) }
    }

    /// `CHANGED`, which takes the split back.
    pub(crate) fn changed(&mut self, before: Ended, function: &'static str, token: &'static str) -> Ended {
        let line = self.put(record("wp.changed").reasons("reasons", token).by(function));
        let reasons = Reason::list(token);
        Ended { split: Split::Off, reasons, retired: true, basis: Basis::Stated, line: Some(line), ..before }
    }

    /// Which GPU the app was told to render on.
    pub(crate) fn requirements(&mut self, provenance: &str) {
        self.w.pass(12);
        let (name, luid) = (self.adapters[self.render].name.clone(), self.luid(self.render));
        self.put(
            record("od.requirements")
                .wide("adapter.name", &name)
                .luid("adapter.luid", luid)
                .text("provenance", provenance),
        );
        self.issue_1000 |= !beyond_latin1(&name);
        self.w.pass(48);
    }

    /// The bridge comes up.
    pub(crate) fn bridge(&mut self) {
        let panel = self.pc.panel();
        let (width, height) = (u64::from(panel.width), u64::from(panel.height));
        self.w.pass(22);
        self.put(
            record("xb.ring")
                .uint("width", width)
                .uint("height", height)
                .uint("row_pitch", width * 4)
                .uint("heap_bytes", width * height * 4)
                .int("count", 3),
        );
        self.put(
            record("xb.egress")
                .int("count", 3)
                .uint("width", width)
                .uint("height", height)
                .text("sizing", "content-sized")
                .uint("rebuild", 1),
        );
    }

    /// How long stage A took.
    pub(crate) fn stage_a(&mut self, shape: &'static str, function: &'static str, active: bool) {
        let (ms, bridge_ms) = (self.dice.between(600, 1500), if active { self.dice.between(250, 600) } else { 0 });
        let printed = |value: u64| format!("{}.{}", value / 10, value % 10);
        self.put(
            record(shape)
                .decimal("ms", printed(ms))
                .decimal("bridge_ms", printed(bridge_ms))
                .int("active", i64::from(active))
                .by(function),
        );
    }

    /// A window handle.
    pub(crate) fn hwnd(&mut self) -> u64 {
        self.dice.between(0x4_0000, 0xa_0000)
    }

    /// The frames of an in-process session, with its windows when `diag` prints them, and what may go wrong meanwhile.
    pub(crate) fn run(&mut self, diag: Option<&'static str>) {
        self.new_words();
        let windows = self.dice.between(0, self.fleet.noise.windows + 1);
        let crosses = self.scanout.is_some_and(|at| at != self.render);
        let gives_up = diag.is_some() && crosses && self.happens(Fault::BridgeDegraded);
        for window in 0..windows {
            self.frames(self.fleet.noise.frames, 10_000);
            let degraded = gives_up && window >= windows / 2;
            if gives_up && window == windows / 2 {
                self.degrade();
            }
            if let Some(function) = diag {
                self.live(function, degraded);
            }
        }
        if self.happens(Fault::DeviceRemoved) {
            let line = self.put(record("t.lost").hex("reason", 0x887a_0006).by("u_device_lost"));
            self.note("device_removed", "", line);
        }
    }

    /// The bridge gives up.
    fn degrade(&mut self) {
        let submitted = self.dice.between(900, 5000);
        self.put(
            record("xb.stall")
                .text("what", "producer")
                .int("ms", 250)
                .uint("submitted", submitted)
                .uint("produced", submitted - 3)
                .uint("consumed", submitted - 3)
                .uint("attempts", 3),
        );
        let line = self.put(record("xb.degraded"));
        self.note("bridge_degraded", "", line);
    }

    /// One window of a split that runs in-process.
    fn live(&mut self, function: &'static str, degraded: bool) {
        let record = record("rd.inproc").by(function);
        self.window(record, &[], degraded);
    }

    /// One window of a split that runs; `own` are the counters of this kind of window between the bridge's and those of slots.
    pub(crate) fn window(&mut self, record: Record, own: &[(&'static str, u64)], degraded: bool) {
        let direct = self.dice.between(580, 600);
        let record = record.int("split", 1).uint("xb_kb", direct * 32_400).int("xb_degraded", i64::from(degraded));
        let record = own.iter().fold(record, |record, (name, count)| record.uint(name, *count));
        let line = self.put(
            record
                .uint("no_slot", 0)
                .uint("out_crop", 0)
                .text("ingress", "adaptive")
                .uint("ing_direct", direct)
                .uint("ing_staged", 2)
                .uint("ing_rebind", 3)
                .uint("ing_churn", 0)
                .uint("ing_leak", 0),
        );
        self.evidence.bridging = Some(line);
        if degraded {
            self.note("bridge_degraded", "", line);
        }
    }

    /// A record of ours in words that no older build prints.
    pub(crate) fn new_words(&mut self) {
        if self.chance.chance(self.build.new_words_rate) {
            let budget = self.dice.between(7000, 9000);
            let body = format!("[RENDER] pacing=steady budget_us={budget} late=0 window_s=10");
            let line = self.w.noise(Level::Warn, "u_frame_pacer_diag", body.as_bytes());
            self.note("unrecognised_shape", "", line);
        }
    }

    /// The split is refused for a reason that no build before it knew; `disabled` is the path's record of that.
    pub(crate) fn refused_by_new_token(&mut self, disabled: &'static str, token: &str) -> Ended {
        let refusal = self.put(record(disabled).text("cause", token.to_owned()));
        self.evidence.refusal = Some((refusal, token.to_owned()));
        self.found_scanout();
        let ended = self.own_placement(false, token);
        self.unknown_token(refusal, &ended, token);
        ended
    }

    /// A line whose reason no rule knows disagrees with every replay, and its token is drift.
    pub(crate) fn unknown_token(&mut self, refusal: u64, ended: &Ended, token: &str) {
        if self.evidence.lost {
            self.note("unknown_reason_token", token, refusal);
            return;
        }
        let line = ended.line.unwrap_or(refusal);
        self.note("unknown_reason_token", token, refusal.min(line));
        self.mismatch = Some(line);
    }
}

/// A name that `%ls` cannot print (vocabulary 1.5).
pub(crate) fn beyond_latin1(name: &str) -> bool {
    name.chars().any(|letter| letter > '\u{ff}')
}

/// Whether a session of this build asks about a split at all.
pub(crate) fn is_newest(log: &Log<'_>) -> bool {
    log.build.generation == Generation::G2
}

/// The session of a build that prints no placement line for this path.
pub(crate) fn old(log: &mut Log<'_>, compositor: &'static str) -> (Outcome, Option<Ended>) {
    log.put(match compositor {
        "t.usegl" => record(compositor),
        _ => record(compositor).text("suffix", ""),
    });
    log.run(None);
    (Outcome::Old, None)
}
