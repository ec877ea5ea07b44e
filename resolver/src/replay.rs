//! What should have happened: the runtime's documented rules, executable (contract section 5).
//!
//! [`replay()`] asks one rule after the other and keeps every answer, so that a reader sees which rule decided. One rule a
//! file: `settings` (who set it), `scanout`, `render` (ranking), `overrides`, `vulkan` and `device` (where the app renders), `kill`, `gate`
//! (the order of refusals), `gl`, `deposit`, `service`, `line` (what is printed), `topology` (what `displayxr-cli info`
//! prints). On top of the rules stand [`compare`] (a log against the answer), [`advise`] (the smallest change that
//! helps), [`MachineFold`] (a machine from a log's own records), [`situation()`] (what of it a replay needs) and [`what_if()`] (what a
//! change would make of it).
//!
//! Everything is total: any number of adapters and monitors, any fact missing. A rule that needs a missing fact answers
//! "unknown" and names it.

mod advise;
mod answer;
mod compare;
mod deposit;
mod device;
mod ending;
mod gate;
mod gl;
mod gpu;
mod kill;
mod line;
mod outcomes;
mod overrides;
mod render;
mod scanout;
mod service;
mod settings;
mod situation;
mod told;
mod topology;
mod trace;
mod vulkan;
mod what_if;

pub use crate::cost::on_reference as cost;
pub use advise::{advise, advise_on_log};
pub use answer::replay;
pub use compare::compare;
pub use ending::{Ending, ending};
pub use gate::depends_on;
pub use outcomes::{EXCLUSIONS, GATES, RULES, gates};
pub use settings::{D3D_FORCE_GPU, SETTINGS, VK_FORCE_GPU, WEAVE_ON_SCANOUT, may_be_stored};
pub use situation::{set, situation};
pub use told::{MachineFold, Switch, Told};
pub use topology::topology;
pub use what_if::{Change, Effect, WhatIf, what_if};
