//! What a log's placement says of its session, taken as a fact: the machine on which a search asks what would help.

use wire::{Generation, Machine, Placement, Split};

use super::{MachineFold, Told};
use crate::replay::gate::fact_of;
use crate::replay::settings::WEAVE_ON_SCANOUT;

/// Who holds a log's split back by setting, as far as the log tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// Nobody, or who the machine's settings name.
    Named,
    /// The kill switch is set, and the log does not tell where.
    SetSomewhere,
    /// Nobody asked a build of generation G1 for it.
    NotAsked,
}

impl Told {
    /// The machine with what a placement says of its session taken as a fact, for asking what would help.
    pub fn as_observed(&self, observed: &Placement) -> (Machine, Switch) {
        let mut fold = MachineFold { machine: self.machine.clone(), ..MachineFold::new() };
        let mut switch = Switch::Named;
        for reason in &observed.reasons {
            match reason.as_str() {
                // Once the settings are told, they say who.
                "killed_by_env" if self.missing.iter().any(|fact| Some(fact) == fact_of("killed_by_env").as_ref()) => {
                    switch = Switch::SetSomewhere;
                }
                "presenter_ineligible" => "CLIENT_TEXTURE".clone_into(&mut fold.machine.session.presenter),
                token => {
                    fold.denied(token);
                }
            }
        }
        // A refusal that the log tells was one of a split that somebody had asked for.
        let session = &fold.machine.session;
        let refused = !session.stage_a_ok || !session.hwnd || session.shared_texture || session.legacy_standalone;
        if (observed.generation, observed.split) == (Generation::G1, Split::Off) && !refused {
            switch = Switch::NotAsked;
        }
        if switch != Switch::Named {
            // Any source prints the same; the weakest one can be outranked as every one can be removed.
            fold.machine.settings.machine.insert(WEAVE_ON_SCANOUT.to_owned(), "0".to_owned());
        }
        (fold.machine, switch)
    }
}
