//! The commands of `service` on Windows: the service manager for the machine, the task scheduler for one user.

mod access;
mod entry;
mod manager;
mod scheduler;

use std::env;
use std::path::PathBuf;

use super::{Done, Outcome, Plan, Trouble};
use crate::cli::RunArgs;

/// The name of the service and of the task.
const NAME: &str = "Weavewatch";

/// The file that counts where no other is named, if it is there.
pub(super) fn default_config(user: bool) -> Option<PathBuf> {
    let folder =
        if user { env::var_os("APPDATA").map(|folder| PathBuf::from(folder).join(NAME)) } else { own_folder() };
    folder.map(|folder| folder.join("weavewatch.toml")).filter(|path| path.exists())
}

/// What `install` would register.
pub(super) fn text(plan: &Plan) -> Result<String, Trouble> {
    if plan.user { scheduler::text(plan) } else { manager::text(plan) }
}

/// Registers it. It starts nothing: the agent wants to be enrolled first.
pub(super) fn install(plan: &Plan) -> Outcome {
    if plan.user { scheduler::install(plan) } else { manager::install(plan) }
}

/// Stops it and takes it away.
pub(super) fn uninstall(user: bool) -> Outcome {
    if user { scheduler::uninstall() } else { manager::uninstall() }
}

/// Starts it now.
pub(super) fn start(user: bool) -> Outcome {
    if user { scheduler::start() } else { manager::start() }
}

/// Stops it.
pub(super) fn stop(user: bool) -> Outcome {
    if user { scheduler::stop() } else { manager::stop() }
}

/// Says whether it runs.
pub(super) fn status(user: bool) -> Outcome {
    if user { scheduler::status() } else { manager::status() }
}

/// What the service manager starts.
pub(super) fn run(args: &RunArgs) -> Outcome {
    entry::run(args).map(|()| Done::saying(""))
}

/// The service's own folder; its account's profile is shared by other services and no place for a credential.
fn own_folder() -> Option<PathBuf> {
    env::var_os("ProgramData").filter(|folder| !folder.is_empty()).map(|folder| PathBuf::from(folder).join(NAME))
}

/// A tool that comes with Windows, by its full path: what lies in the current folder is not asked.
fn system_tool(name: &str) -> PathBuf {
    let windows = env::var_os("SystemRoot").map_or_else(|| PathBuf::from(r"C:\Windows"), PathBuf::from);
    windows.join("System32").join(name)
}
