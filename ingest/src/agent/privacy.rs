//! What is taken out of ranges before they are kept: the configured policy, with the names that only this machine knows.

use redact::Redactor;
use wire::{Heartbeat, Loss, Segment};

use crate::agent::config::Config;
use crate::own_names;

/// The policy, ready.
#[derive(Clone, Debug)]
pub struct Privacy {
    redactor: Redactor,
}

impl Privacy {
    /// Adds the names of this machine and its user to the policy.
    pub fn new(config: &Config) -> Self {
        let mut policy = config.redact.clone();
        policy.hosts.extend(own_names::hosts());
        policy.users.extend(own_names::users());
        Self { redactor: Redactor::new(policy) }
    }

    /// Takes out of a range what must not leave.
    pub fn redact(&self, segment: &mut Segment) {
        self.redactor.segment(segment);
    }

    /// Takes out of a report what must not leave: its configuration and its reasons hold paths.
    pub fn heartbeat(&self, heartbeat: &mut Heartbeat) {
        self.redactor.heartbeat(heartbeat);
    }

    /// Takes out of a loss what must not leave.
    pub fn loss(&self, loss: &mut Loss) {
        self.redactor.loss(loss);
    }
}
