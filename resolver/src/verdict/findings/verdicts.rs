//! Findings that a session's verdict gives; every session of a log is asked, not only the last.

use wire::{Basis, Crossing, Split};

use super::{Findings, because, quote};
use crate::verdict::code::Code;
use crate::verdict::decision::Decision;

impl Findings {
    /// Takes the verdict of the next session.
    pub(crate) fn decision(&mut self, decision: &Decision) {
        if decision.basis == Basis::Corrected {
            self.note(Code::PlacementCorrected, decision.line, "", || {
                let placement = decision.overruled.map(|line| format!(" at line {line}")).unwrap_or_default();
                let truth = match decision.split {
                    Split::Engaged => "a split runs",
                    Split::Off | Split::Unknown => "the split was taken back",
                };
                format!("The placement line{placement} is not the last word: another record shows that {truth}.")
            });
        }
        if decision.retired {
            self.note(Code::Retired, decision.line, "", || {
                let reasons = because(&decision.reasons);
                format!("The split ran, then was taken back for the rest of its session{reasons}.")
            });
        }
        if decision.killed() {
            self.note(Code::Killed, decision.line, "", || {
                "DXR_WEAVE_ON_SCANOUT switches the split off; \
                 it can be set in the environment, for the user or for the machine."
                    .to_owned()
            });
        }
        if decision.crossing() == Crossing::EveryPresent
            && let (Some(render), Some(scanout)) = (&decision.render, &decision.scanout)
        {
            self.note(Code::CrossingEveryPresent, decision.line, "", || {
                format!(
                    "The weave runs on '{}' but the panel hangs on '{}', so every frame crosses the bus{}.",
                    quote(&render.name),
                    quote(&scanout.name),
                    because(&decision.reasons),
                )
            });
        }
    }
}
