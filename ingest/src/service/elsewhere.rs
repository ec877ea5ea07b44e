//! The commands of `service` on a system whose way of starting programs is not known: each refuses.

use std::path::PathBuf;

use super::{Outcome, Plan, Trouble};
use crate::cli::RunArgs;

pub(super) fn default_config(_: bool) -> Option<PathBuf> {
    None
}

pub(super) fn text(_: &Plan) -> Result<String, Trouble> {
    Err(refusal())
}

pub(super) fn install(_: &Plan) -> Outcome {
    Err(refusal())
}

pub(super) fn uninstall(_: bool) -> Outcome {
    Err(refusal())
}

pub(super) fn start(_: bool) -> Outcome {
    Err(refusal())
}

pub(super) fn stop(_: bool) -> Outcome {
    Err(refusal())
}

pub(super) fn status(_: bool) -> Outcome {
    Err(refusal())
}

pub(super) fn run(_: &RunArgs) -> Outcome {
    Err(refusal())
}

fn refusal() -> Trouble {
    Trouble::Refused(
        "this system has no service manager that is known; let its own supervisor run `weavewatch watch`".to_owned(),
    )
}
